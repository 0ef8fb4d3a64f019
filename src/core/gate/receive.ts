import { copyJson } from "../json.ts";
import type { JsonFault, JsonObject } from "../json-value.ts";
import type { Refusal } from "../ports/desk.ts";

/** Arguments as the gate keeps them: its own deep-frozen copy, so that nothing outside can change what was approved (A25). */
export type Received =
  | { readonly ok: true; readonly arguments: JsonObject; readonly notes: readonly string[] }
  | { readonly ok: false; readonly refusal: Refusal };

const invalid = (pointer: string, problem: string): Received => ({
  ok: false,
  refusal: { code: "invalid_arguments", pointer, problem },
});

const declares = (schema: JsonObject | null, member: string): boolean => {
  const properties = schema?.properties;
  return typeof properties === "object" && properties !== null && Object.hasOwn(properties, member);
};

/** A `confirm` that the tool does not declare is the model talking to the gate: taken out, noted, never consent (A47). */
function withoutClaim(args: JsonObject, schema: JsonObject | null): { arguments: JsonObject; notes: readonly string[] } {
  if (!Object.hasOwn(args, "confirm") || declares(schema, "confirm")) return { arguments: args, notes: [] };
  const { confirm: _claim, ...rest } = args;
  return { arguments: Object.freeze(rest), notes: ["the agent sent a confirm argument; it was taken out and is not consent"] };
}

/** Station 1: strict JSON, size and depth bounded, copied and frozen. */
export function receive(given: unknown, schema: JsonObject | null): Received {
  let copy: unknown;
  try {
    copy = copyJson(given);
  } catch (thrown) {
    const { pointer, problem } = thrown as JsonFault;
    return invalid(pointer, problem);
  }
  if (typeof copy !== "object" || copy === null || Array.isArray(copy)) return invalid("", "must be a JSON object");
  return { ok: true, ...withoutClaim(copy as JsonObject, schema) };
}
