import {
  isOverdue,
  isTerminal,
  type Model,
  modelStart,
  modelStep,
  type ModelSpec,
  type ModelStep,
  objectionsTo,
} from "../request-model.test-kit.ts";

/**
 * The desk a second time: what its users see of many requests, chains of edits, memories of refusals, the kill switch, a
 * store that fails and a process that dies. Written from the design; nothing of the desk is used here.
 */

/** Ada asks; olga owns the agent. */
export const NAMES = ["ada", "bob", "cem", "dora", "olga"] as const;
const SELF = [true, false, false, false, true];
const DECIDE_WITHIN = 300_000;
const RUN_WITHIN = 600_000;
const LEASE = 60_000;
/** The requester's lease of what blocks. */
const HOLD = 60_000;

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

const specOf = (demand: number): ModelSpec => {
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
      readonly lost: boolean;
    }
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
}
/** What the caller is told: `true`, or one of these codes. */
export type Told = { readonly ok: true } | { readonly codes: ReadonlySet<string> };
export interface After {
  readonly desk: ModelDesk;
  readonly told: Told;
}

const OK: Told = { ok: true };
const no = (...codes: readonly string[]): Told => ({ codes: new Set(codes) });
const OPERATOR = -1;

export const deskStart = (): ModelDesk => ({
  requests: [],
  now: 0,
  killed: false,
  up: true,
  refused: new Set(),
  streaks: new Map(),
});

export const indexOf = (desk: Pick<ModelDesk, "requests">, at: number): number | undefined =>
  desk.requests.length === 0 ? undefined : desk.requests.length - 1 - (at % desk.requests.length);

const put = (desk: ModelDesk, index: number, patch: Partial<ModelRequest>): ModelDesk => ({
  ...desk,
  requests: desk.requests.map((request, i) => (i === index ? { ...request, ...patch } : request)),
});
const streak = (desk: ModelDesk, run: number, count: number): ModelDesk => ({
  ...desk,
  streaks: new Map(desk.streaks).set(run, count),
});

function of(desk: ModelDesk, index: number): ModelRequest {
  const request = desk.requests[index];
  if (request === undefined) throw new Error(`the model has no request ${index}`);
  return request;
}

/** One row of the table for one request, with what the desk does beside it. */
function move(desk: ModelDesk, index: number, step: ModelStep): After {
  const request = of(desk, index);
  const moved = modelStep(request.spec, request.model, { step, now: desk.now, operator: OPERATOR });
  if ("refused" in moved) return { desk, told: { codes: moved.refused } };
  const shown = request.shown || moved.events.includes("request.voted");
  let next = put(desk, index, { model: moved.next, events: [...request.events, ...moved.events], shown });
  const { run } = request;
  const bySomebody = moved.events.includes("request.rejected") || moved.events.includes("request.revoked");
  if (bySomebody || moved.events.includes("request.expired")) next = streak(next, run, (desk.streaks.get(run) ?? 0) + 1);
  if (bySomebody) {
    const calls = [request.n, of(desk, request.root).n].map((n) => `${run} ${n}`);
    next = { ...next, refused: new Set([...desk.refused, ...calls]) };
  }
  return { desk: next, told: OK };
}

/** Time ends what is overdue; whoever comes first after it says so in the record. */
function touch(desk: ModelDesk, index: number): ModelDesk {
  const { model, shown } = of(desk, index);
  return isOverdue(model, desk.now) ? move(desk, index, { do: "tick", shown }).desk : desk;
}

const chainEnd = (desk: ModelDesk, index: number): number => {
  const { supersededBy } = of(desk, index);
  return supersededBy === null ? index : chainEnd(desk, supersededBy);
};

const LOST = no("store_unavailable");
/** The first change was made and its answer lost: what would have followed it was not. */
const lostAfter = (before: ModelDesk, first: ModelDesk, told: Told): After => ({
  desk: first,
  told: first === before && "ok" in told ? told : LOST,
});

function submit(desk: ModelDesk, command: Extract<Command, { do: "submit" }>): After {
  const { n, run, demand, lost } = command;
  if (desk.killed) return { desk, told: lost ? LOST : no("killed") };
  if (desk.refused.has(`${run} ${n}`)) return { desk, told: lost ? LOST : no("already_refused") };
  if ((desk.streaks.get(run) ?? 0) >= 3) return { desk, told: lost ? LOST : no("too_many_refusals") };
  const spec = specOf(demand);
  const request: ModelRequest = {
    spec,
    model: modelStart(spec, desk.now),
    n,
    run,
    root: desk.requests.length,
    events: ["request.created"],
    shown: !lost,
    supersedes: null,
    supersededBy: null,
    held: false,
    effects: 0,
  };
  return { desk: { ...desk, requests: [...desk.requests, request] }, told: lost ? LOST : OK };
}

type Answering = Extract<Command, { do: "approve" | "reject" | "revoke" }>;

function answer(desk: ModelDesk, index: number, command: Answering): After {
  const request = of(desk, index);
  const verdict = command.do === "approve" ? "approve" : "reject";
  const view = command.do === "revoke" ? "none" : command.view;
  const lost = command.do !== "revoke" && command.lost;
  const last = request.model.votes.findLast(({ who }) => who === command.who);
  if (last?.verdict === verdict && view !== "old") return { desk, told: OK };
  const ticked = touch(desk, index);
  if (lost && ticked !== desk) return { desk: ticked, told: LOST };
  const digest = view !== "old";
  const step: ModelStep =
    command.do === "approve"
      ? { do: "approve", who: command.who, level: command.level, digest, viewed: view === "fresh", known: true }
      : { do: "reject", who: command.who, digest, known: true };
  const after = move(ticked, index, step);
  return lost ? { desk: after.desk, told: LOST } : after;
}

function edit(desk: ModelDesk, index: number, command: Extract<Command, { do: "edit" }>): After {
  const { who, n, view, lost } = command;
  if (of(desk, index).n === n && of(touch(desk, index), index).model.status === "pending")
    return answer(desk, index, { do: "approve", at: 0, who, level: 2, view, lost });
  const ticked = touch(desk, index);
  if (lost && ticked !== desk) return { desk: ticked, told: LOST };
  const old = of(ticked, index);
  const told = (said: Told): After => ({ desk: ticked, told: lost ? LOST : said });
  if (old.model.status !== "pending") return told(no("late"));
  const chain = ticked.requests.filter(({ root, supersedes }) => root === old.root && supersedes !== null).length;
  if (chain >= 5) return { desk: ticked, told: no("limit") };
  const step = { do: "approve", who, level: 2, digest: view !== "old", viewed: view === "fresh", known: true } as const;
  const others = { ...old.model, votes: old.model.votes.filter((vote) => vote.who !== who) };
  const codes = objectionsTo(old.spec, others, { step, now: ticked.now });
  if (codes.length > 0) return told(no(...codes));
  const successor: ModelRequest = {
    ...old,
    model: { ...modelStart(old.spec, ticked.now), decideBy: old.model.decideBy },
    n,
    events: ["request.created"],
    shown: true,
    supersedes: index,
  };
  const place = ticked.requests.length;
  const ended = put(move(ticked, index, { do: "supersede" }).desk, index, { supersededBy: place });
  const resolution = of(ended, index).model.resolution;
  const byEditor = put(ended, index, {
    model: { ...of(ended, index).model, resolution: resolution === null ? null : { ...resolution, by: who } },
  });
  const opened = { ...byEditor, requests: [...byEditor.requests, successor] };
  const voted = move(opened, place, { ...step, digest: true, viewed: true });
  return lost ? { desk: voted.desk, told: LOST } : voted;
}

function cancel(desk: ModelDesk, index: number, lost: boolean): After {
  const end = chainEnd(desk, index);
  if (isTerminal(of(desk, end).model.status)) return { desk, told: no("late") };
  const ticked = touch(desk, end);
  if (ticked !== desk) return { desk: ticked, told: lost ? LOST : no("late") };
  const after = move(desk, end, { do: "cancel", reason: "requester" });
  return lost && "ok" in after.told ? lostAfter(desk, after.desk, after.told) : after;
}

/** What a claim is told of a request that it does not get: how it ended, in the words that a model reads. */
const endedAs = ({ status, resolution }: Model): string => {
  if (status === "rejected" || resolution?.reason === "revoked") return "rejected";
  if (status === "expired") return "expired";
  if (resolution?.reason === "kill_switch") return "killed";
  return resolution?.reason === "context_changed" ? "context_changed" : "cancelled";
};

function claim(desk: ModelDesk, index: number, command: Extract<Command, { do: "claim" }>): After {
  const { right, lost } = command;
  const { model } = of(desk, index);
  if (model.status !== "approved") return { desk, told: no(endedAs(model)) };
  const told = (after: ModelDesk, said: Told): After => ({ desk: after, told: lost ? LOST : said });
  const ticked = touch(desk, index);
  if (ticked !== desk) return told(ticked, no("expired"));
  if (!right) return told(move(desk, index, { do: "cancel", reason: "context_changed" }).desk, no("context_changed"));
  if (desk.killed) {
    if (lost) return { desk, told: LOST };
    return told(move(desk, index, { do: "cancel", reason: "kill_switch" }).desk, no("killed"));
  }
  const taken = move(desk, index, { do: "claim", bytes: true, forged: [], lost: [] });
  if (!("ok" in taken.told)) throw new Error("the model refuses a claim that it approved");
  const { effects } = of(taken.desk, index);
  return told(put(taken.desk, index, { held: !lost, effects: lost ? effects : effects + 1 }), OK);
}

function complete(desk: ModelDesk, index: number, command: Extract<Command, { do: "complete" }>): After {
  const { held, run } = of(desk, index);
  const after = move(desk, index, { do: "complete", token: command.right && held, how: command.how });
  if (!("ok" in after.told)) return after;
  return { desk: streak(after.desk, run, 0), told: command.lost ? LOST : OK };
}

function sweep(desk: ModelDesk): ModelDesk {
  return desk.requests.reduce((swept, _, index) => {
    const ticked = touch(swept, index);
    const { model } = of(ticked, index);
    const over = model.status === "claimed" && model.leased !== null && ticked.now >= model.leased;
    return over ? move(ticked, index, { do: "sweep", reason: "lease_lost" }).desk : ticked;
  }, desk);
}

function onRequest(desk: ModelDesk, index: number, command: Extract<Command, { at: number }>): After {
  switch (command.do) {
    case "approve":
    case "reject":
    case "revoke":
      return answer(desk, index, command);
    case "edit":
      return edit(desk, index, command);
    case "cancel":
      return cancel(desk, index, command.lost);
    case "claim":
      return claim(desk, index, command);
    case "complete":
      return complete(desk, index, command);
    case "renew":
      return move(desk, index, { do: "renew", token: command.right && of(desk, index).held, lease: LEASE });
    case "expire": {
      const after = touch(desk, index);
      return { desk: after, told: after === desk ? no("late") : OK };
    }
    case "reconcile":
      return move(desk, index, { do: "find", ran: command.ran });
  }
}

/** What a command does, and what whoever gave it is told. `undefined`: there is nothing it could be about. */
export function deskStep(desk: ModelDesk, command: Command): After | undefined {
  if (command.do === "wait") return { desk: { ...desk, now: desk.now + command.ms }, told: OK };
  if (command.do === "store") return { desk: { ...desk, up: command.up }, told: OK };
  if (command.do === "crash") return { desk, told: OK };
  if (!desk.up) return { desk, told: LOST };
  switch (command.do) {
    case "submit":
      return submit(desk, command);
    case "sweep":
      return { desk: sweep(desk), told: OK };
    case "lift":
      return { desk: { ...desk, refused: new Set(), streaks: new Map() }, told: OK };
    case "kill":
      // What is switched off again is believed off a second later: until then calls are refused.
      return { desk: { ...desk, killed: command.on, now: desk.now + (command.on ? 0 : 1000) }, told: OK };
    default: {
      const index = indexOf(desk, command.at);
      return index === undefined ? undefined : onRequest(desk, index, command);
    }
  }
}
