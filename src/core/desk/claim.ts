import { REFUSAL_CODES, type RefusalCode } from "../errors.ts";
import { type Hash, hashOf } from "../hash.ts";
import { type Instant, plus } from "../instant.ts";
import { sameJson } from "../json.ts";
import { JsonFault, type JsonObject } from "../json-value.ts";
import type { ClaimEvidence, Claimed, Completion } from "../ports/desk.ts";
import type { Row, RowChange, Stored } from "../ports/store.ts";
import type { ApprovalRequest, CancelReason, Claim, RunOutcome } from "../request.ts";
import { digestOf, isOurDecision, partsOf, requesterRecord } from "../request-hash.ts";
import { denyOf } from "../rule.ts";
import { withCommitments } from "../secret.ts";
import type { Event } from "../transition.ts";
import { payloadRow } from "./ask.ts";
import { change } from "./change.ts";
import { historyFlaw } from "./history.ts";
import { keep } from "./kept.ts";
import { killScopes } from "./kill.ts";
import { integrityFault } from "./look.ts";
import { electorateOf } from "./people.ts";
import { type DeskParts, TIMES } from "./parts.ts";
import { endStreak } from "./remember.ts";
import { resumeRow, spendResume } from "./resume.ts";
import { standingFrom } from "./standing.ts";
import { faultOf } from "./submit.ts";

/**
 * Who may take the approval up: the same principal and agent (I13), in the session and run that asked, or in the one whose
 * repeat took the request up, or with the resume token that was given out for it.
 */
async function sameAudience(
  parts: DeskParts,
  record: ApprovalRequest,
  by: { evidence: ClaimEvidence; resumes: boolean },
): Promise<boolean> {
  const { evidence, resumes } = by;
  const { principal, agent, session, run } = requesterRecord(evidence.requester);
  const asked = record.requester;
  if (principal !== asked.principal || agent !== asked.agent) return false;
  if (resumes || (session === asked.session && run === asked.run)) return true;
  return record.lease?.holder === evidence.holder && (await tookUp(parts, record, { holder: evidence.holder, session, run }));
}

/** Whoever holds the lease is not yet who took it up: a holder's name is nothing that a session has to itself. */
async function tookUp(parts: DeskParts, record: ApprovalRequest, by: JsonObject): Promise<boolean> {
  let last: JsonObject | undefined;
  for await (const { event, data } of parts.store.journal(`request/${record.id}`)) if (event === "request.attached") last = data;
  return last !== undefined && sameJson(last, by);
}

/** The row of the resume token that the claim shows, where it is this request's. */
async function resumeShown(parts: DeskParts, record: ApprovalRequest, evidence: ClaimEvidence): Promise<Row | undefined> {
  if (evidence.resumeToken === undefined) return undefined;
  const row = await resumeRow(parts, evidence.resumeToken, evidence.requester.principal);
  return row?.value.root === record.root ? row : undefined;
}

/** The digest of exactly the bytes that will run, secrets committed with the salts of when it was asked. */
function digestOfEvidence(parts: DeskParts, record: ApprovalRequest, evidence: ClaimEvidence): Hash {
  const salts = parts.open.get(record.id)?.salts ?? {};
  const args = withCommitments(parts.runtime.crypto, evidence.arguments, salts);
  const said = partsOf(record, args);
  return digestOf(parts.runtime.crypto, { ...said, call: { ...said.call, tool: evidence.tool }, bindings: evidence.bindings });
}

/** What changed since it was approved, if anything did: each has its own reason to withdraw. */
function withdrawal(parts: DeskParts, record: ApprovalRequest, evidence: ClaimEvidence): CancelReason | undefined {
  if (!sameJson(record.call.tool as never, evidence.tool as never)) return "tool_changed";
  if (!sameJson(record.bindings, evidence.bindings)) return "context_changed";
  const open = parts.open.get(record.id);
  const facts = {
    tool: record.call.tool.name,
    tier: open?.tier ?? record.tier ?? undefined,
    arguments: evidence.arguments,
    requester: evidence.requester,
  };
  const policies = open === undefined ? [parts.policy()] : [open.policy, parts.policy()];
  return policies.some((policy) => denyOf(policy, facts) !== undefined) ? "policy_changed" : undefined;
}

const REASONS: ReadonlyMap<RefusalCode, CancelReason> = new Map([
  ["denied", "policy_changed"],
  ["killed", "kill_switch"],
  ["context_changed", "context_changed"],
]);

/** What the claim is told: how the request ended, once it was withdrawn where that is why. */
async function refuse(parts: DeskParts, id: string, why: { code: RefusalCode; reason?: CancelReason }): Promise<Claimed> {
  const reason = why.reason ?? REASONS.get(why.code);
  if (reason !== undefined && (await parts.look(id))?.record.status === "approved") await parts.cancel(id, reason, null);
  const stored = await parts.look(id);
  if (stored === undefined) return { ok: false, refusal: { code: why.code }, status: null };
  const { refusal, status } = standingFrom(stored);
  return { ok: false, refusal: refusal ?? { code: why.code }, status };
}

/**
 * Whether the request's own journal leads to the record as it stands. What changed between the two looks is looked at
 * again: only a record that stays as it is can be damaged.
 * @throws HoldpointError `store_unavailable` on one that is
 */
async function checkHistory(parts: DeskParts, record: ApprovalRequest): Promise<void> {
  const flaw = await historyFlaw(parts, record);
  if (flaw === undefined) return;
  const now = await parts.look(record.id);
  if (now?.record.head === record.head) throw integrityFault(record.id, flaw);
}

async function attempt(parts: DeskParts, id: string, evidence: ClaimEvidence): Promise<Claimed> {
  const stored = await parts.look(id);
  if (stored === undefined) return { ok: false, refusal: { code: "invalid_token" }, status: null };
  const resumed = await resumeShown(parts, stored.record, evidence);
  if (!(await sameAudience(parts, stored.record, { evidence, resumes: resumed !== undefined })))
    return { ok: false, refusal: { code: "invalid_token" }, status: null };
  if (stored.record.status === "approved") {
    const reason = withdrawal(parts, stored.record, evidence);
    if (reason !== undefined) return refuse(parts, id, { code: "cancelled", reason });
    await checkHistory(parts, stored.record);
  }
  const token = parts.runtime.ids.token();
  const tokenHash: Hash = `sha256:${parts.runtime.crypto.sha256(token)}`;
  const done = await change(parts, id, async ({ record }, now) => {
    const decisions = record.decisions.filter((vote) => isOurDecision(parts.runtime, record.id, vote));
    const electorate = await electorateOf(parts, { clauses: record.terms.clauses, requester: record.requester }, decisions);
    const claim: Claim = { holder: evidence.holder, tokenHash, fence: record.rev, until: plus(now, TIMES.claimLease), at: now };
    return {
      event: {
        type: "claim",
        attempt: { request: record, digest: digestOfEvidence(parts, record, evidence), decisions, electorate, now },
        claim,
      },
      beside: async () => ({
        unlessKilled: killScopes(parts.tenant, record.call.tool.name, record.requester),
        before: record.runBy as Instant,
        rows: resumed === undefined ? [] : [spendResume(resumed, now)],
      }),
    };
  });
  if (!done.ok) {
    const approved = done.code === "cancelled" && done.stored?.record.status === "approved";
    if (done.code === "expired" || done.code === "late" || approved) await parts.expire(id);
    const code = REFUSAL_CODES.find((known) => known === done.code) ?? "expired";
    return refuse(parts, id, { code });
  }
  const { fence, until } = done.record.claim as Claim;
  return { ok: true, token, fence, digest: done.record.digest, until };
}

/**
 * Turns `approved` into `claimed` for exactly one executor, after looking again at everything that was true when it was
 * approved (design, section 4.9). A fault refuses; it never lets run.
 */
export async function claim(parts: DeskParts, id: string, evidence: ClaimEvidence): Promise<Claimed> {
  try {
    return await attempt(parts, id, evidence);
  } catch (thrown) {
    return { ok: false, refusal: faultOf(parts, thrown), status: null };
  }
}

/** The digest of what a tool gave; a value that is not JSON is only known to have been. @internal */
export function resultDigest(parts: DeskParts, value: unknown): Hash {
  try {
    return hashOf(parts.runtime.crypto, { type: "holdpoint/result/v1", value });
  } catch (thrown) {
    if (!(thrown instanceof JsonFault)) throw thrown;
    return hashOf(parts.runtime.crypto, { type: "holdpoint/result/v1", kind: "opaque" });
  }
}

const resultOf = (parts: DeskParts, { value, keep: kept }: Completion): NonNullable<RunOutcome["result"]> => ({
  digest: resultDigest(parts, value),
  ...(kept === true && parts.runtime.keys.seal !== null ? { sealed: true } : {}),
});

/** The caller is gone: its repeat gets what the call gave, or is told that nobody knows. */
async function keptRow(parts: DeskParts, { payload }: Stored, value: unknown): Promise<readonly RowChange[]> {
  if (payload === null) return [];
  const row = await parts.store.row("payload", payload.request);
  return row === undefined ? [] : [payloadRow({ ...payload, result: keep(parts, value) }, row.rev)];
}

/** How the holder says it ended: with an outcome, or that nobody could observe one. */
function endingOf(record: ApprovalRequest, said: { tokenHash: Hash; outcome: RunOutcome | undefined; now: Instant }): Event {
  const { tokenHash, outcome, now } = said;
  if (outcome !== undefined) return { type: "complete", tokenHash, outcome, now };
  if (record.claim?.tokenHash === tokenHash) return { type: "sweep", reason: "unobserved", now };
  return { type: "complete", tokenHash, outcome: { status: "failed", observedBy: "executor" }, now };
}

/** Records how a claimed call ended; by its holder only. False: the claim is not theirs any more. */
export async function complete(parts: DeskParts, id: string, ended: { token: string; outcome: Completion }): Promise<boolean> {
  const { token, outcome } = ended;
  const tokenHash: Hash = `sha256:${parts.runtime.crypto.sha256(token)}`;
  const { status } = outcome;
  const said: RunOutcome | undefined =
    status === "lost"
      ? undefined
      : {
          status,
          observedBy: outcome.observedBy,
          ...(outcome.status === "succeeded" ? { result: resultOf(parts, outcome) } : {}),
          ...(outcome.errorCode === undefined ? {} : { error: { code: outcome.errorCode } }),
        };
  const done = await change(parts, id, async ({ record, payload }, now) => ({
    event: endingOf(record, { tokenHash, outcome: said, now }),
    beside: async () => ({
      rows: [
        ...(await endStreak(parts, record.requester, record.call.tool.name)),
        ...(outcome.keep === true
          ? await keptRow(parts, { record, payload }, status === "lost" ? undefined : outcome.value)
          : []),
      ],
    }),
  }));
  if (done.ok) parts.settled(done.record);
  return done.ok;
}
