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

/**
 * True where a copy of what our own code gave would be exactly `copy`, which can then stand for it: plain objects and
 * arrays with nothing hidden beside their members. Makes nothing.
 */
export function isCopyOf(copy: JsonValue, value: unknown): boolean {
  if (value === copy) return true;
  if (typeof value !== "object" || typeof copy !== "object" || value === null || copy === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (Array.isArray(value)) return prototype === Array.prototype && isArray(copy) && isCopyOfItems(copy, value);
  return (prototype === Object.prototype || prototype === null) && !isArray(copy) && isCopyOfMembers(copy, value);
}

function isCopyOfItems(copy: JsonArray, value: readonly unknown[]): boolean {
  if (value.length !== copy.length || Object.keys(value).length !== copy.length) return false;
  for (let index = 0; index < copy.length; index++) if (!isCopyOf(copy[index] as JsonValue, value[index])) return false;
  return true;
}

function isCopyOfMembers(copy: JsonObject, value: object): boolean {
  const keys = Object.keys(value);
  if (keys.length !== Object.keys(copy).length || Object.getOwnPropertyNames(value).length !== keys.length) return false;
  if (Object.getOwnPropertySymbols(value).length > 0) return false;
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as string;
    if (!Object.hasOwn(copy, key) || !isCopyOf(copy[key] as JsonValue, (value as Record<string, unknown>)[key])) return false;
  }
  return true;
}
