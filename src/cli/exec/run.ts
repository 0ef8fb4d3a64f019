import { spawn } from "node:child_process";
import { constants } from "node:os";
import { EXIT } from "../exit-codes.ts";
import { programEnvironment } from "./program.ts";

/** A program that ended otherwise than with 0: its exit status is ours. */
export class ProgramFailed extends Error {
  readonly status: number;
  constructor(status: number, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "ProgramFailed";
    this.status = status;
  }
}

/** Signals that are meant for the program: a terminal sends them to both of us, others to us alone. */
const PASSED: readonly NodeJS.Signals[] = ["SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2"];
const FROM_TERMINAL: readonly NodeJS.Signals[] = ["SIGINT", "SIGQUIT"];

export interface Invocation {
  readonly file: string;
  readonly argv: readonly string[];
  readonly cwd: string;
}

const statusOf = (code: number | null, signal: NodeJS.Signals | null): number =>
  signal === null ? (code ?? EXIT.failed) : 128 + constants.signals[signal];

/**
 * Runs the program in our place: our input, output and terminal are its own.
 * @throws ProgramFailed with the exit status; 128 and the signal's number where a signal ended it
 */
export async function runProgram({ file, argv, cwd }: Invocation): Promise<{ readonly status: 0 }> {
  const [argv0 = "", ...args] = argv;
  const child = spawn(file, args, { cwd, argv0, stdio: "inherit", env: programEnvironment(process.env) });
  const pass = (signal: NodeJS.Signals): void => void child.kill(signal);
  const stay = (): void => undefined;
  for (const signal of PASSED) process.on(signal, pass);
  for (const signal of FROM_TERMINAL) process.on(signal, stay);
  try {
    const status = await new Promise<number>((resolve, reject) => {
      child.once("error", (cause) =>
        reject(new ProgramFailed(EXIT.notExecutable, `"${argv0}" could not be started: ${cause.message}`, { cause })),
      );
      child.once("exit", (code, signal) => resolve(statusOf(code, signal)));
    });
    if (status !== 0) throw new ProgramFailed(status, `"${argv0}" ended with ${status}`);
    return { status };
  } finally {
    for (const signal of PASSED) process.removeListener(signal, pass);
    for (const signal of FROM_TERMINAL) process.removeListener(signal, stay);
  }
}
