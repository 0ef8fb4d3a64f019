import type { ApprovalRequest, Commit, Committed, Instant, LeaseKind, Leased, RecordChange } from "../../core/index.ts";
import { hasEnded, instant } from "../../core/index.ts";
import { changedIds, CONFLICT, fits, isKilled, KILLED, refusedByTime, requestOf } from "../check.ts";
import type { StoreClock } from "../check.ts";
import { commitCursor, placeOf } from "../cursor.ts";
import type { Write } from "./batch.ts";
import { changingText, frozenText } from "./parts.ts";
import { readRow, writeRow } from "./rows.ts";
import type { Statements } from "./statements.ts";

/** How long a commit's key finds its first result. */
const KEYS_KEPT_MS = 86_400_000;
/** Kept whatever their age: a clock that jumps must not make a repeat look new. */
const KEYS_KEPT = 1000;
/** Old keys are looked for once in so many commits, and so many at most are dropped then. */
const FORGET_EVERY = 128;
const FORGET_AT_MOST = 256;

export interface Surroundings {
  readonly clock: StoreClock;
  readonly statements: () => Statements;
}

type Refused = Extract<Committed, { readonly ok: false }>;

/** A commit, taken apart into the text it will write: what its caller changes afterwards is not in it. */
export function commitWrite(change: Commit, { clock, statements }: Surroundings): Write<Committed> {
  const rows = change.rows.map(({ next }) => (next === null ? null : JSON.stringify(next)));
  const records = change.records.map((record) => recordText(record, change, rows));
  const entries = JSON.stringify(change.entries);
  const ids = changedIds(change);
  const arrived = clock.instant();
  return () => {
    const sql = statements();
    const seq = remember(sql, change.key, { at: clock.ms(), ids, entries });
    if (seq === undefined) return { keep: false, result: firstResult(sql, change.key) };
    const refused =
      refusedByTime(change, clock.instant(), arrived) ?? killed(sql, change) ?? conflicts(sql, change, { seq, records, rows });
    if (refused !== undefined) return { keep: false, result: refused };
    return { keep: true, result: { ok: true, cursor: commitCursor(seq) }, written: { seq, ids } };
  };
}

const firstResult = (sql: Statements, key: string): Committed => ({
  ok: true,
  cursor: commitCursor((sql.get("first").get(key) as { seq: number }).seq),
});

interface Texts {
  readonly seq: number;
  readonly records: readonly RecordText[];
  readonly rows: readonly (string | null)[];
}

/** What one changed record writes. */
interface RecordText {
  /** `null`: the request is there already, and what it was asked with stays. */
  readonly frozen: string | null;
  readonly changing: string;
  /** The payload that it is created with. */
  readonly payload: string | null;
  /** Entries that the commit adds to its stream, and the number of the first of them. */
  readonly added: number;
  readonly from: number | null;
}

function recordText(
  { id, expect, next }: RecordChange,
  { entries, rows }: Commit,
  texts: readonly (string | null)[],
): RecordText {
  const own = entries.filter((entry) => requestOf(entry) === id);
  const text = { changing: changingText(next), added: own.length, from: own[0]?.n ?? null };
  if (expect !== null) return { ...text, frozen: null, payload: null };
  const payload = rows.findIndex((row) => row.kind === "payload" && row.key === id && row.expect === null);
  return { ...text, frozen: frozenText(next), payload: texts[payload] ?? null };
}

function killed(sql: Statements, change: Commit): Refused | undefined {
  const on = change.unlessKilled?.some((scope) => isKilled(readRow(sql, "kill", scope)?.value));
  return on === true ? KILLED : undefined;
}

/** Compares and writes everything. What was written before a conflict is taken back with the commit. */
function conflicts(sql: Statements, change: Commit, texts: Texts): Refused | undefined {
  const fit = writeRecords(sql, change, texts) && writeRows(sql, change, texts) && writeEntries(sql, change, texts.seq);
  return fit ? undefined : CONFLICT;
}

const writeRecords = (sql: Statements, { records }: Commit, { seq, records: texts }: Texts): boolean =>
  records.every((change, at) => {
    const text = texts[at] as RecordText;
    return text.frozen === null
      ? moveRecord(sql, change, { ...text, seq })
      : insertRecord(sql, change.next, { ...text, seq, at });
  });

function insertRecord(
  sql: Statements,
  next: ApprovalRequest,
  text: RecordText & { readonly seq: number; readonly at: number },
): boolean {
  const { id, rev, head, status, kind, tenant, root } = next;
  const { seq, added, from } = text;
  if (from !== null && from !== 0) return false;
  const place = placeOf(seq, text.at);
  const open = hasEnded(status) ? null : 1;
  const log = added === 0 ? "" : String(seq);
  const { changes } = sql
    .get("insertState")
    .run(id, place, rev, head, added, log, status, open, next.lane ?? null, text.changing);
  if (Number(changes) !== 1) return false;
  sql.get("insert").run(place, id, kind, tenant, next.requester.thread, root, text.frozen, text.payload);
  return true;
}

/** Compares revision, head and number of entries, and sets, in one statement. */
function moveRecord(sql: Statements, { id, expect, next }: RecordChange, text: RecordText & { readonly seq: number }): boolean {
  const { rev, head, status, lane = null } = next;
  const { seq, added, from, changing } = text;
  const log = added === 0 ? "" : `${from === 0 ? "" : ","}${seq}`;
  const { changes } = sql
    .get(hasEnded(status) ? "end" : "move")
    .run(rev, head, added, status, lane, changing, id, expect?.rev ?? null, expect?.head ?? null, from, log);
  return Number(changes) === 1;
}

function writeRows(sql: Statements, change: Commit, { records, rows }: Texts): boolean {
  for (const [at, { kind, key, expect, next }] of change.rows.entries()) {
    const text = rows[at] ?? null;
    // Written with its request already: the same text, not an equal one.
    if (kind === "payload" && text !== null && records.some(({ payload }) => payload === text)) continue;
    const due = kind === "delivery" && typeof next?.dueAt === "string" ? next.dueAt : null;
    if (!writeRow(sql, { kind, key, expect, text, due })) return false;
    if (kind === "delivery" && due === null) sql.get("endLease").run(kind, key);
  }
  return true;
}

/** Entries are in the log with their commit; what is left is to see that they stand right. */
function writeEntries(sql: Statements, change: Commit, seq: number): boolean {
  const next = new Map<string, number>();
  return change.entries.every((entry) => {
    const { stream } = entry;
    const ofNode = requestOf(entry) === undefined;
    // A request's own count has just been compared, together with its revision: its first new entry stands right.
    const n = next.get(stream) ?? (ofNode ? (sql.get("lastOfNode").get(stream) as { n: number }).n + 1 : entry.n);
    if (!fits(entry, n, next.has(stream) ? undefined : change.records)) return false;
    next.set(stream, n + 1);
    if (ofNode) sql.get("appendToNode").run(stream, n, seq);
    return true;
  });
}

/** The number of a new commit; `undefined`: one with this key is there already. */
function remember(
  sql: Statements,
  key: string,
  commit: { at: number; ids: readonly string[]; entries: string },
): number | undefined {
  const { at, ids, entries } = commit;
  const { changes, lastInsertRowid } = sql.get("remember").run(key, at, JSON.stringify(ids), entries);
  if (Number(changes) !== 1) return undefined;
  const seq = Number(lastInsertRowid);
  if (seq % FORGET_EVERY === 0) forget(sql, at - KEYS_KEPT_MS, seq - KEYS_KEPT);
  return seq;
}

/** Ends the memory of old keys, and of commits that hold no entry. */
function forget(sql: Statements, before: number, newest: number): void {
  const { value: from } = sql.get("forgotten").get() as { value: number };
  const { seq: to } = sql.get("forgettable").get(from, FORGET_AT_MOST, before, newest) as { seq: number | null };
  if (to === null) return;
  sql.get("drop").run(from, to);
  sql.get("forget").run(from, to);
  sql.get("forgot").run(to);
}

export interface LeaseWish {
  readonly kind: LeaseKind;
  readonly owner: string;
  readonly max: number;
  readonly ms: number;
}

/** Names that are due and that no other owner holds. */
export function freeNames(
  sql: Statements,
  { kind, owner, max }: LeaseWish,
  now: { ms: number; text: Instant },
): readonly string[] {
  const found =
    kind === "delivery"
      ? sql.get("dueDeliveries").all(now.ms, owner, max, now.text)
      : kind === "lane"
        ? sql.get("dueLanes").all(now.ms, owner, max)
        : sql.get("dueOne").all(now.ms, owner, max, kind);
  return (found as { key: string }[]).map(({ key }) => key);
}

export function leaseWrite(wish: LeaseWish, { clock, statements }: Surroundings): Write<readonly Leased[]> {
  return () => {
    const sql = statements();
    const now = clock.ms();
    const until = now + wish.ms;
    const leased = freeNames(sql, wish, { ms: now, text: clock.instant() }).map((key) => {
      sql.get("nextFence").run();
      const { value } = sql.get("fence").get() as { value: number };
      const { fence } = sql.get("take").get(wish.kind, key, wish.owner, until, value, now) as { fence: number };
      return { key, until: instant(until), fence };
    });
    return { keep: leased.length > 0, result: leased };
  };
}
