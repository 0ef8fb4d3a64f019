import fc from "fast-check";
import { type Command, DEMANDS, NAMES, type View } from "./desk-model.test-kit.ts";

const at = (): fc.Arbitrary<number> => fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(4) });
const who = (): fc.Arbitrary<number> => fc.nat(NAMES.length - 1);
const seldom = (): fc.Arbitrary<boolean> => fc.integer({ min: 0, max: 19 }).map((n) => n === 0);
const never = (): fc.Arbitrary<boolean> => fc.constant(false);
const mostly = (): fc.Arbitrary<boolean> => fc.integer({ min: 0, max: 9 }).map((n) => n !== 0);
const view = (): fc.Arbitrary<View> =>
  fc.oneof({ weight: 8, arbitrary: fc.constant<View>("fresh") }, { weight: 1, arbitrary: fc.constantFrom<View>("old", "none") });
const level = (): fc.Arbitrary<number> => fc.oneof({ weight: 6, arbitrary: fc.constant(2) }, { weight: 1, arbitrary: fc.nat(2) });

const onOne = (lost: () => fc.Arbitrary<boolean>): fc.Arbitrary<Command> =>
  fc.oneof(
    {
      weight: 9,
      arbitrary: fc.record({
        do: fc.constant("approve" as const),
        at: at(),
        who: who(),
        level: level(),
        view: view(),
        lost: lost(),
      }),
    },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("reject" as const), at: at(), who: who(), view: view(), lost: lost() }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("revoke" as const), at: at(), who: who() }) },
    {
      weight: 3,
      arbitrary: fc.record({ do: fc.constant("edit" as const), at: at(), who: who(), n: fc.nat(3), view: view(), lost: lost() }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("cancel" as const), at: at(), lost: lost() }) },
    { weight: 5, arbitrary: fc.record({ do: fc.constant("claim" as const), at: at(), right: mostly(), lost: lost() }) },
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constant("complete" as const),
        at: at(),
        right: mostly(),
        how: fc.constantFrom("succeeded" as const, "failed" as const),
        keep: fc.boolean(),
        lost: lost(),
      }),
    },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("renew" as const), at: at(), right: mostly() }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("expire" as const), at: at() }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant("reconcile" as const), at: at(), ran: fc.boolean() }) },
  );

export type Step = { readonly one: Command } | { readonly both: readonly [Command, Command] };

const yes = (who: number): Command => ({ do: "approve", at: 0, who, level: 2, view: "fresh", lost: false });
/** Enough people for each demand. */
const ENOUGH: readonly (readonly number[])[] = [[1], [1, 2], [0], [1, 0], [1]];
const taken: Command = { do: "claim", at: 0, right: true, lost: false };
const ended: Command = { do: "complete", at: 0, right: true, how: "succeeded", keep: true, lost: false };
const parked: Command = { do: "park", at: 0, right: true, leaving: false, lost: false };
/** The straight ways to the late states, so that everything is tried there too. */
const ways = (demand: number): readonly (readonly Command[])[] => {
  const approved = (ENOUGH[demand] ?? []).map(yes);
  return [
    approved.slice(0, 1),
    [parked],
    [parked, ...approved],
    [parked, { do: "reject", at: 0, who: (ENOUGH[demand] ?? [1])[0] ?? 1, view: "fresh", lost: false }],
    [{ do: "wait", ms: 60_000 }],
    [{ ...parked, leaving: true }],
    [...approved, { do: "wait", ms: 360_000 }],
    approved,
    approved,
    [...approved, taken],
    [...approved, taken],
    [...approved, taken, ended],
    [...approved, taken, { do: "wait", ms: 60_000 }, { do: "sweep" }],
    [...approved, taken, { do: "wait", ms: 60_000 }, { do: "sweep" }, { do: "reconcile", at: 0, ran: true }],
    [
      ...approved,
      { do: "wait", ms: 300_000 },
      { do: "lease", at: 0, right: true },
      { do: "wait", ms: 300_000 },
      { do: "expire", at: 0 },
    ],
    [
      { do: "wait", ms: 350_000 },
      { do: "lease", at: 0, right: true },
      { do: "wait", ms: 50_000 },
      { do: "expire", at: 0 },
    ],
    [{ do: "edit", at: 0, who: (ENOUGH[demand] ?? [1])[0] ?? 1, n: 3, view: "fresh", lost: false }],
  ];
};

const submit = (demand: number): fc.Arbitrary<Command> =>
  fc.record({ do: fc.constant("submit" as const), n: fc.nat(2), run: fc.nat(2), demand: fc.constant(demand), lost: seldom() });
const submitted = (): fc.Arbitrary<readonly Command[]> =>
  fc
    .nat(DEMANDS.length - 1)
    .chain((demand) =>
      fc.tuple(
        submit(demand),
        fc.oneof(
          { weight: 2, arbitrary: fc.constant<readonly Command[]>([]) },
          { weight: 3, arbitrary: fc.constantFrom(...ways(demand)) },
        ),
      ),
    )
    .map(([first, way]) => [first, ...way]);

/** Not at once with a vote: that may take back a renewal, which comes again long before the lease is over. */
const keeping = (): fc.Arbitrary<Command> =>
  fc.oneof(
    { weight: 1, arbitrary: fc.record({ do: fc.constant("lease" as const), at: at(), right: mostly() }) },
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constant("park" as const),
        at: at(),
        right: mostly(),
        leaving: seldom(),
        lost: seldom(),
      }),
    },
  );

/** One after another: what sequences are made of. */
const stretch = (): fc.Arbitrary<readonly Step[]> =>
  fc.oneof(
    { weight: 20, arbitrary: onOne(seldom).map((one): Step[] => [{ one }]) },
    {
      weight: 6,
      arbitrary: submitted().map((commands): Step[] => commands.map((one) => ({ one }))),
    },
    { weight: 3, arbitrary: keeping().map((one): Step[] => [{ one }]) },
    { weight: 4, arbitrary: fc.tuple(onOne(never), onOne(never)).map((both): Step[] => [{ both }]) },
    {
      weight: 2,
      arbitrary: fc
        .constantFrom(0, 1000, 59_999, 60_000, 150_000, 299_999, 300_000)
        .map((ms): Step[] => [{ one: { do: "wait", ms } }]),
    },
    {
      weight: 1,
      arbitrary: fc
        .constantFrom<Command>({ do: "sweep" }, { do: "lift" }, { do: "crash" }, { do: "kill", on: true })
        .map((one): Step[] => [{ one }]),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom<Command>({ do: "kill", on: false }, { do: "store", up: true }).map((one): Step[] => [{ one }]),
    },
    {
      weight: 1,
      arbitrary: fc
        .array(onOne(seldom), { maxLength: 3 })
        .map((during): Step[] =>
          [{ do: "store" as const, up: false }, ...during, { do: "store" as const, up: true }].map((one) => ({ one })),
        ),
    },
  );

/** Long sequences that get somewhere: mostly answers and claims on what is newest, with everything that can go wrong. */
export const steps = (length: number): fc.Arbitrary<readonly Step[]> =>
  fc.array(stretch(), { minLength: length / 2, maxLength: length, size: "max" }).map((parts) => parts.flat());
