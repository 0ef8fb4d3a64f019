import type { Entry } from "../journal.ts";
import type { Hash } from "../hash.ts";
import type { Instant } from "../instant.ts";
import type { JsonObject } from "../json-value.ts";
import type { ApprovalRequest, Payload, RequestKind, Status } from "../request.ts";

/**
 * Truth. Only a desk's own process has this port. One commit is one transaction with its journal entries: either all
 * of it is durable or nothing changed. A store never decides; it compares and sets.
 */
export interface Store {
  readonly capabilities: StoreCapabilities;
  /** The clock that deadlines are measured by. */
  now(): Promise<Instant>;
  read(id: string): Promise<Stored | undefined>;
  /** Records in order of creation. `query.kind` of a row: that kind's rows by key, as {@link Row}. */
  find(query: RecordQuery): AsyncIterable<Summary>;
  rows(query: RowQuery): AsyncIterable<Row>;
  row(kind: RowKind, key: string): Promise<Row | undefined>;
  /** Entries of one stream, in order. */
  journal(stream: string): AsyncIterable<Entry>;
  commit(change: Commit): Promise<Committed>;
  /** Takes up to `max` due rows of a kind for `ms` milliseconds; none that another owner holds. */
  lease(kind: LeaseKind, owner: string, max: number, ms: number): Promise<readonly Leased[]>;
  /** Hints that something changed since `since`; may lose, repeat, reorder: whoever waits also looks again by itself. */
  watch(since: Cursor, signal: WatchSignal): AsyncIterable<Hint>;
  close(): Promise<void>;
}

export interface StoreCapabilities {
  /** Survives the end of the process. */
  readonly durable: boolean;
  /** Several processes see one truth. */
  readonly shared: boolean;
  readonly wake: "push" | "poll";
}

/** A request with its erasable part; `payload: null` after an erasure. */
export interface Stored {
  readonly record: ApprovalRequest;
  readonly payload: Payload | null;
}

export interface Commit {
  /** Compare-and-set of requests; two for an edit. `expect: null` inserts. */
  readonly records: readonly RecordChange[];
  readonly entries: readonly Entry[];
  readonly rows: readonly RowChange[];
  /** The committer's time; more than {@link MAX_SKEW} ms off the store's own clock gives `clock_skew`. */
  readonly at: Instant;
  /** `too_late` unless the store's clock is before it (a deadline itself is late). */
  readonly before?: Instant;
  /** `too_early` unless the store's clock has reached it. */
  readonly notBefore?: Instant;
  /** `killed` where any of these kill rows is on, looked at inside the same transaction. */
  readonly unlessKilled?: readonly KillScope[];
  /** Idempotency: the same key returns the first result and changes nothing. */
  readonly key: string;
}
export const MAX_SKEW = 2000;

export interface RecordChange {
  readonly id: string;
  readonly expect: { readonly rev: number; readonly head: Hash } | null;
  readonly next: ApprovalRequest;
}

export type Committed =
  | { readonly ok: true; readonly cursor: Cursor }
  | { readonly ok: false; readonly why: "conflict" | "too_late" | "too_early" | "killed" }
  | { readonly ok: false; readonly why: "clock_skew"; readonly now: Instant };

export type RowKind =
  | "payload"
  | "sealed"
  | "delivery"
  | "window"
  | "grant"
  | "exemption"
  | "kill"
  | "policy"
  | "token"
  | "refusal"
  | "streak"
  | "definition"
  | "call";

/** A row beside the records, by kind and key. `rev` starts at 1 and grows by 1 with each change. */
export interface Row {
  readonly kind: RowKind;
  readonly key: string;
  readonly rev: number;
  readonly value: JsonObject;
}

/** `expect: null` inserts (conflict where the row exists); `next: null` removes. */
export interface RowChange {
  readonly kind: RowKind;
  readonly key: string;
  readonly expect: number | null;
  readonly next: JsonObject | null;
}

/** `all`, `tenant:<t>`, `agent:<a>`, `tool:<name>`: the key of a kill row whose value is `{ "on": true | false, … }`. */
export type KillScope = "all" | `tenant:${string}` | `agent:${string}` | `tool:${string}`;

export interface RecordQuery {
  readonly status?: readonly Status[];
  readonly kind?: RequestKind;
  readonly tenant?: string;
  readonly thread?: string;
  /** Requests whose id begins so. */
  readonly idPrefix?: string;
  /** The request, and those that an edit chain made of it. */
  readonly root?: string;
  /** Strictly after this creation order. */
  readonly after?: Cursor;
  readonly limit?: number;
}

export interface RowQuery {
  readonly kind: RowKind;
  readonly keyPrefix?: string;
}

/** What a list shows without its arguments. */
export interface Summary {
  readonly record: ApprovalRequest;
  readonly cursor: Cursor;
}

/** Opaque to all but its store; order of commits as that store saw them. `""`: from the beginning. */
export type Cursor = string;
export type LeaseKind = "delivery" | "lane" | "sweep" | "sequence";
export interface Leased {
  readonly key: string;
  readonly until: Instant;
  readonly fence: number;
}
export interface Hint {
  readonly cursor: Cursor;
  /** Requests and row keys that changed; empty: look at everything. */
  readonly ids: readonly string[];
}
/** As much of an AbortSignal as a watch needs. */
export interface WatchSignal {
  readonly aborted: boolean;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}
