import { JSON_LIMITS } from "./json-value.ts";
import { RawNumber } from "./json-raw.ts";
import { depthOf, fault, isText, numberProblem, setMember } from "./json-rules.ts";
import { formatPointer } from "./pointer.ts";
import type { JsonFault, JsonLimits, JsonProblem, JsonValue } from "./json-value.ts";

/** What a message is made of: JSON, and numbers that are only text to us. */
export type MessageValue = null | boolean | number | string | RawNumber | readonly MessageValue[] | MessageObject;
export interface MessageObject {
  readonly [key: string]: MessageValue;
}

/** A stretch of a text, in UTF-16 units: `text.slice(start, end)`. */
export interface Span {
  readonly start: number;
  readonly end: number;
}
export interface Message {
  readonly value: MessageValue;
  /** Where a value stands in the text, down to three steps; `undefined` where there is none. */
  span(pointer: string): Span | undefined;
}

/**
 * Reads a text as I-JSON (RFC 7493), which `JSON.parse` does not do: it keeps the last of two equal keys, and rounds.
 * A fraction of at most 17 significant digits is rounded to the nearest double, as every reader does; a longer one, an
 * integer beyond 2^53-1 and anything that would become `0` are refused. `-0` is read as `0`.
 * @returns a deep-frozen value
 * @throws JsonFault at the first fault
 */
export function readJson(text: string, limits: JsonLimits = JSON_LIMITS): JsonValue {
  return new Reader(text, limits, { inexact: "refuse" }).document() as JsonValue;
}

/**
 * Reads a message that is to be forwarded as its own text: as strict as {@link readJson}, but a number that JavaScript
 * cannot hold exactly is kept as a {@link RawNumber}.
 * @throws JsonFault at the first fault
 */
export function readMessage(text: string, limits: JsonLimits = JSON_LIMITS): Message {
  const spans = new Map<string, Span>();
  const value = new Reader(text, limits, { inexact: "keep", spans }).document();
  return { value, span: (pointer) => spans.get(pointer) };
}

interface Reading {
  readonly inexact: "refuse" | "keep";
  readonly spans?: Map<string, Span>;
}

const SPAN_STEPS = 3;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
/** No double needs more significant digits than this to be told from its neighbours; no safe integer has more than one less. */
const DOUBLE_DIGITS = 17;
/**
 * What ends a run of ordinary characters in a string. Looked for run by run: one pattern for a whole string would overflow
 * the stack of the pattern matcher on a long one.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: RFC 8259 forbids exactly these inside a string
const SPECIAL = /["\\\u0000-\u001f]/g;
/** What makes a string one to be read with care. Most have nothing of it, and are taken as they stand. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: RFC 8259 forbids exactly these inside a string
const AWKWARD = /[\\\u0000-\u001f\ud800-\udfff]/;
const UNIT = /^[0-9a-fA-F]{4}$/;
const MEANT: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ["\\", "\\"],
  ["/", "/"],
  ["b", "\b"],
  ["f", "\f"],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
]);

/**
 * True when `value`, finite and no unsafe integer, stands for what `token` says. A fraction may be rounded within the digits
 * that a double has; a longer one comes from a decimal type whose digits would be lost, a whole value must be meant whole,
 * and `0` must be written as such.
 */
function isKept(token: string, value: number): boolean {
  if (value === 0) return significantDigits(token) === 0;
  if (token.length < DOUBLE_DIGITS) return true;
  return significantDigits(token) <= (Number.isInteger(value) ? DOUBLE_DIGITS - 1 : DOUBLE_DIGITS);
}

/** Digits of a number token from the first to the last that is not `0`. A loop: a pattern would look at long runs of zeros twice. */
function significantDigits(token: string): number {
  let digits = 0;
  let upToLast = 0;
  for (const character of token) {
    if (character === "e" || character === "E") break;
    if (character < "0" || character > "9") continue;
    if (character !== "0" || digits > 0) digits += 1;
    if (character !== "0") upToLast = digits;
  }
  return upToLast;
}

class Reader {
  readonly #text: string;
  readonly #limits: JsonLimits;
  readonly #reading: Reading;
  /** The steps to where we are; its length is also the depth. */
  readonly #path: (string | number)[] = [];
  #at = 0;

  constructor(text: string, limits: JsonLimits, reading: Reading) {
    this.#text = text;
    this.#limits = limits;
    this.#reading = reading;
  }

  document(): MessageValue {
    if (this.#text.length > this.#limits.length) throw this.#fault("too_large");
    this.#space();
    const value = this.#value();
    this.#space();
    if (this.#at !== this.#text.length) throw this.#fault("syntax", "other text follows the value");
    return value;
  }

  #fault(code: JsonProblem, problem?: string): JsonFault {
    return fault(code, problem, this.#path);
  }

  #space(): void {
    for (;;) {
      const unit = this.#text.charCodeAt(this.#at);
      if (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) return;
      this.#at += 1;
    }
  }

  /** Takes `token` if it stands here. */
  #took(token: string): boolean {
    if (!this.#text.startsWith(token, this.#at)) return false;
    this.#at += token.length;
    return true;
  }

  #expect(token: string): void {
    if (!this.#took(token)) throw this.#fault("syntax");
  }

  /** Takes what `pattern`, a sticky one, matches here. */
  #matched(pattern: RegExp): string | undefined {
    const start = this.#at;
    pattern.lastIndex = start;
    if (!pattern.test(this.#text)) return undefined;
    this.#at = pattern.lastIndex;
    return this.#text.slice(start, this.#at);
  }

  #value(): MessageValue {
    const start = this.#at;
    const value = this.#bareValue();
    if (this.#reading.spans !== undefined && this.#path.length <= SPAN_STEPS) {
      this.#reading.spans.set(formatPointer(this.#path), { start, end: this.#at });
    }
    return value;
  }

  #bareValue(): MessageValue {
    switch (this.#text[this.#at]) {
      case "{":
        return this.#object();
      case "[":
        return this.#array();
      case '"':
        return this.#string("the text");
      case "t":
        this.#expect("true");
        return true;
      case "f":
        this.#expect("false");
        return false;
      case "n":
        this.#expect("null");
        return null;
      default:
        return this.#number();
    }
  }

  #number(): number | RawNumber {
    const token = this.#matched(NUMBER);
    if (token === undefined) throw this.#fault("syntax");
    const value = Number(token);
    const problem = numberProblem(value) ?? (isKept(token, value) ? undefined : "number_not_exact");
    if (problem === undefined) return value === 0 ? 0 : value;
    if (this.#reading.inexact === "keep") return new RawNumber(token);
    throw this.#fault(problem);
  }

  #open(bracket: "[" | "{"): void {
    if (this.#path.length >= depthOf(this.#limits)) throw this.#fault("too_deep");
    this.#expect(bracket);
    this.#space();
  }

  #array(): MessageValue {
    const items: MessageValue[] = [];
    this.#open("[");
    if (this.#took("]")) return Object.freeze(items);
    do {
      this.#space();
      this.#path.push(items.length);
      items.push(this.#value());
      this.#path.pop();
      this.#space();
    } while (this.#took(","));
    this.#expect("]");
    return Object.freeze(items);
  }

  #object(): MessageValue {
    const members: Record<string, MessageValue> = {};
    this.#open("{");
    if (this.#took("}")) return Object.freeze(members);
    do {
      this.#space();
      this.#member(members);
      this.#space();
    } while (this.#took(","));
    this.#expect("}");
    return Object.freeze(members);
  }

  #member(members: Record<string, MessageValue>): void {
    const key = this.#string("a key");
    this.#path.push(key);
    if (Object.hasOwn(members, key)) throw this.#fault("duplicate_key");
    this.#space();
    this.#expect(":");
    this.#space();
    setMember(members, key, this.#value());
    this.#path.pop();
  }

  #string(what: "the text" | "a key"): string {
    this.#expect('"');
    const end = this.#text.indexOf('"', this.#at);
    const plain = this.#text.slice(this.#at, end);
    if (end >= 0 && !AWKWARD.test(plain)) {
      this.#at = end + 1;
      return plain;
    }
    let text = this.#run();
    while (!this.#took('"')) text += this.#escape() + this.#run();
    if (!isText(text)) throw this.#fault("invalid_string", `${what} holds half of a surrogate pair`);
    return text;
  }

  /** Ordinary characters up to the next special one. */
  #run(): string {
    const start = this.#at;
    SPECIAL.lastIndex = start;
    if (!SPECIAL.test(this.#text)) throw this.#fault("syntax", "a text is not closed");
    this.#at = SPECIAL.lastIndex - 1;
    return this.#text.slice(start, this.#at);
  }

  #escape(): string {
    this.#expect("\\");
    const letter = this.#text[this.#at] ?? "";
    this.#at += 1;
    if (letter !== "u") return MEANT.get(letter) ?? this.#badEscape();
    const unit = this.#text.slice(this.#at, this.#at + 4);
    this.#at += 4;
    return UNIT.test(unit) ? String.fromCharCode(Number.parseInt(unit, 16)) : this.#badEscape();
  }

  #badEscape(): never {
    throw this.#fault("syntax", "a text has an escape that JSON has not");
  }
}
