import { JsonFault, JSON_LIMITS } from "./json-value.ts";
import { formatPointer } from "./pointer.ts";
import type { JsonLimits, JsonProblem, JsonValue } from "./json-value.ts";

/** What the reader, the copier and the canonical form share, so that they cannot disagree on what I-JSON is. */

/**
 * Levels that our own records put around a value of full depth (`call.arguments` in a request lies two levels down).
 * Without them, arguments at the limit would be accepted, and then fail to hash.
 */
const ENVELOPE_DEPTH = 16;
export const CANONICAL_DEPTH: number = JSON_LIMITS.depth + ENVELOPE_DEPTH;

/** A caller's limit beyond this is cut to it: the walks recurse, and an overflowing stack is not a JsonFault. */
const DEEPEST = 1000;
export const depthOf = (limits: JsonLimits): number => Math.min(limits.depth, DEEPEST);

export type Path = (string | number)[];

const PROBLEMS: Readonly<Record<JsonProblem, string>> = {
  syntax: "is not JSON",
  duplicate_key: "is written twice",
  number_not_exact: "is a number that cannot be kept exactly; send it as text",
  number_not_finite: "is not a finite number",
  invalid_string: "holds half of a surrogate pair, which is not text",
  too_deep: "is nested too deep",
  too_large: "is too long",
  not_json: "is not a JSON value",
};

/** A fault at a path. `problem` describes and never quotes a value (P-19). */
export const fault = (code: JsonProblem, path: Path, problem: string = PROBLEMS[code]): JsonFault =>
  new JsonFault(code, formatPointer(path), problem);

interface WellFormed {
  /** ES2024, present in every Node that the package supports; the compiler's library is ES2023. */
  isWellFormed(): boolean;
}
/** False for a lone surrogate: two such texts become equal once encoded as UTF-8 (A31). */
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

const trusted = new WeakSet<object>();

/** Remembers a root that we froze ourselves: it cannot change, so the canonical form need not check it again. */
export function trust<T extends JsonValue>(root: T): T {
  if (typeof root === "object" && root !== null) trusted.add(root);
  return root;
}
export const isTrusted = (value: object): boolean => trusted.has(value);
