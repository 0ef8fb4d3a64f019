import type { Instant } from "../instant.ts";
import { plus } from "../instant.ts";
import type { JsonObject } from "../json-value.ts";
import type { KillScope, RowChange } from "../ports/store.ts";
import type { Electorate } from "../quorum.ts";
import type { ApprovalRequest, Claim } from "../request.ts";
import type { Event } from "../transition.ts";
import { digestOf, isOurDecision, partsOf } from "../request-hash.ts";
import type { NodeDraft } from "./journal-writer.ts";
import { type DeskParts, TIMES } from "./parts.ts";
import { giveGrant } from "./remember.ts";
import type { Hash } from "../hash.ts";

export interface Author {
  readonly principal: string;
}

/** What an approved request of kind `grant` or `change` does; its arguments are ours, and their digest was approved. */
export async function effectOf(
  parts: DeskParts,
  stored: { readonly record: ApprovalRequest; readonly arguments: JsonObject },
  by: { author: Author; now: Instant },
): Promise<{ rows: readonly RowChange[]; node: readonly NodeDraft[] }> {
  const { record } = stored;
  const actor = { principal: by.author.principal, as: by.author.principal, via: "desk" };
  if (record.kind === "grant") {
    const { scope, length } = stored.arguments as { scope: string; length: number };
    const row = await giveGrant(parts, record, { scope, length, by: by.author.principal, now: by.now });
    return {
      rows: [row],
      node: [{ event: "grant.given", actor, data: { request: record.id, until: plus(by.now, length) } }],
    };
  }
  const scope = stored.arguments.kill as KillScope;
  const row = await parts.store.row("kill", scope);
  const rows: readonly RowChange[] = row === undefined ? [] : [{ kind: "kill", key: scope, expect: row.rev, next: null }];
  return { rows, node: [{ event: "kill.changed", actor, data: { scope, on: false, request: record.id } }] };
}

/**
 * The further steps of an approved change of authority: the desk is its executor, and the change is durable with the
 * approval or not at all (P-10).
 */
export function stepsOf(
  parts: DeskParts,
  next: ApprovalRequest,
  approved: { readonly electorate: Electorate; readonly arguments: JsonObject; readonly now: Instant },
): readonly Event[] {
  if (next.kind === "call" || next.status !== "approved") return [];
  const { electorate, now } = approved;
  const tokenHash: Hash = `sha256:${parts.runtime.crypto.sha256(parts.runtime.ids.token())}`;
  const decisions = next.decisions.filter((vote) => isOurDecision(parts.runtime, next.id, vote));
  const digest = digestOf(parts.runtime.crypto, partsOf(next, approved.arguments));
  const claim: Claim = {
    holder: parts.runtime.ids.process,
    tokenHash,
    fence: next.rev,
    until: plus(now, TIMES.claimLease),
    at: now,
  };
  return [
    { type: "claim", attempt: { request: next, digest, decisions, electorate, now }, claim },
    { type: "complete", tokenHash, outcome: { status: "succeeded", observedBy: "executor" }, now },
  ];
}
