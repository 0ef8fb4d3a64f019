import { JSON_LIMITS } from "./json-value.ts";
import { fault, faultOf, isText, numberProblem, within } from "./json-rules.ts";
import { endOfArray, notAKind, plainKeys, plainLength, plainMember } from "./json-plain.ts";

/**
 * Levels that our own records may put around a value of full depth: `call.arguments` lies two levels inside the object
 * that is hashed. Without them, arguments at the limit would be received and then fail to hash.
 */
const ENVELOPE_DEPTH = 16;
const DEPTH = JSON_LIMITS.depth + ENVELOPE_DEPTH;

/** Up to this many keys an insertion sort beats the built-in one; beyond, its square would show. */
const FEW = 16;

/** What cannot stand in a JSON text as it is, and what needs a closer look. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: RFC 8785 escapes exactly these
const SPECIAL = /["\\\u0000-\u001f\ud800-\udfff]/;

/**
 * The RFC 8785 form of a value: keys in the order of their UTF-16 units, ECMAScript numbers, minimal escapes.
 * Two values have one canonical form exactly when they are the same I-JSON value. None of the value's own code is run.
 * @throws JsonFault on what `copyJson` refuses, and beyond 80 levels (64, and 16 for our own envelopes); of any length
 */
export function canonicalize(value: unknown): string {
  try {
    return textOf(value, DEPTH);
  } catch (thrown) {
    throw faultOf(thrown);
  }
}

function textOf(value: unknown, depth: number): string {
  switch (typeof value) {
    case "string":
      return quoted(value);
    case "number":
      return textOfNumber(value);
    case "boolean":
      return value ? "true" : "false";
    case "object":
      if (value === null) return "null";
      if (depth <= 0) throw fault("too_deep");
      return Array.isArray(value) ? textOfArray(value, depth - 1) : textOfObject(value, depth - 1);
    default:
      throw notAKind(typeof value);
  }
}

function quoted(text: string): string {
  if (!SPECIAL.test(text)) return `"${text}"`;
  if (!isText(text)) throw fault("invalid_string");
  return JSON.stringify(text);
}

function textOfNumber(value: number): string {
  const problem = numberProblem(value);
  if (problem !== undefined) throw fault(problem);
  return `${value}`;
}

function textOfArray(value: readonly unknown[], depth: number): string {
  const length = plainLength(value);
  let text = "[";
  let index = 0;
  try {
    for (; index < length; index++) text += (index > 0 ? "," : "") + textOf(plainMember(value, index), depth);
  } catch (thrown) {
    throw within(thrown, index);
  }
  endOfArray(value, length);
  return `${text}]`;
}

function textOfObject(value: object, depth: number): string {
  const keys = sorted(plainKeys(value));
  let text = "{";
  let key = "";
  try {
    for (let index = 0; index < keys.length; index++) {
      key = keys[index] as string;
      text += `${(index > 0 ? "," : "") + quoted(key)}:${textOf(plainMember(value, key), depth)}`;
    }
  } catch (thrown) {
    throw within(thrown, key);
  }
  return `${text}}`;
}

/** Sorts in place by UTF-16 units, which is how JavaScript compares texts. */
function sorted(keys: string[]): string[] {
  if (keys.length > FEW) return keys.sort();
  for (let next = 1; next < keys.length; next++) {
    const key = keys[next] as string;
    let place = next;
    for (; place > 0 && (keys[place - 1] as string) > key; place--) keys[place] = keys[place - 1] as string;
    keys[place] = key;
  }
  return keys;
}
