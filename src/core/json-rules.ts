/** What the reader, the copier and the canonical form share, so that they cannot disagree on what I-JSON is. */
import { JsonFault } from "./json-value.ts";
import { formatPointer } from "./pointer.ts";
import type { JsonLimits, JsonProblem } from "./json-value.ts";

/** A caller's limit beyond this is cut to it: the walks recurse, and an overflowing stack is not a JsonFault. */
const DEEPEST = 1000;
export const depthOf = (limits: JsonLimits): number => Math.min(limits.depth, DEEPEST);

const PROBLEMS: Readonly<Record<JsonProblem, string>> = {
  syntax: "not valid JSON",
  duplicate_key: "this key is written twice",
  number_not_exact: "the number cannot be kept exactly; send it as text",
  number_not_finite: "the number is not finite",
  invalid_string: "the text holds half of a surrogate pair",
  too_deep: "nested deeper than allowed",
  too_large: "longer than allowed",
  not_json: "not a JSON value",
};

/** A fault, at the value itself unless a path is given. `problem` describes and never quotes a value (P-19). */
export const fault = (code: JsonProblem, problem: string = PROBLEMS[code], path: readonly (string | number)[] = []): JsonFault =>
  new JsonFault(code, formatPointer(path), problem);

/** What was thrown while a member was walked, as a fault seen from its holder. Anything else than a fault came out of a proxy. */
export function within(thrown: unknown, step: string | number): JsonFault {
  const inner = faultOf(thrown);
  return new JsonFault(inner.code, formatPointer([step]) + inner.pointer, inner.problem);
}

/** The message of a foreign error is dropped: it may quote a value. */
export const faultOf = (thrown: unknown): JsonFault =>
  thrown instanceof JsonFault ? thrown : fault("not_json", "the value cannot be read");

interface WellFormed {
  /** ES2024: every Node that the package supports has it, the compiler's library does not. */
  isWellFormed(): boolean;
}
/** False for a lone surrogate: two such texts would become one when encoded as UTF-8 (A31). */
export const isText = (text: string): boolean => (text as unknown as WellFormed).isWellFormed();

/** What is wrong with a number, if anything. An integer beyond 2^53-1 may already be another one than was meant (A29). */
export function numberProblem(value: number): "number_not_finite" | "number_not_exact" | undefined {
  if (Number.isSafeInteger(value)) return undefined;
  if (!Number.isFinite(value)) return "number_not_finite";
  return Number.isInteger(value) ? "number_not_exact" : undefined;
}

/** `__proto__` by assignment would set the prototype instead of a member (A34). */
export function setMember<T>(target: Record<string, T>, key: string, value: T): void {
  if (key === "__proto__") {
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  } else target[key] = value;
}
