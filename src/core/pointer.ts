import type { JsonArray, JsonObject, JsonValue } from "./json-value.ts";

/** The steps of an RFC 6901 pointer. Array positions are decimal text, as the pointer spells them. */
export type PointerPath = readonly string[];

const POSITION = /^(?:0|[1-9]\d{0,15})$/;

/** The pointer of a path: `["a/b", 0]` is `/a~1b/0`, `[]` is the whole value, `""`. */
export function formatPointer(path: readonly (string | number)[]): string {
  let pointer = "";
  for (const step of path) pointer += `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`;
  return pointer;
}

/**
 * The steps of a pointer.
 * @throws RangeError on a text that is not an RFC 6901 pointer: a pointer that names nothing would protect nothing
 */
export function parsePointer(pointer: string): PointerPath {
  if (pointer === "") return [];
  if (!pointer.startsWith("/") || /~(?![01])/.test(pointer)) {
    throw new RangeError('not a JSON pointer; write "" for the whole value or "/name" for a member, with ~1 for / and ~0 for ~');
  }
  return pointer
    .slice(1)
    .split("/")
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}

const isContainer = (value: JsonValue): value is JsonObject | JsonArray => typeof value === "object" && value !== null;

/** Own members only: an inherited `toString` or `__proto__` is not part of a value. */
function member(value: JsonValue, step: string): JsonValue | undefined {
  if (!isContainer(value)) return undefined;
  if (Array.isArray(value)) return POSITION.test(step) ? (value as JsonArray)[Number(step)] : undefined;
  return Object.hasOwn(value, step) ? (value as JsonObject)[step] : undefined;
}

/** What `pointer` names in `value`; `undefined` where there is nothing. @throws RangeError on a malformed pointer */
export function at(value: JsonValue, pointer: string): JsonValue | undefined {
  let found: JsonValue | undefined = value;
  for (const step of parsePointer(pointer)) {
    if (found === undefined) return undefined;
    found = member(found, step);
  }
  return found;
}

/** True when `pointer` names `ancestor` itself or something inside it: `/a/b` is within `/a`, `/ab` is not. */
export function isWithin(pointer: string, ancestor: string): boolean {
  return pointer === ancestor || pointer.startsWith(`${ancestor}/`);
}

/**
 * A frozen copy of `value` in which `pointer` names `replacement`. Untouched branches are shared, so they must be frozen.
 * @throws RangeError when the pointer names nothing: an edit replaces what is there, it never adds
 */
export function replaceAt(value: JsonValue, pointer: string, replacement: JsonValue): JsonValue {
  return replaced(value, parsePointer(pointer), replacement);
}

function replaced(value: JsonValue, path: PointerPath, replacement: JsonValue): JsonValue {
  const [step, ...rest] = path;
  if (step === undefined) return replacement;
  const inner = member(value, step);
  if (inner === undefined) throw new RangeError("the pointer names nothing in this value");
  const next = replaced(inner, rest, replacement);
  if (Array.isArray(value)) return Object.freeze((value as JsonArray).with(Number(step), next));
  return Object.freeze(
    Object.fromEntries(Object.entries(value as JsonObject).map(([key, old]) => [key, key === step ? next : old])),
  );
}
