import type { Flag } from "./card.ts";
import type { JsonObject, JsonValue } from "./json-value.ts";
import { maskSecrets } from "./mask.ts";
import { opaqueIn } from "./opaque.ts";
import { formatPointer } from "./pointer.ts";
import { BIDI_CONTROL, escapeOf, TAG_CHARACTER, unseenIn, visible, type Unseen } from "./visible.ts";

/** From here on a value does not fit one look. */
const LONG_TEXT = 2000;
const LONG_LINES = 60;
const MANY_MEMBERS = 60;
const DEEP = 8;
/** Blanks in a row that move what follows out of sight; code is indented less. */
const BLANK_RUN = 40;
/** Different characters that one note names. */
const NAMED = 5;

const amount = (count: number, what: string, several: string = `${what}s`): string => `${count} ${count === 1 ? what : several}`;

type Note = Pick<Flag, "kind" | "note">;
type HiddenKind = "control" | "bidi" | "tag" | "invisible";

function hiddenKind({ char, count }: Unseen, next: string | undefined): HiddenKind | undefined {
  if (char === "\r") return next === "\n" && count === 1 ? undefined : "control";
  if (/[\n\t\\]|\p{Z}|\p{M}(?<!\p{DI})/u.test(char) && !/[\p{Zl}\p{Zp}]/u.test(char)) return undefined;
  if (BIDI_CONTROL.test(char)) return "bidi";
  if (TAG_CHARACTER.test(char)) return "tag";
  return /\p{Cc}/u.test(char) ? "control" : "invisible";
}

/** One of them, and several. */
const HIDDEN: Readonly<Record<HiddenKind, readonly [string, string]>> = {
  control: ["control character", "control characters"],
  bidi: ["character that reorders text", "characters that reorder text"],
  tag: ["tag character", "tag characters"],
  invisible: ["invisible or unassigned character", "invisible or unassigned characters"],
};

/** What the tag block spells: a second alphabet that programs read and people do not see. */
const tagText = (chars: string): string =>
  [...chars].map((char) => String.fromCodePoint(Math.max(0x20, (char.codePointAt(0) as number) - 0xe0000))).join("");

function hiddenNotes(text: string): readonly Note[] {
  const found = new Map<HiddenKind, { count: number; chars: Set<string>; text: string }>();
  for (const run of unseenIn(text)) {
    const kind = hiddenKind(run, text[run.offset + run.count]);
    if (kind === undefined) continue;
    const entry = found.get(kind) ?? { count: 0, chars: new Set<string>(), text: "" };
    entry.count += run.count;
    entry.chars.add(run.char);
    if (kind === "tag" && entry.text.length < LONG_TEXT) entry.text += run.char.repeat(Math.min(run.count, LONG_TEXT));
    found.set(kind, entry);
  }
  return [...found].map(([kind, { count, chars, text: hidden }]) => {
    if (kind === "tag") return { kind, note: `${amount(count, ...HIDDEN.tag)}, hidden text: "${visible(tagText(hidden))}"` };
    const names = [...chars].slice(0, NAMED).map(escapeOf);
    return { kind, note: `${amount(count, ...HIDDEN[kind])}: ${names.join(" ")}${chars.size > NAMED ? " …" : ""}` };
  });
}

const BLANKS = new RegExp(`[\\p{Zs}\\t]{${BLANK_RUN + 1},}|\\n{9,}`, "gu");

const blankNotes = (text: string): readonly Note[] =>
  [...text.matchAll(BLANKS)]
    .slice(0, NAMED)
    .map(([run]) => ({ kind: "blank_run", note: `${run.length} blanks in a row; what follows them is part of the value` }));

/** Letters of other alphabets that are drawn like Latin ones. Letters such as Δ and µ are not, and stand in any formula. */
const LOOK_ALIKE =
  /[\p{Script=Cyrillic}\p{Script=Armenian}\p{Script=Cherokee}\u0391\u0392\u0395-\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03b1\u03b3\u03b9\u03ba\u03bd\u03bf\u03c1\u03c5\u03c7\u03f2\u03f3]/u;
const IN_DISGUISE = /[\uff21-\uff3a\uff41-\uff5a\uff10-\uff19\u{1d400}-\u{1d7ff}]/u;
/** A name, a host or an address: letters, digits and what joins them. */
const TOKEN = /[\p{L}\p{M}\p{N}]+(?:[-._@][\p{L}\p{M}\p{N}]+)*/gu;
const HOST = /\.[a-z]{2,}$/iu;
const WORDS = /[-._@]/u;

const codePoints = (text: string): string =>
  [...text]
    .filter((char) => LOOK_ALIKE.test(char) || IN_DISGUISE.test(char))
    .slice(0, 8)
    .map((char) => `${char} is U+${(char.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, "0")}`)
    .join(", ");

const mixes = (text: string): boolean => IN_DISGUISE.test(text) || (/\p{Script=Latin}/u.test(text) && LOOK_ALIKE.test(text));

function mixedNotes(text: string): readonly Note[] {
  const notes: Note[] = [];
  if (!LOOK_ALIKE.test(text) && !IN_DISGUISE.test(text)) return notes;
  for (const [token] of text.matchAll(TOKEN)) {
    const parts = HOST.test(token) || token.includes("@") ? [token] : token.split(WORDS);
    const part = parts.find(mixes);
    if (part === undefined) continue;
    notes.push({
      kind: "mixed_script",
      note: `"${visible(part.slice(0, 80))}" mixes letters that look alike: ${codePoints(part)}`,
    });
    if (notes.length === NAMED) break;
  }
  return notes;
}

function opaqueNotes(text: string): readonly Note[] {
  const notes: Note[] = [];
  for (const { form, length, text: said } of opaqueIn(text)) {
    const meaning = said === null ? "not inspectable" : `not inspectable as it stands; it reads: "${visible(said)}"`;
    notes.push({ kind: "opaque", note: `${form} of ${amount(length, "character")}, ${meaning}` });
    if (notes.length === NAMED) break;
  }
  return notes;
}

function lengthNotes(text: string): readonly Note[] {
  const lines = text.split("\n").length;
  return text.length <= LONG_TEXT && lines <= LONG_LINES
    ? []
    : [{ kind: "long", note: `${amount(text.length, "character")} in ${amount(lines, "line")}` }];
}

const formNotes = (text: string): readonly Note[] =>
  text.normalize("NFC") !== text
    ? [{ kind: "not_nfc", note: "not in normal form C: another spelling of it looks the same and is not the same" }]
    : [];

/** Printable ASCII with its blanks and ends of lines hides nothing, is like no other letter and has one spelling only. */
const ORDINARY = /^[\n\t -~]*$/;

/** What the three notes on ordinary text are made of is longer: most names and many values are done with one look. */
const SHORT = 8;

function textNotes(text: string): readonly Note[] {
  if (!ORDINARY.test(text))
    return [
      ...hiddenNotes(text),
      ...blankNotes(text),
      ...mixedNotes(text),
      ...formNotes(text),
      ...opaqueNotes(text),
      ...lengthNotes(text),
    ];
  return text.length <= SHORT ? [] : [...blankNotes(text), ...opaqueNotes(text), ...lengthNotes(text)];
}

const MAGIC: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);
/** Names by which a caller has tried to answer for the person. In arguments they are data and answer nothing. */
const RESERVED =
  /^(?:confirm(?:ed|ation)?|(?:user|human|pre|auto|is)?approved?|approval|consent|skipconfirm(?:ation)?|autoapprove|bypass|yolo|hitl.*|holdpoint.*)$/u;

function nameNotes(name: string): readonly Note[] {
  const notes: Note[] = textNotes(name).map(({ kind, note }) => ({ kind, note: `in the name: ${note}` }));
  if (MAGIC.has(name))
    notes.push({ kind: "magic_key", note: `a member is called ${name}; some programs treat that name specially` });
  if (RESERVED.test(name.toLowerCase().replace(/[^a-z]/gu, ""))) {
    notes.push({ kind: "reserved_name", note: `"${visible(name)}" is an argument like any other and approves nothing` });
  }
  return notes;
}

type Path = readonly (string | number)[];

function* walk(value: JsonValue, path: Path): Generator<Flag> {
  const pointer = formatPointer(path);
  const flag = (note: Note): Flag => ({ ...note, pointer });
  if (typeof value === "string") yield* textNotes(value).map(flag);
  if (typeof value !== "object" || value === null) return;
  const entries: readonly (readonly [string | number, JsonValue])[] = Array.isArray(value)
    ? [...value.entries()]
    : Object.entries(value);
  if (entries.length > MANY_MEMBERS) yield flag({ kind: "long", note: amount(entries.length, "member") });
  if (path.length === DEEP && entries.length > 0) yield flag({ kind: "deep", note: `more than ${DEEP} levels deep` });
  for (const [key, inner] of entries) {
    const at = [...path, key];
    if (typeof key === "string") yield* nameNotes(key).map((note) => ({ ...note, pointer: formatPointer(at) }));
    yield* walk(inner, at);
  }
}

/** Flags of one kind that are listed; the rest is counted, so that a flood of one cannot bury the others. */
const EACH_KIND = 20;

function folded(flags: Iterable<Flag>): readonly Flag[] {
  const kept: Flag[] = [];
  const counts = new Map<Flag["kind"], number>();
  for (const flag of flags) {
    const count = (counts.get(flag.kind) ?? 0) + 1;
    counts.set(flag.kind, count);
    if (count <= EACH_KIND) kept.push(flag);
  }
  for (const [kind, count] of counts) {
    if (count > EACH_KIND) kept.push({ kind, pointer: "", note: `${count - EACH_KIND} more of this kind` });
  }
  return kept;
}

/**
 * What a reader of these arguments could miss, in the order of the arguments; beyond 20 of a kind, how many more. It
 * looks at the arguments with their secrets masked, so that no note decodes one. Notes are one line of ours; any part of
 * a value in them is already visible-escaped. Flags inform: they never change a verdict. Linear in the size of `args`.
 */
export const flagsOf = (args: JsonObject): readonly Flag[] => folded(walk(maskSecrets(args).shown, []));
