/** Where the cursor was when the question was drawn, with the cells of the text that was typed by then. */
interface Position {
  readonly row: number;
  readonly column: number;
  readonly typed: number;
}

/** `home`: the question was just drawn. `key`: a key came and is not drawn yet. `check`: a yes came. */
export type Asked = "home" | "key" | "check";

const WHERE_ARE_YOU = "\u001b[6n";
/** A terminal that has answered before answers within this time, over slow lines too. */
const ANSWER_MS = 1000;
/** One that never did is waited for once a question; it may be none that can. */
const FIRST_ANSWER_MS = 300;

/**
 * Tells whether somebody else has written on the terminal: before a key is drawn, and before a yes counts, the cursor
 * must be where our own typing left it. A terminal that does not say where its cursor is cannot be watched so.
 */
export class Cursor {
  readonly #write: (text: string) => void;
  readonly #now: () => number;
  #asked: { readonly what: Asked; readonly typed: number; readonly at: number }[] = [];
  #home: Position | undefined;
  /** `undefined`: not known yet. */
  #speaks: boolean | undefined;

  constructor(write: (text: string) => void, now: () => number) {
    this.#write = write;
    this.#now = now;
  }

  /** Answers are under way: they must not arrive in the host's input, nor a yes count before them. */
  get isPending(): boolean {
    const last = this.#asked.at(-1);
    return last !== undefined && this.#now() - last.at < this.patience;
  }

  /** Milliseconds to wait for them. */
  get patience(): number {
    return this.#speaks === true ? ANSWER_MS : FIRST_ANSWER_MS;
  }

  /** What was drawn is drawn anew: no earlier place counts. */
  forget(): void {
    this.#home = undefined;
  }

  ask(what: Asked, typed: number): void {
    const at = this.#now();
    if (this.#speaks === undefined && at - (this.#asked[0]?.at ?? at) >= FIRST_ANSWER_MS) this.gaveUp();
    if (this.#speaks === false) return;
    this.#asked.push({ what, typed, at });
    this.#write(WHERE_ARE_YOU);
  }

  /** The terminal says where the cursor was. @returns what it was asked for, and whether that is where we left it */
  answered(row: number, column: number): { readonly what: Asked; readonly same: boolean } | undefined {
    const asked = this.#asked.shift();
    if (asked === undefined) return undefined;
    this.#speaks = true;
    if (asked.what === "home") this.#home = { row, column, typed: asked.typed };
    const home = this.#home;
    const same = home === undefined || (row === home.row && column - asked.typed === home.column - home.typed);
    return { what: asked.what, same: same && (home !== undefined || asked.what !== "check") };
  }

  /** The time is over. @returns true where this terminal has never answered, and is not asked again */
  gaveUp(): boolean {
    this.#asked = [];
    this.#speaks = this.#speaks === true;
    return !this.#speaks;
  }
}
