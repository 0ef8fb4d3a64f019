import { type Duration, milliseconds } from "./duration.ts";
import { DeclarationError } from "./errors.ts";
import { parsePointer } from "./pointer.ts";

/** Checks of what is written down, made when it is written down: found at the call, a mistake would be a hole or an outage. */

/** @throws DeclarationError naming the place and the known keys: a mistyped `approvers` would let anyone of ours answer */
export function refuseUnknownKeys(where: string, value: object, known: ReadonlySet<string>): void {
  for (const key of Object.keys(value)) {
    if (!known.has(key)) throw new DeclarationError(`${where}: unknown key "${key}"; known are ${[...known].join(", ")}`);
  }
}

/** Milliseconds. @throws DeclarationError naming the place */
export function declaredDuration(where: string, duration: Duration): number {
  try {
    return milliseconds(duration);
  } catch (thrown) {
    throw new DeclarationError(`${where}: ${(thrown as RangeError).message}`, { cause: thrown });
  }
}

/** @throws DeclarationError on a text that is no pointer: it would protect, or open, nothing */
export function checkPointers(where: string, pointers: readonly string[]): void {
  for (const pointer of pointers) {
    try {
      parsePointer(pointer);
    } catch (thrown) {
      throw new DeclarationError(`${where} "${pointer}" is not a JSON pointer; write "/name"`, { cause: thrown });
    }
  }
}

const isPlain = (value: object): boolean => [Object.prototype, Array.prototype, null].includes(Object.getPrototypeOf(value));

const copyOf = (value: unknown): unknown =>
  typeof value === "object" && value !== null && isPlain(value) ? asWritten(value) : value;

/**
 * A declaration as it is written now: lists and plain objects in it are copied and frozen, functions stay themselves.
 * Whoever changes the original later changes nothing here, and nothing is inherited: a member that nobody wrote is not
 * there, whatever somebody put on `Object.prototype`.
 */
export function asWritten<T extends object>(value: T): T {
  if (Array.isArray(value)) return Object.freeze(value.map(copyOf)) as unknown as T;
  const copy = Object.create(null) as Record<string, unknown>;
  for (const [key, member] of Object.entries(value)) copy[key] = copyOf(member);
  return Object.freeze(copy) as T;
}
