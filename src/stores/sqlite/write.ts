import type { Commit, Committed, Instant, LeaseKind, Leased } from "../../core/index.ts";
import { instant } from "../../core/index.ts";
import { changedIds, CONFLICT, fits, isKilled, KILLED, refusedByTime } from "../check.ts";
import type { StoreClock } from "../check.ts";
import { commitCursor, placeOf } from "../cursor.ts";
import type { Write } from "./batch.ts";
import { fault } from "./faults.ts";
import { parseRow } from "./parse.ts";
import type { Statements } from "./statements.ts";

/** How long a commit's key finds its first result. */
const KEYS_KEPT_MS = 86_400_000;
/** Kept whatever their age: a clock that jumps must not make a repeat look new. */
const KEYS_KEPT = 1000;
/** Old keys are looked for once in so many commits, and so many at most are dropped then. */
const FORGET_EVERY = 128;
const FORGET_AT_MOST = 256;

export interface Surroundings {
  readonly path: string;
  readonly clock: StoreClock;
  readonly statements: () => Statements;
}

type Refused = Extract<Committed, { readonly ok: false }>;

/** A commit, taken apart into the text it will write: what its caller changes afterwards is not in it. */
export function commitWrite(change: Commit, { path, clock, statements }: Surroundings): Write<Committed> {
  const texts = {
    records: change.records.map(({ next }) => JSON.stringify(next)),
    entries: change.entries.map((entry) => JSON.stringify(entry)),
  };
  const rows = change.rows.map(({ next }) => (next === null ? null : JSON.stringify(next)));
  const arrived = clock.instant();
  return ({ seq }) => {
    const sql = statements();
    const first = sql.get("first").get(change.key) as { seq: number } | undefined;
    if (first !== undefined) return { keep: false, result: { ok: true, cursor: commitCursor(first.seq) } };
    const now = clock.instant();
    const refused =
      refusedByTime(change, now, arrived) ??
      killed(sql, change) ??
      writeRecords(sql, change, { seq, texts: texts.records }) ??
      writeRows(sql, change, rows) ??
      writeEntries(sql, change, { path, texts: texts.entries });
    if (refused !== undefined) return { keep: false, result: refused };
    const ids = changedIds(change);
    remember(sql, { seq, key: change.key, at: clock.ms(), ids });
    return { keep: true, result: { ok: true, cursor: commitCursor(seq) }, ids };
  };
}

function killed(sql: Statements, change: Commit): Refused | undefined {
  const on = change.unlessKilled?.some((scope) => {
    const row = sql.get("row").get("kill", scope) as { rev: number; value: string } | undefined;
    return row !== undefined && isKilled(parseRow("kill", { key: scope, ...row }).value);
  });
  return on === true ? KILLED : undefined;
}

function writeRecords(
  sql: Statements,
  { records }: Commit,
  { seq, texts }: { seq: number; texts: readonly string[] },
): Refused | undefined {
  for (const [at, { id, expect, next }] of records.entries()) {
    const body = texts[at] as string;
    const lane = next.lane ?? null;
    const { rev, head, status, kind, tenant, root } = next;
    const { changes } =
      expect === null
        ? sql.get("insert").run(placeOf(seq, at), id, rev, head, status, kind, tenant, next.requester.thread, root, lane, body)
        : sql.get("update").run(rev, head, status, lane, body, id, expect.rev, expect.head);
    if (Number(changes) !== 1) return CONFLICT;
  }
  return undefined;
}

function writeRows(sql: Statements, change: Commit, texts: readonly (string | null)[]): Refused | undefined {
  for (const [at, { kind, key, expect, next }] of change.rows.entries()) {
    const text = texts[at] ?? null;
    const due = kind === "delivery" && typeof next?.dueAt === "string" ? next.dueAt : null;
    if (!writeRow(sql, { kind, key, expect, text, due })) return CONFLICT;
    if (kind === "delivery" && due === null) sql.get("endLease").run(kind, key);
  }
  return undefined;
}

function writeRow(
  sql: Statements,
  row: { kind: string; key: string; expect: number | null; text: string | null; due: string | null },
): boolean {
  const { kind, key, expect, text, due } = row;
  if (expect === null) {
    if (text === null) return sql.get("row").get(kind, key) === undefined;
    return Number(sql.get("insertRow").run(kind, key, due, text).changes) === 1;
  }
  const { changes } =
    text === null ? sql.get("deleteRow").run(kind, key, expect) : sql.get("updateRow").run(due, text, kind, key, expect);
  return Number(changes) === 1;
}

function writeEntries(
  sql: Statements,
  change: Commit,
  { path, texts }: { path: string; texts: readonly string[] },
): Refused | undefined {
  const begun = new Set<string>();
  try {
    for (const [at, entry] of change.entries.entries()) {
      const { n } = sql.get("last").get(entry.stream) as { n: number };
      if (!fits(entry, n + 1, begun.has(entry.stream) ? undefined : change.records)) return CONFLICT;
      begun.add(entry.stream);
      sql.get("append").run(entry.stream, entry.n, texts[at] as string);
    }
  } catch (thrown) {
    throw fault(thrown, path, "journal_unavailable");
  }
  return undefined;
}

function remember(sql: Statements, commit: { seq: number; key: string; at: number; ids: readonly string[] }): void {
  const { seq, key, at, ids } = commit;
  sql.get("remember").run(seq, key, at, JSON.stringify(ids));
  if (seq % FORGET_EVERY === 0) sql.get("forget").run(FORGET_AT_MOST, at - KEYS_KEPT_MS, seq - KEYS_KEPT);
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
