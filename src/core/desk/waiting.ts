import { problemOf } from "../errors.ts";
import { type Instant, msOf } from "../instant.ts";
import type { Aborter, Clock, Log } from "../ports/runtime.ts";
import type { Store } from "../ports/store.ts";
import type { AbortLike } from "../tool-call.ts";
import { TIMES } from "./parts.ts";

/** Wakes whoever waits for a request, and keeps one timer for all deadlines of this process. */
export interface Waiting {
  /** Resolves at the next hint that `id` may have changed, or after a while without one. @throws the signal's reason on abort */
  changed(id: string, signal: AbortLike): Promise<void>;
  /** This process changed these. */
  wake(ids: readonly string[]): void;
  /** Calls `due` for `id` at `at`; a later call for the same id replaces it. */
  remind(id: string, at: Instant, due: () => void): void;
  forget(id: string): void;
  close(): void;
}

export interface WaitingParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly stop: Aborter;
}

interface Reminder {
  readonly at: number;
  readonly due: () => void;
}

class Waiters implements Waiting {
  readonly #parts: WaitingParts;
  readonly #waiters = new Map<string, Set<() => void>>();
  readonly #reminders = new Map<string, Reminder>();
  #watched = false;
  #again: (() => void) | undefined;
  #timer: { readonly at: number; readonly cancel: () => void } | undefined;

  constructor(parts: WaitingParts) {
    this.#parts = parts;
  }

  changed(id: string, signal: AbortLike): Promise<void> {
    this.#listen();
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const settle = (): void => {
        signal.removeEventListener("abort", aborted);
        resolve();
      };
      const aborted = (): void => {
        this.#waiters.get(id)?.delete(settle);
        signal.removeEventListener("abort", aborted);
        reject(signal.reason);
      };
      signal.addEventListener("abort", aborted);
      const known = this.#waiters.get(id);
      if (known === undefined) this.#waiters.set(id, new Set([settle]));
      else known.add(settle);
    });
  }

  wake(ids: readonly string[]): void {
    for (const id of ids) {
      const known = this.#waiters.get(id);
      this.#waiters.delete(id);
      for (const wake of known ?? []) wake();
    }
  }

  #wakeAll(): void {
    this.wake([...this.#waiters.keys()]);
  }

  /** Other processes' changes come as hints, which may be lost: everybody also looks again by themselves, on one timer. */
  #listen(): void {
    if (!this.#parts.store.capabilities.shared) return;
    if (!this.#watched) {
      this.#watched = true;
      void this.#watch();
    }
    this.#again ??= this.#parts.clock.after(TIMES.lookAgain, () => {
      this.#again = undefined;
      this.#wakeAll();
    });
  }

  async #watch(): Promise<void> {
    const { store, stop, log } = this.#parts;
    try {
      for await (const hint of store.watch("", stop.signal)) {
        if (hint.ids.length === 0) this.#wakeAll();
        else this.wake(hint.ids);
      }
    } catch (thrown) {
      log.warn("the store's wake-ups stopped; waiters look again by themselves", {
        problem: problemOf(thrown),
      });
    }
    this.#watched = false;
  }

  remind(id: string, at: Instant, due: () => void): void {
    if (this.#parts.stop.signal.aborted) return;
    const ms = msOf(at);
    this.#reminders.set(id, { at: ms, due });
    this.#arm(ms);
  }

  forget(id: string): void {
    this.#reminders.delete(id);
    if (this.#reminders.size > 0) return;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #arm(at: number): void {
    if (this.#timer !== undefined && this.#timer.at <= at) return;
    this.#timer?.cancel();
    const { clock } = this.#parts;
    this.#timer = { at, cancel: clock.after(Math.max(0, at - clock.now()), () => this.#ring()) };
  }

  #ring(): void {
    this.#timer = undefined;
    const now = this.#parts.clock.now();
    const due = [...this.#reminders].filter(([, reminder]) => reminder.at <= now);
    for (const [id] of due) this.#reminders.delete(id);
    let next = Number.POSITIVE_INFINITY;
    for (const reminder of this.#reminders.values()) next = Math.min(next, reminder.at);
    if (Number.isFinite(next)) this.#arm(next);
    for (const [, reminder] of due) reminder.due();
  }

  close(): void {
    this.#parts.stop.abort(new Error("the desk is closed"));
    this.#timer?.cancel();
    this.#again?.();
    this.#timer = undefined;
    this.#reminders.clear();
    this.#wakeAll();
  }
}

export const waiting = (parts: WaitingParts): Waiting => new Waiters(parts);
