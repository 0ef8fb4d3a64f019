import type { ExemptionTest, ExemptionWords } from "../exemption.ts";
import type { Guards } from "../guards.ts";
import type { CallFacts, PolicySnapshot } from "../policy.ts";
import type { Approvals, Identity } from "../ports/approvals.ts";
import type { Channel } from "../ports/channel.ts";
import type { Desk } from "../ports/desk.ts";
import type { Directory } from "../ports/directory.ts";
import type { Runtime } from "../ports/runtime.ts";
import type { Store } from "../ports/store.ts";
import type { Requester } from "../tool-call.ts";
import type { EventStream } from "./events.ts";
import type { Open } from "./sweep.ts";

export interface LocalDeskOptions {
  readonly runtime: Runtime;
  readonly store: Store;
  readonly policy: PolicySnapshot;
  readonly channels?: readonly Channel[];
  readonly directory: Directory;
  /** Default `default`. */
  readonly tenant?: string;
  /** Default `os:<account>`. */
  readonly operator?: string;
  readonly listing?: readonly Identity[];
  readonly editRetries?: number;
  readonly guards?: Guards;
  /** Where a person finds a request, as text that a model may pass on. Holds the id and nothing else. */
  readonly link?: (id: string) => string;
}

/** A desk in this process: policy, store and dispatcher are its own, and so is the deciding side. */
export interface LocalDesk extends Desk {
  readonly approvals: Approvals;
  readonly events: EventStream;
  policy(): PolicySnapshot;
  /** For new runs only. */
  setPolicy(policy: PolicySnapshot): Promise<void>;
  /** True where policy frees this call at once, with nothing to record or to ask for first. */
  frees(call: { readonly facts: CallFacts; readonly edits: boolean; readonly policy: PolicySnapshot }): boolean;
  /** Nothing is switched off, and that was looked at just now. */
  readonly clear: boolean;
  /** Looks, where the last look is too old. False: this tool is switched off for them, or nobody can say. */
  lets(tool: string, requester: Requester): Promise<boolean>;
  exempt(name: string, words: ExemptionWords, test: ExemptionTest): Promise<() => Promise<void>>;
  /** Expires what is overdue and gives up claims whose lease is lost. Resolves with how many changed. */
  sweep(): Promise<number>;
  expire(id: string): Promise<boolean>;
  pending(): Promise<readonly Open[]>;
  close(): Promise<void>;
}
