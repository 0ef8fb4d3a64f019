import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Guards, GUARDS } from "./guards.ts";
import { plus } from "./instant.ts";
import { isTerminal, type Model, modelStart, modelStep, type ModelStep, quorumMet } from "./request-model.test-kit.ts";
import {
  DIGEST,
  eventOf,
  type Machine,
  machine,
  PEOPLE,
  requestOf,
  START,
  timeOf,
  trace,
  type Trace,
} from "./request-trace.test-kit.ts";
import { type ApprovalRequest, STATUSES } from "./request.ts";

import { ASSURANCES } from "./requirement.ts";
import { derivedStatus, type Draft, type Moved, must, transition } from "./transition.ts";

const SEED = Number(process.env.HOLDPOINT_SEED ?? Date.now() % 2 ** 31);
const OPERATOR = -1;

const nameOf = (who: number | null | undefined): string | null =>
  who === null || who === undefined ? null : who === OPERATOR ? "op" : (PEOPLE[who] ?? "");

/** What of a record the model knows. */
const seenOf = (record: ApprovalRequest): unknown => ({
  status: record.status,
  rev: record.rev,
  votes: record.decisions.map(({ by, verdict, assurance }) => [by, verdict, assurance]),
  decideBy: record.decideBy,
  runBy: record.runBy ?? null,
  resolution: record.resolution ?? null,
  leased: record.claim?.until ?? null,
  finding: record.finding?.ran ?? null,
  kept: record.lease ?? null,
  parked: record.parked,
});
const expected = (model: Model): unknown => ({
  ...model,
  votes: model.votes.map(({ who, verdict, level }) => [nameOf(who), verdict, ASSURANCES[level]]),
  decideBy: timeOf(model.decideBy),
  runBy: model.runBy === null ? null : timeOf(model.runBy),
  resolution:
    model.resolution === null ? null : { ...model.resolution, by: nameOf(model.resolution.by), at: timeOf(model.resolution.at) },
  leased: model.leased === null ? null : timeOf(model.leased),
  kept: model.kept === null ? null : { holder: `h${model.kept.holder}`, until: timeOf(model.kept.until) },
});

const FROZEN = [
  "id",
  "call",
  "callKey",
  "digest",
  "terms",
  "termsHash",
  "requester",
  "bindings",
  "decideBy",
  "createdAt",
  "nonce",
] as const satisfies readonly (keyof ApprovalRequest)[];

interface Watched {
  claims: number;
  refusedForGood: boolean;
}

/** The invariants of security.md, section 4, on one accepted step; they know the record and the clock, not the model. */
function checkInvariants(
  moved: { before: ApprovalRequest; next: ApprovalRequest; drafts: readonly Draft[] },
  at: { trace: Trace; step: ModelStep; ms: number; watched: Watched },
): void {
  const { before, next, drafts } = moved;
  const { step, ms, watched } = at;
  const now = timeOf(ms);
  const { spec } = at.trace;
  const approvals = next.decisions
    .filter(({ verdict, digest }) => verdict === "approve" && digest === DIGEST)
    .map(({ by, assurance }) => ({
      who: (PEOPLE as readonly string[]).indexOf(by),
      verdict: "approve" as const,
      level: ASSURANCES.indexOf(assurance),
    }));
  if (next.status === "claimed" && before.status !== "claimed") watched.claims += 1;
  expect(watched.claims, "I1: at most one claim").toBeLessThanOrEqual(1);
  if (["approved", "claimed", "succeeded", "failed", "indeterminate"].includes(next.status)) {
    expect(approvals.length, "I5: silence never approves").toBeGreaterThan(0);
    expect(quorumMet(spec, approvals), "I3: the quorum, of eligible people, for this digest").toBe(true);
    const others = { ...spec, people: spec.people.map((one) => (one.self ? { self: true, named: [] } : one)) };
    if (spec.clauses.every(({ self }) => self === "deny"))
      expect(quorumMet(others, approvals), "I6: separation of duties").toBe(true);
  }
  if (isTerminal(before.status)) expect(next.status, "I4: ends are final").toBe(before.status);
  expect(next.rev - before.rev, "I4, I11: one entry, one revision").toBe(drafts.length);
  if (step.do !== "renew" && step.do !== "lease") expect(drafts.length, "I11: every change has its entry").toBeGreaterThan(0);
  if (step.do === "approve") expect(now < before.decideBy, "I7: no late vote").toBe(true);
  const goneAt = before.lease === undefined ? undefined : plus(before.lease.until, 300_000);
  if ((step.do === "approve" || step.do === "reject" || step.do === "claim" || step.do === "attach") && goneAt !== undefined)
    expect(now < goneAt, "A105: nothing for whoever is gone").toBe(true);
  if (step.do === "attach" && before.lease !== undefined)
    expect(before.parked || now >= before.lease.until, "what is held is its caller's").toBe(true);
  if (step.do === "claim") {
    expect(before.parked, "approval does not run a parked call").toBe(false);
    expect(before.runBy !== undefined && now < before.runBy, "I7: no late claim").toBe(true);
    expect(watched.refusedForGood, "I8: a no stands").toBe(false);
    expect(
      drafts.map(({ event }) => event),
      "I11: the claim is logged with it",
    ).toEqual(["request.claimed"]);
  }
  if (step.do === "reject" || step.do === "cancel") watched.refusedForGood = true;
  const changed = FROZEN.filter((member) => next[member] !== before[member]);
  if (changed.length > 0) throw new Error(`I9: ${changed.join(", ")} changed after the request was made`);
}

/** Counts of what was tried in which state, and of the steps from one state to another. */
interface Counts {
  readonly tried: Map<string, number>;
  readonly edges: Map<string, number>;
}
const add = (to: Map<string, number>, key: string): void => void to.set(key, (to.get(key) ?? 0) + 1);

/** Runs a machine and the model side by side. @throws at the first difference */
function follow(run: Machine, given: Trace, counts?: Counts): void {
  let record = requestOf(given.spec);
  let model = modelStart(given.spec, 0);
  let ms = 0;
  const watched: Watched = { claims: 0, refusedForGood: false };
  for (const { wait, step } of given.steps) {
    ms += wait;
    if (counts !== undefined) add(counts.tried, `${model.status} ${step.do}`);
    const said: Moved = run(record, eventOf(given.spec, record, { step, ms }));
    const should = modelStep(given.spec, model, { step, now: ms, operator: OPERATOR });
    if ("refused" in should) {
      expect(said.ok ? "accepted" : [...should.refused].includes(said.code) || said.code, `${model.status} ${step.do}`).toBe(
        true,
      );
      continue;
    }
    expect(said.ok ? "accepted" : said.code, `${model.status} ${step.do}`).toBe("accepted");
    if (!said.ok) return;
    expect(said.drafts.map(({ event }) => event)).toEqual(should.events);
    expect(seenOf(said.next)).toEqual(expected(should.next));
    expect(derivedStatus(said.next)).toBe(said.next.status);
    checkInvariants({ before: record, next: said.next, drafts: said.drafts }, { trace: given, step, ms, watched });
    if (counts !== undefined) add(counts.edges, `${model.status} → ${should.next.status}`);
    record = said.next;
    model = should.next;
  }
}

const without = (event: keyof Guards, ...names: readonly string[]): Guards => ({
  ...GUARDS,
  [event]: { ...GUARDS[event], ...Object.fromEntries(names.map((name) => [name, () => undefined])) },
});

/** Those of the 15 mutants of the checked model (model/README.md) that live in the machine; the others are the desk's. */
const MUTANTS: Readonly<Record<string, Machine>> = {
  M_SELF: machine(without("approve", "self", "eligible", "assurance")),
  M_LATE_VOTE: machine(without("approve", "time")),
  M_STALE: machine(without("approve", "shown")),
  M_DUPE: machine(without("approve", "once")),
  M_LATE_CLAIM: machine(without("claim", "time")),
  M_NO_DIGEST: machine(without("claim", "bytes")),
  /** Not of the checked model: the requester's lease is only here. */
  M_GONE_LATE: (request, event) =>
    event.type === "gone" && request.lease !== undefined && event.now >= request.lease.until
      ? transition({ ...request, lease: { ...request.lease, until: timeOf(-300_000) } }, event)
      : transition(request, event),
  M_FOREIGN_LEASE: (request, event) =>
    (event.type === "lease" || event.type === "park") && request.lease !== undefined
      ? transition({ ...request, lease: { ...request.lease, holder: event.lease.holder } }, event)
      : transition(request, event),
  M_RETRY_LOST: machine({
    ...GUARDS,
    claim: {
      ...GUARDS.claim,
      state: (attempt) => (attempt.request.status === "indeterminate" ? undefined : GUARDS.claim.state(attempt)),
    },
  }),
  M_DENY_IGNORED: (request, event) => {
    const said = transition(request, event);
    if (!said.ok || event.type !== "reject" || request.status !== "approved") return said;
    const { resolution: _no, ...rest } = said.next;
    return { ...said, next: { ...rest, status: "approved" } };
  },
  M_TIMEOUT_APPROVES: (request, event) => {
    const said = transition(request, event);
    if (!said.ok || event.type !== "tick" || request.status !== "pending") return said;
    const { resolution: _no, ...rest } = said.next;
    return { ...said, next: { ...rest, status: "approved", runBy: request.decideBy } };
  },
};

const RUNS = 6000;
const EVENTS = [
  "approve",
  "reject",
  "cancel",
  "supersede",
  "tick",
  "claim",
  "complete",
  "lease",
  "park",
  "attach",
  "gone",
  "renew",
  "sweep",
  "find",
  "note",
] as const satisfies readonly ModelStep["do"][];

describe("transition", () => {
  it("P-01 P-03 P-04 P-09 P-11 is the machine of the table: every event in every state, against a model of its own", () => {
    const counts: Counts = { tried: new Map(), edges: new Map() };
    fc.assert(
      fc.property(trace(), (given) => follow(machine(), given, counts)),
      { seed: SEED, numRuns: RUNS, endOnFailure: false },
    );
    const pairs = STATUSES.flatMap((status) => EVENTS.map((event) => `${status} ${event}`));
    const table = STATUSES.map((status) => [status, ...EVENTS.map((event) => counts.tried.get(`${status} ${event}`) ?? 0)]);
    process.stdout.write(
      `transition: seed ${SEED}, ${RUNS} traces\n${["", ...EVENTS].map((name) => name.padStart(13)).join("")}\n${table
        .map((row) => row.map((cell) => String(cell).padStart(13)).join(""))
        .join("\n")}\n${[...counts.edges].map(([edge, times]) => `${edge}: ${times}`).join(", ")}\n`,
    );
    expect(pairs.filter((pair) => (counts.tried.get(pair) ?? 0) < 100)).toEqual([]);
  });

  const OUT = (["approve", "reject", "claim", "attach"] as const).flatMap((event) =>
    Object.keys(GUARDS[event]).map((guard) => [event, guard] as const),
  );
  it.each(OUT)("finds that the guard %s.%s is missing", (event, guard) => {
    const found = fc.check(
      fc.property(trace(), (given) => follow(machine(without(event, guard)), given)),
      { seed: SEED, numRuns: RUNS, endOnFailure: true },
    );
    expect(found.failed, `a machine without ${event}.${guard} passes ${RUNS} traces (seed ${SEED})`).toBe(true);
  });

  it.each(Object.keys(MUTANTS))("P-01 P-02 P-03 P-04 P-09 finds the machine %s of the checked model", (name) => {
    const found = fc.check(
      fc.property(trace(), (given) => follow(MUTANTS[name] ?? machine(), given)),
      { seed: SEED, numRuns: RUNS, endOnFailure: true },
    );
    process.stdout.write(`${name}: ${found.failed ? `a counterexample after ${found.numRuns} traces` : "none"} (seed ${SEED})\n`);
    expect(found.failed).toBe(true);
  });

  it("P-09 counts nobody of whom the directory says nothing", () => {
    const spec = {
      clauses: [{ self: "allow" as const, level: 0, counts: [1] }],
      people: [],
      decideWithin: 10,
      runWithin: 10,
      lease: 10,
      hold: null,
    };
    const request = requestOf(spec);
    const event = eventOf(spec, request, {
      step: { do: "approve", who: 1, level: 4, digest: true, viewed: true, known: true },
      ms: 0,
    });
    if (event.type !== "approve") throw new Error("not a vote");
    const unknown = { ...event, vote: { ...event.vote, standing: undefined } };
    expect(transition(request, unknown)).toEqual({ ok: false, code: "not_eligible" });
  });

  it("is loud where it is refused what it was granted just before", () => {
    expect(() => must({ ok: false, code: "late" })).toThrow(/refused twice: late \(this is a bug/);
  });

  it("starts where the traces start", () => {
    expect(timeOf(0)).toBe(new Date(START).toISOString());
  });
});
