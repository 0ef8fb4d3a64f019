import type { Instant } from "../instant.ts";
import { plus } from "../instant.ts";
import type { KillScope, RowChange, Stored } from "../ports/store.ts";
import type { ApprovalRequest, Claim } from "../request.ts";
import { digestOf, isOurDecision, partsOf } from "../request-hash.ts";
import { change } from "./change.ts";
import type { NodeDraft } from "./journal-writer.ts";
import { electorateOf } from "./people.ts";
import { type DeskParts, TIMES } from "./parts.ts";
import { giveGrant } from "./remember.ts";
import type { Hash } from "../hash.ts";

interface Author {
  readonly principal: string;
}

/** What an approved request of kind `grant` or `change` does: the desk itself is its executor. */
async function effectOf(
  parts: DeskParts,
  stored: Stored,
  by: { author: Author; now: Instant },
): Promise<{ rows: readonly RowChange[]; node: readonly NodeDraft[] }> {
  const { record, payload } = stored;
  const args = payload?.arguments ?? {};
  const actor = { principal: by.author.principal, as: by.author.principal, via: "desk" };
  if (record.kind === "grant" && typeof args.scope === "string" && typeof args.length === "number") {
    const given = { scope: args.scope, length: args.length, by: by.author.principal, now: by.now };
    return {
      rows: [await giveGrant(parts, record, given)],
      node: [{ event: "grant.given", actor, data: { request: record.id, until: plus(by.now, given.length) } }],
    };
  }
  if (record.kind === "change" && typeof args.kill === "string" && args.on === false) {
    const scope = args.kill as KillScope;
    const row = await parts.store.row("kill", scope);
    const rows: readonly RowChange[] = row === undefined ? [] : [{ kind: "kill", key: scope, expect: row.rev, next: null }];
    return { rows, node: [{ event: "kill.changed", actor, data: { scope, on: false, request: record.id } }] };
  }
  return { rows: [], node: [] };
}

/** Claims and completes an approved change of authority in one commit each with what it changes, under the guards of any claim. */
export async function applyChange(parts: DeskParts, approved: Stored, author: Author): Promise<ApprovalRequest> {
  const token = parts.runtime.ids.token();
  const tokenHash: Hash = `sha256:${parts.runtime.crypto.sha256(token)}`;
  const claimed = await change(parts, approved.record.id, async (stored, now) => {
    const { record, payload } = stored;
    const decisions = record.decisions.filter((vote) => isOurDecision(parts.runtime, record.id, vote));
    const electorate = await electorateOf(parts, { clauses: record.terms.clauses, requester: record.requester }, decisions);
    const claim: Claim = {
      holder: parts.runtime.ids.process,
      tokenHash,
      fence: record.rev,
      until: plus(now, TIMES.claimLease),
      at: now,
    };
    const digest = digestOf(parts.runtime.crypto, partsOf(record, payload?.arguments ?? {}));
    return { event: { type: "claim", attempt: { request: record, digest, decisions, electorate, now }, claim } };
  });
  if (!claimed.ok) return claimed.stored?.record ?? approved.record;
  const done = await change(parts, approved.record.id, async (stored, now) => ({
    event: { type: "complete", tokenHash, outcome: { status: "succeeded", observedBy: "executor" }, now },
    beside: () => effectOf(parts, stored, { author, now }),
  }));
  return done.ok ? done.record : claimed.record;
}
