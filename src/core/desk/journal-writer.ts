import { HoldpointError, isHoldpointError } from "../errors.ts";
import type { Hash } from "../hash.ts";
import { instant, type Instant } from "../instant.ts";
import { type Actor, type Entry, entryHash, type JournalEvent } from "../journal.ts";
import { freezeWhole } from "../lasting.ts";
import type { JsonObject } from "../json-value.ts";
import type { Runtime } from "../ports/runtime.ts";
import type { Commit, Committed, KillScope, RecordChange, RowChange, Store } from "../ports/store.ts";
import type { ApprovalRequest } from "../request.ts";
import type { Draft } from "../transition.ts";
import type { EventStream } from "./events.ts";

/** One change of the truth: everything in it becomes durable together, with its entries, or nothing does (P-10). */
export interface Change {
  readonly records?: readonly {
    readonly before: ApprovalRequest | null;
    readonly next: ApprovalRequest;
    readonly drafts: readonly Draft[];
  }[];
  /** What belongs to no open request: policy calls, late attempts, windows, kill switch. */
  readonly node?: readonly NodeDraft[];
  readonly rows?: readonly RowChange[];
  readonly before?: Instant;
  readonly notBefore?: Instant;
  readonly unlessKilled?: readonly KillScope[];
}
export interface NodeDraft {
  readonly event: JournalEvent;
  readonly actor: Actor | null;
  readonly data: JsonObject;
}

export type Written = { readonly ok: true; readonly records: readonly ApprovalRequest[] } | Extract<Committed, { ok: false }>;

export interface Journal {
  /** @throws HoldpointError `store_unavailable` when the store could not say whether it is done */
  write(change: Change): Promise<Written>;
}

/**
 * A change that is nothing but what it says in the journal.
 * @throws HoldpointError when it was not taken: it must then not take effect either (P-10)
 */
export async function recorded(journal: Journal, change: Change): Promise<void> {
  const written = await journal.write(change);
  if (written.ok) return;
  const code = written.why === "clock_skew" ? "clock_skew" : "journal_unavailable";
  throw new HoldpointError(code, `the journal did not take the entry (${written.why}); nothing changed`);
}

interface NodeStream {
  readonly n: number;
  readonly prev: Hash | null;
}

/** Tries of one commit whose answer was lost; the same key makes a repeat harmless. */
const COMMIT_TRIES = 3;

const LEVELS: ReadonlyMap<JournalEvent, "info" | "warn" | "error"> = new Map([
  ["request.voted", "info"],
  ["request.approved", "info"],
  ["request.rejected", "info"],
  ["request.revoked", "info"],
  ["request.expired", "warn"],
  ["request.undelivered", "warn"],
  ["request.indeterminate", "error"],
  ["attempt.refused", "warn"],
  ["kill.changed", "warn"],
]);

export interface JournalParts {
  readonly runtime: Runtime;
  readonly store: Store;
  readonly tenant: string;
  readonly events: EventStream;
}

interface RecordDraft {
  readonly before: ApprovalRequest | null;
  readonly next: ApprovalRequest;
  readonly drafts: readonly Draft[];
}

/** Numbers, chains and dates the entries of one request's change; its head is the hash of the last. */
function stampRecord(
  { runtime, tenant }: JournalParts,
  record: RecordDraft,
  at: Instant,
): { change: RecordChange; entries: Entry[] } {
  const { before, next, drafts } = record;
  let prev = before?.head ?? null;
  let rev = before?.rev ?? 0;
  const entries = drafts.map(({ event, actor, data }): Entry => {
    const entry: Entry = freezeWhole({
      type: "holdpoint/entry/v1",
      stream: `request/${next.id}`,
      n: rev,
      prev,
      at,
      event,
      tenant,
      actor,
      rev: rev + 1,
      data,
    });
    prev = entryHash(runtime.crypto, entry);
    rev += 1;
    return entry;
  });
  const expect = before === null ? null : { rev: before.rev, head: before.head };
  return { change: { id: next.id, expect, next: { ...next, head: prev as Hash } }, entries };
}

class Writer implements Journal {
  readonly #parts: JournalParts;
  #node: NodeStream = { n: 0, prev: null };
  #turn: Promise<unknown> = Promise.resolve();

  constructor(parts: JournalParts) {
    this.#parts = parts;
  }

  /** Changes with entries of this process follow each other: each names the hash of the one before. */
  write(change: Change): Promise<Written> {
    if ((change.node ?? []).length === 0) return this.#attempt(change);
    const mine = this.#turn.then(() => this.#attempt(change));
    this.#turn = mine.catch(() => undefined);
    return mine;
  }

  #stampNode(drafts: readonly NodeDraft[], at: Instant): { entries: Entry[]; end: NodeStream } {
    const { runtime, tenant } = this.#parts;
    let { n, prev } = this.#node;
    const entries = drafts.map(({ event, actor, data }): Entry => {
      const entry: Entry = freezeWhole({
        type: "holdpoint/entry/v1",
        stream: `node/${runtime.ids.process}`,
        n,
        prev,
        at,
        event,
        tenant,
        actor,
        rev: null,
        data,
      });
      prev = entryHash(runtime.crypto, entry);
      n += 1;
      return entry;
    });
    return { entries, end: { n, prev } };
  }

  /**
   * A conflict may be one of this process's own stream: a commit that was made though its answer was lost, or another
   * desk of this process. Then the entries go after what stands there; any other conflict is the caller's.
   */
  async #attempt(change: Change): Promise<Written> {
    const written = await this.#once(change);
    if (written.ok || written.why !== "conflict" || (change.node ?? []).length === 0) return written;
    const end = await this.#endOfStream();
    if (end.n === this.#node.n) return written;
    this.#node = end;
    return this.#attempt(change);
  }

  async #endOfStream(): Promise<NodeStream> {
    const { runtime, store } = this.#parts;
    let end: NodeStream = { n: 0, prev: null };
    for await (const entry of store.journal(`node/${runtime.ids.process}`))
      end = { n: entry.n + 1, prev: entryHash(runtime.crypto, entry) };
    return end;
  }

  async #once(change: Change): Promise<Written> {
    const { runtime } = this.#parts;
    const at = instant(runtime.clock.now());
    const stamped = (change.records ?? []).map((record) => stampRecord(this.#parts, record, at));
    const own = this.#stampNode(change.node ?? [], at);
    const entries = [...stamped.flatMap((record) => record.entries), ...own.entries];
    const { before, notBefore, unlessKilled } = change;
    const committed = await this.#commit({
      records: stamped.map((record) => record.change),
      entries,
      rows: change.rows ?? [],
      at,
      key: runtime.ids.request(),
      ...(before === undefined ? {} : { before }),
      ...(notBefore === undefined ? {} : { notBefore }),
      ...(unlessKilled === undefined ? {} : { unlessKilled }),
    });
    if (!committed.ok) return committed;
    // A change without entries of this process runs beside those that have some, and must not set them back.
    if (own.entries.length > 0) this.#node = own.end;
    this.#tell(entries);
    return { ok: true, records: stamped.map((record) => record.change.next) };
  }

  async #commit(change: Commit): Promise<Committed> {
    let last: unknown;
    for (let tried = 0; tried < COMMIT_TRIES; tried++) {
      try {
        return await this.#parts.store.commit(change);
      } catch (thrown) {
        last = thrown;
      }
    }
    if (isHoldpointError(last)) throw last;
    throw new HoldpointError("store_unavailable", "the store did not take the change; nothing was released", { cause: last });
  }

  #tell(entries: readonly Entry[]): void {
    const { runtime, events } = this.#parts;
    for (const entry of entries) {
      const request = entry.stream.startsWith("request/") ? entry.stream.slice("request/".length) : null;
      const level = LEVELS.get(entry.event);
      if (level !== undefined) runtime.log[level](entry.event, { request, by: entry.actor?.principal ?? null });
      if (events.heard)
        events.emit({ type: "journal", event: entry.event, at: entry.at, request, actor: entry.actor, data: entry.data });
    }
  }
}

export const journalWriter = (parts: JournalParts): Journal => new Writer(parts);
