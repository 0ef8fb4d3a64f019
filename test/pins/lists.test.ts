import { describe, expect, it } from "vitest";
import { ANSWER_CODES, REFUSAL_CODES } from "../../src/core/errors.ts";
import { EVENTS } from "../../src/core/journal.ts";
import { JSON_LIMITS } from "../../src/core/json-value.ts";
import { MODES, RECORDS, UNMATCHED } from "../../src/core/policy.ts";
import { MAX_SKEW, type RowKind } from "../../src/core/ports/store.ts";
import { CANCEL_REASONS, type ExpireReason, hasEnded, type IndeterminateReason, STATUSES } from "../../src/core/request.ts";
import { ASSURANCES } from "../../src/core/requirement.ts";
import { IMPACTS, TIERS } from "../../src/core/tool-call.ts";

/** A member more or less fails to compile: a union that is only a type has no list to compare. */
const all = <T extends string>(members: Readonly<Record<T, true>>): readonly T[] => Object.keys(members) as T[];

describe("closed lists", () => {
  it("P-07 of codes that a model may read", () => {
    expect(REFUSAL_CODES).toEqual([
      "denied",
      "not_granted",
      "rejected",
      "already_refused",
      "too_many_refusals",
      "expired",
      "cancelled",
      "no_approver",
      "undeliverable",
      "unknown_tool",
      "invalid_arguments",
      "schema_not_stable",
      "invalid_edit",
      "duplicate_id",
      "context_changed",
      "tool_changed",
      "killed",
      "no_gate",
      "cannot_seal",
      "policy_error",
      "channel_fault",
      "store_unavailable",
      "journal_unavailable",
      "clock_skew",
      "directory_unavailable",
      "limit",
      "invalid_token",
    ]);
  });

  it("P-04 of codes that only people read", () => {
    expect(ANSWER_CODES).toEqual([
      "self_approval",
      "not_eligible",
      "assurance_too_low",
      "already_voted",
      "stale_view",
      "late",
      "not_found",
      "ambiguous_id",
    ]);
  });

  it("P-10 of what a journal can say", () => {
    expect(EVENTS).toHaveLength(42);
    expect(EVENTS).toEqual([
      "request.created",
      "request.delivered",
      "request.undelivered",
      "request.seen",
      "request.voted",
      "request.approved",
      "request.rejected",
      "request.revoked",
      "request.superseded",
      "request.cancelled",
      "request.expired",
      "request.claimed",
      "request.succeeded",
      "request.failed",
      "request.indeterminate",
      "request.found",
      "attempt.refused",
      "call.allowed",
      "call.denied",
      "window.opened",
      "window.used",
      "window.ended",
      "grant.given",
      "grant.used",
      "grant.ended",
      "exemption.added",
      "exemption.used",
      "exemption.removed",
      "policy.loaded",
      "policy.accepted",
      "kill.changed",
      "token.made",
      "token.revoked",
      "directory.changed",
      "payload.erased",
      "checkpoint.signed",
      "request.escalated",
      "request.reminded",
      "request.parked",
      "request.attached",
      "refusal.lifted",
      "definition.pinned",
    ]);
  });

  it("of states, and of those that nothing leaves", () => {
    expect(STATUSES).toEqual([
      "pending",
      "approved",
      "claimed",
      "succeeded",
      "failed",
      "indeterminate",
      "rejected",
      "expired",
      "cancelled",
    ]);
    expect(STATUSES.filter(hasEnded)).toEqual(["succeeded", "failed", "indeterminate", "rejected", "expired", "cancelled"]);
  });

  it("of reasons to withdraw, to expire, and not to know", () => {
    expect(CANCEL_REASONS).toEqual([
      "requester",
      "requester_gone",
      "abort",
      "operator",
      "kill_switch",
      "revoked",
      "superseded",
      "tool_changed",
      "context_changed",
      "policy_changed",
      "undeliverable",
      "no_approver",
      "channel_fault",
      "invalid_edit",
    ]);
    expect(all<ExpireReason>({ not_decided: true, not_shown: true, not_claimed: true })).toHaveLength(3);
    expect(all<IndeterminateReason>({ lease_lost: true, crashed: true, unobserved: true })).toHaveLength(3);
  });

  it("of rows beside the records", () => {
    expect(
      all<RowKind>({
        payload: true,
        sealed: true,
        delivery: true,
        window: true,
        grant: true,
        exemption: true,
        kill: true,
        policy: true,
        token: true,
        refusal: true,
        streak: true,
        definition: true,
        call: true,
      }),
    ).toHaveLength(13);
  });

  it("of tiers, impacts, assurances weakest first, modes", () => {
    expect(TIERS).toEqual(["read", "write", "physical"]);
    expect(IMPACTS).toEqual(["default", "destructive", "irreversible"]);
    expect(ASSURANCES).toEqual(["client", "local", "account", "fresh", "signed"]);
    expect(MODES).toEqual(["default", "plan", "accept-edits", "bypass", "no-ask"]);
    expect(UNMATCHED).toEqual(["by-tier", "ask", "deny", "allow"]);
    expect(RECORDS).toEqual(["calls", "counts", "none"]);
  });

  it("of limits that others rely on", () => {
    expect(MAX_SKEW).toBe(2000);
    expect(JSON_LIMITS).toMatchObject({ depth: 64 });
  });
});
