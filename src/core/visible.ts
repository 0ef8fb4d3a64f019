/**
 * Text from outside, made safe to look at: escaped, never stripped and never cut, so that two different values never
 * look the same and no value can steer a terminal, reorder a line or hide in it (P-13; A03 to A10).
 */

/** `line`: a line feed is written `\n`. `block`: it starts a new line, in front of which the caller draws its gutter. */
export type VisibleStyle = "line" | "block";

/** What reorders what is displayed (Trojan Source, CVE-2021-42574). */
export const BIDI_CONTROL: RegExp = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;
/** A second alphabet that no font draws. */
export const TAG_CHARACTER: RegExp = /[\u{e0000}-\u{e007f}]/u;

/** Longer runs become one counted mark: what stands after 4,000 blanks must be on the same screen (A11). */
const RUN = 8;
/** Code is indented deeper than that, and an indentation moves nothing out of view. */
const INDENT = 32;
/** Marks on one letter: more of them paint over the lines above and below. */
const MARKS = 6;
/** A mark that a font draws; some marks are invisible by definition. */
const MARK = String.raw`(?:(?!\p{DI})\p{M})`;

/**
 * Sequences that need invisible characters to be drawn at all, closed on purpose: joined emoji (the longest recommended
 * one joins four), emoji presentation, keycaps, and the three flags of regions. Any other use of those characters hides.
 */
const ONE_EMOJI = String.raw`(?!\p{Cn})\p{ExtPict}(?:\ufe0f|\p{EMod})?`;
const EMOJI = String.raw`\u{1f3f4}\u{e0067}\u{e0062}(?:\u{e0065}\u{e006e}\u{e0067}|\u{e0073}\u{e0063}\u{e0074}|\u{e0077}\u{e006c}\u{e0073})\u{e007f}|${ONE_EMOJI}(?:\u200d${ONE_EMOJI}){0,4}|[0-9#*]\ufe0f\u20e3`;
/** A letter and what stands on it. A mark with nothing under it would stand on our own frame. */
const LETTER = String.raw`(?![\\\u2800\u{1d159}]|\p{DI})[\p{L}\p{N}\p{P}\p{S}]${MARK}{1,${MARKS}}`;
/** Everything that is not drawn as itself: controls, formats, separators, what is unassigned or blank, loose marks. */
const UNSEEN = String.raw`\p{C}|\p{Z}|\p{DI}|\p{M}|[\\\u2800\u{1d159}]`;
const TOKEN = new RegExp(`(?<kept>${EMOJI}|${LETTER})|(?<unseen>${UNSEEN})\\k<unseen>*`, "gu");

/** Words of printable ASCII with one blank between them are shown as they are. */
const PLAIN = /^[!-[\]-~]+(?: [!-[\]-~]+)*$/;
/** As much of a text as needs more than a look at each character: what is no ASCII, and the letter or digit it may stand on. */
const BEYOND_ASCII = /[!-[\]-~]?[^\0-\x7f]+/g;
const TOKEN_OF_ASCII = /(?<unseen>[\0- \\\x7f])\k<unseen>*/g;

const NAMED: ReadonlyMap<string, string> = new Map([
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
  ["\\", "\\\\"],
]);

const codeOf = (char: string): string => (char.codePointAt(0) as number).toString(16);

/** How one character is written: `\u001b`, `\u{e0100}`, and `\n`, `\r`, `\t`, `\\`. */
export function escapeOf(char: string): string {
  const named = NAMED.get(char);
  if (named !== undefined) return named;
  return char.length === 1 ? `\\u${codeOf(char).padStart(4, "0")}` : `\\u{${codeOf(char)}}`;
}

/** What the escaping found at one place: `count` times the same character, beginning at `offset` (UTF-16 units). */
export interface Unseen {
  readonly char: string;
  readonly count: number;
  readonly offset: number;
}

function* unseenOf(part: string, token: RegExp, start: number): Generator<Unseen> {
  for (const match of part.matchAll(token)) {
    const char = match.groups?.unseen;
    if (char !== undefined) yield { char, count: match[0].length / char.length, offset: start + match.index };
  }
}

/** Everything in `text` that is not drawn as itself, in order; single blanks and line feeds included. */
export function* unseenIn(text: string): Generator<Unseen> {
  let from = 0;
  for (const { 0: part, index } of text.matchAll(BEYOND_ASCII)) {
    yield* unseenOf(text.slice(from, index), TOKEN_OF_ASCII, from);
    yield* unseenOf(part, TOKEN, index);
    from = index + part.length;
  }
  yield* unseenOf(text.slice(from), TOKEN_OF_ASCII, from);
}

/** Blanks stay blanks, save where nobody could see them: a long run, or the last one before a line ends. */
function blanks(text: string, run: Unseen, style: VisibleStyle): string {
  const before = run.offset === 0 ? "\n" : text[run.offset - 1];
  const after = text[run.offset + run.count] ?? "\n";
  const limit = style === "block" && before === "\n" ? INDENT : RUN;
  if (run.count > limit) return `\\u{20*${run.count}}`;
  return after === "\n" ? `${" ".repeat(run.count - 1)}\\u0020` : " ".repeat(run.count);
}

function shown(text: string, run: Unseen, style: VisibleStyle): string {
  if (run.char === " ") return blanks(text, run, style);
  if (run.count > RUN) return `\\u{${codeOf(run.char)}*${run.count}}`;
  if (run.char === "\n" && style === "block") return "\n".repeat(run.count);
  return escapeOf(run.char).repeat(run.count);
}

/**
 * `text` for people. Injective: {@link unescapeVisible} gives exactly `text` back. Letters of every script, right to
 * left too, and emoji stay readable. Linear in the length of `text`.
 */
export function visible(text: string, style: VisibleStyle = "line"): string {
  if (PLAIN.test(text)) return text;
  let out = "";
  let from = 0;
  for (const run of unseenIn(text)) {
    out += text.slice(from, run.offset) + shown(text, run, style);
    from = run.offset + run.count * run.char.length;
  }
  return out + text.slice(from);
}

/** `text` in quotation marks, as values stand on cards: quotes inside are escaped too, so that the end is where it is. */
export const quoted = (text: string, style: VisibleStyle = "line"): string => `"${visible(text, style).replaceAll('"', '\\"')}"`;

/** The longest run that is read back: a text that was not written by {@link visible} must not fill the memory. */
const LONGEST = 1 << 24;
const ESCAPE = /\\(?:u\{([0-9a-f]{1,6})(?:\*(\d{1,8}))?\}|u([0-9a-f]{4})|([nrt\\"]))/g;
const SHORT: ReadonlyMap<string, string> = new Map([
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
  ["\\", "\\"],
  ['"', '"'],
]);

/**
 * The value behind what {@link visible} or {@link quoted} (without its outer quotes) wrote.
 * @throws RangeError for an escape that they would not have written
 */
export function unescapeVisible(text: string): string {
  let out = "";
  let from = 0;
  for (const match of text.matchAll(ESCAPE)) {
    const [whole, wide, times, narrow, short] = match;
    out += text.slice(from, match.index);
    from = match.index + whole.length;
    const count = Number(times ?? 1);
    if (count > LONGEST) throw new RangeError("not a text that was made visible by us: a run is too long");
    out +=
      short === undefined
        ? String.fromCodePoint(Number.parseInt((wide ?? narrow) as string, 16)).repeat(count)
        : (SHORT.get(short) as string);
  }
  return out + text.slice(from);
}
