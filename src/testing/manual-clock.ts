import type { Clock } from "../core/index.ts";

/** A clock that stands still until a test moves it. */
export interface ManualClock extends Clock {
  /**
   * Lets time pass: waits fall due in the order of their time, then of their making, each with the clock at exactly
   * its own time and with everything it set off settled before the next one. Without a due wait `now()` has moved
   * when the call returns, awaited or not.
   * @throws what a wait threw; RangeError for a step that is not a whole number of 0 or more
   */
  advance(ms: number): Promise<void>;
  /** Sets the wall time, forwards or backwards, as an operator or a time server does. Waits are durations: none falls due. */
  set(ms: number): void;
  /** Resolves when promises and turns of the event loop that are already under way have run. */
  settle(): Promise<void>;
  /** How many waits are open: a test that ends with one has leaked it. */
  readonly waiting: number;
}

interface Wait {
  readonly due: number;
  readonly fire: () => void;
}

/** Enough turns for a chain of that many grouped commits, each of which waits for the end of a turn. */
const SETTLE_TURNS = 8;
/** 2030-01-01T00:00:00.000Z: far from any deadline that a forgotten real clock would write. */
const START = 1_893_456_000_000;

/** @param startMs milliseconds since the epoch. Default 2030-01-01T00:00:00.000Z */
export function manualClock(startMs: number = START): ManualClock {
  return new Manual(startMs);
}

class Manual implements ManualClock {
  #wall: number;
  /** Time that has passed; waits are kept in it so that a jump of the wall time moves none. */
  #passed = 0;
  /** Where all steps asked for so far lead: a second `advance` before the first has settled adds to it. */
  #goal = 0;
  #waits: Wait[] = [];

  constructor(startMs: number) {
    this.#wall = startMs;
  }

  now(): number {
    return this.#wall;
  }

  get waiting(): number {
    return this.#waits.length;
  }

  after(ms: number, fire: () => void): () => void {
    const wait: Wait = { due: this.#passed + Math.max(0, ms), fire };
    const later = this.#waits.findIndex((other) => other.due > wait.due);
    this.#waits.splice(later === -1 ? this.#waits.length : later, 0, wait);
    return () => {
      this.#waits = this.#waits.filter((other) => other !== wait);
    };
  }

  async advance(ms: number): Promise<void> {
    if (!Number.isSafeInteger(ms) || ms < 0)
      throw new RangeError(`a clock advances by whole milliseconds of 0 or more, not ${ms}; set() jumps`);
    this.#goal += ms;
    const target = this.#goal;
    for (let next = this.#waits[0]; next !== undefined && next.due <= target; next = this.#waits[0]) {
      this.#waits.shift();
      this.#pass(next.due);
      next.fire();
      await this.settle();
    }
    this.#pass(target);
    await this.settle();
  }

  set(ms: number): void {
    this.#wall = ms;
  }

  async settle(): Promise<void> {
    for (let turn = 0; turn < SETTLE_TURNS; turn++) await new Promise<void>((done) => setImmediate(done));
  }

  #pass(to: number): void {
    if (to <= this.#passed) return;
    this.#wall += to - this.#passed;
    this.#passed = to;
  }
}
