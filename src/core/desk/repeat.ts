import { isGone, objection, overdue } from "../guards.ts";
import { hashOf } from "../hash.ts";
import { type Instant, plus } from "../instant.ts";
import type { Ruling, Standing, Submission } from "../ports/desk.ts";
import type { Row, RowChange, Stored } from "../ports/store.ts";
import { type ApprovalRequest, hasEnded, type RequesterRecord } from "../request.ts";
import { payloadRow } from "./ask.ts";
import { change } from "./change.ts";
import { opened } from "./kept.ts";
import { watchLease } from "./lease.ts";
import { lookThrough } from "./look.ts";
import type { NodeDraft } from "./journal-writer.ts";
import { type DeskParts, MOST_RACES, TIMES } from "./parts.ts";
import { rememberFor } from "./remember.ts";
import { standingWhole } from "./standing.ts";

/** A call that may be the repeat of one that was asked before. */
export interface Asked {
  readonly submission: Submission;
  readonly requester: RequesterRecord;
  /** Of what is asked: the call itself, or the grant that it needs first. */
  readonly callKey: string;
  readonly now: Instant;
}

/** Requests of one act that are remembered at a time: beyond it the oldest answer is asked for anew. */
const MOST_REPEATS = 16;

const rowKey = ({ runtime, tenant }: DeskParts, { requester, callKey }: Asked): string =>
  hashOf(runtime.crypto, {
    type: "holdpoint/repeat-key/v1",
    tenant,
    principal: requester.principal,
    agent: requester.agent,
    callKey,
  });

/** Only a gate between client and server has callers that go away and ask again: the others call by id. */
const mayRepeat = ({ submission }: Asked): boolean => submission.grade === "structural" && submission.wait === "block";

const requestsOf = (row: Row | undefined): readonly string[] =>
  Array.isArray(row?.value.requests) ? row.value.requests.filter((id) => typeof id === "string") : [];

const putRow = (key: string, row: Row | undefined, requests: readonly string[]): RowChange => ({
  kind: "call",
  key,
  expect: row?.rev ?? null,
  next: requests.length === 0 ? null : { requests },
});

/** A damaged record must not keep the call from being asked anew. */
async function lookOrNone(parts: DeskParts, id: string): Promise<Stored | undefined> {
  try {
    return await lookThrough(parts, id);
  } catch {
    // Looking has said what is wrong with it.
    return undefined;
  }
}

/** As it stands now: what time has ended is ended first. */
async function current(parts: DeskParts, id: string): Promise<Stored | undefined> {
  const stored = await lookOrNone(parts, id);
  const now = await parts.store.now();
  if (stored === undefined || (overdue(stored.record, now) === undefined && !isGone(stored.record, now))) return stored;
  await parts.expire(stored.record.id);
  return lookOrNone(parts, id);
}

/** Of the session that asked, or of the one that took it up last. */
function isOwn({ lease, requester }: ApprovalRequest, { submission, requester: by }: Asked): boolean {
  if (lease?.holder === submission.renewer) return true;
  if (requester.session !== by.session || requester.run !== by.run) return false;
  return by.session !== null || by.run !== null;
}

const ANSWERS: ReadonlySet<ApprovalRequest["status"]> = new Set(["rejected", "expired", "cancelled"]);

/** It runs, or ended, and its caller was not there to be told how, nor has been told since. */
function isUntold({ record, payload }: Stored): boolean {
  if (payload?.result != null) return true;
  if (record.status === "claimed") return record.parked;
  if (record.status === "indeterminate") return record.resolution?.reason === "lease_lost";
  // Nobody asked again in time; now somebody does, and may.
  return record.parked && ANSWERS.has(record.status) && record.resolution?.reason !== "requester_gone";
}

/** `take`: the repeat goes on with it. `wait`: it still runs. `tell`: the repeat is told how it ended. */
function forRepeat(parts: DeskParts, stored: Stored, asked: Asked): "take" | "wait" | "tell" | undefined {
  const { record } = stored;
  const { now } = asked;
  const own = isOwn(record, asked);
  if (objection(parts.guards.attach, { request: record, own, now }) === undefined) return "take";
  const left = record.lease !== undefined && now >= record.lease.until;
  if (!isUntold(stored) || !(own || left)) return undefined;
  return hasEnded(record.status) ? "tell" : "wait";
}

/** The request goes on with this call for its caller: it is held again, by this run. */
async function attach(parts: DeskParts, id: string, asked: Asked): Promise<ApprovalRequest | undefined> {
  const { submission, requester } = asked;
  const holder = submission.renewer;
  const done = await change(parts, id, async ({ record }, now) => ({
    event: {
      type: "attach",
      attachment: { request: record, own: isOwn(record, asked), now },
      lease: { holder, until: plus(now, TIMES.requesterLease) },
      by: { session: requester.session, run: requester.run },
    },
  }));
  if (!done.ok) return undefined;
  const { record } = done;
  const known = parts.open.get(record.id);
  const { policy, tier, edits, ignore, windows, revalidate } = submission;
  parts.open.set(record.id, {
    digest: record.digest,
    callKey: record.callKey,
    salts: known?.salts ?? {},
    revalidate,
    policy,
    tier,
    edits,
    ignore,
    windows,
    channels: known?.channels ?? submission.channels,
    requester: submission.requester,
  });
  watchLease(parts, record);
  return record;
}

/** Told once: in one commit the answer is spent, and a no is remembered for the run that reads it too (P-07). */
async function tell(
  parts: DeskParts,
  from: { row: Row; id: string; stored: Stored },
  asked: Asked,
): Promise<Standing | undefined> {
  const { row, id, stored } = from;
  const { record, payload } = stored;
  const { requester, now } = asked;
  const rows: RowChange[] = [
    putRow(
      row.key,
      row,
      requestsOf(row).filter((other) => other !== id),
    ),
  ];
  if (payload?.result != null)
    rows.push(payloadRow({ ...payload, result: null }, (await parts.store.row("payload", record.id))?.rev ?? null));
  const told: NodeDraft = {
    event: "request.attached",
    actor: null,
    data: { request: record.id, status: record.status, session: requester.session, run: requester.run },
  };
  const also = await rememberFor(parts, stored, { run: requester.run, now });
  const written = await parts.journal.write({ rows: [...rows, ...also.rows], node: [told, ...also.node] });
  if (!written.ok) return undefined;
  const result = payload?.result == null ? undefined : opened(parts, payload.result);
  return { ...standingWhole(stored), ...(result === undefined ? {} : { result }) };
}

export type TakenUp =
  | { readonly attached: ApprovalRequest; readonly payload: Stored["payload"] }
  | { readonly ruling: Extract<Ruling, { ruling: "refused" | "repeated" }> };

async function answerTo(parts: DeskParts, row: Row, asked: Asked): Promise<TakenUp | "again" | undefined> {
  for (const id of requestsOf(row)) {
    const stored = await current(parts, id);
    const how = stored === undefined ? undefined : forRepeat(parts, stored, asked);
    if (stored === undefined || how === undefined) continue;
    if (how === "take") {
      const attached = await attach(parts, stored.record.id, asked);
      return attached === undefined ? "again" : { attached, payload: stored.payload };
    }
    // What it will give is for a later repeat; asked anew, it could run a second time.
    if (how === "wait") return { ruling: { ruling: "repeated", standing: standingWhole(stored) } };
    const standing = await tell(parts, { row, id, stored }, asked);
    if (standing === undefined) return "again";
    const { refusal } = standing;
    return refusal === undefined
      ? { ruling: { ruling: "repeated", standing } }
      : { ruling: { ruling: "refused", refusal, request: standing.record.id } };
  }
  return undefined;
}

/**
 * The same call made again (design, section 8): it takes its parked request up, or is told once how that ended while its
 * caller was gone. `undefined`: it is a request of its own.
 */
export async function takeUp(parts: DeskParts, asked: Asked): Promise<TakenUp | undefined> {
  if (!mayRepeat(asked)) return undefined;
  for (let race = 0; race < MOST_RACES; race++) {
    const row = await parts.store.row("call", rowKey(parts, asked));
    if (row === undefined) return undefined;
    const answer = await answerTo(parts, row, { ...asked, now: await parts.store.now() });
    if (answer !== "again") return answer;
  }
  return { ruling: { ruling: "refused", refusal: { code: "store_unavailable" } } };
}

/** A new request is found by its repeat: in the commit that opens it. What no repeat would be told any more is left out. */
export async function repeatRows(parts: DeskParts, asked: Asked, id: string): Promise<readonly RowChange[]> {
  if (!mayRepeat(asked)) return [];
  const key = rowKey(parts, asked);
  const row = await parts.store.row("call", key);
  const before: string[] = [];
  for (const other of requestsOf(row)) {
    const stored = await current(parts, other);
    if (stored !== undefined && (!hasEnded(stored.record.status) || isUntold(stored))) before.push(other);
  }
  return [putRow(key, row, [...before, id].slice(-MOST_REPEATS))];
}
