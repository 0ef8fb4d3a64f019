import type {
  Clock,
  Commit,
  Committed,
  Cursor,
  Entry,
  Hint,
  Instant,
  LeaseKind,
  Leased,
  Payload,
  RecordQuery,
  Row,
  RowChange,
  RowKind,
  RowQuery,
  Store,
  StoreCapabilities,
  Stored,
  Summary,
  WatchSignal,
} from "../../core/index.ts";
import { HoldpointError } from "../../core/index.ts";
import { changedIds, checkCommit, CONFLICT, fits, isKilled, KILLED, refusedByTime, StoreClock } from "../check.ts";
import type { Refusal } from "../check.ts";
import { commitCursor, placeOf, seqOf } from "../cursor.ts";
import { frozen } from "../freeze.ts";
import { Hints } from "../hints.ts";
import { Leases } from "./leases.ts";
import { Records } from "./records.ts";
import { Rows } from "./rows.ts";

export interface MemoryStoreOptions {
  /** Default: the machine's wall time. */
  readonly clock?: Pick<Clock, "now">;
}

/**
 * A store that lives and dies with this process: for tests, demos, and gates whose requests need not survive. It keeps
 * and gives out the values it is handed, frozen, without a copy.
 */
export function memoryStore(options: MemoryStoreOptions = {}): Store {
  return new MemoryStore(options.clock ?? { now: Date.now });
}

/** How long a key of a commit finds its first result. */
const KEYS_KEPT_MS = 86_400_000;

class MemoryStore implements Store {
  readonly capabilities: StoreCapabilities = { durable: false, shared: false, wake: "push" };
  readonly #clock: StoreClock;
  readonly #records = new Records();
  readonly #rows = new Map<RowKind, Rows>();
  /** Deliveries that wait for their time: the many that are done are never looked at again. */
  readonly #due = new Map<string, string>();
  readonly #journal = new Map<string, Entry[]>();
  /** First results by key, oldest first. */
  readonly #keys = new Map<string, { readonly result: Committed; readonly at: number }>();
  readonly #leases = new Leases();
  readonly #hints = new Hints();
  #seq = 0;
  #closed = false;

  constructor(clock: Pick<Clock, "now">) {
    this.#clock = new StoreClock(() => clock.now());
  }

  async now(): Promise<Instant> {
    return this.#clock.instant();
  }

  async read(id: string): Promise<Stored | undefined> {
    this.#checkOpen();
    const record = this.#records.get(id);
    if (record === undefined) return undefined;
    const payload = this.#rows.get("payload")?.get(id)?.value;
    return { record, payload: payload === undefined ? null : (payload as unknown as Payload) };
  }

  async *find(query: RecordQuery): AsyncGenerator<Summary, void, undefined> {
    this.#checkOpen();
    yield* this.#records.find(query);
  }

  async *rows(query: RowQuery): AsyncGenerator<Row, void, undefined> {
    this.#checkOpen();
    yield* this.#rows.get(query.kind)?.list(query.keyPrefix ?? "") ?? [];
  }

  async row(kind: RowKind, key: string): Promise<Row | undefined> {
    this.#checkOpen();
    return this.#rows.get(kind)?.get(key);
  }

  async *journal(stream: string): AsyncGenerator<Entry, void, undefined> {
    this.#checkOpen();
    yield* this.#journal.get(stream) ?? [];
  }

  async commit(change: Commit): Promise<Committed> {
    this.#checkOpen();
    checkCommit(change);
    const first = this.#keys.get(change.key);
    if (first !== undefined) return first.result;
    return this.#refused(change) ?? this.#apply(change);
  }

  // biome-ignore lint/complexity/useMaxParams: the port says so
  async lease(kind: LeaseKind, owner: string, max: number, ms: number): Promise<readonly Leased[]> {
    this.#checkOpen();
    return this.#leases.take(kind, this.#dueOf(kind), { owner, max, now: this.#clock.ms(), ms });
  }

  watch(since: Cursor, signal: WatchSignal): AsyncIterable<Hint> {
    this.#checkOpen();
    const missed = seqOf(since) < this.#seq ? this.#seq : undefined;
    return this.#hints.watch(async () => missed, signal);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#hints.close();
  }

  #checkOpen(): void {
    if (this.#closed) throw new HoldpointError("store_unavailable", "the memory store was closed; make a new one");
  }

  /** The first thing that stands against a change. Nothing is changed before all of it has been looked at. */
  #refused(change: Commit): Refusal | undefined {
    const late = refusedByTime(change, this.#clock.instant());
    if (late !== undefined) return late;
    const kills = this.#rows.get("kill");
    if (change.unlessKilled?.some((scope) => isKilled(kills?.get(scope)?.value))) return KILLED;
    return this.#asExpected(change) ? undefined : CONFLICT;
  }

  #asExpected(change: Commit): boolean {
    for (const { id, expect } of change.records) {
      const stored = this.#records.get(id);
      if (expect === null ? stored !== undefined : stored?.rev !== expect.rev || stored.head !== expect.head) return false;
    }
    for (const { kind, key, expect, next } of change.rows) {
      if ((this.#rows.get(kind)?.get(key)?.rev ?? null) !== expect) return false;
      if (kind === "payload" && next !== null && !this.#knows(key, change)) return false;
    }
    return this.#journalFits(change);
  }

  #knows(id: string, { records }: Commit): boolean {
    return this.#records.get(id) !== undefined || records.some((record) => record.id === id);
  }

  #journalFits({ entries, records }: Commit): boolean {
    for (const [at, entry] of entries.entries()) {
      let before = 0;
      for (let other = 0; other < at; other++) if (entries[other]?.stream === entry.stream) before++;
      const n = (this.#journal.get(entry.stream)?.length ?? 0) + before;
      if (!fits(entry, n, before === 0 ? records : undefined)) return false;
    }
    return true;
  }

  #apply(change: Commit): Committed {
    const seq = ++this.#seq;
    for (const [at, { expect, next }] of change.records.entries()) {
      if (expect === null) this.#records.insert(frozen(next), placeOf(seq, at));
      else this.#records.replace(frozen(next));
    }
    for (const row of change.rows) this.#applyRow(row);
    for (const entry of change.entries) {
      const stream = this.#journal.get(entry.stream);
      if (stream === undefined) this.#journal.set(entry.stream, [frozen(entry)]);
      else stream.push(frozen(entry));
    }
    const result: Committed = Object.freeze({ ok: true, cursor: commitCursor(seq) });
    this.#remember(change.key, result);
    if (this.#hints.watched) this.#hints.publish(seq, changedIds(change));
    return result;
  }

  #applyRow({ kind, key, next }: RowChange): void {
    let table = this.#rows.get(kind);
    if (table === undefined) {
      table = new Rows(kind);
      this.#rows.set(kind, table);
    }
    if (next === null) table.delete(key);
    else table.set(key, frozen(next));
    if (kind !== "delivery") return;
    const dueAt = next?.dueAt;
    if (typeof dueAt === "string") this.#due.set(key, dueAt);
    else {
      this.#due.delete(key);
      this.#leases.forget("delivery", key);
    }
  }

  #remember(key: string, result: Committed): void {
    const now = this.#clock.ms();
    for (const [old, { at }] of this.#keys) {
      if (now - at < KEYS_KEPT_MS) break;
      this.#keys.delete(old);
    }
    this.#keys.set(key, { result, at: now });
  }

  #dueOf(kind: LeaseKind): Iterable<string> {
    if (kind === "lane") return this.#records.lanes();
    // One sweeper and one sequencer for the whole store: the kind is the only name there is.
    if (kind !== "delivery") return [kind];
    const now = this.#clock.instant();
    const due = [...this.#due].filter(([, dueAt]) => dueAt <= now);
    return due.sort(([, a], [, b]) => (a < b ? -1 : Number(a > b))).map(([key]) => key);
  }
}
