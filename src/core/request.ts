import type { Hash } from "./hash.ts";
import type { Instant } from "./instant.ts";
import type { JsonObject } from "./json-value.ts";
import type { Assurance, Terms } from "./requirement.ts";
import type { ToolIdentity } from "./tool-call.ts";

export const STATUSES = [
  "pending",
  "approved",
  "claimed",
  "succeeded",
  "failed",
  "indeterminate",
  "rejected",
  "expired",
  "cancelled",
] as const;
export type Status = (typeof STATUSES)[number];

const ENDED: ReadonlySet<Status> = new Set(["succeeded", "failed", "indeterminate", "rejected", "expired", "cancelled"]);
/** No transition leaves these (I4). */
export const hasEnded = (status: Status): boolean => ENDED.has(status);

export type RequestKind = "call" | "grant" | "change";

/** Why a request was withdrawn; closed (design, section 6). */
export const CANCEL_REASONS = [
  "requester",
  "requester_gone",
  "abort",
  "operator",
  "kill_switch",
  "revoked",
  "superseded",
  "tool_changed",
  "context_changed",
  "policy_changed",
  "undeliverable",
  "no_approver",
  "channel_fault",
  "invalid_edit",
] as const;
export type CancelReason = (typeof CANCEL_REASONS)[number];
export type ExpireReason = "not_decided" | "not_shown" | "not_claimed";
export type IndeterminateReason = "lease_lost" | "crashed" | "unobserved";

/** The requester as hashed and stored: every member present, so that absence has one spelling. */
export interface RequesterRecord {
  readonly principal: string;
  readonly agent: string | null;
  readonly session: string | null;
  readonly run: string | null;
  readonly thread: string | null;
  readonly path: readonly string[];
  readonly shared: boolean;
}

/** How the requester is known: in this process, by socket, by token, or only by its own word. */
export type RequesterProof = "process" | "claimed" | `socket:${string}` | `token:${string}`;
/** How strong the place of the gate is: own code (adapter), between client and server, or a host's hook. */
export type Grade = "structural" | "in-process" | "host";

/** One approver's answer. No arguments: an edit is an event of its own and its vote is on the successor's digest. */
export interface Decision {
  /** Also the key under which a repeat finds its first result. */
  readonly id: string;
  readonly verdict: "approve" | "reject";
  /** The principal. */
  readonly by: string;
  /** The channel identity that answered. */
  readonly as: string;
  readonly via: string;
  readonly assurance: Assurance;
  readonly digest: Hash;
  /** The hash of what was presented, taken from the view; `null` only where nothing was (a rejection unseen). */
  readonly rendering: Hash | null;
  readonly at: Instant;
  readonly proof?: string;
  /** HMAC over all of the above and the request, with a key outside the database: a row edited by hand does not count. */
  readonly mac: string;
}

export interface Claim {
  readonly holder: string;
  readonly tokenHash: Hash;
  readonly fence: number;
  readonly until: Instant;
  readonly at: Instant;
}

export interface RunOutcome {
  readonly status: "succeeded" | "failed";
  readonly observedBy: "executor" | "host" | `agent:${string}`;
  readonly result?: { readonly digest: Hash; readonly sealed?: boolean };
  readonly error?: { readonly code: string };
}

export interface Resolution {
  readonly status: Status;
  readonly reason: string;
  /** Principal, or `null`: time or the machine. */
  readonly by: string | null;
  readonly at: Instant;
}

/** The durable record of one question. Arguments and reason texts are in the payload row, so that they can be erased. */
export interface ApprovalRequest {
  readonly v: 1;
  readonly id: string;
  readonly tenant: string;
  /** The first request of an edit chain; itself where there was no edit. */
  readonly root: string;
  /** +1 per change. */
  readonly rev: number;
  /** Hash of the last entry of the stream `request/<id>`. */
  readonly head: Hash;
  readonly kind: RequestKind;
  readonly status: Status;
  readonly call: { readonly id: string; readonly tool: ToolIdentity; readonly secrets: readonly string[] };
  /** HMAC, never exported. */
  readonly callKey: string;
  /** Pointers that detectors mask on cards. */
  readonly masked: readonly string[];
  readonly bindings: Readonly<Record<string, string>>;
  readonly requester: RequesterRecord;
  readonly requesterProof: RequesterProof;
  readonly grade: Grade;
  readonly terms: Terms;
  readonly termsHash: Hash;
  readonly nonce: string;
  readonly digest: Hash;
  readonly createdAt: Instant;
  readonly decideBy: Instant;
  readonly runBy?: Instant;
  readonly lease?: { readonly until: Instant; readonly holder: string };
  readonly parked: boolean;
  readonly lane?: string;
  readonly decisions: readonly Decision[];
  readonly claim?: Claim;
  readonly outcome?: RunOutcome;
  /** What came to light after `indeterminate`; set once, the status stays. */
  readonly finding?: { readonly ran: boolean; readonly by: string; readonly at: Instant };
  readonly resolution?: Resolution;
  readonly supersedes?: string;
  readonly supersededBy?: string;
  /** What the card says beside the call: message, effect, impact, tier, origin of the ask. No argument values. */
  readonly impact: "default" | "destructive" | "irreversible";
  readonly tier: "read" | "write" | "physical" | null;
}

/** The erasable part of a request. */
export interface Payload {
  readonly request: string;
  /** Secrets stand as `{"$secret": "<commitment>"}`. */
  readonly arguments: JsonObject;
  readonly message: string;
  readonly effect: string | null;
  /** The agent's own words, untrusted, at most 2,000 characters. */
  readonly statement: string | null;
  /** Notes for the card, such as a removed `confirm` argument or "model asked …". */
  readonly notes: readonly string[];
  /** By decision id. */
  readonly reasons: Readonly<Record<string, string>>;
  /** JSON Schema of the arguments where one is known: for the form of an edit. */
  readonly schema: JsonObject | null;
  /** A stored result for a caller that went away; `null`: none kept. */
  readonly result: JsonObject | null;
}
