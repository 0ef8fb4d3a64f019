import { JSON_LIMITS, JsonFault, type JsonObject, type JsonValue } from "../json-value.ts";
import { copyJson } from "../json-copy.ts";
import type { Payload } from "../request.ts";
import type { DeskParts } from "./parts.ts";

/**
 * What a call gave while its caller was gone, as it lies in the payload: sealed where this installation can seal. A value
 * that is no JSON or larger than arguments may be is known to have been, and no more.
 */
export type Kept = NonNullable<Payload["result"]>;

const LOST: Kept = { lost: true };

/** @param value `undefined`: nobody knows what it gave */
export function keep({ runtime }: DeskParts, value: unknown): Kept {
  try {
    const copy = copyJson(value, JSON_LIMITS);
    const { seal } = runtime.keys;
    return seal === null ? { value: copy } : { sealed: runtime.crypto.seal(seal, JSON.stringify(copy)) };
  } catch (thrown) {
    if (!(thrown instanceof JsonFault)) throw thrown;
    return LOST;
  }
}

/** `{ value }`; `undefined`: it was lost, or was sealed with a key that is gone. */
export function opened({ runtime }: DeskParts, kept: Kept): JsonObject | undefined {
  if (kept.value !== undefined) return { value: kept.value };
  const { seal } = runtime.keys;
  if (typeof kept.sealed !== "string" || seal === null) return undefined;
  const text = runtime.crypto.open(seal, kept.sealed);
  return text === undefined ? undefined : { value: JSON.parse(text) as JsonValue };
}
