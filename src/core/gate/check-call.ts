import { ruleOn, type Verdict } from "../rule.ts";
import type { AbortLike } from "../tool-call.ts";
import { check, factsOf, type Incoming, prepare } from "./judge.ts";
import type { GateParts } from "./parts.ts";

/** What the stations say of a call, asking nobody. */
export interface Check {
  readonly verdict: Verdict["verdict"] | "refused";
  readonly stations: readonly { readonly station: string; readonly said: string }[];
}

export const unknownToolCheck: Check = { verdict: "refused", stations: [{ station: "know", said: "unknown_tool" }] };

const wordsOf = (verdict: Verdict): string => {
  if (verdict.verdict === "ask") return `ask: ${verdict.holds.map((hold) => hold.by).join(", ")}`;
  const reason = verdict.verdict === "deny" && verdict.reason !== undefined ? ` (${verdict.reason})` : "";
  return `${verdict.verdict}: ${verdict.by}${reason}`;
};

/** Stations 1 to 4 of a call, in their order, each with what it said. */
export async function checkCall(
  parts: GateParts,
  incoming: Incoming,
  call: { readonly arguments: unknown; readonly signal: AbortLike },
): Promise<Check> {
  const checked = await check(parts, incoming, call.arguments);
  if (!checked.ok) return { verdict: "refused", stations: [{ station: "validate", said: checked.refusal.code }] };
  const before = [
    { station: "receive", said: "ok" },
    { station: "know", said: incoming.descriptor.tier ?? "no tier" },
    { station: "validate", said: "ok" },
  ];
  const options = { id: undefined, statement: undefined, signal: call.signal, wait: "block" as const, holder: "" };
  const prepared = await prepare(parts, incoming, { ...checked, options });
  if (!prepared.ok) return { verdict: "refused", stations: [...before, { station: "bind", said: prepared.refusal.code }] };
  const { submission } = prepared;
  const { edits, denied, holds, allowedByOpinion } = submission;
  const facts = factsOf(incoming, submission.call.arguments);
  const verdict = ruleOn(submission.policy, { facts, edits, killed: false, denied, holds, allowedByOpinion });
  return { verdict: verdict.verdict, stations: [...before, { station: "rule", said: wordsOf(verdict) }] };
}
