import { userInfo } from "node:os";
import { DeclarationError, localeOf, milliseconds, type Duration, type Locale } from "../../core/index.ts";
import { givenDevice, ownDevice, type Device, type TerminalInput, type TerminalOutput } from "./device.ts";

export interface TerminalOptions {
  /** The principal who answers here. Default: the operator, `os:<account>`. */
  readonly as?: string;
  /** A terminal of the host's own. Default: the one that controls this process. Both or neither. */
  readonly input?: TerminalInput;
  readonly output?: TerminalOutput;
  /** The language of the questions, such as `tr`. Default: that of the environment. */
  readonly locale?: string;
  /** Default: yes, unless `NO_COLOR` is set. */
  readonly colour?: boolean;
  /** Silence between the card and the question, in which no key counts. Default 400 ms. */
  readonly guard?: Duration;
  /** Options that go with each command a question names, such as `--data /srv/desk`. Default: none. */
  readonly commandOptions?: string;
  /** What Ctrl-C does once the terminal is given back. Default: SIGINT to this process, as without us. */
  readonly interrupt?: () => void;
}

export interface Settings {
  readonly principal: string;
  readonly device: Device;
  readonly locale: Locale;
  readonly colour: boolean;
  readonly guard: number;
  readonly commandOptions: string;
  readonly interrupt: () => void;
}

const GUARD_MS = 400;

function deviceOf({ input, output }: TerminalOptions): Device {
  if (input === undefined && output === undefined) return ownDevice();
  if (input === undefined || output === undefined) {
    throw new DeclarationError("terminalChannel: give both input and output, or neither to use the terminal of this process");
  }
  return givenDevice(input, output);
}

/** The options, checked once. @throws DeclarationError naming the option */
export function settingsOf(options: TerminalOptions): Settings {
  const { env } = process;
  if (options.as !== undefined && (typeof options.as !== "string" || options.as.trim() === "")) {
    throw new DeclarationError('terminalChannel: "as" must name the principal who answers at this terminal');
  }
  return {
    principal: options.as ?? `os:${userInfo().username}`,
    device: deviceOf(options),
    locale: localeOf(options.locale ?? env.LC_ALL ?? env.LC_MESSAGES ?? env.LANG),
    colour: options.colour ?? (env.NO_COLOR ?? "") === "",
    guard: guardOf(options.guard),
    commandOptions: options.commandOptions ?? "",
    interrupt: options.interrupt ?? (() => void process.kill(process.pid, "SIGINT")),
  };
}

function guardOf(guard: Duration | undefined): number {
  try {
    return milliseconds(guard ?? GUARD_MS);
  } catch (cause) {
    throw new DeclarationError('terminalChannel: "guard" must be a duration such as "400ms"', { cause });
  }
}
