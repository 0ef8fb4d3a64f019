/**
 * Looking at an in-process value without running any of its code: what may be read of it, and why not.
 * Used by the copier and by the canonical form, which therefore refuse the same values.
 */
import { RawNumber } from "./json-raw.ts";
import { fault, numberProblem } from "./json-rules.ts";
import type { JsonFault } from "./json-value.ts";

/** The value of an own enumerable data property; an accessor is refused, not run (A26). */
export function plainMember(holder: object, key: string | number): unknown {
  const property = Object.getOwnPropertyDescriptor(holder, key);
  if (property === undefined) throw fault("not_json", "a hole in an array is not JSON");
  if (property.get !== undefined || property.set !== undefined) throw fault("not_json", "an accessor property is not JSON");
  if (property.enumerable !== true) throw fault("not_json", "a hidden property is not JSON");
  return property.value;
}

/** The keys of a plain object. @throws JsonFault when it is another kind of object, or has more than its keys show */
export function plainKeys(value: object): string[] {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) throw notPlain(value, prototype);
  const keys = Object.keys(value);
  if (Object.getOwnPropertyNames(value).length !== keys.length) throw hiddenKey(value, keys);
  if (Object.getOwnPropertySymbols(value).length > 0) throw fault("not_json", "a symbol as a key is not JSON");
  return keys;
}

/**
 * The length of a plain array. Its elements are still to be looked at, each by {@link plainMember}; {@link endOfArray}
 * then finds what is there besides them.
 */
export function plainLength(value: readonly unknown[]): number {
  if (Object.getPrototypeOf(value) !== Array.prototype) throw fault("not_json", "an array of a class is not JSON");
  return value.length;
}

/** @throws JsonFault when an array without holes has anything besides its elements */
export function endOfArray(value: readonly unknown[], length: number): void {
  const extra = Object.getOwnPropertyNames(value).length - 1 - length + Object.getOwnPropertySymbols(value).length;
  if (extra !== 0) throw fault("not_json", "an array with other properties is not JSON");
}

/** Why a value that is no text, number, boolean, object or `null` is refused. */
export const notAKind = (kind: string): JsonFault =>
  fault("not_json", kind === "undefined" ? "undefined is not JSON" : `a ${kind} is not JSON`);

function notPlain(value: object, prototype: unknown): JsonFault {
  if (prototype !== RawNumber.prototype) return fault("not_json", "an object of a class is not JSON");
  return fault(numberProblem(Number((value as RawNumber).text)) ?? "number_not_exact");
}

function hiddenKey(value: object, keys: readonly string[]): JsonFault {
  const hidden = Object.getOwnPropertyNames(value).find((name) => !keys.includes(name));
  return fault("not_json", "a hidden property is not JSON", hidden === undefined ? [] : [hidden]);
}
