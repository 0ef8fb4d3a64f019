import { thaw } from "../desk/events.ts";
import { holdOf } from "../hold.ts";
import type { JsonObject } from "../json-value.ts";
import type { Hold } from "../ports/desk.ts";
import type { Requester } from "../tool-call.ts";
import type { Descriptor } from "./know.ts";

/** Only exactly `false` frees: a predicate that throws, promises or answers anything else asks (P-15). */
function freed(when: unknown, args: JsonObject, call: { readonly tool: string; readonly requester: Requester }): boolean {
  if (typeof when !== "function") return when === false;
  try {
    return when(thaw(args), call) === false;
  } catch {
    return false;
  }
}

/** The holds that a tool's own declaration, and the policy's entries for it, put on this call. */
export function floorsOf(descriptor: Descriptor, args: JsonObject, requester: Requester): readonly Hold[] {
  const call = { tool: descriptor.name, requester };
  return descriptor.floors
    .filter(({ confirm }) => confirm.when === undefined || !freed(confirm.when, args, call))
    .map(({ by, confirm }) => holdOf(by, confirm, { exemptible: by !== "policy", message: confirm.message }));
}
