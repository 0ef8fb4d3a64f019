import { spawn } from "node:child_process";
import { serverEnvironment } from "./environment.ts";
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import type { Timing } from "./port.ts";

export interface Command {
  readonly file: string;
  readonly args: readonly string[];
}

export type ChildEnd =
  | { readonly type: "not_started"; readonly problem: string }
  | { readonly type: "exited"; readonly code: number | null; readonly signal: NodeJS.Signals | null };

/** After the process is gone, for output that it left in the pipe; something it started may hold the pipe open for longer. */
const LAST_OUTPUT_WITHIN = 500;

const CAUSES: Readonly<Record<string, string>> = {
  ENOENT: "there is no such program on the PATH, or no such working folder; check the spelling, or give the full path",
  EACCES: "the file may not be executed; make it executable, or name the program that runs it (node, python, npx …) first",
  ENOEXEC: "the file is not a program; name the program that runs it (node, python, npx …) first",
};

/** A server as a process of ours, in a process group of its own so that what it starts ends with it. */
export class Child {
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #timing: Timing;
  #over = false;
  /** Resolves when it did not start, or is gone and all that it wrote has been read. Never rejects. */
  readonly ended: Promise<ChildEnd>;

  /** @throws on a command that no system could start, as one with a NUL byte */
  constructor(command: Command, environment: NodeJS.ProcessEnv, timing: Timing) {
    this.#timing = timing;
    this.#process = spawn(command.file, [...command.args], {
      stdio: ["pipe", "pipe", "pipe"],
      env: serverEnvironment(environment),
      // A session of its own also keeps it from the controlling terminal, on which a person is asked.
      detached: process.platform !== "win32",
      windowsHide: true,
    });
    this.ended = this.#watch(command.file);
  }

  get stdin(): NodeJS.WritableStream {
    return this.#process.stdin;
  }
  get stdout(): NodeJS.ReadableStream {
    return this.#process.stdout;
  }
  get stderr(): NodeJS.ReadableStream {
    return this.#process.stderr;
  }

  /**
   * Ends it: its input is closed, then SIGTERM, then SIGKILL.
   * @param grace milliseconds in which it may leave by itself once its input is closed
   */
  async end(grace: number): Promise<void> {
    this.#process.stdin.end();
    if (await this.#overWithin(grace)) return;
    this.#kill("SIGTERM");
    if (await this.#overWithin(this.#timing.killGrace)) return;
    this.#kill("SIGKILL");
    await this.ended;
  }

  async #overWithin(ms: number): Promise<boolean> {
    if (this.#over) return true;
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms, false);
      this.#process.once("exit", () => {
        clearTimeout(timer);
        resolve(true);
      });
    });
  }

  #kill(signal: NodeJS.Signals): void {
    const { pid } = this.#process;
    if (pid === undefined || this.#over) return;
    try {
      process.kill(process.platform === "win32" ? pid : -pid, signal);
    } catch (thrown) {
      // Already gone, with its exit not yet reported to us.
      if ((thrown as NodeJS.ErrnoException).code !== "ESRCH") throw thrown;
    }
  }

  #watch(file: string): Promise<ChildEnd> {
    const child = this.#process;
    const killNow = (): void => this.#kill("SIGKILL");
    process.once("exit", killNow);
    return new Promise<ChildEnd>((resolve) => {
      child.on("error", (cause: NodeJS.ErrnoException) => {
        if (child.pid !== undefined) return;
        this.#over = true;
        resolve({ type: "not_started", problem: `could not start "${file}": ${CAUSES[cause.code ?? ""] ?? cause.message}` });
      });
      child.once("exit", (code, signal) => {
        this.#over = true;
        const end = (): void => {
          clearTimeout(timer);
          resolve({ type: "exited", code, signal });
        };
        const timer = setTimeout(end, LAST_OUTPUT_WITHIN);
        child.once("close", end);
      });
    }).finally(() => process.removeListener("exit", killNow));
  }
}
