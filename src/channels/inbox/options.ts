import { ASSURANCES, type Assurance, DeclarationError, type Duration, type Locale, milliseconds } from "../../core/index.ts";
import type { Surfaces } from "./surfaces.ts";

export interface InboxOptions {
  /** The inboxes that are open: the server's. */
  readonly surfaces: Surfaces;
  /** The channel's name, for rules and records; the server's sessions are `via` it. Default `inbox`. */
  readonly name?: string;
  /**
   * The most that a session of the inbox can be worth; one that is worth less counts as what it is. Default `local`: a
   * one-time link is opened by the account that the agent may run under.
   */
  readonly assurance?: Assurance;
  /** How long a delivery waits until an open inbox says that it shows the request. Default 9 s, within one try of the desk. */
  readonly within?: Duration;
  /** Language of the text that a card's view is made over. Default `en`. */
  readonly locale?: Locale;
}

export interface Settings {
  readonly surfaces: Surfaces;
  readonly name: string;
  readonly assurance: Assurance;
  readonly within: number;
  readonly locale: Locale;
}

const isSurfaces = (value: unknown): value is Surfaces =>
  typeof value === "object" && value !== null && typeof (value as Partial<Surfaces>).people === "function";

/** The options, checked once. @throws DeclarationError naming the option */
export function settingsOf(options: InboxOptions): Settings {
  const {
    surfaces,
    name = "inbox",
    assurance = "local",
    within = 9000,
    locale = "en",
  } = (options ?? {}) as Partial<InboxOptions>;
  if (!isSurfaces(surfaces)) throw new DeclarationError('inboxChannel: "surfaces" must be the open inboxes that a server keeps');
  if (typeof name !== "string" || name.trim() === "") throw new DeclarationError('inboxChannel: "name" must be a text');
  if (!ASSURANCES.includes(assurance))
    throw new DeclarationError(`inboxChannel: "assurance" must be one of ${ASSURANCES.join(", ")}`);
  try {
    return { surfaces, name, assurance, within: milliseconds(within), locale };
  } catch (cause) {
    throw new DeclarationError('inboxChannel: "within" must be a duration such as "9s"', { cause });
  }
}
