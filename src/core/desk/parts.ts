import type { Guards } from "../guards.ts";
import type { Identity } from "../ports/approvals.ts";
import type { Channel } from "../ports/channel.ts";
import type { Directory } from "../ports/directory.ts";
import type { Runtime } from "../ports/runtime.ts";
import type { Store, Stored } from "../ports/store.ts";
import type { Actor } from "../journal.ts";
import type { ApprovalRequest, CancelReason } from "../request.ts";
import type { PolicySnapshot } from "../policy.ts";
import type { Assurance } from "../requirement.ts";
import type { Requester, Tier } from "../tool-call.ts";
import type { Exemption } from "../exemption.ts";
import type { Hash } from "../hash.ts";
import type { Revalidated } from "../ports/desk.ts";
import type { JsonObject } from "../json-value.ts";
import type { Salts } from "../secret.ts";
import type { Dispatcher } from "./dispatch.ts";
import type { EventStream } from "./events.ts";
import type { Journal } from "./journal-writer.ts";
import type { KillSwitch } from "./kill.ts";
import type { Notes } from "./notes.ts";
import type { Waiting } from "./waiting.ts";

export interface OpenCall {
  /** What was asked, as this process asked it: the stored request is compared with it. */
  readonly digest: Hash;
  readonly callKey: string;
  readonly salts: Salts;
  readonly revalidate: ((args: JsonObject) => Promise<Revalidated>) | undefined;
  readonly policy: PolicySnapshot;
  readonly tier: Tier | undefined;
  readonly edits: boolean;
  readonly ignore: readonly string[];
  readonly windows: "on" | "off";
  readonly channels: readonly string[];
  readonly requester: Requester;
}

/** What a local desk is made of; every part can be another in a test. */
export interface DeskParts {
  readonly runtime: Runtime;
  readonly store: Store;
  readonly directory: Directory;
  readonly tenant: string;
  /** `os:<account>` unless the app says otherwise: whom `@operator` names. */
  readonly operator: string;
  readonly channels: readonly Channel[];
  /** Who can open a listing of this desk's requests (a command line on its data folder), as what. */
  readonly listing: readonly Identity[];
  readonly guards: Guards;
  readonly journal: Journal;
  readonly events: EventStream;
  readonly waiting: Waiting;
  readonly dispatcher: Dispatcher;
  /** Exemptions of this process, by id. */
  readonly exemptions: Map<string, Exemption>;
  readonly kills: KillSwitch;
  readonly notes: Notes;
  /** What only this process knows of a request it submitted: secrets' salts, how to check an edit. Gone with it. */
  readonly open: Map<string, OpenCall>;
  /** Where a person finds a request; `undefined`: nowhere but in what lists it. */
  readonly link: ((id: string) => string) | undefined;
  /** The most that any configured channel or listing can prove. */
  readonly reachable: Assurance;
  /** A request as stored, checked for integrity. */
  look(id: string): Promise<Stored | undefined>;
  /** Commits an expiry that is due. False: none is. */
  expire(id: string): Promise<boolean>;
  cancel(id: string, reason: CancelReason, by: Actor | null): Promise<boolean>;
  /** A request changed for good: surfaces, timers and memories of this process follow. Never throws. */
  settled(record: ApprovalRequest): void;
  /** An edit put a successor in a request's place. */
  succeeded(from: string, successor: Stored): void;
  /** The policy in force for new runs, and for deny rules at the claim. */
  policy(): PolicySnapshot;
}

/** Times of design, section 14, in milliseconds, each with what it protects. */
export const TIMES = {
  /** A blocked agent gives up on a person after this. */
  decideWithin: { block: 300_000, suspend: 86_400_000, defer: 86_400_000 },
  /** An approval nobody claims is worth nothing after this: the world has moved on. */
  runWithin: { block: 600_000, suspend: 600_000, defer: 86_400_000 },
  /** A claim whose holder stops renewing is an executor that died. */
  claimLease: 60_000,
  claimRenewal: 20_000,
  /** A requester that stops renewing is gone; it may be taken up again for {@link REQUESTER_GRACE}. */
  requesterLease: 60_000,
  requesterRenewal: 20_000,
  /** How long after everything is over a resume token still tells how it ended. */
  resumeAfter: 86_400_000,
  /** A request that reached nobody by then is refused rather than waited out (P-06). */
  deliverWithin: 30_000,
  /** Between two tries of one delivery. */
  deliverAgain: 2000,
  /** A channel that has not shown it by then has not: others must not wait for it. */
  deliverTry: 10_000,
  /** Waiters look again by themselves: a hint may be lost. */
  lookAgain: 5000,
  /** A deadline that cannot be recorded is tried at least this often. */
  longestAgain: 300_000,
  /** Without a run, a rejection is remembered this long. */
  refusalMemory: 1_800_000,
  grant: 900_000,
  /** How old a look at the kill switch may be before a freed call looks again, and before it is refused. */
  killFresh: 1000,
  killStale: 10_000,
} as const;

/** Longest chain of edits of one call. */
export const MOST_EDITS = 5;
/** Refusals of one tool in a row after which a run may not ask for it again. */
export const MOST_REFUSALS = 3;
/** Characters of an agent's own words that are kept. */
export const STATEMENT_LENGTH = 2000;
/** Tries of a commit that lost a race before the store counts as unavailable. */
export const MOST_RACES = 20;
