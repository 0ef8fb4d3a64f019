import { isGone, isOverdue, type Model, modelStep, type ModelSpec, type ModelStep } from "../request-model.test-kit.ts";

/**
 * The desk a second time: what its users see of many requests, chains of edits, memories of refusals, the kill switch, a
 * store that fails and a process that dies. Written from the design; nothing of the desk is used here.
 */

/** Ada asks; olga owns the agent. */
export const NAMES = ["ada", "bob", "cem", "dora", "olga"] as const;
const SELF = [true, false, false, false, true];
/** Longer than a requester that is gone is waited for. */
export const DECIDE_WITHIN = 400_000;
const RUN_WITHIN = 600_000;
export const LEASE = 60_000;
/** The requester's lease of what blocks. */
export const HOLD = 60_000;

interface Demand {
  readonly of: readonly (readonly string[])[];
  readonly counts: readonly number[];
  readonly self: "allow" | "deny";
  /** `client`, `local`, `account` */
  readonly level: number;
}
/** What a call may demand, as the words of a rule and as what they mean. */
export const DEMANDS: readonly { readonly words: readonly object[]; readonly means: readonly Demand[] }[] = [
  {
    words: [{ approvers: ["bob", "cem", "olga"] }],
    means: [{ of: [["bob", "cem", "olga"]], counts: [1], self: "deny", level: 2 }],
  },
  {
    words: [{ approvers: ["bob", "cem", "dora"], quorum: 2 }],
    means: [{ of: [["bob", "cem", "dora"]], counts: [2], self: "deny", level: 2 }],
  },
  { words: [{}], means: [{ of: [["ada"]], counts: [1], self: "allow", level: 1 }] },
  {
    words: [{ approvers: ["bob", "ada"] }, {}],
    means: [
      { of: [["bob", "ada"]], counts: [1], self: "deny", level: 2 },
      { of: [["ada"]], counts: [1], self: "allow", level: 1 },
    ],
  },
  {
    words: [
      {
        any: [
          { of: ["bob"], count: 1 },
          { of: ["cem", "dora"], count: 2 },
        ],
        assurance: "local",
        self: "allow",
      },
    ],
    means: [{ of: [["bob"], ["cem", "dora"]], counts: [1, 2], self: "allow", level: 1 }],
  },
];

export const specOf = (demand: number): ModelSpec => {
  const means = DEMANDS[demand]?.means ?? [];
  return {
    clauses: means.map(({ self, level, counts }) => ({ self, level, counts })),
    people: NAMES.map((name, who) => ({
      self: SELF[who] === true,
      named: means.map(({ of }) => of.map((alternative) => alternative.includes(name))),
    })),
    decideWithin: DECIDE_WITHIN,
    runWithin: RUN_WITHIN,
    lease: LEASE,
    hold: HOLD,
  };
};

export type View = "fresh" | "old" | "none";
/** `at` counts requests from the newest one back. `lost`: the store makes the first change of it and its answer is lost. */
export type Command =
  | { readonly do: "submit"; readonly n: number; readonly run: number; readonly demand: number; readonly lost: boolean }
  | {
      readonly do: "approve";
      readonly at: number;
      readonly who: number;
      readonly level: number;
      readonly view: View;
      readonly lost: boolean;
    }
  | { readonly do: "reject"; readonly at: number; readonly who: number; readonly view: View; readonly lost: boolean }
  | { readonly do: "revoke"; readonly at: number; readonly who: number }
  | {
      readonly do: "edit";
      readonly at: number;
      readonly who: number;
      readonly n: number;
      readonly view: View;
      readonly lost: boolean;
    }
  | { readonly do: "cancel"; readonly at: number; readonly lost: boolean }
  | { readonly do: "claim"; readonly at: number; readonly right: boolean; readonly lost: boolean }
  | {
      readonly do: "complete";
      readonly at: number;
      readonly right: boolean;
      readonly how: "succeeded" | "failed";
      /** Its caller is gone: what it gave is kept. */
      readonly keep: boolean;
      readonly lost: boolean;
    }
  | { readonly do: "lease"; readonly at: number; readonly right: boolean }
  | { readonly do: "park"; readonly at: number; readonly right: boolean; readonly leaving: boolean; readonly lost: boolean }
  | { readonly do: "renew"; readonly at: number; readonly right: boolean }
  | { readonly do: "expire"; readonly at: number }
  | { readonly do: "sweep" }
  | { readonly do: "reconcile"; readonly at: number; readonly ran: boolean }
  | { readonly do: "lift" }
  | { readonly do: "kill"; readonly on: boolean }
  | { readonly do: "wait"; readonly ms: number }
  | { readonly do: "crash" }
  | { readonly do: "store"; readonly up: boolean };

export interface ModelRequest {
  readonly spec: ModelSpec;
  readonly model: Model;
  readonly n: number;
  readonly run: number;
  readonly root: number;
  readonly events: readonly string[];
  readonly shown: boolean;
  readonly supersedes: number | null;
  readonly supersededBy: number | null;
  /** The executor knows the token of the claim. */
  readonly held: boolean;
  /** The runs whose calls it was: of who asked, and of each repeat that took it up. */
  readonly runs: readonly number[];
  /** What it gave is kept for a repeat. */
  readonly result: boolean;
  /** How often its effect was set off. */
  readonly effects: number;
}
export interface ModelDesk {
  readonly requests: readonly ModelRequest[];
  readonly now: number;
  readonly killed: boolean;
  readonly up: boolean;
  /** `<run> <n>` */
  readonly refused: ReadonlySet<string>;
  readonly streaks: ReadonlyMap<number, number>;
  /** By call: the requests that a repeat of it may take up or be told of, oldest first. */
  readonly asked: ReadonlyMap<number, readonly number[]>;
}
/** What the caller is told: `true`, or one of these codes. */
export type Told = { readonly ok: true } | { readonly codes: ReadonlySet<string> };
export interface After {
  readonly desk: ModelDesk;
  readonly told: Told;
}

export const OK: Told = { ok: true };
export const no = (...codes: readonly string[]): Told => ({ codes: new Set(codes) });
const OPERATOR = -1;

export const deskStart = (): ModelDesk => ({
  requests: [],
  now: 0,
  killed: false,
  up: true,
  refused: new Set(),
  streaks: new Map(),
  asked: new Map(),
});

export const indexOf = (desk: Pick<ModelDesk, "requests">, at: number): number | undefined =>
  desk.requests.length === 0 ? undefined : desk.requests.length - 1 - (at % desk.requests.length);

export const put = (desk: ModelDesk, index: number, patch: Partial<ModelRequest>): ModelDesk => ({
  ...desk,
  requests: desk.requests.map((request, i) => (i === index ? { ...request, ...patch } : request)),
});
export const streak = (desk: ModelDesk, run: number, count: number): ModelDesk => ({
  ...desk,
  streaks: new Map(desk.streaks).set(run, count),
});

export function of(desk: ModelDesk, index: number): ModelRequest {
  const request = desk.requests[index];
  if (request === undefined) throw new Error(`the model has no request ${index}`);
  return request;
}

const oneMore = (desk: ModelDesk, run: number): ModelDesk => streak(desk, run, (desk.streaks.get(run) ?? 0) + 1);

/** A no, remembered for a run: of the call as it was edited, and as it was asked. */
export function remember(desk: ModelDesk, index: number, run: number): ModelDesk {
  const { n, root } = of(desk, index);
  const calls = [n, of(desk, root).n].map((call) => `${run} ${call}`);
  return oneMore({ ...desk, refused: new Set([...desk.refused, ...calls]) }, run);
}

/** One row of the table for one request, with what the desk does beside it. */
export function move(desk: ModelDesk, index: number, step: ModelStep): After {
  const request = of(desk, index);
  const moved = modelStep(request.spec, request.model, { step, now: desk.now, operator: OPERATOR });
  if ("refused" in moved) return { desk, told: { codes: moved.refused } };
  const shown = request.shown || moved.events.includes("request.voted");
  let next = put(desk, index, { model: moved.next, events: [...request.events, ...moved.events], shown });
  const bySomebody = moved.events.includes("request.rejected") || moved.events.includes("request.revoked");
  if (bySomebody) for (const run of request.runs) next = remember(next, index, run);
  else if (moved.events.includes("request.expired")) next = oneMore(next, request.run);
  return { desk: next, told: OK };
}

/** Time ends what is overdue; whoever comes first after it says so in the record. */
export function touch(desk: ModelDesk, index: number): ModelDesk {
  const { model, shown } = of(desk, index);
  if (isOverdue(model, desk.now)) return move(desk, index, { do: "tick", shown }).desk;
  return isGone(model, desk.now) ? move(desk, index, { do: "gone" }).desk : desk;
}

export const chainEnd = (desk: ModelDesk, index: number): number => {
  const { supersededBy } = of(desk, index);
  return supersededBy === null ? index : chainEnd(desk, supersededBy);
};

export const LOST: Told = no("store_unavailable");
/** The first change was made and its answer lost: what would have followed it was not. */
export const lostAfter = (before: ModelDesk, first: ModelDesk, told: Told): After => ({
  desk: first,
  told: first === before && "ok" in told ? told : LOST,
});
