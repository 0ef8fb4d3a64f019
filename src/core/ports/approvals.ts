import type { Card, Presented } from "../card.ts";
import type { AnswerCode, RefusalCode } from "../errors.ts";
import type { Hash } from "../hash.ts";
import type { Instant } from "../instant.ts";
import type { JsonObject } from "../json-value.ts";
import type { Assurance } from "../requirement.ts";
import type { Status } from "../request.ts";
import type { KillScope, WatchSignal } from "./store.ts";

/** Who answers, as the transport proved it: never from a payload. */
export interface Identity {
  readonly principal: string;
  /** The channel identity, such as `slack:U024BE7LH` or `terminal:os:lena`. */
  readonly as: string;
  readonly via: string;
  readonly assurance: Assurance;
  readonly proof?: string;
}

/** The deciding side. It has no way to run anything, and a gate is never handed it. */
export interface Approvals {
  /** Cards of what is open (or of one status), oldest first; only what this person may see. */
  list(query: ListQuery, as: Identity): Promise<readonly Card[]>;
  /** `undefined`: unknown, or not theirs to see (one answer for both). `prefix` that fits two: {@link Ambiguous}. */
  card(id: string, as: Identity, render?: Render): Promise<Presented | Ambiguous | undefined>;
  decide(id: string, answer: Answer, as: Identity): Promise<Decided>;
  edit(id: string, edit: EditAnswer, as: Identity): Promise<Decided>;
  /** Takes an approval back: a no stands until the claim. */
  revoke(id: string, reason: string | undefined, as: Identity): Promise<Decided>;
  /** Withdraws as operator. */
  cancel(id: string, as: Identity): Promise<Decided>;
  /** Says of an `indeterminate` call what a person found out. Once. */
  reconcile(id: string, ran: boolean, as: Identity): Promise<Decided>;
  /** Lets a refused call (by request id) or tool (by name) be asked again. Resolves with how many memories ended. */
  lift(target: string, as: Identity): Promise<number>;
  windows(as: Identity): Promise<readonly Remembered[]>;
  grants(as: Identity): Promise<readonly Remembered[]>;
  exemptions(as: Identity): Promise<readonly Remembered[]>;
  /** Ends one window, grant or exemption by id. False: no such, or ended already. */
  end(kind: "window" | "grant" | "exemption", id: string, as: Identity): Promise<boolean>;
  killed(): Promise<readonly { readonly scope: KillScope; readonly at: Instant; readonly by: string }[]>;
  /** `on` is immediate; `off` opens a request of kind `change` and resolves with its id. */
  kill(scope: KillScope, on: boolean, as: Identity): Promise<{ readonly changed: boolean; readonly request?: string }>;
  /** Reports that a complete view was shown on a live surface. */
  seen(id: string, view: string, as: Identity): Promise<void>;
  /** Wakes when something may have changed. */
  watch(signal: WatchSignal): AsyncIterable<{ readonly ids: readonly string[] }>;
}

export interface ListQuery {
  readonly status?: readonly Status[];
  readonly thread?: string;
  readonly limit?: number;
}
/** A surface's own rendering of a card; default: the plain text of the core. */
export type Render = (card: Card) => { readonly text: string; readonly complete: boolean };
export interface Ambiguous {
  readonly ambiguous: readonly string[];
}

export interface Answer {
  readonly verdict: "approve" | "reject";
  readonly reason?: string;
  readonly digest: Hash;
  readonly view: string;
  /** Idempotency key of this answer; a repeat of it finds its first result. Default: derived from person and verdict. */
  readonly key?: string;
  /** Opens a window for this call beyond what the clause says? Never: a window's length comes from the terms. */
  readonly window?: never;
}
export interface EditAnswer {
  readonly arguments: JsonObject | null | false;
  readonly reason?: string;
  readonly digest: Hash;
  readonly view: string;
}

/** What became of an answer. Never a throw for an unknown or ended request. */
export interface Decided {
  readonly found: boolean;
  readonly status: Status | null;
  /** The answer was counted. */
  readonly counted: boolean;
  /** Why it was not. */
  readonly code?: AnswerCode | RefusalCode;
  /** For people: what happened, in one line. */
  readonly note?: string;
  /** The request that goes on: itself, or the successor of an edit. */
  readonly id?: string;
}

/** One remembered authority, as lists show it. */
export interface Remembered {
  readonly id: string;
  readonly kind: "window" | "grant" | "exemption";
  readonly principal: string;
  readonly agent: string | null;
  /** Tool name, or a grant's scope. */
  readonly covers: string;
  readonly since: Instant;
  readonly until: Instant | null;
  readonly by: string;
  readonly uses: number;
}
