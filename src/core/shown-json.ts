import type { JsonArray, JsonObject, JsonValue } from "./json-value.ts";
import { quoted, unescapeVisible } from "./visible.ts";

/**
 * JSON as cards show it: names in order, every text quoted and visible, types to be told apart (`"1000"` and `1000`,
 * `""`, `null`, `{}`). Not strict JSON: an escape may be `\u{e0100}` or a counted run. It reads back to the same value.
 */

/** What stands in front of the further lines of a text, so that none of them can pass for a member of its own. */
const MORE = "┊ ";

const members = (value: JsonObject): readonly (readonly [string, JsonValue])[] =>
  Object.keys(value)
    .sort()
    .map((name) => [name, value[name] as JsonValue]);

/** `-0` is a value of its own. */
const numberText = (value: number): string => (Object.is(value, -0) ? "-0" : String(value));

/** On one line, for lists and headlines. */
export function compactJson(value: JsonValue): string {
  if (typeof value === "string") return quoted(value);
  if (typeof value === "number") return numberText(value);
  if (typeof value !== "object" || value === null) return String(value);
  if (Array.isArray(value)) return `[${value.map((item: JsonValue) => compactJson(item)).join(",")}]`;
  return `{${members(value as JsonObject)
    .map(([name, item]) => `${quoted(name)}:${compactJson(item)}`)
    .join(",")}}`;
}

function textLines(text: string, indent: string): string[] {
  const [first = "", ...more] = quoted(text, "block").split("\n");
  return [first, ...more.map((line) => `${indent}${MORE}${line}`)];
}

/** Lines of a value that begins behind `indent`; the first line carries no indent. */
function lines(value: JsonValue, indent: string): string[] {
  if (typeof value === "string") return textLines(value, indent);
  if (typeof value !== "object" || value === null) return [compactJson(value)];
  const entries = Array.isArray(value)
    ? value.map((item: JsonValue): readonly [string, JsonValue] => ["", item])
    : members(value as JsonObject).map(([name, item]): readonly [string, JsonValue] => [`${quoted(name)}: `, item]);
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  if (entries.length === 0) return [`${open}${close}`];
  const inner = `${indent}  `;
  const out = [open];
  for (const [index, [name, item]] of entries.entries()) {
    const block = lines(item, inner);
    block[0] = `${inner}${name}${block[0] as string}`;
    if (index < entries.length - 1) block.push(`${block.pop() as string},`);
    for (const line of block) out.push(line);
  }
  out.push(`${indent}${close}`);
  return out;
}

/** One member a line; a text of several lines keeps them, each behind a mark of its own. */
export const shownJson = (value: JsonValue): readonly string[] => lines(value, "");

interface Reader {
  readonly text: string;
  at: number;
}

const blame = (reader: Reader): never => {
  throw new RangeError(`not JSON as cards show it, at character ${reader.at}`);
};

function taken(reader: Reader, pattern: RegExp): string | undefined {
  pattern.lastIndex = reader.at;
  const found = pattern.exec(reader.text)?.[0];
  reader.at += found?.length ?? 0;
  return found;
}

const BLANKS = /[ \n]*/y;
const TEXT = /"(?:[^"\\]|\\.)*"/suy;
const WORD = /true|false|null/y;
const NUMBER = /-?\d[\d.eE+-]*/y;
const CONTINUED = /\n *┊ /g;

const textOf = (reader: Reader): string => {
  const found = taken(reader, TEXT);
  return found === undefined ? blame(reader) : unescapeVisible(found.slice(1, -1).replace(CONTINUED, "\n"));
};

const WORDS: ReadonlyMap<string, JsonValue> = new Map<string, JsonValue>([
  ["true", true],
  ["false", false],
  ["null", null],
]);

/** Everything between an opening bracket and its closing one. */
function listed<Item>(reader: Reader, close: string, item: () => Item): Item[] {
  const found: Item[] = [];
  reader.at += 1;
  taken(reader, BLANKS);
  while (reader.text[reader.at] !== close) {
    found.push(item());
    taken(reader, BLANKS);
    if (reader.text[reader.at] === ",") reader.at += 1;
    else if (reader.text[reader.at] !== close) blame(reader);
    taken(reader, BLANKS);
  }
  reader.at += 1;
  return found;
}

function memberOf(reader: Reader): [string, JsonValue] {
  const name = textOf(reader);
  taken(reader, BLANKS);
  if (reader.text[reader.at] !== ":") blame(reader);
  reader.at += 1;
  return [name, readValue(reader)];
}

function readValue(reader: Reader): JsonValue {
  taken(reader, BLANKS);
  const next = reader.text[reader.at];
  if (next === "{") return Object.fromEntries(listed(reader, "}", () => memberOf(reader)));
  if (next === "[") return listed(reader, "]", () => readValue(reader)) as JsonArray;
  if (next === '"') return textOf(reader);
  const word = taken(reader, WORD);
  if (word !== undefined) return WORDS.get(word) ?? null;
  const number = taken(reader, NUMBER);
  return number === undefined ? blame(reader) : Number(number);
}

/** The value that {@link shownJson} or {@link compactJson} showed. @throws RangeError for anything that they did not write */
export function readShownJson(text: string): JsonValue {
  const reader: Reader = { text, at: 0 };
  const value = readValue(reader);
  taken(reader, BLANKS);
  return reader.at === text.length ? value : blame(reader);
}
