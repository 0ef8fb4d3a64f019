import { checkedJson } from "./json-copy.ts";
import { CANONICAL_DEPTH } from "./json-rules.ts";
import type { JsonArray, JsonObject, JsonValue } from "./json-value.ts";

/**
 * The RFC 8785 form of a value: keys in the order of their UTF-16 units, ECMAScript numbers, minimal escapes.
 * Two values have one canonical form exactly when they are the same I-JSON value.
 * @throws JsonFault on anything that is not I-JSON, as `copyJson`, and beyond 80 levels (64 and our own envelope)
 */
export function canonicalize(value: unknown): string {
  return textOf(checkedJson(value, CANONICAL_DEPTH));
}

function textOf(value: JsonValue): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value !== "object" || value === null) return String(value);
  return Array.isArray(value) ? textOfArray(value) : textOfObject(value as JsonObject);
}

function textOfArray(value: JsonArray): string {
  let text = "[";
  for (let index = 0; index < value.length; index++) text += (index === 0 ? "" : ",") + textOf(value[index] as JsonValue);
  return `${text}]`;
}

function textOfObject(value: JsonObject): string {
  let text = "";
  for (const key of Object.keys(value).sort()) {
    text += `${text === "" ? "{" : ","}${JSON.stringify(key)}:${textOf(value[key] as JsonValue)}`;
  }
  return text === "" ? "{}" : `${text}}`;
}

/** Structural equality of two JSON values; key order does not count, `0` equals `-0`. */
export function sameJson(a: JsonValue, b: JsonValue): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) return Array.isArray(a) && Array.isArray(b) && sameItems(a, b);
  return sameMembers(a as JsonObject, b as JsonObject);
}

function sameItems(a: JsonArray, b: JsonArray): boolean {
  return a.length === b.length && a.every((item, index) => sameJson(item, b[index] as JsonValue));
}

function sameMembers(a: JsonObject, b: JsonObject): boolean {
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && sameJson(a[key] as JsonValue, b[key] as JsonValue));
}
