import type { JsonValue } from "./json-value.ts";
import { sameJson } from "./json.ts";
import { formatPointer, isWithin } from "./pointer.ts";

/** Everything: `""` is the root. */
export const EVERYTHING: readonly string[] = [""];

/** What two lists of pointers both allow. */
export function commonPart(a: readonly string[], b: readonly string[]): readonly string[] {
  const inner = a.filter((pointer) => b.some((ancestor) => isWithin(pointer, ancestor)));
  const outer = b.filter((pointer) => a.some((ancestor) => isWithin(pointer, ancestor)));
  return [...new Set([...inner, ...outer])];
}

const isObject = (value: JsonValue | undefined): value is { readonly [key: string]: JsonValue } =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Pointers of what differs, deepest first place: an added or removed member is a difference of its own pointer. */
export function differences(before: JsonValue, after: JsonValue, path: readonly string[] = []): readonly string[] {
  if (sameJson(before, after)) return [];
  if (!isObject(before) || !isObject(after)) return [formatPointer(path)];
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].flatMap((key) => {
    const [was, is] = [Object.hasOwn(before, key) ? before[key] : undefined, Object.hasOwn(after, key) ? after[key] : undefined];
    if (was === undefined || is === undefined) return [formatPointer([...path, key])];
    return differences(was, is, [...path, key]);
  });
}

/** The first difference that the list does not allow. */
export const firstForbidden = (before: JsonValue, after: JsonValue, editable: readonly string[]): string | undefined =>
  differences(before, after).find((pointer) => !editable.some((ancestor) => isWithin(pointer, ancestor)));
