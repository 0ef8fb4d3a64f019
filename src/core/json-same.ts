import type { JsonArray, JsonObject, JsonValue } from "./json-value.ts";

/** Structural equality of two JSON values; key order does not count, and `-0` is `0`. */
export function sameJson(a: JsonValue, b: JsonValue): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (isArray(a) || isArray(b)) return isArray(a) && isArray(b) && sameItems(a, b);
  return sameMembers(a, b);
}

/** `Array.isArray` does not narrow a readonly array. */
const isArray = (value: JsonArray | JsonObject): value is JsonArray => Array.isArray(value);

function sameItems(a: JsonArray, b: JsonArray): boolean {
  return a.length === b.length && a.every((item, index) => sameJson(item, b[index] as JsonValue));
}

function sameMembers(a: JsonObject, b: JsonObject): boolean {
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && sameJson(a[key] as JsonValue, b[key] as JsonValue));
}
