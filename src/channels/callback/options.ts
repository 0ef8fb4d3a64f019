import { ASSURANCES, type Assurance, DeclarationError, type Duration, milliseconds } from "../../core/index.ts";

export interface CallbackOptions {
  /** The channel's name, for rules and records. Default `callback`. */
  readonly name?: string;
  /** The principal for whom the function answers. */
  readonly as: string;
  /** What its answers are worth. Default `local`: the function runs where the agent runs. */
  readonly assurance?: Assurance;
  /** How long this person usually takes, where neither rule, tool nor gate says. */
  readonly deadline?: Duration;
}

export interface Settings {
  readonly name: string;
  readonly principal: string;
  readonly assurance: Assurance;
  readonly deadline: number | undefined;
}

const isText = (value: unknown): value is string => typeof value === "string" && value.trim() !== "";

/** The options, checked once. @throws DeclarationError naming the option */
export function settingsOf(options: CallbackOptions): Settings {
  const { name = "callback", as, assurance = "local", deadline } = (options ?? {}) as Partial<CallbackOptions>;
  if (!isText(as)) throw new DeclarationError('callbackChannel: "as" must name the principal for whom the function answers');
  if (!isText(name)) throw new DeclarationError('callbackChannel: "name" must be a text');
  if (!ASSURANCES.includes(assurance))
    throw new DeclarationError(`callbackChannel: "assurance" must be one of ${ASSURANCES.join(", ")}`);
  try {
    return { name, principal: as, assurance, deadline: deadline === undefined ? undefined : milliseconds(deadline) };
  } catch (cause) {
    throw new DeclarationError('callbackChannel: "deadline" must be a duration such as "15m"', { cause });
  }
}
