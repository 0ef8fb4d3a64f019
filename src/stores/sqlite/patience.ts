import { isBusy, lockedTooLong } from "./faults.ts";

/** The longest pause between two attempts: writers hold the lock for about one sync of the disk. */
const LONGEST_PAUSE_MS = 16;

/** Waits for a lock that another process holds without holding up this one's event loop. */
export class Patience {
  readonly #path: string;
  readonly #limitMs: number;

  constructor(path: string, limitMs: number) {
    this.#path = path;
    this.#limitMs = limitMs;
  }

  /** @throws what `act` throws, except that it is busy; that for longer than the limit: store_unavailable */
  async attempt<T>(act: () => T | Promise<T>): Promise<T> {
    const started = performance.now();
    for (let failures = 0; ; failures++) {
      try {
        return await act();
      } catch (thrown) {
        if (!isBusy(thrown)) throw thrown;
        if (this.isOver(started)) throw this.exhausted(thrown);
      }
      await this.pause(failures);
    }
  }

  /** Time is measured by the machine: a lock is held in real time, whatever a test's clock says. */
  isOver(started: number): boolean {
    return performance.now() - started >= this.#limitMs;
  }

  exhausted(cause: unknown): Error {
    return lockedTooLong(this.#path, this.#limitMs, cause);
  }

  /** Jittered, so that processes which met once do not meet again. Keeps the process alive: somebody waits for it. */
  pause(failures: number): Promise<void> {
    const ms = 1 + Math.random() * Math.min(2 ** failures, LONGEST_PAUSE_MS);
    return new Promise((resume) => setTimeout(resume, ms));
  }
}
