import type { RefusalCode } from "../errors.ts";
import type { Hash } from "../hash.ts";
import type { Instant } from "../instant.ts";
import type { JsonObject } from "../json-value.ts";
import type { ApprovalRequest, CancelReason, Grade, RequesterProof, RequestKind, Status } from "../request.ts";
import type { Clause } from "../requirement.ts";
import type { AbortLike, Impact, Message, Requester, Requires, Tier, ToolCall, ToolIdentity } from "../tool-call.ts";
import type { Mode, PolicySnapshot } from "../policy.ts";

/** What a gate may do. It has no way to approve. */
export interface Desk {
  /** The policy and mode that a run starts with, frozen from then on. */
  snapshot(mode?: Mode): PolicySnapshot | Promise<PolicySnapshot>;
  submit(submission: Submission): Promise<Ruling>;
  /** Waits until the request (or what an edit made of it) is parked, approved or has ended. @throws the signal's reason on abort */
  await(id: string, signal: AbortLike): Promise<Standing>;
  standing(id: string): Promise<Standing | undefined>;
  /**
   * Keeps the requester's lease of a request that is held or parked, or a claim's lease (with its token), alive for another
   * 60 s. False: it has ended, or is another's.
   */
  renew(id: string, holder: string, token?: string): Promise<boolean>;
  /**
   * The caller waits no longer, and the request lives on: a repeat of the call takes it up. False: it has ended, or is
   * another's.
   * @param leaving its gate ends too: the lease ends now, so that a repeat from another session may take it up at once
   */
  park(id: string, holder: string, leaving?: boolean): Promise<boolean>;
  /** Where the request of a resume token stands; `undefined`: unknown, over, malformed, or another principal's. Spends nothing. */
  resume(token: string, by: Requester): Promise<Standing | undefined>;
  claim(id: string, evidence: ClaimEvidence): Promise<Claimed>;
  complete(id: string, token: string, outcome: Completion): Promise<boolean>;
  cancel(id: string, reason: CancelReason, by: Requester): Promise<boolean>;
  /** Records what policy alone let through and how it ended, where the policy's `record` says so. */
  ran(report: RunReport): Promise<void>;
  /** Would an ask for this call reach somebody? */
  reachable(submission: Submission): Promise<boolean>;
}

/** A call as the gate has received, known, validated and bound it. */
export interface Submission {
  readonly call: ToolCall;
  /** The caller named the call; an id that we made cannot have come before. */
  readonly idGiven: boolean;
  readonly tool: ToolIdentity;
  readonly tier: Tier | undefined;
  readonly impact: Impact;
  readonly edits: boolean;
  /** The declaration's own words: the desk renders them from arguments whose secrets are commitments. */
  readonly effect: Message | undefined;
  /** Holds of the gate: the tool's floor whose `when` did not free it, the gate's callback, a parent's ask. */
  readonly holds: readonly Hold[];
  /** A deny of the gate's own callback or of a parent. */
  readonly denied: { readonly by: string; readonly reason?: string; readonly fault?: true } | undefined;
  /** An opinion in the gate's own code allows: only ever step 6. */
  readonly allowedByOpinion: boolean;
  /** Of the tool, and of its parents' policies. */
  readonly requires: readonly Requires[];
  readonly secrets: readonly string[];
  readonly editable: readonly string[];
  readonly ignore: readonly string[];
  readonly schema: JsonObject | null;
  /** Checks edited arguments against the tool's schema: the validated value, or faults. In this process only. */
  readonly revalidate: ((args: JsonObject) => Promise<Revalidated>) | undefined;
  readonly bindings: Readonly<Record<string, string>>;
  readonly requester: Requester;
  readonly proof: RequesterProof;
  readonly grade: Grade;
  readonly statement: string | undefined;
  readonly notes: readonly string[];
  readonly policy: PolicySnapshot;
  readonly wait: "block" | "suspend" | "defer";
  /** Milliseconds; the gate's own deadline where neither rule nor tool says. */
  readonly deadline: number | undefined;
  readonly windows: "on" | "off";
  /** The channel the gate prefers, and the list it may fall over to. */
  readonly channels: readonly string[];
  /** Who holds the requester's lease: this run, in this process. */
  readonly renewer: string;
  /** A resume token is made, for a caller that may leave and come back. Default: only for what does not block. */
  readonly resumable?: boolean;
  readonly signal: AbortLike;
}

export type Revalidated =
  | {
      readonly ok: true;
      readonly arguments: JsonObject;
      /** Everything that wants a person for the edited call, the policy's rules included. */
      readonly holds: readonly Hold[];
      readonly denied: Submission["denied"];
      readonly bindings: Readonly<Record<string, string>>;
      /** Grants that the edited call needs first. */
      readonly requires?: readonly Requires[];
    }
  | { readonly ok: false; readonly code: RefusalCode; readonly pointer: string; readonly problem: string };

/** Something that wants a person. Only what it permits itself answers it without one. */
export interface Hold {
  readonly by: string;
  readonly clause: Clause;
  /** The clause's assurance was stated; else the desk sets the least that its configuration reaches. */
  readonly graded: boolean;
  /** Milliseconds, where this hold says. */
  readonly deadline: number | undefined;
  readonly message: Message | undefined;
  readonly editable: readonly string[] | undefined;
  readonly channels: readonly string[] | undefined;
  readonly offer: "enough" | undefined;
  readonly remind: number | undefined;
}

/** What the model is told of a call that does not run, and why. */
export interface Refusal {
  readonly code: RefusalCode;
  /** Quoted to the model: a person's or a rule's words. */
  readonly reason?: string;
  /** `invalid_arguments`: where and what. */
  readonly pointer?: string;
  readonly problem?: string;
}

export type Ruling =
  | { readonly ruling: "allow"; readonly how: "allowed" | "window" | "exempt" }
  | { readonly ruling: "refused"; readonly refusal: Refusal; readonly request?: string }
  | ({ readonly ruling: "held"; readonly request: string; readonly kind: RequestKind; readonly decideBy: Instant } & Held)
  /**
   * The same call came again, by its id or as the repeat of one whose caller was gone, and this is what became of it; never
   * run again. `standing.result`: what it gave, kept for the repeat.
   */
  | { readonly ruling: "repeated"; readonly standing: Standing };

interface Held {
  /** Where a person finds it; `undefined`: the desk has no address of its own. */
  readonly link?: string;
  /** It was asked before and this call, its repeat, took it up: the first request of its edits, itself where there were none. */
  readonly attached?: string;
  /** `hp1.<id>.<256 random bits>`: shown this once. */
  readonly resumeToken?: string;
}

export interface Standing {
  readonly record: ApprovalRequest;
  readonly status: Status;
  readonly refusal?: Refusal;
  /** Of the request that goes on; secrets as commitments. `null` after an erasure. */
  readonly arguments: JsonObject | null;
  readonly edited?: { readonly by: string; readonly arguments: JsonObject };
  readonly result?: JsonObject;
}

/** What the executor holds and is about to run: the desk compares it with what was approved. */
export interface ClaimEvidence {
  readonly holder: string;
  readonly requester: Requester;
  readonly tool: ToolIdentity;
  /** Full values. */
  readonly arguments: JsonObject;
  readonly bindings: Readonly<Record<string, string>>;
  /** Proof of a caller that left and came back; the claim spends it. */
  readonly resumeToken?: string;
}

export type Claimed =
  | { readonly ok: true; readonly token: string; readonly fence: number; readonly digest: Hash; readonly until: Instant }
  | { readonly ok: false; readonly refusal: Refusal; readonly status: Status | null };

export interface Completion {
  /** `lost`: whether it ran cannot be said; the request becomes `indeterminate` and is never run again by itself. */
  readonly status: "succeeded" | "failed" | "lost";
  /** What the tool gave, where it gave something. */
  readonly value?: unknown;
  /** The caller is gone: `value` is kept, and the call's repeat gets it once. */
  readonly keep?: true;
  readonly errorCode?: string;
  readonly observedBy: "executor" | "host" | `agent:${string}`;
}

export interface RunReport {
  readonly submission: Pick<Submission, "tool" | "tier" | "requester" | "policy"> & { readonly call: { readonly id: string } };
  readonly how: "allowed" | "window" | "exempt";
  readonly status: "started" | "ran" | "failed";
}
