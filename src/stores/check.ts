import type { Commit, Committed, Entry, Instant, JsonObject, RecordChange } from "../core/index.ts";
import { MAX_SKEW, instant, msOf } from "../core/index.ts";
import { RECORDS_PER_COMMIT } from "./cursor.ts";

/** Checks of a commit that need no look at what is stored; every store makes the same ones. */

export type Refusal = Extract<Committed, { readonly ok: false }>;

const TOO_LATE: Refusal = Object.freeze({ ok: false, why: "too_late" });
const TOO_EARLY: Refusal = Object.freeze({ ok: false, why: "too_early" });
export const KILLED: Refusal = Object.freeze({ ok: false, why: "killed" });
export const CONFLICT: Refusal = Object.freeze({ ok: false, why: "conflict" });

/** Tells the text of a time at most once a millisecond: one commit needs it three times. */
export class StoreClock {
  readonly #now: () => number;
  #ms = Number.NaN;
  #text: Instant | undefined;

  constructor(now: () => number) {
    this.#now = now;
  }

  ms(): number {
    return this.#now();
  }

  instant(): Instant {
    const ms = this.#now();
    if (ms !== this.#ms || this.#text === undefined) {
      this.#ms = ms;
      this.#text = instant(ms);
    }
    return this.#text;
  }
}

/**
 * What the store's clock says against a commit. Times have one width, so their text compares as they do.
 * @param now inside the transaction: deadlines are measured when the change would happen
 * @param arrived when the commit reached the store: a wait for a lock is no fault of the committer's clock
 */
export function refusedByTime(change: Commit, now: Instant, arrived: Instant = now): Refusal | undefined {
  if (change.at !== arrived && Math.abs(msOf(change.at) - msOf(arrived)) > MAX_SKEW) return { ok: false, why: "clock_skew", now };
  if (change.before !== undefined && now >= change.before) return TOO_LATE;
  if (change.notBefore !== undefined && now < change.notBefore) return TOO_EARLY;
  return undefined;
}

/**
 * Contradictions inside one commit. They are loud: as a conflict they would be tried again for ever, and as a success
 * they would let two writers change one record or leave a record whose `head` is not the end of its stream.
 * @throws Error naming the contradiction
 */
export function checkCommit(change: Commit): void {
  const { records, rows, entries } = change;
  if (change.key === "") contradiction("a commit without a key: a repeat of it could not be recognised");
  if (records.length > RECORDS_PER_COMMIT) contradiction(`a commit of ${records.length} records`);
  for (const [at, record] of records.entries()) {
    checkRecord(record, entries);
    for (let other = at + 1; other < records.length; other++) {
      if (records[other]?.id === record.id) contradiction(`a commit that changes the request ${record.id} twice`);
    }
  }
  for (const [at, row] of rows.entries()) {
    for (let other = at + 1; other < rows.length; other++) {
      if (rows[other]?.kind === row.kind && rows[other]?.key === row.key)
        contradiction(`a commit that changes one ${row.kind} row twice`);
    }
  }
  for (const entry of entries) {
    const id = requestOf(entry);
    if (id !== undefined && !records.some((record) => record.id === id))
      contradiction(`an entry for the request ${id} in a commit that leaves its record alone`);
  }
}

function checkRecord({ id, expect, next }: RecordChange, entries: readonly Entry[]): void {
  if (next.id !== id) contradiction(`a record with the id ${next.id} committed as ${id}`);
  if (expect === null || next.rev > expect.rev) return;
  // A prolonged lease is no step of the request and has no entry. Anything else that keeps `rev` is a change that no
  // compare-and-set can see: the next writer would undo it.
  if (next.rev === expect.rev && next.head === expect.head && !entries.some((entry) => requestOf(entry) === id)) return;
  contradiction(`the request ${id} committed from revision ${expect.rev} to ${next.rev}`);
}

function contradiction(what: string): never {
  throw new Error(`${what} (this is a bug in Holdpoint)`);
}

/** Only exactly `false` is off: a kill row that cannot be understood must not let a claim through. */
export const isKilled = (row: JsonObject | undefined): boolean => row !== undefined && row.on !== false;

/** The request that a stream belongs to; `undefined`: a process. */
export const requestOf = (entry: Entry): string | undefined =>
  entry.stream.startsWith("request/") ? entry.stream.slice(8) : undefined;

/**
 * True where an entry can stand at `n` of its stream: numbers without a gap, the first one without a predecessor, and
 * the first entry that a commit adds to a request's stream after the head which that commit expects.
 */
export function fits(entry: Entry, n: number, records: readonly RecordChange[] | undefined): boolean {
  if (entry.n !== n || (entry.prev === null) !== (n === 0)) return false;
  if (records === undefined) return true;
  const id = requestOf(entry);
  const change = id === undefined ? undefined : records.find((record) => record.id === id);
  return change === undefined || entry.prev === (change.expect?.head ?? null);
}

/** Requests and row keys that a commit changes, each once: what a hint names. */
export function changedIds(change: Commit): readonly string[] {
  const ids: string[] = [];
  for (const { id } of change.records) if (!ids.includes(id)) ids.push(id);
  for (const { key } of change.rows) if (!ids.includes(key)) ids.push(key);
  return ids;
}
