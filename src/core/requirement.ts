import type { Hash } from "./hash.ts";

/** How sure we are that a person answered (design, section 11), weakest first. */
export const ASSURANCES = ["client", "local", "account", "fresh", "signed"] as const;
export type Assurance = (typeof ASSURANCES)[number];

/** True where `had` suffices for `wanted`. */
export const suffices = (had: Assurance, wanted: Assurance): boolean => ASSURANCES.indexOf(had) >= ASSURANCES.indexOf(wanted);

/** Who may answer: `@principal`, `@operator`, a principal id, a channel identity (`slack:U…`), `group:…`, `role:…`. */
export type Selector = string;

/** One way to meet a clause: `count` different people out of `of`. */
export interface Alternative {
  readonly of: readonly Selector[];
  readonly count: number;
}

/** Who must approve and by how many. One alternative suffices; a requirement is met when all its clauses are. */
export interface Clause {
  /** What demanded it, for the card: `tool`, `rule:<name>`, `callback`, `parent`, `definition`, `grant`. */
  readonly by: string;
  readonly any: readonly Alternative[];
  /** `deny`: the requester's principal, the agent and its owner do not count. */
  readonly self: "allow" | "deny";
  /** The least assurance that counts. */
  readonly assurance: Assurance;
  /** Milliseconds for which an approval answers the same call again; 0: asks each time. */
  readonly window: number;
  /** A coded exemption may answer this clause. */
  readonly exemptible: boolean;
}

export interface Escalation {
  readonly after: number;
  readonly to: readonly Selector[];
}

/** What was asked, frozen when it was asked (P-18). Times are durations in milliseconds. */
export interface Terms {
  readonly type: "holdpoint/terms/v1";
  readonly clauses: readonly Clause[];
  /** JSON Pointers an approver may change; `""` is the whole; empty: nothing. */
  readonly editable: readonly string[];
  readonly decideWithin: number;
  readonly runWithin: number;
  readonly escalate: readonly Escalation[];
  readonly remind: number | null;
  readonly policy: Hash;
}
