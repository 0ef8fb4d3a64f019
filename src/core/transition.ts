import { type AnswerCode, bug, type Code, type RefusalCode } from "./errors.ts";
import { type Attachment, type ClaimAttempt, type Guards, GUARDS, isGone, objection, overdue, type Vote } from "./guards.ts";
import type { Hash } from "./hash.ts";
import { type Instant, plus } from "./instant.ts";
import type { Actor, JournalEvent } from "./journal.ts";
import type { JsonObject } from "./json-value.ts";
import { allMet, type Electorate } from "./quorum.ts";
import {
  type ApprovalRequest,
  type CancelReason,
  type Claim,
  type Decision,
  hasEnded,
  type IndeterminateReason,
  type RunOutcome,
  type Status,
} from "./request.ts";

/** An entry that the journal will number, chain and date. One change is one entry is one `rev`. */
export interface Draft {
  readonly event: JournalEvent;
  readonly actor: Actor | null;
  readonly data: JsonObject;
}

export type Moved =
  | { readonly ok: true; readonly next: ApprovalRequest; readonly drafts: readonly Draft[] }
  | { readonly ok: false; readonly code: Code };

export type Event =
  | { readonly type: "approve"; readonly vote: Vote; readonly decision: Decision; readonly electorate: Electorate }
  | { readonly type: "reject"; readonly vote: Vote; readonly decision: Decision }
  | { readonly type: "cancel"; readonly reason: CancelReason; readonly by: Actor | null; readonly now: Instant }
  | { readonly type: "supersede"; readonly successor: string; readonly by: Actor; readonly now: Instant }
  | { readonly type: "tick"; readonly now: Instant; readonly shown: boolean }
  | { readonly type: "claim"; readonly attempt: ClaimAttempt; readonly claim: Claim }
  | { readonly type: "complete"; readonly tokenHash: Hash; readonly outcome: RunOutcome; readonly now: Instant }
  | { readonly type: "lease"; readonly lease: Lease; readonly now: Instant }
  | { readonly type: "park"; readonly lease: Lease; readonly now: Instant }
  | { readonly type: "attach"; readonly attachment: Attachment; readonly lease: Lease; readonly by: AttachedBy }
  | { readonly type: "gone"; readonly now: Instant }
  | { readonly type: "renew"; readonly tokenHash: Hash; readonly until: Instant }
  | { readonly type: "sweep"; readonly reason: IndeterminateReason; readonly now: Instant }
  | { readonly type: "find"; readonly ran: boolean; readonly by: Actor; readonly now: Instant }
  | { readonly type: "note"; readonly draft: Draft };

type Lease = NonNullable<ApprovalRequest["lease"]>;
/** Which run takes it up: a rejection is remembered for it too. */
interface AttachedBy {
  readonly session: string | null;
  readonly run: string | null;
}

const refuse = (code: AnswerCode | RefusalCode): Moved => ({ ok: false, code });

function move(request: ApprovalRequest, patch: Partial<ApprovalRequest>, drafts: readonly Draft[]): Moved {
  return { ok: true, next: { ...request, ...patch, rev: request.rev + drafts.length }, drafts };
}

/** What a machine that was asked before cannot refuse. */
export const must = (moved: Moved): Extract<Moved, { ok: true }> => (moved.ok ? moved : bug(`refused twice: ${moved.code}`));

const actorOf = (decision: Decision): Actor => ({ principal: decision.by, as: decision.as, via: decision.via });

function end(
  request: ApprovalRequest,
  ending: {
    status: Status;
    reason: string;
    by: Actor | null;
    at: Instant;
    event: JournalEvent;
    patch?: Partial<ApprovalRequest>;
    data?: JsonObject;
  },
): Moved {
  const { status, reason, by, at } = ending;
  const resolution = { status, reason, by: by?.principal ?? null, at };
  return move(request, { ...ending.patch, status, resolution }, [
    { event: ending.event, actor: by, data: { reason, ...ending.data } },
  ]);
}

function approve(request: ApprovalRequest, event: Extract<Event, { type: "approve" }>, guards: Guards): Moved {
  const no = objection(guards.approve, event.vote);
  if (no !== undefined) return refuse(no);
  const { decision } = event;
  const decisions = [...request.decisions, decision];
  const voted: Draft = {
    event: "request.voted",
    actor: actorOf(decision),
    data: { decision: decision.id, digest: decision.digest, assurance: decision.assurance },
  };
  const counted = decisions.filter((vote) => vote.digest === request.digest);
  if (!allMet(request.terms.clauses, { decisions: counted, electorate: event.electorate }))
    return move(request, { decisions }, [voted]);
  const runBy = plus(event.vote.now, request.terms.runWithin);
  const approved: Draft = { event: "request.approved", actor: null, data: { digest: request.digest, runBy } };
  return move(request, { decisions, status: "approved", runBy }, [voted, approved]);
}

function reject(request: ApprovalRequest, event: Extract<Event, { type: "reject" }>, guards: Guards): Moved {
  const no = objection(guards.reject, event.vote);
  if (no !== undefined) return refuse(no);
  const { decision, vote } = event;
  const patch = { decisions: [...request.decisions, decision] };
  const by = actorOf(decision);
  return request.status === "approved"
    ? end(request, {
        status: "cancelled",
        reason: "revoked",
        by,
        at: vote.now,
        event: "request.revoked",
        patch,
        data: { decision: decision.id },
      })
    : end(request, {
        status: "rejected",
        reason: "rejected",
        by,
        at: vote.now,
        event: "request.rejected",
        patch,
        data: { decision: decision.id },
      });
}

/** Time has ended it, whether somebody has said so or not. */
const isOver = (request: ApprovalRequest, now: Instant): boolean => overdue(request, now) !== undefined || isGone(request, now);

const isOpen = (request: ApprovalRequest): boolean => request.status === "pending" || request.status === "approved";

function cancel(request: ApprovalRequest, event: Extract<Event, { type: "cancel" }>): Moved {
  if (!isOpen(request) || isOver(request, event.now)) return refuse("late");
  return end(request, { status: "cancelled", reason: event.reason, by: event.by, at: event.now, event: "request.cancelled" });
}

function supersede(request: ApprovalRequest, event: Extract<Event, { type: "supersede" }>): Moved {
  if (request.status !== "pending" || isOver(request, event.now)) return refuse("late");
  return end(request, {
    status: "cancelled",
    reason: "superseded",
    by: event.by,
    at: event.now,
    event: "request.superseded",
    patch: { supersededBy: event.successor },
    data: { successor: event.successor },
  });
}

function tick(request: ApprovalRequest, event: Extract<Event, { type: "tick" }>): Moved {
  const reason = overdue(request, event.now);
  if (reason === undefined) return refuse("late");
  return end(request, {
    status: "expired",
    reason: reason === "not_decided" && !event.shown ? "not_shown" : reason,
    by: null,
    at: event.now,
    event: "request.expired",
  });
}

/** May whoever holds it say that it still waits, or that it waits no longer? */
const mayLease = (request: ApprovalRequest, lease: Lease, now: Instant): boolean =>
  isOpen(request) && request.lease?.holder === lease.holder && !isOver(request, now);

/** As a longer claim lease: no change of the record's history. */
function lease(request: ApprovalRequest, event: Extract<Event, { type: "lease" }>): Moved {
  return mayLease(request, event.lease, event.now) ? move(request, { lease: event.lease }, []) : refuse("late");
}

/** The caller waits no longer: for a person, or for what already runs. */
function park(request: ApprovalRequest, event: Extract<Event, { type: "park" }>): Moved {
  const { holder } = event.lease;
  const runs = request.status === "claimed" && request.lease?.holder === holder;
  if (request.parked || !(runs || mayLease(request, event.lease, event.now))) return refuse("late");
  return move(request, { parked: true, lease: event.lease }, [{ event: "request.parked", actor: null, data: { holder } }]);
}

function attach(request: ApprovalRequest, event: Extract<Event, { type: "attach" }>, guards: Guards): Moved {
  const no = objection(guards.attach, event.attachment);
  if (no !== undefined) return refuse(no);
  const { session, run } = event.by;
  const data = { holder: event.lease.holder, session, run };
  return move(request, { parked: false, lease: event.lease }, [{ event: "request.attached", actor: null, data }]);
}

/** Nobody took it up again. Past a deadline time ends it, not this. */
function gone(request: ApprovalRequest, event: Extract<Event, { type: "gone" }>): Moved {
  if (!isGone(request, event.now) || overdue(request, event.now) !== undefined) return refuse("late");
  return end(request, {
    status: "cancelled",
    reason: "requester_gone",
    by: null,
    at: event.now,
    event: "request.cancelled",
  });
}

function claim(request: ApprovalRequest, event: Extract<Event, { type: "claim" }>, guards: Guards): Moved {
  const no = objection(guards.claim, event.attempt);
  if (no !== undefined) return refuse(no);
  const { holder, fence, until } = event.claim;
  return move(request, { status: "claimed", claim: event.claim }, [
    { event: "request.claimed", actor: null, data: { digest: request.digest, holder, fence, until } },
  ]);
}

function found(request: ApprovalRequest, finding: { ran: boolean; by: string; at: Instant; actor: Actor | null }): Moved {
  if (request.status !== "indeterminate" || request.finding !== undefined) return refuse("late");
  const { ran, by, at, actor } = finding;
  return move(request, { finding: { ran, by, at } }, [{ event: "request.found", actor, data: { ran } }]);
}

function complete(request: ApprovalRequest, event: Extract<Event, { type: "complete" }>): Moved {
  if (request.claim === undefined || request.claim.tokenHash !== event.tokenHash) return refuse("not_found");
  const { outcome, now } = event;
  if (request.status === "indeterminate") return found(request, { ran: true, by: request.claim.holder, at: now, actor: null });
  if (request.status !== "claimed") return refuse("late");
  const result = outcome.result === undefined ? {} : { result: outcome.result.digest };
  const error = outcome.error === undefined ? {} : { error: outcome.error.code };
  return end(request, {
    status: outcome.status,
    reason: outcome.status,
    by: null,
    at: now,
    event: outcome.status === "succeeded" ? "request.succeeded" : "request.failed",
    patch: { outcome },
    data: { observedBy: outcome.observedBy, ...result, ...error },
  });
}

/** A longer lease changes no state, so it is no change of the record's history: rev and journal stay. */
function renew(request: ApprovalRequest, event: Extract<Event, { type: "renew" }>): Moved {
  if (request.status !== "claimed" || request.claim?.tokenHash !== event.tokenHash) return refuse("late");
  return move(request, { claim: { ...request.claim, until: event.until } }, []);
}

function sweep(request: ApprovalRequest, event: Extract<Event, { type: "sweep" }>): Moved {
  if (request.status !== "claimed" || request.claim === undefined) return refuse("late");
  if (event.reason === "lease_lost" && event.now < request.claim.until) return refuse("late");
  return end(request, { status: "indeterminate", reason: event.reason, by: null, at: event.now, event: "request.indeterminate" });
}

/**
 * The state machine of one request (design, section 6), pure: same guards as the checked model, no clock, no store.
 * @returns the next record and its journal drafts, or the code that says why nothing changed
 */
export function transition(request: ApprovalRequest, event: Event, guards: Guards = GUARDS): Moved {
  switch (event.type) {
    case "approve":
      return approve(request, event, guards);
    case "reject":
      return reject(request, event, guards);
    case "cancel":
      return cancel(request, event);
    case "supersede":
      return supersede(request, event);
    case "tick":
      return tick(request, event);
    case "claim":
      return claim(request, event, guards);
    case "complete":
      return complete(request, event);
    case "lease":
      return lease(request, event);
    case "park":
      return park(request, event);
    case "attach":
      return attach(request, event, guards);
    case "gone":
      return gone(request, event);
    case "renew":
      return renew(request, event);
    case "sweep":
      return sweep(request, event);
    case "find":
      return found(request, { ran: event.ran, by: event.by.principal, at: event.now, actor: event.by });
    case "note":
      return hasEnded(request.status) ? refuse("late") : move(request, {}, [event.draft]);
  }
}

/**
 * What the status must be, from the parts of the record that carry their own proof. A record whose status says
 * something else was edited by hand or torn, and is nobody's approval.
 */
export function derivedStatus(request: ApprovalRequest): Status {
  if (request.resolution !== undefined) return request.resolution.status;
  if (request.claim !== undefined) return "claimed";
  return request.runBy !== undefined ? "approved" : "pending";
}
