import { isHoldpointError, type RefusalCode } from "../errors.ts";
import { type Outcome, refusedOutcome } from "../outcome.ts";
import type { Lane } from "./lane.ts";
import type { GateParts } from "./parts.ts";

/** Says in log and events that a call came for a tool that nobody registered. */
export function unknownTool({ runtime, events }: GateParts, name: string): Outcome {
  runtime.log.warn("an unknown tool was called", { tool: name });
  events.emit({ type: "error", where: "know", code: "unknown_tool", problem: `tool "${name}" is not registered` });
  return refusedOutcome(name, { code: "unknown_tool" });
}

/** A fault of a part on the way: nothing ran, since what a tool itself throws is an outcome long before (P-07, P-15). */
export function faulty({ runtime, events }: GateParts, name: string, thrown: unknown): Outcome {
  const code = isHoldpointError(thrown) ? (thrown.code as RefusalCode) : "policy_error";
  // Another's words can hold an argument, as a file system's hold the path.
  const problem = isHoldpointError(thrown) ? thrown.message : thrown instanceof Error ? thrown.name : "not an error";
  runtime.log.error("a call could not be carried out", { tool: name, code, problem });
  events.emit({ type: "error", where: "gate", code, problem });
  return refusedOutcome(name, { code });
}

/** Says in log and events how a call ended. */
export function tellCall(
  { runtime, events }: GateParts,
  name: string,
  told: { outcome: Outcome; lane: Lane | undefined; duration: number; who: string },
): void {
  const { outcome, lane, duration, who } = told;
  const tier = lane?.incoming.descriptor.tier ?? null;
  const how = "how" in outcome ? outcome.how : null;
  const { request = null } = outcome as { readonly request?: string };
  const { status } = outcome;
  const summary = status === "refused" ? outcome.code : status;
  if (lane !== undefined)
    runtime.log[tier === "read" ? "debug" : "info"]("call", { tool: name, tier, status, how, request, duration });
  if (events.heard) events.emit({ type: "call", tool: name, tier, status, summary, how, duration, who, request });
}
