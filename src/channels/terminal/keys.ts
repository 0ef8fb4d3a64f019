/** What a person did, read from the bytes of a terminal in raw mode. */
export type Key =
  | { readonly key: "text"; readonly text: string }
  | { readonly key: "paste" }
  /** The terminal's answer to a question about its cursor. Counted from 1. */
  | { readonly key: "position"; readonly row: number; readonly column: number }
  | { readonly key: Named };

type Named =
  | "enter"
  | "backspace"
  | "delete"
  | "left"
  | "right"
  | "home"
  | "end"
  | "clear"
  | "word"
  | "redraw"
  | "interrupt"
  | "eof"
  | "escape"
  | "other";

const CONTROLS: ReadonlyMap<string, Named> = new Map([
  ["\u0001", "home"],
  ["\u0003", "interrupt"],
  ["\u0004", "eof"],
  ["\u0005", "end"],
  ["\b", "backspace"],
  ["\n", "enter"],
  ["\f", "redraw"],
  ["\r", "enter"],
  ["\u0015", "clear"],
  ["\u0017", "word"],
  ["\u007f", "backspace"],
]);
const FINALS: ReadonlyMap<string, Named> = new Map([
  ["C", "right"],
  ["D", "left"],
  ["F", "end"],
  ["H", "home"],
]);
const NUMBERED: ReadonlyMap<string, Named> = new Map([
  ["1", "home"],
  ["3", "delete"],
  ["4", "end"],
  ["7", "home"],
  ["8", "end"],
]);

const ESC = "\u001b";
const PASTE_END = `${ESC}[201~`;
/** A sequence that is still open after that much is none. */
const LONGEST_SEQUENCE = 4096;

// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals speak in control characters
const CSI = /^\u001b\[([0-?]*)([ -/]*)([@-~])/u;
// biome-ignore lint/suspicious/noControlCharactersInRegex: as above
const OPEN_CSI = /^\u001b\[[0-?]*[ -/]*$/u;
/** Answers of the terminal itself (OSC, DCS, APC, PM, SOS): never typed text, whatever they hold. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: as above
const STRING_END = /\u0007|\u001b\\|[\r\n\u0003]/u;
const POSITION = /^(\d{1,4});(\d{1,4})$/u;

/** What one look at the buffer gave: keys, and how many characters they took; `undefined`: more must come first. */
type Taken = { readonly keys: readonly Key[]; readonly length: number } | undefined;

const named = (key: Named, length: number): Taken => ({ keys: [{ key }], length });

function csi(parameters: string, final: string, length: number): Taken {
  const position = final === "R" ? POSITION.exec(parameters) : null;
  if (position !== null) return { keys: [{ key: "position", row: Number(position[1]), column: Number(position[2]) }], length };
  const key = final === "~" ? NUMBERED.get(parameters) : parameters === "" ? FINALS.get(final) : undefined;
  return named(key ?? "other", length);
}

/** A string of the terminal ends where a person's Enter or Ctrl-C begins: nothing may swallow those. */
function terminalString(rest: string): Taken {
  const end = STRING_END.exec(rest);
  if (end === null) return rest.length > LONGEST_SEQUENCE ? named("escape", 1) : undefined;
  const closed = end[0] === "\u0007" || end[0].length === 2;
  return closed ? named("other", end.index + end[0].length) : named("escape", end.index);
}

function sequence(rest: string): Taken {
  const next = rest[1];
  if (next === undefined) return undefined;
  if (next === "O") return rest.length < 3 ? undefined : named(FINALS.get(rest[2] as string) ?? "other", 3);
  if ("]P_^X".includes(next)) return terminalString(rest);
  if (next !== "[") return named("escape", 1);
  const found = CSI.exec(rest);
  if (found !== null) return csi(found[1] as string, found[3] as string, found[0].length);
  return OPEN_CSI.test(rest) && rest.length < 64 ? undefined : named("escape", 1);
}

/**
 * Reads keys from a terminal's bytes, chunk by chunk. What cannot be told from a key by its bytes alone, a lone Escape,
 * waits until more comes or {@link KeyReader.flush} says that nothing does.
 */
export class KeyReader {
  #buffer = "";
  #pasting = false;
  #returned = false;

  /** What has come is the beginning of something. */
  get unfinished(): boolean {
    return this.#pasting || this.#buffer !== "";
  }

  push(text: string): readonly Key[] {
    this.#buffer += text;
    return this.#read();
  }

  /** Nothing followed: what waits was typed as it is. An unfinished paste has ended. */
  flush(): readonly Key[] {
    const pasted: readonly Key[] = this.#pasting ? [{ key: "paste" }] : [];
    const rest = this.#pasting ? "" : this.#buffer;
    this.#pasting = false;
    this.#buffer = rest.slice(1);
    return rest === "" ? pasted : [{ key: "escape" }, ...this.#read()];
  }

  #read(): Key[] {
    const keys: Key[] = [];
    for (let taken = this.#take(); taken !== undefined; taken = this.#take()) {
      this.#returned = this.#buffer.startsWith("\r");
      this.#buffer = this.#buffer.slice(taken.length);
      keys.push(...taken.keys);
    }
    return keys;
  }

  #take(): Taken {
    if (this.#pasting) return this.#paste();
    const first = this.#buffer[0];
    if (first === undefined) return undefined;
    if (this.#buffer.startsWith(`${ESC}[200~`)) {
      this.#pasting = true;
      return { keys: [], length: 6 };
    }
    if (first === ESC) return sequence(this.#buffer);
    // The second half of an Enter of two characters, whenever it comes.
    if (first === "\n" && this.#returned) return { keys: [], length: 1 };
    const control = CONTROLS.get(first);
    if (control !== undefined) return named(control, 1);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: as above
    const text = /^[^\u0000-\u001f\u007f]+/u.exec(this.#buffer)?.[0];
    return text === undefined ? named("other", 1) : { keys: [{ key: "text", text }], length: text.length };
  }

  /** What is pasted is not looked at: it is nobody's answer. */
  #paste(): Taken {
    const end = this.#buffer.indexOf(PASTE_END);
    if (end < 0) {
      this.#buffer = this.#buffer.slice(-(PASTE_END.length - 1));
      return undefined;
    }
    this.#pasting = false;
    return { keys: [{ key: "paste" }], length: end + PASTE_END.length };
  }
}
