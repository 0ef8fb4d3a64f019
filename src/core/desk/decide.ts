import type { AnswerCode, Code } from "../errors.ts";
import { type Hash, hashOf } from "../hash.ts";
import type { Instant } from "../instant.ts";
import type { JsonObject } from "../json-value.ts";
import type { Actor } from "../journal.ts";
import type { Answer, Decided, Identity } from "../ports/approvals.ts";
import type { Row, RowChange, Stored } from "../ports/store.ts";
import { electorateOf, personOf, standingOf } from "./people.ts";
import { decisionMac, isOurDecision, readView } from "../request-hash.ts";
import { type ApprovalRequest, type Decision, hasEnded, type Payload } from "../request.ts";
import type { Event } from "../transition.ts";
import { isGone, overdue, type Vote } from "../guards.ts";
import { payloadRow } from "./ask.ts";
import { effectOf, stepsOf } from "./authority.ts";
import { type Changed, change } from "./change.ts";
import type { NodeDraft } from "./journal-writer.ts";
import { integrityFault } from "./look.ts";
import type { DeskParts } from "./parts.ts";
import { openWindow, rememberRejection } from "./remember.ts";

/** Longest reason that is kept; the rest is said to be cut. */
const REASON_LENGTH = 2000;

/** Who answers: the person behind the identity that the transport proved. */
export interface Answerer {
  readonly identity: Identity;
  readonly principal: string;
}
export const answerer = async (parts: DeskParts, identity: Identity): Promise<Answerer> => ({
  identity,
  principal: (await personOf(parts, identity)).principal,
});

export const actorOf = ({ identity, principal }: Answerer): Actor => ({ principal, as: identity.as, via: identity.via });

const question = (record: ApprovalRequest) => ({ clauses: record.terms.clauses, requester: record.requester });

/** The rendering that the view was given out for, to this person, on this channel, for what is pending now. */
export const renderingSeen = (
  parts: DeskParts,
  record: ApprovalRequest,
  shown: { view: unknown; digest: Hash; by: Answerer },
): Hash | undefined =>
  readView(parts.runtime, shown.view, {
    request: record.id,
    digest: shown.digest,
    person: shown.by.principal,
    channel: shown.by.identity.via,
  });

interface Counted {
  readonly verdict: "approve" | "reject";
  readonly digest: Hash;
  readonly view: unknown;
  readonly key: string | undefined;
  readonly by: Answerer;
  readonly now: Instant;
}

/** A key is one person's: another's answer under the same key is another answer, with words of its own. */
const answerId = (parts: DeskParts, key: string, by: string): string =>
  hashOf(parts.runtime.crypto, { type: "holdpoint/answer/v1", key, by });

/** A decision with everything that speaks for or against it; its MAC is made only of what will be stored. */
export async function voteOn(
  parts: DeskParts,
  record: ApprovalRequest,
  counted: Counted,
): Promise<{ vote: Vote; decision: Decision }> {
  const { by, verdict, digest, now } = counted;
  const rendering = renderingSeen(parts, record, { view: counted.view, digest, by }) ?? null;
  const { identity, principal } = by;
  const unsigned: Omit<Decision, "mac"> = {
    id: counted.key === undefined ? parts.runtime.ids.nonce() : answerId(parts, counted.key, principal),
    verdict,
    by: principal,
    as: identity.as,
    via: identity.via,
    assurance: identity.assurance,
    digest,
    rendering,
    at: now,
    ...(identity.proof === undefined ? {} : { proof: identity.proof }),
  };
  const standing = await standingOf(parts, question(record), { principal, as: identity.as });
  return {
    vote: { request: record, decision: unsigned, standing, viewed: rendering !== null, now },
    decision: { ...unsigned, mac: decisionMac(parts.runtime, record.id, unsigned) },
  };
}

/** The payload with a person's words of an answer; itself where they said nothing. */
export const withReason = (payload: Payload, decision: Decision, reason: string | undefined): Payload =>
  reason === undefined || reason === ""
    ? payload
    : { ...payload, reasons: { ...payload.reasons, [decision.id]: reason.slice(0, REASON_LENGTH) } };

async function payloadRows(
  parts: DeskParts,
  stored: Stored,
  change: { decision: Decision; reason: string | undefined },
): Promise<readonly RowChange[]> {
  if (stored.payload === null) return [];
  const next = withReason(stored.payload, change.decision, change.reason);
  if (next === stored.payload) return [];
  const row = await parts.store.row("payload", stored.record.id);
  return [payloadRow(next, (row as Row).rev)];
}

/** What is left of a call whose payload was erased has another digest than what was shown. */
const argumentsOf = (payload: Payload | null): JsonObject => payload?.arguments ?? {};

/** What a yes or a no changes beside the request, in the same commit: windows, grants, memories. */
export async function consequences(
  parts: DeskParts,
  next: ApprovalRequest,
  given: { by: Answerer; now: Instant; payload: Payload | null },
): Promise<{ rows: readonly RowChange[]; node: readonly NodeDraft[] }> {
  const { by, now, payload } = given;
  if (next.status === "succeeded") return effectOf(parts, { record: next, arguments: argumentsOf(payload) }, { author: by, now });
  if (next.status === "approved") {
    const rows = await openWindow(parts, next, { by: by.principal, now });
    const data = { request: next.id, tool: next.call.tool.name };
    return { rows, node: rows.map(() => ({ event: "window.opened", actor: actorOf(by), data })) };
  }
  const refusedByPerson = next.status === "rejected" || (next.status === "cancelled" && next.resolution?.reason === "revoked");
  if (!refusedByPerson) return { rows: [], node: [] };
  return rememberRejection(parts, { record: next, payload }, { actor: actorOf(by), now });
}

const NOTES: Readonly<Partial<Record<Code, string>>> = {
  late: "too late: this request was already decided or has ended; nothing changed",
  not_found: "there is no such request; nothing changed",
  already_voted: "you have answered this request already; one person counts once",
  not_eligible: "you are not among those who may decide this request",
  self_approval: "this request was made for you or by you; somebody else must decide it",
  assurance_too_low: "this request wants a stronger proof of who you are than this way of answering gives",
  stale_view: "what you were shown is not what is pending now; look at it again",
};

const notCounted = (code: Code, record: ApprovalRequest | undefined): Decided => ({
  found: record !== undefined && !hasEnded(record.status),
  status: record?.status ?? null,
  counted: false,
  code: code as AnswerCode,
  ...(NOTES[code] === undefined ? {} : { note: NOTES[code] }),
});

/** An answer that came too late, or from someone it is not for, changes nothing, is recorded, and is told so (P-04). */
export async function notTaken(
  parts: DeskParts,
  attempt: { readonly id: string; readonly code: Code; readonly verdict: string; readonly by: Answerer },
  record: ApprovalRequest | undefined,
): Promise<Decided> {
  const { id, code, verdict, by } = attempt;
  await parts.journal.write({
    node: [{ event: "attempt.refused", actor: actorOf(by), data: { request: id, code, verdict } }],
  });
  return notCounted(code, record);
}

/** A repeat of an answer that was counted finds its first result (A52): a double click is one vote. */
function repeatOf(
  parts: DeskParts,
  record: ApprovalRequest | undefined,
  given: { answer: Answer; by: Answerer },
): Decided | undefined {
  if (record === undefined) return undefined;
  const { answer, by } = given;
  const id = answer.key === undefined ? undefined : answerId(parts, answer.key, by.principal);
  const same = record.decisions.findLast((vote) =>
    id === undefined ? vote.by === by.principal && vote.as === by.identity.as : vote.id === id,
  );
  if (same === undefined || same.verdict !== answer.verdict || same.digest !== answer.digest) return undefined;
  return { found: true, status: record.status, counted: true, id: record.id, note: "this answer was counted already" };
}

/** Past a deadline, time has ended the request; whoever comes first after it says so in the record. */
async function tickIfOverdue(parts: DeskParts, stored: Stored, now: Instant): Promise<void> {
  if (overdue(stored.record, now) !== undefined || isGone(stored.record, now)) await parts.expire(stored.record.id);
}

function eventOf(
  answer: Answer,
  prepared: { vote: Vote; decision: Decision; electorate: Awaited<ReturnType<typeof electorateOf>> },
): Event {
  const { vote, decision, electorate } = prepared;
  return answer.verdict === "approve" ? { type: "approve", vote, decision, electorate } : { type: "reject", vote, decision };
}

/** A yes is never counted on top of one that nobody gave: it would open a window before any claim looks. A no always is. */
function onlyOurVotes(parts: DeskParts, { id, decisions }: ApprovalRequest): void {
  if (!decisions.every((vote) => isOurDecision(parts.runtime, id, vote)))
    throw integrityFault(id, "it holds a vote that nobody gave");
}

async function answerOnce(parts: DeskParts, id: string, given: { answer: Answer; by: Answerer }): Promise<Changed> {
  const { answer, by } = given;
  return change(parts, id, async (stored, now) => {
    const { record } = stored;
    if (answer.verdict === "approve") onlyOurVotes(parts, record);
    const { vote, decision } = await voteOn(parts, record, {
      verdict: answer.verdict,
      digest: answer.digest,
      view: answer.view,
      key: answer.key,
      by,
      now,
    });
    const electorate = await electorateOf(parts, question(record), [...record.decisions, decision]);
    return {
      event: eventOf(answer, { vote, decision, electorate }),
      further: (next) => stepsOf(parts, next, { electorate, arguments: argumentsOf(stored.payload), now }),
      beside: async (next) => {
        const also = await consequences(parts, next, { by, now, payload: stored.payload });
        const rows = [...also.rows, ...(await payloadRows(parts, stored, { decision, reason: answer.reason }))];
        return { rows, node: also.node, ...(record.status === "pending" ? { before: record.decideBy } : {}) };
      },
    };
  });
}

/** Counts one person's answer to one request; never a throw for one that is unknown or has ended. */
export async function decide(parts: DeskParts, id: string, given: { answer: Answer; as: Identity }): Promise<Decided> {
  const { answer } = given;
  if (answer.verdict !== "approve" && answer.verdict !== "reject") return notCounted("stale_view", undefined);
  const by = await answerer(parts, given.as);
  const stored = await parts.look(id);
  const repeat = repeatOf(parts, stored?.record, { answer, by });
  if (repeat !== undefined) return repeat;
  if (stored === undefined) return notTaken(parts, { id, code: "not_found", verdict: answer.verdict, by }, undefined);
  await tickIfOverdue(parts, stored, await parts.store.now());
  const done = await answerOnce(parts, id, { answer, by });
  if (!done.ok) {
    const record = done.stored?.record;
    // The other click of a double click may have been counted between our look and our commit (A53).
    return (
      repeatOf(parts, record, { answer, by }) ?? notTaken(parts, { id, code: done.code, verdict: answer.verdict, by }, record)
    );
  }
  const { record } = done;
  parts.settled(record);
  return { found: true, status: record.status, counted: true, id: record.id };
}
