import { isHoldpointError } from "../core/index.ts";

/** What a command's exit code says. `exec` passes its program's own on; its refusals are {@link EXIT.notRun}. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  refused: 3,
  expired: 4,
  /** Nobody who could answer is reachable: no terminal, or no eligible approver. */
  noApprover: 5,
  /** `exec`: the program was not started. As `env` and `timeout` say it. */
  notRun: 125,
  /** `exec`: there is such a program, and it could not be started. */
  notExecutable: 126,
  /** `exec`: there is no such program. */
  noProgram: 127,
} as const;

/** A command that ended otherwise than done: what went wrong, why, what to do, and the exit code that says so. */
export class CommandFault extends Error {
  readonly exit: number;
  /** What a program reads in place of the result, with `--json`. */
  readonly result: object | undefined;
  constructor(message: string, exit: number = EXIT.failed, options: { cause?: unknown; result?: object } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "CommandFault";
    this.exit = exit;
    this.result = options.result;
  }
}

/** What each exit code is called where a fault has no code of its own. */
const NAMES: Readonly<Record<number, string>> = {
  [EXIT.usage]: "usage",
  [EXIT.refused]: "refused",
  [EXIT.expired]: "expired",
  [EXIT.noApprover]: "no_approver",
  [EXIT.notRun]: "not_run",
  [EXIT.notExecutable]: "not_executable",
  [EXIT.noProgram]: "no_program",
};

/** A code that a message of ours names, such as `[late]`. */
const NAMED = /\[([a-z_]+)\]/u;

/** The code of any fault: its own, else the one that its message names, else what its exit code is called. */
export function codeOf(thrown: unknown): string {
  if (isHoldpointError(thrown)) return thrown.code;
  if (!(thrown instanceof CommandFault)) return "failed";
  return NAMED.exec(thrown.message)?.[1] ?? NAMES[thrown.exit] ?? "failed";
}

/** The message of a fault with its code, once. */
export function withCode(thrown: unknown): string {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const code = `[${codeOf(thrown)}]`;
  return message.includes(code) ? message : `${message} ${code}`;
}

/** A command that was not given what it needs. */
export const usage = (message: string, cause?: unknown): CommandFault => new CommandFault(message, EXIT.usage, { cause });
