import type { Hint, WatchSignal } from "../core/index.ts";
import { commitCursor } from "./cursor.ts";

/** A hint that would name more than this says "look at everything" instead: a slow reader must not hoard names. */
const MAX_IDS = 256;

/** Hands hints of commits to whoever watches, each at its own pace; what one has not read yet is merged, never dropped. */
export class Hints {
  readonly #watchers = new Set<Watcher>();
  readonly #onCount: (watchers: number) => void;

  /** @param onCount hears how many watch, after each change of it */
  constructor(onCount: (watchers: number) => void = () => undefined) {
    this.#onCount = onCount;
  }

  get watched(): boolean {
    return this.#watchers.size > 0;
  }

  /** @param ids what changed; `null`: too much to name */
  publish(seq: number, ids: readonly string[] | null): void {
    for (const watcher of this.#watchers) watcher.add(seq, ids);
  }

  /**
   * Watches from now on, also before the first hint is asked for.
   * @param missed asked once, with the first hint: the newest commit where the watcher has not seen it, and then the
   *   first hint says "everything"
   */
  watch(missed: () => Promise<number | undefined>, signal: WatchSignal): AsyncIterable<Hint> {
    const watcher = new Watcher();
    const end = (): void => {
      signal.removeEventListener("abort", end);
      watcher.end();
      if (this.#watchers.delete(watcher)) this.#onCount(this.#watchers.size);
    };
    this.#watchers.add(watcher);
    this.#onCount(this.#watchers.size);
    if (signal.aborted) end();
    else signal.addEventListener("abort", end);
    return read(watcher, missed, end);
  }

  close(): void {
    for (const watcher of this.#watchers) watcher.end();
    this.#watchers.clear();
    this.#onCount(0);
  }
}

async function* read(
  watcher: Watcher,
  missed: () => Promise<number | undefined>,
  end: () => void,
): AsyncGenerator<Hint, void, undefined> {
  try {
    const newest = watcher.ended ? undefined : await missed();
    if (newest !== undefined) watcher.add(newest, null);
    while (!watcher.ended) {
      const hint = watcher.take();
      if (hint === undefined) await watcher.changed();
      else yield hint;
    }
  } finally {
    end();
  }
}

class Watcher {
  #seq = 0;
  #ids: Set<string> | null = new Set();
  #wake: (() => void) | undefined;
  ended = false;

  add(seq: number, ids: readonly string[] | null): void {
    this.#seq = Math.max(this.#seq, seq);
    if (ids === null) this.#ids = null;
    else for (const id of ids) this.#ids?.add(id);
    if (this.#ids !== null && this.#ids.size > MAX_IDS) this.#ids = null;
    this.#stir();
  }

  take(): Hint | undefined {
    if (this.#seq === 0) return undefined;
    const hint = { cursor: commitCursor(this.#seq), ids: this.#ids === null ? [] : [...this.#ids] };
    this.#seq = 0;
    this.#ids = new Set();
    return hint;
  }

  changed(): Promise<void> {
    return new Promise((wake) => {
      this.#wake = wake;
    });
  }

  end(): void {
    this.ended = true;
    this.#stir();
  }

  #stir(): void {
    this.#wake?.();
    this.#wake = undefined;
  }
}
