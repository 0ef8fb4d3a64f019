import type { AnswerCode, RefusalCode } from "./errors.ts";
import type { Hash } from "./hash.ts";
import { type Instant, plus } from "./instant.ts";
import { allMet, eligible, type Electorate, type Standing } from "./quorum.ts";
import type { ApprovalRequest, Decision, ExpireReason } from "./request.ts";
import { suffices } from "./requirement.ts";

/** A vote that is about to be counted, with everything that speaks for or against it. */
export interface Vote {
  readonly request: ApprovalRequest;
  readonly decision: Omit<Decision, "mac">;
  readonly standing: Standing | undefined;
  /** The view was ours and names this request, digest, person and channel. */
  readonly viewed: boolean;
  readonly now: Instant;
}

/** A claim that is about to be granted. */
export interface ClaimAttempt {
  readonly request: ApprovalRequest;
  /** Recomputed from the bytes that will run. */
  readonly digest: Hash;
  /** Only decisions whose MAC holds. */
  readonly decisions: readonly Decision[];
  readonly electorate: Electorate;
  readonly now: Instant;
}

/** A repeat of a call that is about to take its request up. */
export interface Attachment {
  readonly request: ApprovalRequest;
  /** Of the session that asked, or of the one that took it up last. */
  readonly own: boolean;
  readonly now: Instant;
}

export type AttachGuard = (attachment: Attachment) => AnswerCode | undefined;
export type VoteGuard = (vote: Vote) => AnswerCode | undefined;
export type ClaimGuard = (attempt: ClaimAttempt) => RefusalCode | undefined;

/** The guards of the checked model by its own names; each answers with a code, or lets pass. Taking one out must fail a test. */
export interface Guards {
  readonly approve: Readonly<
    Record<"state" | "time" | "gone" | "known" | "self" | "eligible" | "assurance" | "once" | "shown", VoteGuard>
  >;
  readonly reject: Readonly<Record<"state" | "time" | "gone" | "known" | "eligible" | "digest", VoteGuard>>;
  readonly claim: Readonly<Record<"state" | "time" | "gone" | "parked" | "bytes" | "quorum", ClaimGuard>>;
  readonly attach: Readonly<Record<"state" | "time" | "gone" | "free", AttachGuard>>;
}

const eligibleClauses = ({ request, standing }: Vote): readonly number[] =>
  standing === undefined
    ? []
    : request.terms.clauses.flatMap((clause, index) => (eligible(clause, index, standing) ? [index] : []));

const holdsAny = (standing: Standing | undefined): boolean => standing?.holds.some((clause) => clause.some(Boolean)) === true;

/**
 * The deadline that has passed, if one has; equal to the deadline is late. From then on only time ends the request: what
 * comes before the tick that says so changes nothing (P-04).
 */
export function overdue(request: ApprovalRequest, now: Instant): ExpireReason | undefined {
  if (request.status === "pending" && now >= request.decideBy) return "not_decided";
  if (request.status === "approved" && request.runBy !== undefined && now >= request.runBy) return "not_claimed";
  return undefined;
}

/** Milliseconds in which a request whose requester is gone may be taken up again (design, section 6). */
export const REQUESTER_GRACE = 300_000;

/** The requester stopped renewing: nobody would run it now. Suspended and deferred requests have no lease to lose. */
export const isLost = ({ status, lease }: ApprovalRequest, now: Instant): boolean =>
  (status === "pending" || status === "approved") && lease !== undefined && now >= lease.until;

/** Lost for so long that nobody may take it up any more; whoever comes before the sweep that says so changes nothing. */
export const isGone = (request: ApprovalRequest, now: Instant): boolean => {
  const at = goneAt(request);
  return at !== undefined && isLost(request, now) && now >= at;
};
/** When a request is gone, unless its lease is renewed; `undefined`: never. */
export const goneAt = ({ lease }: ApprovalRequest): Instant | undefined =>
  lease === undefined ? undefined : plus(lease.until, REQUESTER_GRACE);

const inTime = ({ request, now }: Pick<Vote, "request" | "now">): AnswerCode | undefined =>
  overdue(request, now) === undefined ? undefined : "late";

const isThere = ({ request, now }: Pick<Vote, "request" | "now">): AnswerCode | undefined =>
  isGone(request, now) ? "late" : undefined;

const known: VoteGuard = ({ decision }) => (decision.by === "" || decision.as === "" ? "not_eligible" : undefined);

export const GUARDS: Guards = {
  approve: {
    state: ({ request }) => (request.status === "pending" ? undefined : "late"),
    time: inTime,
    gone: isThere,
    known,
    self: (vote) =>
      vote.standing?.self === true && holdsAny(vote.standing) && eligibleClauses(vote).length === 0 ? "self_approval" : undefined,
    eligible: (vote) => (eligibleClauses(vote).length > 0 ? undefined : "not_eligible"),
    assurance: (vote) =>
      eligibleClauses(vote).some((index) => {
        const clause = vote.request.terms.clauses[index];
        return clause !== undefined && suffices(vote.decision.assurance, clause.assurance);
      })
        ? undefined
        : "assurance_too_low",
    once: ({ request, decision }) => (request.decisions.some((vote) => vote.by === decision.by) ? "already_voted" : undefined),
    shown: ({ request, decision, viewed }) => (viewed && decision.digest === request.digest ? undefined : "stale_view"),
  },
  reject: {
    state: ({ request }) => (request.status === "pending" || request.status === "approved" ? undefined : "late"),
    time: inTime,
    gone: isThere,
    known,
    eligible: ({ standing }) => (holdsAny(standing) ? undefined : "not_eligible"),
    digest: ({ request, decision }) => (decision.digest === request.digest ? undefined : "stale_view"),
  },
  claim: {
    state: ({ request }) => (request.status === "approved" ? undefined : "cancelled"),
    time: ({ request, now }) => (request.runBy !== undefined && now < request.runBy ? undefined : "expired"),
    gone: ({ request, now }) => (isGone(request, now) ? "cancelled" : undefined),
    // Its caller was told that it waits: approval does not run it, the repeat that takes it up does.
    parked: ({ request }) => (request.parked ? "cancelled" : undefined),
    bytes: ({ request, digest }) => (digest === request.digest ? undefined : "context_changed"),
    quorum: ({ request, decisions, electorate }) =>
      allMet(request.terms.clauses, { decisions: decisions.filter((vote) => vote.digest === request.digest), electorate })
        ? undefined
        : "denied",
  },
  attach: {
    state: ({ request }) => (request.status === "pending" || request.status === "approved" ? undefined : "late"),
    time: inTime,
    gone: isThere,
    // What is still held by a live caller is that caller's; a second identical call is a request of its own.
    free: ({ request, own, now }) => ((request.parked && own) || isLost(request, now) ? undefined : "late"),
  },
};

/** The first objection of a set of guards, in their order. */
export function objection<Subject, Objection>(
  guards: Readonly<Record<string, (subject: Subject) => Objection | undefined>>,
  subject: Subject,
): Objection | undefined {
  for (const guard of Object.values(guards)) {
    const said = guard(subject);
    if (said !== undefined) return said;
  }
  return undefined;
}
