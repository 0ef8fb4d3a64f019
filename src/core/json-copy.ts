import { JSON_LIMITS } from "./json-value.ts";
import { depthOf, fault, isText, isTrusted, numberProblem, setMember, trust } from "./json-rules.ts";
import type { Path } from "./json-rules.ts";
import type { JsonLimits, JsonValue } from "./json-value.ts";

interface Walk {
  readonly depth: number;
  /** Characters that may still be used; counted without escapes. */
  left: number;
  readonly path: Path;
}

/**
 * A deep-frozen copy of an in-process value, made in one walk that runs none of the value's own code.
 *
 * Taken: plain objects (prototype `Object.prototype` or `null`) and dense arrays of I-JSON values; `-0` becomes `0`.
 * Refused: accessors (never run), functions, `undefined`, symbols, bigints, class instances, hidden properties, sparse
 * arrays, arrays with extra properties, cycles (as too deep), numbers and strings that are not I-JSON.
 * @param limits length in characters of keys, strings and numbers with their punctuation, escapes not counted; depth at most 1000
 * @throws JsonFault with the pointer of the first fault
 */
export function copyJson(value: unknown, limits: JsonLimits = JSON_LIMITS): JsonValue {
  const walk: Walk = { depth: depthOf(limits), left: limits.length, path: [] };
  return trust(copied(value, walk));
}

function copied(value: unknown, walk: Walk): JsonValue {
  switch (typeof value) {
    case "string":
      return copiedText(value, walk);
    case "number":
      return copiedNumber(value, walk);
    case "boolean":
      spend(walk, value ? 4 : 5);
      return value;
    case "object":
      if (value !== null) return copiedContainer(value, walk);
      spend(walk, 4);
      return null;
    default:
      throw fault(
        "not_json",
        walk.path,
        `is ${typeof value === "undefined" ? "undefined" : `a ${typeof value}`}, which JSON has not`,
      );
  }
}

function spend(walk: Walk, characters: number): void {
  walk.left -= characters;
  if (walk.left < 0) throw fault("too_large", []);
}

function copiedText(value: string, walk: Walk): string {
  spend(walk, value.length + 2);
  if (!isText(value)) throw fault("invalid_string", walk.path);
  return value;
}

function copiedNumber(value: number, walk: Walk): number {
  const problem = numberProblem(value);
  if (problem !== undefined) throw fault(problem, walk.path);
  spend(walk, String(value).length);
  return value === 0 ? 0 : value;
}

function copiedContainer(value: object, walk: Walk): JsonValue {
  if (walk.path.length >= walk.depth) throw fault("too_deep", walk.path);
  spend(walk, 2);
  try {
    return Array.isArray(value) ? copiedArray(value, walk) : copiedObject(value, walk);
  } catch (thrown) {
    throw thrown instanceof Error && thrown.name === "JsonFault" ? thrown : fault("not_json", walk.path, "cannot be read");
  }
}

/** The value of an own enumerable data property; an accessor is refused, not run (A26). */
function plainMember(holder: object, key: string | number, walk: Walk): unknown {
  const property = Object.getOwnPropertyDescriptor(holder, key);
  if (property === undefined) throw fault("not_json", walk.path, "is a hole in an array");
  if (property.get !== undefined || property.set !== undefined) throw fault("not_json", walk.path, "is an accessor property");
  if (property.enumerable !== true) throw fault("not_json", walk.path, "is a hidden property");
  return property.value;
}

function copiedArray(value: readonly unknown[], walk: Walk): JsonValue {
  if (Object.getPrototypeOf(value) !== Array.prototype) throw fault("not_json", walk.path, "is not a plain array");
  const length = value.length;
  spend(walk, length);
  const copy: JsonValue[] = [];
  for (let index = 0; index < length; index++) {
    walk.path.push(index);
    copy.push(copied(plainMember(value, index, walk), walk));
    walk.path.pop();
  }
  if (Reflect.ownKeys(value).length !== length + 1) throw fault("not_json", walk.path, "is an array with extra properties");
  return Object.freeze(copy);
}

function copiedObject(value: object, walk: Walk): JsonValue {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) throw fault("not_json", walk.path, "is not a plain object");
  const copy: Record<string, JsonValue> = {};
  for (const key of Reflect.ownKeys(value)) {
    if (typeof key === "symbol") throw fault("not_json", walk.path, "has a symbol as a key");
    if (!isText(key)) throw fault("invalid_string", walk.path, "has a key that is not text");
    spend(walk, key.length + 4);
    walk.path.push(key);
    setMember(copy, key, copied(plainMember(value, key, walk), walk));
    walk.path.pop();
  }
  return Object.freeze(copy);
}

/** A value that is checked: itself when we made it, else a checked copy. */
export const checkedJson = (value: unknown, depth: number): JsonValue =>
  typeof value === "object" && value !== null && isTrusted(value)
    ? (value as JsonValue)
    : copyJson(value, { length: Number.POSITIVE_INFINITY, depth });
