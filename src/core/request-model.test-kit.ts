/**
 * The machine of one request a second time, written from the table of design, section 6, and from nothing else: no
 * transition, guard or quorum of ours is used here. Times are milliseconds, people and assurances are numbers.
 */

export interface ModelPerson {
  /** The requester's principal, the agent itself or its owner. */
  readonly self: boolean;
  /** By clause, by alternative: may this person approve it? */
  readonly named: readonly (readonly boolean[])[];
}
export interface ModelClause {
  readonly self: "allow" | "deny";
  readonly level: number;
  /** How many people each alternative wants. */
  readonly counts: readonly number[];
}
export interface ModelSpec {
  readonly clauses: readonly ModelClause[];
  readonly people: readonly ModelPerson[];
  readonly decideWithin: number;
  readonly runWithin: number;
  /** How long a claim is leased. */
  readonly lease: number;
  /** How long the requester's lease is at first; `null`: it has none. */
  readonly hold: number | null;
}

export type ModelStep =
  | {
      readonly do: "approve";
      readonly who: number;
      readonly level: number;
      readonly digest: boolean;
      readonly viewed: boolean;
      readonly known: boolean;
    }
  | { readonly do: "reject"; readonly who: number; readonly digest: boolean; readonly known: boolean }
  | { readonly do: "cancel"; readonly reason: string }
  | { readonly do: "supersede" }
  | { readonly do: "tick"; readonly shown: boolean }
  | { readonly do: "claim"; readonly bytes: boolean; readonly forged: readonly number[]; readonly lost: readonly number[] }
  | { readonly do: "complete"; readonly token: boolean; readonly how: "succeeded" | "failed" }
  | { readonly do: "lease"; readonly holder: number; readonly length: number }
  | { readonly do: "park"; readonly holder: number; readonly length: number }
  | { readonly do: "attach"; readonly holder: number; readonly own: boolean; readonly length: number }
  | { readonly do: "gone" }
  | { readonly do: "renew"; readonly token: boolean; readonly lease: number }
  | { readonly do: "sweep"; readonly reason: "lease_lost" | "crashed" | "unobserved" }
  | { readonly do: "find"; readonly ran: boolean }
  | { readonly do: "note" };

export interface ModelVote {
  readonly who: number;
  readonly verdict: "approve" | "reject";
  readonly level: number;
}
export interface Model {
  readonly status: string;
  readonly rev: number;
  readonly votes: readonly ModelVote[];
  readonly decideBy: number;
  readonly runBy: number | null;
  readonly resolution: {
    readonly status: string;
    readonly reason: string;
    readonly by: number | null;
    readonly at: number;
  } | null;
  /** When the claim's lease ends. */
  readonly leased: number | null;
  readonly finding: boolean | null;
  /** Whose request it is, and until when; 0 is who asked. */
  readonly kept: { readonly holder: number; readonly until: number } | null;
  readonly parked: boolean;
}

/** What became of a step: the next state and the journal's events, or every code that may stand for the refusal. */
export type ModelMove = { readonly next: Model; readonly events: readonly string[] } | { readonly refused: ReadonlySet<string> };

export const modelStart = (spec: ModelSpec, now: number): Model => ({
  status: "pending",
  rev: 1,
  votes: [],
  decideBy: now + spec.decideWithin,
  runBy: null,
  resolution: null,
  leased: null,
  finding: null,
  kept: spec.hold === null ? null : { holder: 0, until: now + spec.hold },
  parked: false,
});

const refused = (...codes: readonly string[]): ModelMove => ({ refused: new Set(codes) });
const isOpen = (model: Model): boolean => model.status === "pending" || model.status === "approved";

/** The tick's guard, "checked inside every other guard too". */
export const isOverdue = (model: Model, now: number): boolean =>
  model.status === "pending" ? now >= model.decideBy : model.status === "approved" && model.runBy !== null && now >= model.runBy;

/** "Lost: agent gone, may be taken up again for 5 min." */
const GRACE = 300_000;
const isLost = ({ kept }: Model, now: number): boolean => kept !== null && now >= kept.until;
/** Nobody may take it up, vote for it or run it any more, whether somebody has said so or not. */
export const isGone = (model: Model, now: number): boolean =>
  isOpen(model) && model.kept !== null && now >= model.kept.until + GRACE;

const moved = (model: Model, patch: Partial<Model>, events: readonly string[]): ModelMove => ({
  next: { ...model, ...patch, rev: model.rev + events.length },
  events,
});

const ended = (model: Model, end: NonNullable<Model["resolution"]>, by: { event: string; patch?: Partial<Model> }): ModelMove =>
  moved(model, { ...by.patch, status: end.status, resolution: end }, [by.event]);

const mayApprove = (spec: ModelSpec, who: number): readonly number[] => {
  const person = spec.people[who];
  return spec.clauses.flatMap((clause, index) => {
    const barred = clause.self === "deny" && person?.self === true;
    return !barred && person?.named[index]?.includes(true) === true ? [index] : [];
  });
};

/** All clauses, each by one of its alternatives, each person once, `self: deny` kept, weak answers left out. */
export function quorumMet(spec: ModelSpec, votes: readonly ModelVote[]): boolean {
  return spec.clauses.every((clause, index) =>
    clause.counts.some((count, alternative) => {
      const people = new Set<number>();
      for (const { who, verdict, level } of votes) {
        const person = spec.people[who];
        if (verdict !== "approve" || level < clause.level || person === undefined) continue;
        if (clause.self === "deny" && person.self) continue;
        if (person.named[index]?.[alternative] === true) people.add(who);
      }
      return people.size >= count;
    }),
  );
}

/** Why a yes does not count; empty: it does. */
export function objectionsTo(
  spec: ModelSpec,
  model: Model,
  at: { step: Extract<ModelStep, { do: "approve" }>; now: number },
): readonly string[] {
  const { step, now } = at;
  const able = mayApprove(spec, step.who);
  const person = spec.people[step.who];
  const codes: string[] = [];
  if (model.status !== "pending" || now >= model.decideBy || isGone(model, now)) codes.push("late");
  if (!step.known) codes.push("not_eligible");
  if (able.length === 0)
    codes.push(person?.self === true && person.named.some((row) => row.includes(true)) ? "self_approval" : "not_eligible");
  else if (!able.some((index) => step.level >= (spec.clauses[index]?.level ?? 0))) codes.push("assurance_too_low");
  if (model.votes.some((vote) => vote.who === step.who)) codes.push("already_voted");
  if (!step.digest || !step.viewed) codes.push("stale_view");
  return codes;
}

function approve(spec: ModelSpec, model: Model, at: { step: Extract<ModelStep, { do: "approve" }>; now: number }): ModelMove {
  const { step, now } = at;
  const codes = objectionsTo(spec, model, at);
  if (codes.length > 0) return refused(...codes);
  const votes = [...model.votes, { who: step.who, verdict: "approve" as const, level: step.level }];
  if (!quorumMet(spec, votes)) return moved(model, { votes }, ["request.voted"]);
  return moved(model, { votes, status: "approved", runBy: now + spec.runWithin }, ["request.voted", "request.approved"]);
}

function reject(spec: ModelSpec, model: Model, at: { step: Extract<ModelStep, { do: "reject" }>; now: number }): ModelMove {
  const { step, now } = at;
  const codes: string[] = [];
  if (!isOpen(model) || isOverdue(model, now) || isGone(model, now)) codes.push("late");
  if (!step.known || spec.people[step.who]?.named.some((row) => row.includes(true)) !== true) codes.push("not_eligible");
  if (!step.digest) codes.push("stale_view");
  if (codes.length > 0) return refused(...codes);
  const votes = [...model.votes, { who: step.who, verdict: "reject" as const, level: 4 }];
  return model.status === "approved"
    ? ended(
        model,
        { status: "cancelled", reason: "revoked", by: step.who, at: now },
        { event: "request.revoked", patch: { votes } },
      )
    : ended(
        model,
        { status: "rejected", reason: "rejected", by: step.who, at: now },
        { event: "request.rejected", patch: { votes } },
      );
}

function claim(spec: ModelSpec, model: Model, at: { step: Extract<ModelStep, { do: "claim" }>; now: number }): ModelMove {
  const { step, now } = at;
  const people = spec.people.map((person, who) => (step.lost.includes(who) ? { self: person.self, named: [] } : person));
  const codes: string[] = [];
  if (model.status !== "approved" || model.parked || isGone(model, now)) codes.push("cancelled");
  if (model.runBy === null || now >= model.runBy) codes.push("expired");
  if (!step.bytes) codes.push("context_changed");
  if (
    !quorumMet(
      { ...spec, people },
      model.votes.filter(({ who }) => !step.forged.includes(who)),
    )
  )
    codes.push("denied");
  if (codes.length > 0) return refused(...codes);
  return moved(model, { status: "claimed", leased: now + spec.lease }, ["request.claimed"]);
}
const found = (model: Model, ran: boolean): ModelMove =>
  model.status === "indeterminate" && model.finding === null
    ? moved(model, { finding: ran }, ["request.found"])
    : refused("late");

function complete(model: Model, step: Extract<ModelStep, { do: "complete" }>, now: number): ModelMove {
  if (model.leased === null || !step.token) return refused("not_found");
  if (model.status === "indeterminate") return found(model, true);
  if (model.status !== "claimed") return refused("late");
  return ended(model, { status: step.how, reason: step.how, by: null, at: now }, { event: `request.${step.how}` });
}

const keeps = (model: Model, holder: number, now: number): boolean =>
  isOpen(model) && model.kept?.holder === holder && !isOverdue(model, now) && !isGone(model, now);

type Keeping = Extract<ModelStep, { do: "lease" | "park" | "attach" | "gone" }>;

/** The requester's lease: renewed, parked, taken up by a repeat, or given up for good. */
function keep(model: Model, step: Keeping, now: number): ModelMove {
  if (step.do === "gone") {
    if (!isGone(model, now) || isOverdue(model, now)) return refused("late");
    return ended(model, { status: "cancelled", reason: "requester_gone", by: null, at: now }, { event: "request.cancelled" });
  }
  const kept = { holder: step.holder, until: now + step.length };
  if (step.do === "lease") return keeps(model, step.holder, now) ? moved(model, { kept }, []) : refused("late");
  const runs = model.status === "claimed" && model.kept?.holder === step.holder;
  if (step.do === "park")
    return (runs || keeps(model, step.holder, now)) && !model.parked
      ? moved(model, { kept, parked: true }, ["request.parked"])
      : refused("late");
  const free = (model.parked && step.own) || isLost(model, now);
  if (!isOpen(model) || isOverdue(model, now) || isGone(model, now) || !free) return refused("late");
  return moved(model, { kept, parked: false }, ["request.attached"]);
}

function sweep(model: Model, step: Extract<ModelStep, { do: "sweep" }>, now: number): ModelMove {
  if (model.status !== "claimed" || model.leased === null) return refused("late");
  if (step.reason === "lease_lost" && now < model.leased) return refused("late");
  return ended(model, { status: "indeterminate", reason: step.reason, by: null, at: now }, { event: "request.indeterminate" });
}

function tick(model: Model, step: Extract<ModelStep, { do: "tick" }>, now: number): ModelMove {
  if (!isOverdue(model, now)) return refused("late");
  const reason = model.status === "approved" ? "not_claimed" : step.shown ? "not_decided" : "not_shown";
  return ended(model, { status: "expired", reason, by: null, at: now }, { event: "request.expired" });
}

const TERMINAL: readonly string[] = ["succeeded", "failed", "indeterminate", "rejected", "expired", "cancelled"];
export const isTerminal = (status: string): boolean => TERMINAL.includes(status);

/** One row of the table. @param operator the number of whoever cancels, edits or finds out */
export function modelStep(spec: ModelSpec, model: Model, at: { step: ModelStep; now: number; operator: number }): ModelMove {
  const { step, now, operator } = at;
  switch (step.do) {
    case "approve":
      return approve(spec, model, { step, now });
    case "reject":
      return reject(spec, model, { step, now });
    case "cancel":
      if (!isOpen(model) || isOverdue(model, now) || isGone(model, now)) return refused("late");
      return ended(model, { status: "cancelled", reason: step.reason, by: operator, at: now }, { event: "request.cancelled" });
    case "supersede":
      if (model.status !== "pending" || isOverdue(model, now) || isGone(model, now)) return refused("late");
      return ended(model, { status: "cancelled", reason: "superseded", by: operator, at: now }, { event: "request.superseded" });
    case "tick":
      return tick(model, step, now);
    case "claim":
      return claim(spec, model, { step, now });
    case "complete":
      return complete(model, step, now);
    case "lease":
    case "park":
    case "attach":
    case "gone":
      return keep(model, step, now);
    case "renew":
      return model.status === "claimed" && step.token ? moved(model, { leased: now + step.lease }, []) : refused("late");
    case "sweep":
      return sweep(model, step, now);
    case "find":
      return found(model, step.ran);
    case "note":
      return isTerminal(model.status) ? refused("late") : moved(model, {}, ["request.seen"]);
  }
}
