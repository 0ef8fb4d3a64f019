import { JSON_LIMITS } from "./json-value.ts";
import { depthOf, fault, isText, numberProblem, setMember, trust } from "./json-rules.ts";
import { formatPointer } from "./pointer.ts";
import type { Path } from "./json-rules.ts";
import type { JsonLimits, JsonValue } from "./json-value.ts";

/** A number of a message that JavaScript cannot hold exactly: kept as its own text, so that it can be forwarded. */
export class RawNumber {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
    Object.freeze(this);
  }
}

/** What a message is made of: JSON, and numbers that are only text to us. */
export type MessageValue = null | boolean | number | string | RawNumber | readonly MessageValue[] | MessageObject;
export interface MessageObject {
  readonly [key: string]: MessageValue;
}

export interface Span {
  /** Offset of the first UTF-16 unit of the value. */
  readonly start: number;
  /** Offset behind its last one. */
  readonly end: number;
}
export interface Message {
  readonly value: MessageValue;
  /** Where a member stands in the text, down to three steps; `undefined` where there is none. */
  span(pointer: string): Span | undefined;
}

/**
 * Reads a text as I-JSON (RFC 7493), which `JSON.parse` does not: it keeps the last of two equal keys and rounds.
 * A decimal may be rounded to the nearest double, as every reader does; an integer never is.
 * @returns a deep-frozen value; `-0` is read as `0`
 * @throws JsonFault with the pointer of the first fault
 */
export function readJson(text: string, limits: JsonLimits = JSON_LIMITS): JsonValue {
  const value = new Reader(text, limits, { inexact: "refuse" }).document();
  return trust(value as JsonValue);
}

/**
 * Reads a message that is to be forwarded as its own text: as strict as {@link readJson}, but a number that JavaScript
 * cannot hold exactly is a {@link RawNumber}.
 * @throws JsonFault with the pointer of the first fault
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
const SPACE = /[ \t\n\r]*/y;
/** A run of characters that a string may hold as they are. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: RFC 8259 forbids exactly these inside a string
const PLAIN = /[^"\\\u0000-\u001f]*/y;
const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ["\\", "\\"],
  ["/", "/"],
  ["b", "\b"],
  ["f", "\f"],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
]);
const UNIT = /[0-9a-fA-F]{4}/y;

class Reader {
  readonly #text: string;
  readonly #limits: JsonLimits;
  readonly #reading: Reading;
  readonly #path: Path = [];
  #at = 0;

  constructor(text: string, limits: JsonLimits, reading: Reading) {
    this.#text = text;
    this.#limits = limits;
    this.#reading = reading;
  }

  document(): MessageValue {
    if (this.#text.length > this.#limits.length) throw fault("too_large", []);
    this.#take(SPACE);
    const value = this.#value();
    this.#take(SPACE);
    if (this.#at !== this.#text.length) throw fault("syntax", [], "is followed by other text");
    return value;
  }

  /** The text that `pattern` (sticky) matches here, taken; `undefined` when it does not match. */
  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    this.#at += found?.length ?? 0;
    return found;
  }

  #skip(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at += 1;
    return true;
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
        return this.#string("value");
      case "t":
        return this.#word("true", true);
      case "f":
        return this.#word("false", false);
      case "n":
        return this.#word("null", null);
      default:
        return this.#number();
    }
  }

  #word<T extends boolean | null>(word: string, value: T): T {
    if (!this.#text.startsWith(word, this.#at)) throw fault("syntax", this.#path);
    this.#at += word.length;
    return value;
  }

  #number(): number | RawNumber {
    const token = this.#take(NUMBER);
    if (token === undefined) throw fault("syntax", this.#path);
    const value = Number(token);
    const problem = numberProblem(value) ?? (value === 0 && /^[^eE]*[1-9]/.test(token) ? "number_not_exact" : undefined);
    if (problem === undefined) return value === 0 ? 0 : value;
    if (this.#reading.inexact === "keep") return new RawNumber(token);
    throw fault(problem, this.#path);
  }

  #open(): void {
    if (this.#path.length >= depthOf(this.#limits)) throw fault("too_deep", this.#path);
    this.#at += 1;
    this.#take(SPACE);
  }

  #array(): MessageValue {
    this.#open();
    const items: MessageValue[] = [];
    if (this.#skip("]")) return Object.freeze(items);
    do {
      this.#take(SPACE);
      this.#path.push(items.length);
      items.push(this.#value());
      this.#path.pop();
      this.#take(SPACE);
    } while (this.#skip(","));
    if (!this.#skip("]")) throw fault("syntax", this.#path);
    return Object.freeze(items);
  }

  #object(): MessageValue {
    this.#open();
    const members: Record<string, MessageValue> = {};
    if (this.#skip("}")) return Object.freeze(members);
    do {
      this.#take(SPACE);
      this.#member(members);
      this.#take(SPACE);
    } while (this.#skip(","));
    if (!this.#skip("}")) throw fault("syntax", this.#path);
    return Object.freeze(members);
  }

  #member(members: Record<string, MessageValue>): void {
    const key = this.#string("key");
    this.#path.push(key);
    if (Object.hasOwn(members, key)) throw fault("duplicate_key", this.#path);
    this.#take(SPACE);
    if (!this.#skip(":")) throw fault("syntax", this.#path);
    this.#take(SPACE);
    setMember(members, key, this.#value());
    this.#path.pop();
  }

  #string(place: "key" | "value"): string {
    if (!this.#skip('"')) throw fault("syntax", this.#path);
    let text = this.#take(PLAIN) ?? "";
    while (!this.#skip('"')) text += this.#escape() + (this.#take(PLAIN) ?? "");
    if (isText(text)) return text;
    throw place === "key"
      ? fault("invalid_string", this.#path, "has a key that is not text")
      : fault("invalid_string", this.#path);
  }

  #escape(): string {
    if (!this.#skip("\\")) throw fault("syntax", this.#path);
    if (this.#skip("u")) {
      const unit = this.#take(UNIT);
      if (unit !== undefined) return String.fromCharCode(Number.parseInt(unit, 16));
      throw fault("syntax", this.#path);
    }
    const character = ESCAPES.get(this.#text[this.#at] ?? "");
    if (character === undefined) throw fault("syntax", this.#path);
    this.#at += 1;
    return character;
  }
}
