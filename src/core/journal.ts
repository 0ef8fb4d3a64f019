import { lastingHash } from "./hash.ts";
import type { Hash } from "./hash.ts";
import type { Instant } from "./instant.ts";
import type { JsonObject } from "./json-value.ts";
import type { Crypto } from "./ports/runtime.ts";

/** The closed list of what a journal can say (formats, section 4). */
export const EVENTS = [
  "request.created",
  "request.delivered",
  "request.undelivered",
  "request.seen",
  "request.voted",
  "request.approved",
  "request.rejected",
  "request.revoked",
  "request.superseded",
  "request.cancelled",
  "request.expired",
  "request.claimed",
  "request.succeeded",
  "request.failed",
  "request.indeterminate",
  "request.found",
  "attempt.refused",
  "call.allowed",
  "call.denied",
  "window.opened",
  "window.used",
  "window.ended",
  "grant.given",
  "grant.used",
  "grant.ended",
  "exemption.added",
  "exemption.used",
  "exemption.removed",
  "policy.loaded",
  "policy.accepted",
  "kill.changed",
  "token.made",
  "token.revoked",
  "directory.changed",
  "payload.erased",
  "checkpoint.signed",
  "request.escalated",
  "request.reminded",
  "request.parked",
  "request.attached",
  "refusal.lifted",
  "definition.pinned",
] as const;
export type JournalEvent = (typeof EVENTS)[number];

/** Who did it; `null` for time and machine. */
export interface Actor {
  readonly principal: string;
  readonly as: string;
  readonly via: string;
}

/** One entry. `data` holds digests, ids, codes and times, never an argument, reason or result (P-19). */
export interface Entry {
  readonly type: "holdpoint/entry/v1";
  readonly stream: `request/${string}` | `node/${string}`;
  readonly n: number;
  readonly prev: Hash | null;
  readonly at: Instant;
  readonly event: JournalEvent;
  readonly tenant: string;
  readonly actor: Actor | null;
  readonly rev: number | null;
  readonly data: JsonObject;
}

export const entryHash = (crypto: Crypto, entry: Entry): Hash => lastingHash(crypto, entry as Entry & Record<string, unknown>);

/** Where a chain of entries breaks; `undefined`: it holds. */
export interface Break {
  readonly n: number;
  readonly problem: string;
}

/**
 * Checks one stream from its first entry on: numbers without a gap, each entry naming the hash of the one before.
 * @param head the hash that the record says is the last; `null` where no record says so
 */
export function verifyStream(crypto: Crypto, entries: readonly Entry[], head: Hash | null): Break | undefined {
  let prev: Hash | null = null;
  for (const [n, entry] of entries.entries()) {
    if (entry.n !== n) return { n, problem: `entry ${n} is missing or out of place` };
    if (entry.prev !== prev) return { n, problem: `entry ${n} does not follow the one before it` };
    prev = entryHash(crypto, entry);
  }
  if (head !== null && prev !== head) return { n: entries.length, problem: "the chain does not end where the record says" };
  return undefined;
}
