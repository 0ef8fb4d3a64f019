import { resolve } from "node:path";
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
  RecordQuery,
  Row,
  RowKind,
  RowQuery,
  Store,
  StoreCapabilities,
  Stored,
  Summary,
  WatchSignal,
} from "../../core/index.ts";
import { DeclarationError, HoldpointError } from "../../core/index.ts";
import { checkCommit, StoreClock } from "../check.ts";
import { recordCursor, seqOf } from "../cursor.ts";
import { Hints } from "../hints.ts";
import { Batch } from "./batch.ts";
import { openNodeSqlite } from "./client.ts";
import type { OpenSqlite, SqliteClient } from "./client.ts";
import { fault } from "./faults.ts";
import { firstPlace, PAGE, pageOf } from "./find.ts";
import { entriesFrom } from "./journal.ts";
import { openDatabase } from "./open.ts";
import { missingEntry, parsePayload, parseRequest, parseRow } from "./parse.ts";
import type { StoredRequest } from "./parse.ts";
import { Patience } from "./patience.ts";
import { readRow, rowsAfter } from "./rows.ts";
import { Statements } from "./statements.ts";
import { Wakes } from "./watch.ts";
import { commitWrite, freeNames, leaseWrite } from "./write.ts";
import type { LeaseWish } from "./write.ts";

export interface SqliteStoreOptions {
  /** The database file, on a local disk. It is made where it is missing, its folder is not. */
  readonly path: string;
  /** Default: the machine's wall time. */
  readonly clock?: Pick<Clock, "now">;
  /** Opens the file with a driver of your own, such as better-sqlite3. Default: node:sqlite. */
  readonly open?: OpenSqlite;
  /** Milliseconds that a lock of another process is waited for. Default 5000. */
  readonly lockedFor?: number;
}

const LOCKED_FOR_MS = 5000;
/** What one owner can take at once: the write lock is held meanwhile. */
const LEASES_AT_ONCE = 256;

/**
 * A store in one file, for any number of processes on one machine. What it has said yes to is on the disk.
 * The file is opened when the store is first used, and each method then throws HoldpointError `store_unavailable`
 * with cause and next step where the file cannot be used (`journal_unavailable` where only the journal cannot).
 * @throws DeclarationError for a path or a time that cannot be meant
 */
export function sqliteStore(options: string | SqliteStoreOptions): Store {
  const given = typeof options === "string" ? { path: options } : options;
  const { path, lockedFor = LOCKED_FOR_MS } = given;
  if (typeof path !== "string" || path === "" || path.includes("\0")) {
    throw new DeclarationError('sqliteStore needs the path of a file, as in sqliteStore("holdpoint.db")');
  }
  if (path.startsWith(":memory:") || path.startsWith("file:")) {
    throw new DeclarationError(`sqliteStore keeps a file and "${path}" is none; write a plain path, or use memoryStore()`);
  }
  if (!Number.isFinite(lockedFor) || lockedFor < 0)
    throw new DeclarationError("sqliteStore: lockedFor is a number of milliseconds, 0 or more");
  return new SqliteStore({ open: openNodeSqlite, clock: { now: Date.now }, ...given, path: resolve(path), lockedFor });
}

interface Opened {
  readonly client: SqliteClient;
  readonly statements: Statements;
}

class SqliteStore implements Store {
  readonly capabilities: StoreCapabilities = { durable: true, shared: true, wake: "push" };
  readonly #path: string;
  readonly #open: OpenSqlite;
  readonly #clock: StoreClock;
  readonly #patience: Patience;
  readonly #batch: Batch;
  readonly #hints: Hints;
  readonly #wakes: Wakes;
  #opened: Opened | undefined;
  #opening: Promise<Opened> | undefined;
  #closed = false;

  constructor(options: Required<SqliteStoreOptions>) {
    const { path, clock } = options;
    this.#path = path;
    this.#open = options.open;
    this.#clock = new StoreClock(() => clock.now());
    this.#patience = new Patience(path, options.lockedFor);
    const statements = (): Statements => this.#statements();
    this.#hints = new Hints((watchers) => {
      if (watchers === 0) this.#wakes.stop();
    });
    this.#wakes = new Wakes(path, this.#hints, statements);
    const database = (): Promise<Opened> => this.#database();
    this.#batch = new Batch({ path, patience: this.#patience, database, onWritten: (written) => this.#wakes.written(written) });
  }

  async now(): Promise<Instant> {
    return this.#clock.instant();
  }

  read(id: string): Promise<Stored | undefined> {
    return this.#reading((sql) => {
      const found = sql.get("read").get(id) as (StoredRequest & { payload: string | null }) | undefined;
      return found === undefined ? undefined : { record: parseRequest(found), payload: parsePayload(id, found.payload) };
    });
  }

  async *find(query: RecordQuery): AsyncGenerator<Summary, void, undefined> {
    let place = firstPlace(query);
    for (let left = query.limit ?? Number.POSITIVE_INFINITY; left > 0; left -= PAGE) {
      const { sql: text, values } = pageOf(query, place, Math.min(left, PAGE));
      const page = (await this.#reading((sql) => sql.sql(text).all(...values))) as (StoredRequest & { place: number })[];
      for (const found of page) yield { record: parseRequest(found), cursor: recordCursor(found.place) };
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE) return;
      place = last.place;
    }
  }

  async *rows({ kind, keyPrefix = "" }: RowQuery): AsyncGenerator<Row, void, undefined> {
    // The key that is the prefix itself comes first and is not after itself.
    const exact = await this.row(kind, keyPrefix);
    if (exact !== undefined) yield exact;
    for (let after: string | undefined = keyPrefix; after !== undefined; ) {
      const key: string = after;
      const page = await this.#reading((sql) => rowsAfter(sql, kind, { key, limit: PAGE }));
      for (const found of page) {
        // Keys that begin alike stand together: the first other one is the end.
        if (!found.key.startsWith(keyPrefix)) return;
        yield parseRow(kind, found);
      }
      after = page.length < PAGE ? undefined : page.at(-1)?.key;
    }
  }

  row(kind: RowKind, key: string): Promise<Row | undefined> {
    return this.#reading((sql) => readRow(sql, kind, key));
  }

  async *journal(stream: string): AsyncGenerator<Entry, void, undefined> {
    for (let n = 0; ; ) {
      const from = n;
      const page = await this.#reading((sql) => entriesFrom(sql, stream, { n: from, limit: PAGE }));
      for (const entry of page) {
        if (entry.n !== n) throw missingEntry(stream, n);
        n++;
        yield entry;
      }
      if (page.length === 0) return;
    }
  }

  async commit(change: Commit): Promise<Committed> {
    this.#checkOpen();
    checkCommit(change);
    const statements = (): Statements => this.#statements();
    return this.#batch.submit(commitWrite(change, { clock: this.#clock, statements }));
  }

  // biome-ignore lint/complexity/useMaxParams: the port says so
  async lease(kind: LeaseKind, owner: string, max: number, ms: number): Promise<readonly Leased[]> {
    const wish: LeaseWish = { kind, owner, max: Math.min(max, LEASES_AT_ONCE), ms };
    // Looked at without the lock first: a dispatcher asks often, and mostly there is nothing to do.
    const now = { ms: this.#clock.ms(), text: this.#clock.instant() };
    const free = await this.#reading((sql) => freeNames(sql, wish, now));
    if (free.length === 0) return [];
    return this.#batch.submit(leaseWrite(wish, { clock: this.#clock, statements: () => this.#statements() }));
  }

  watch(since: Cursor, signal: WatchSignal): AsyncIterable<Hint> {
    this.#checkOpen();
    const seen = seqOf(since);
    const missed = async (): Promise<number | undefined> => {
      const head = await this.#reading(() => this.#wakes.start());
      return head > seen ? head : undefined;
    };
    return this.#hints.watch(missed, signal);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#hints.close();
    await this.#batch.drained();
    await this.#opening?.catch(() => undefined);
    this.#wakes.close();
    this.#opened?.client.close();
    this.#opened = undefined;
  }

  /** One look at what is committed, waited for where a lock is in the way. */
  async #reading<T>(look: (sql: Statements) => T): Promise<T> {
    try {
      return await this.#patience.attempt(async () => {
        this.#checkOpen();
        return look((await this.#database()).statements);
      });
    } catch (thrown) {
      throw fault(thrown, this.#path);
    }
  }

  /** A file that could not be opened is tried again by the next call: its folder may have been made meanwhile. */
  async #database(): Promise<Opened> {
    if (this.#opened !== undefined) return this.#opened;
    this.#opening ??= this.#openNow();
    try {
      return await this.#opening;
    } finally {
      this.#opening = undefined;
    }
  }

  async #openNow(): Promise<Opened> {
    const client = await openDatabase(this.#path, this.#open);
    this.#opened = { client, statements: new Statements(client) };
    return this.#opened;
  }

  #statements(): Statements {
    if (this.#opened === undefined) throw closed(this.#path);
    return this.#opened.statements;
  }

  #checkOpen(): void {
    if (this.#closed) throw closed(this.#path);
  }
}

const closed = (path: string): HoldpointError =>
  new HoldpointError("store_unavailable", `the store ${path} was closed; make a new one`);
