import fc from "fast-check";
import { type Guards, GUARDS } from "./guards.ts";
import type { Hash } from "./hash.ts";
import { instant, type Instant } from "./instant.ts";
import type { Electorate, Standing } from "./quorum.ts";
import type { ModelSpec, ModelStep } from "./request-model.test-kit.ts";
import { type ApprovalRequest, CANCEL_REASONS, type CancelReason, type Claim, type Decision } from "./request.ts";
import { ASSURANCES } from "./requirement.ts";
import { type Event, type Moved, transition } from "./transition.ts";

/** 2030-01-01T00:00:00.000Z */
export const START = 1_893_456_000_000;
export const timeOf = (ms: number): Instant => instant(START + ms);

export const DIGEST: Hash = `sha256:${"d".repeat(64)}`;
const OTHER: Hash = `sha256:${"e".repeat(64)}`;
const TOKEN: Hash = `sha256:${"a".repeat(64)}`;

/** The last one has no name: a channel that could not say who answers. */
export const PEOPLE = ["ada", "bob", "cem", "dora", "olga"] as const;
const OPERATOR = { principal: "op", as: "terminal:op", via: "terminal" };

export function requestOf(spec: ModelSpec): ApprovalRequest {
  return {
    v: 1,
    id: "r1",
    tenant: "default",
    root: "r1",
    rev: 1,
    head: OTHER,
    kind: "call",
    status: "pending",
    call: { id: "c1", tool: { name: "t", origin: "code", definition: OTHER }, secrets: [] },
    callKey: "k",
    masked: [],
    bindings: {},
    requester: { principal: "ada", agent: "bot", session: null, run: "run", thread: null, path: [], shared: false },
    requesterProof: "process",
    grade: "in-process",
    terms: {
      type: "holdpoint/terms/v1",
      clauses: spec.clauses.map(({ self, level, counts }, index) => ({
        by: `clause ${index}`,
        any: counts.map((count) => ({ of: ["somebody"], count })),
        self,
        assurance: ASSURANCES[level] ?? "signed",
        window: 0,
        exemptible: false,
      })),
      editable: [""],
      decideWithin: spec.decideWithin,
      runWithin: spec.runWithin,
      escalate: [],
      remind: null,
      policy: OTHER,
    },
    termsHash: OTHER,
    nonce: "n",
    digest: DIGEST,
    createdAt: timeOf(0),
    decideBy: timeOf(spec.decideWithin),
    ...(spec.hold === null ? {} : { lease: { holder: "h0", until: timeOf(spec.hold) } }),
    parked: false,
    decisions: [],
    impact: "default",
    tier: "write",
  };
}

const standing = (spec: ModelSpec, who: number): Standing => {
  const person = spec.people[who];
  return { self: person?.self === true, holds: person?.named ?? [] };
};

const electorate = (spec: ModelSpec, without: readonly number[] = []): Electorate =>
  new Map(PEOPLE.flatMap((name, who) => (without.includes(who) ? [] : [[name, standing(spec, who)] as const])));

function decisionOf(step: Extract<ModelStep, { do: "approve" | "reject" }>, now: Instant): Decision {
  return {
    id: `d ${step.do} ${step.who} ${now}`,
    verdict: step.do,
    by: step.known ? (PEOPLE[step.who] ?? "") : "",
    as: step.known ? `slack:${step.who}` : "",
    via: "slack",
    assurance: ASSURANCES[step.do === "approve" ? step.level : 4] ?? "client",
    digest: step.digest ? DIGEST : OTHER,
    rendering: null,
    at: now,
    mac: "mac",
  };
}

function voteEvent(
  spec: ModelSpec,
  request: ApprovalRequest,
  at: { step: Extract<ModelStep, { do: "approve" | "reject" }>; now: Instant },
): Event {
  const { step, now } = at;
  const decision = decisionOf(step, now);
  const vote = { request, decision, standing: standing(spec, step.who), viewed: step.do === "approve" && step.viewed, now };
  return step.do === "approve"
    ? { type: "approve", vote, decision, electorate: electorate(spec) }
    : { type: "reject", vote, decision };
}

function claimEvent(
  spec: ModelSpec,
  request: ApprovalRequest,
  at: { step: Extract<ModelStep, { do: "claim" }>; ms: number },
): Event {
  const { step, ms } = at;
  const now = timeOf(ms);
  const forged = step.forged.map((who) => PEOPLE[who]);
  const claim: Claim = { holder: "p1", tokenHash: TOKEN, fence: request.rev, until: timeOf(ms + spec.lease), at: now };
  const decisions = request.decisions.filter(({ by }) => !forged.some((name) => name === by));
  const attempt = { request, digest: step.bytes ? DIGEST : OTHER, decisions, electorate: electorate(spec, step.lost), now };
  return { type: "claim", attempt, claim };
}

function keepEvent(
  request: ApprovalRequest,
  at: { step: Extract<ModelStep, { do: "lease" | "park" | "attach" | "gone" }>; ms: number },
): Event {
  const { step, ms } = at;
  const now = timeOf(ms);
  if (step.do === "gone") return { type: "gone", now };
  const lease = { holder: `h${step.holder}`, until: timeOf(ms + step.length) };
  if (step.do !== "attach") return { type: step.do, lease, now };
  return { type: "attach", attachment: { request, own: step.own, now }, lease, by: { session: null, run: lease.holder } };
}

/** The code's own event for a step of the model. */
export function eventOf(spec: ModelSpec, request: ApprovalRequest, at: { step: ModelStep; ms: number }): Event {
  const { step, ms } = at;
  const now = timeOf(ms);
  switch (step.do) {
    case "approve":
    case "reject":
      return voteEvent(spec, request, { step, now });
    case "cancel":
      return { type: "cancel", reason: step.reason as CancelReason, by: OPERATOR, now };
    case "supersede":
      return { type: "supersede", successor: "r2", by: OPERATOR, now };
    case "tick":
      return { type: "tick", now, shown: step.shown };
    case "claim":
      return claimEvent(spec, request, { step, ms });
    case "complete":
      return {
        type: "complete",
        tokenHash: step.token ? TOKEN : OTHER,
        outcome: {
          status: step.how,
          observedBy: "executor",
          ...(step.how === "succeeded" ? { result: { digest: OTHER } } : { error: { code: "failed" } }),
        },
        now,
      };
    case "lease":
    case "park":
    case "attach":
    case "gone":
      return keepEvent(request, { step, ms });
    case "renew":
      return { type: "renew", tokenHash: step.token ? TOKEN : OTHER, until: timeOf(ms + step.lease) };
    case "sweep":
      return { type: "sweep", reason: step.reason, now };
    case "find":
      return { type: "find", ran: step.ran, by: OPERATOR, now };
    case "note":
      return { type: "note", draft: { event: "request.seen", actor: null, data: {} } };
  }
}

/** A machine: our transition, or one with a part taken out. */
export type Machine = (request: ApprovalRequest, event: Event) => Moved;
export const machine =
  (guards: Guards = GUARDS): Machine =>
  (request, event) =>
    transition(request, event, guards);

const mostly = (): fc.Arbitrary<boolean> => fc.integer({ min: 0, max: 9 }).map((n) => n !== 0);
const who = (): fc.Arbitrary<number> => fc.nat(PEOPLE.length - 1);
const few = (): fc.Arbitrary<readonly number[]> =>
  fc.oneof({ weight: 6, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: fc.uniqueArray(who(), { maxLength: 2 }) });

/** Shorter than the grace of a requester that is gone, and longer. */
const LONG = 900_000;
const length = (): fc.Arbitrary<number> =>
  fc.oneof({ weight: 2, arbitrary: fc.integer({ min: 1, max: 40 }) }, { weight: 1, arbitrary: fc.constant(LONG) });
const within = () => ({ decideWithin: length(), runWithin: length() });

const specs = (): fc.Arbitrary<ModelSpec> =>
  fc
    .array(
      fc.record({
        self: fc.constantFrom("allow" as const, "deny" as const),
        level: fc.oneof({ weight: 3, arbitrary: fc.constant(1) }, { weight: 1, arbitrary: fc.nat(4) }),
        counts: fc.array(fc.oneof({ weight: 3, arbitrary: fc.constant(1) }, { weight: 2, arbitrary: fc.constantFrom(2, 3) }), {
          minLength: 1,
          maxLength: 2,
        }),
      }),
      { minLength: 1, maxLength: 3 },
    )
    .chain((clauses) =>
      fc.record({
        clauses: fc.constant(clauses),
        people: fc.tuple(
          ...PEOPLE.map((_, index) =>
            fc.record({
              self: fc.constant(index === 0 || index === 4),
              named: fc.tuple(...clauses.map(({ counts }) => fc.tuple(...counts.map(mostly)))),
            }),
          ),
        ),
        ...within(),
        lease: fc.constant(10),
        hold: fc.oneof({ weight: 1, arbitrary: fc.constant(null) }, { weight: 3, arbitrary: fc.integer({ min: 1, max: 20 }) }),
      }),
    );

const holder = (): fc.Arbitrary<number> => fc.nat(1);
/** 0: whoever leaves ends it at once. */
const leaseOf = (): fc.Arbitrary<number> => fc.constantFrom(0, 10, 20);

const anyStep = (): fc.Arbitrary<ModelStep> =>
  fc.oneof(
    {
      weight: 12,
      arbitrary: fc.record({
        do: fc.constant("approve" as const),
        who: who(),
        level: fc.oneof({ weight: 3, arbitrary: fc.constant(4) }, { weight: 1, arbitrary: fc.nat(4) }),
        digest: mostly(),
        viewed: mostly(),
        known: mostly(),
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("reject" as const), who: who(), digest: mostly(), known: mostly() }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("cancel" as const), reason: fc.constantFrom(...CANCEL_REASONS) }) },
    { weight: 1, arbitrary: fc.constant({ do: "supersede" as const }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("tick" as const), shown: fc.boolean() }) },
    { weight: 4, arbitrary: fc.record({ do: fc.constant("claim" as const), bytes: mostly(), forged: few(), lost: few() }) },
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constant("complete" as const),
        token: fc.boolean(),
        how: fc.constantFrom("succeeded" as const, "failed" as const),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ do: fc.constant("renew" as const), token: fc.boolean(), lease: fc.integer({ min: 1, max: 20 }) }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constant("sweep" as const),
        reason: fc.constantFrom("lease_lost" as const, "lease_lost" as const, "crashed" as const, "unobserved" as const),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ do: fc.constantFrom("lease" as const, "park" as const), holder: holder(), length: leaseOf() }),
    },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("park" as const), holder: fc.constant(0), length: leaseOf() }) },
    {
      weight: 3,
      arbitrary: fc.record({ do: fc.constant("attach" as const), holder: holder(), own: fc.boolean(), length: leaseOf() }),
    },
    { weight: 1, arbitrary: fc.constant({ do: "gone" as const }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("find" as const), ran: fc.boolean() }) },
    { weight: 1, arbitrary: fc.constant({ do: "note" as const }) },
  );

export interface Trace {
  readonly spec: ModelSpec;
  /** Each step with the time that passes before it. */
  readonly steps: readonly { readonly wait: number; readonly step: ModelStep }[];
}

const atOnce = (next: ModelStep): Trace["steps"][number] => ({ wait: 0, step: next });
const yes = (who: number): ModelStep => ({ do: "approve", who, level: 4, digest: true, viewed: true, known: true });
const takenUp: ModelStep = { do: "claim", bytes: true, forged: [], lost: [] };
/** The straight way to each state, so that every event is tried often in the late ones too. */
const WAYS: readonly (readonly ModelStep[])[] = [
  [],
  [0, 1, 2, 3, 4].map(yes),
  [...[0, 1, 2, 3, 4].map(yes), takenUp],
  [...[0, 1, 2, 3, 4].map(yes), takenUp, { do: "complete", token: true, how: "succeeded" }],
  [...[0, 1, 2, 3, 4].map(yes), takenUp, { do: "complete", token: true, how: "failed" }],
  [...[0, 1, 2, 3, 4].map(yes), takenUp, { do: "sweep", reason: "crashed" }],
];

export const trace = (): fc.Arbitrary<Trace> =>
  fc
    .record({
      spec: specs(),
      way: fc.oneof(
        { weight: 5, arbitrary: fc.constant<readonly ModelStep[]>([]) },
        { weight: 3, arbitrary: fc.constantFrom(...WAYS) },
      ),
      steps: fc.array(
        fc.record({
          wait: fc.oneof(
            { weight: 6, arbitrary: fc.constant(0) },
            { weight: 3, arbitrary: fc.nat(3) },
            { weight: 1, arbitrary: fc.nat(30) },
            { weight: 1, arbitrary: fc.constantFrom(299_990, 300_000) },
          ),
          step: anyStep(),
        }),
        { minLength: 1, maxLength: 30, size: "max" },
      ),
    })
    .map(({ spec: of, way, steps }) => ({ spec: of, steps: [...way.map(atOnce), ...steps] }));
