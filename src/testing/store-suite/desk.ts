import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import type {
  ApprovalRequest,
  Commit,
  Committed,
  Entry,
  Hash,
  Hint,
  Instant,
  JournalEvent,
  JsonObject,
  Payload,
  RowChange,
  RowKind,
  Store,
  Stored,
} from "../../core/index.ts";
import { instant } from "../../core/index.ts";
import type { ManualClock } from "../manual-clock.ts";

/** A store as a suite needs it. */
export interface StoreUnderTest {
  readonly store: Store;
  /** Durable stores: ends every handle, with no goodbye to the truth, and opens a new one on it. */
  reopen?(): Promise<Store>;
  /** Shared stores: one more handle on the same truth, as another process has it. */
  second?(): Promise<Store>;
  dispose(): Promise<void>;
}

/** One conformance case. */
export interface StoreCase {
  readonly name: string;
  /** Where present, only stores with this ability run the case. */
  readonly needs?: "reopen" | "second";
  readonly run: (desk: SuiteDesk) => Promise<void>;
}

let serial = 0;
/** Unlike in every process and every run: keys and ids of two workers on one store must not meet. */
const ORIGIN = randomBytes(4).toString("hex");

const hash = (text: string): Hash => `sha256:${createHash("sha256").update(text).digest("hex")}`;

/** Makes the commits that a desk makes, with as little as a store may look at. */
export class SuiteDesk {
  readonly store: Store;
  readonly clock: ManualClock;
  readonly under: StoreUnderTest;

  constructor(under: StoreUnderTest, clock: ManualClock) {
    this.under = under;
    this.store = under.store;
    this.clock = clock;
  }

  /** The clock's time, moved by `ms`. */
  at(ms = 0): Instant {
    return instant(this.clock.now() + ms);
  }

  request(patch: Partial<ApprovalRequest> = {}): ApprovalRequest {
    const id = patch.id ?? `01900000-0000-7000-${(++serial).toString(16).padStart(8, "0")}-${ORIGIN}`;
    const whole = { ...blankRequest(id, this.at()), ...patch };
    return { ...whole, head: patch.head ?? hashOf(this.entry(whole, "request.created", { n: 0, prev: null })) };
  }

  payload(request: string, patch: Partial<Payload> = {}): Payload {
    const blank = { message: "Write /tmp/a", effect: null, statement: null, notes: [], reasons: {}, schema: null, result: null };
    return { request, arguments: { path: "/tmp/a", content: "hello" }, ...blank, ...patch };
  }

  entry(of: { readonly id: string; readonly rev: number }, event: JournalEvent, place: { n: number; prev: Hash | null }): Entry {
    const common = { type: "holdpoint/entry/v1", at: this.at(), tenant: "default", actor: null, data: {} } as const;
    return { ...common, stream: `request/${of.id}`, n: place.n, prev: place.prev, event, rev: of.rev };
  }

  /** The commit that stores a new request with its payload and first entry. */
  creation(next: ApprovalRequest, payload: Payload = this.payload(next.id)): Commit {
    return this.commit({
      records: [{ id: next.id, expect: null, next }],
      entries: [this.entry(next, "request.created", { n: 0, prev: null })],
      rows: [{ kind: "payload", key: next.id, expect: null, next: payload as unknown as JsonObject }],
      key: `create ${next.id}`,
    });
  }

  /** The commit of one more step of a request: in this suite a request's revision is the number of its entries. */
  step(from: ApprovalRequest, patch: Partial<ApprovalRequest>, extra: Partial<Commit> = {}): Commit {
    const entry = this.entry({ id: from.id, rev: from.rev + 1 }, eventOf(patch), { n: from.rev, prev: from.head });
    const next = { ...from, ...patch, rev: from.rev + 1, head: hashOf(entry) };
    return this.commit({
      records: [{ id: from.id, expect: { rev: from.rev, head: from.head }, next }],
      entries: [entry],
      ...extra,
    });
  }

  row(kind: RowKind, key: string, change: { expect: number | null; next: JsonObject | null }): Commit {
    return this.commit({ rows: [{ kind, key, ...change }] });
  }

  commit(parts: Partial<Commit>): Commit {
    return { records: [], entries: [], rows: [], at: this.at(), key: `key ${ORIGIN} ${++serial}`, ...parts };
  }

  /** Commits and insists on success. */
  async must(change: Commit): Promise<Extract<Committed, { ok: true }>> {
    const result = await this.store.commit(change);
    assert.ok(result.ok, `a commit that nothing stands against was refused: ${JSON.stringify(result)}`);
    return result;
  }

  async create(patch: Partial<ApprovalRequest> = {}): Promise<ApprovalRequest> {
    const request = this.request(patch);
    await this.must(this.creation(request));
    return request;
  }

  async put(kind: RowKind, key: string, next: JsonObject): Promise<void> {
    await this.must(this.row(kind, key, { expect: (await this.store.row(kind, key))?.rev ?? null, next }));
  }

  async stored(id: string): Promise<Stored> {
    const stored = await this.store.read(id);
    assert.ok(stored !== undefined, `the request ${id} is gone`);
    return stored;
  }

  /** Everything that a refused commit could have touched. */
  async everything(ids: readonly string[], rows: readonly RowChange[] = []): Promise<unknown> {
    const records = await Promise.all(ids.map((id) => this.store.read(id)));
    const journals = await Promise.all(ids.map((id) => all(this.store.journal(`request/${id}`))));
    const changed = await Promise.all(rows.map(({ kind, key }) => this.store.row(kind, key)));
    return plain({ records, journals, changed, list: await all(this.store.find({})) });
  }
}

export const hashOf = (entry: Entry): Hash => hash(JSON.stringify(entry));

/** Values of stores may have no prototype, or another one; a comparison of contents must not see that. */
export const plain = (value: unknown): unknown => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)));

export async function all<T>(list: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of list) items.push(item);
  return items;
}

/** A kept list of all hints of a watch, and a wait for a condition on it. */
export class Listener {
  readonly hints: Hint[] = [];
  readonly ended: Promise<void>;
  readonly #abort = new AbortController();
  #waits: (() => void)[] = [];

  constructor(store: Store, since: string) {
    this.ended = this.#listen(store.watch(since, this.#abort.signal));
  }

  /** Resolves once `done` holds. @throws after ten seconds: a wake-up was lost */
  async until(done: (hints: readonly Hint[]) => boolean, what: string): Promise<void> {
    const limit = Date.now() + 10_000;
    while (!done(this.hints)) {
      assert.ok(Date.now() < limit, `lost wake-up: ${what}`);
      await new Promise<void>((wake) => {
        const slow = setTimeout(wake, 100);
        this.#waits.push(() => {
          clearTimeout(slow);
          wake();
        });
      });
    }
  }

  async stop(): Promise<void> {
    this.#abort.abort();
    await this.ended;
  }

  async #listen(hints: AsyncIterable<Hint>): Promise<void> {
    for await (const hint of hints) {
      this.hints.push(hint);
      for (const wake of this.#waits.splice(0)) wake();
    }
  }
}

/** True once a hint named the id or said to look at everything. */
export const told =
  (id: string) =>
  (hints: readonly Hint[]): boolean =>
    hints.some(({ ids }) => ids.length === 0 || ids.includes(id));

const EVENTS: Partial<Record<ApprovalRequest["status"], JournalEvent>> = {
  approved: "request.approved",
  claimed: "request.claimed",
  succeeded: "request.succeeded",
  rejected: "request.rejected",
  cancelled: "request.superseded",
  expired: "request.expired",
};
const eventOf = (patch: Partial<ApprovalRequest>): JournalEvent => (patch.status && EVENTS[patch.status]) ?? "request.voted";

function blankRequest(id: string, at: Instant): Omit<ApprovalRequest, "head"> {
  return {
    v: 1,
    id,
    tenant: "default",
    root: id,
    rev: 1,
    kind: "call",
    status: "pending",
    call: { id: `call ${id}`, tool: { name: "write_file", origin: "code", definition: hash("definition") }, secrets: [] },
    callKey: "callkey",
    masked: [],
    bindings: {},
    requester: { principal: "os:lena", agent: null, session: null, run: null, thread: null, path: [], shared: false },
    requesterProof: "process",
    grade: "in-process",
    terms: {
      type: "holdpoint/terms/v1",
      editable: [""],
      decideWithin: 300_000,
      runWithin: 600_000,
      escalate: [],
      remind: null,
      policy: hash("policy"),
      clauses: [
        { by: "tool", any: [{ of: ["@operator"], count: 1 }], self: "allow", assurance: "local", window: 0, exemptible: true },
      ],
    },
    termsHash: hash("terms"),
    nonce: "AAAAAAAAAAAAAAAAAAAAAA",
    digest: hash(`digest ${id}`),
    createdAt: at,
    decideBy: at,
    parked: false,
    decisions: [],
    impact: "default",
    tier: "write",
  };
}
