import { JSON_LIMITS } from "./json-value.ts";
import { depthOf, fault, faultOf, isText, numberProblem, setMember, within } from "./json-rules.ts";
import { endOfArray, notAKind, plainKeys, plainLength, plainMember } from "./json-plain.ts";
import type { JsonLimits, JsonValue } from "./json-value.ts";

/** The shortest number that is not whole: `0.5`. */
const FRACTION = 3;

/** Characters that the copy may still take. */
interface Budget {
  left: number;
}

/**
 * A deep-frozen copy of an in-process value, made in one walk that runs none of the value's own code.
 *
 * Taken: plain objects (prototype `Object.prototype` or `null`) and dense arrays of I-JSON values; `-0` becomes `0`, so that
 * what is hashed is what runs. Refused: accessors (never run), functions, `undefined`, symbols, bigints, class instances,
 * hidden properties, sparse arrays, arrays with other properties, cycles (as too deep), numbers and texts that are not I-JSON.
 * @param limits `length` is held against a lower bound of the JSON text: an escape counts as one character, a number at its
 *   shortest, since writing every number out would cost more than the walk; `depth` is at most 1000
 * @throws JsonFault at the first fault
 */
export function copyJson(value: unknown, limits: JsonLimits = JSON_LIMITS): JsonValue {
  try {
    return copied(value, { left: limits.length }, depthOf(limits));
  } catch (thrown) {
    throw faultOf(thrown);
  }
}

function copied(value: unknown, budget: Budget, depth: number): JsonValue {
  switch (typeof value) {
    case "string":
      return copiedText(value, budget);
    case "number":
      return copiedNumber(value, budget);
    case "boolean":
      spend(budget, value ? 4 : 5);
      return value;
    case "object":
      if (value !== null) return copiedContainer(value, budget, depth);
      spend(budget, 4);
      return null;
    default:
      throw notAKind(typeof value);
  }
}

function spend(budget: Budget, characters: number): void {
  budget.left -= characters;
  if (budget.left < 0) throw fault("too_large");
}

function copiedText(value: string, budget: Budget): string {
  spend(budget, value.length + 2);
  if (!isText(value)) throw fault("invalid_string");
  return value;
}

function copiedNumber(value: number, budget: Budget): number {
  const problem = numberProblem(value);
  if (problem !== undefined) throw fault(problem);
  spend(budget, Number.isInteger(value) ? 1 : FRACTION);
  return value === 0 ? 0 : value;
}

function copiedContainer(value: object, budget: Budget, depth: number): JsonValue {
  if (depth <= 0) throw fault("too_deep");
  spend(budget, 2);
  return Array.isArray(value) ? copiedArray(value, budget, depth - 1) : copiedObject(value, budget, depth - 1);
}

function copiedArray(value: readonly unknown[], budget: Budget, depth: number): JsonValue {
  const length = plainLength(value);
  const copy: JsonValue[] = [];
  let index = 0;
  try {
    for (; index < length; index++) {
      if (index > 0) spend(budget, 1);
      copy.push(copied(plainMember(value, index), budget, depth));
    }
  } catch (thrown) {
    throw within(thrown, index);
  }
  endOfArray(value, length);
  return Object.freeze(copy);
}

function copiedObject(value: object, budget: Budget, depth: number): JsonValue {
  const copy: Record<string, JsonValue> = {};
  let key = "";
  const keys = plainKeys(value);
  try {
    for (let index = 0; index < keys.length; index++) {
      key = keys[index] as string;
      spend(budget, key.length + (index > 0 ? 4 : 3));
      if (!isText(key)) throw fault("invalid_string", "the key holds half of a surrogate pair");
      setMember(copy, key, copied(plainMember(value, key), budget, depth));
    }
  } catch (thrown) {
    throw within(thrown, key);
  }
  return Object.freeze(copy);
}
