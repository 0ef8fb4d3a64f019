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

/** A command that was not given what it needs. */
export const usage = (message: string, cause?: unknown): CommandFault => new CommandFault(message, EXIT.usage, { cause });
