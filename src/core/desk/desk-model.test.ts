import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Counts, follow, inFile, inMemory } from "./desk-follow.test-kit.ts";
import { steps } from "./desk-steps.test-kit.ts";
import type { Under } from "./real-desk.test-kit.ts";

/** More of them at night: HOLDPOINT_RUNS is how often as many. */
const TIMES = Number(process.env.HOLDPOINT_RUNS ?? 1);
const SEED = Number(process.env.HOLDPOINT_SEED ?? Date.now() % 2 ** 31);

const report = (name: string, runs: number, counts: Counts): void =>
  void process.stdout.write(
    `${name}: seed ${SEED}, ${runs} sequences, ${counts.commands} commands\n${[...counts.done]
      .sort()
      .map(([what, times]) => `${what}: ${times}`)
      .join(", ")}\n`,
  );

async function holds(name: string, under: Under, size: { runs: number; length: number }): Promise<Counts> {
  const counts: Counts = { commands: 0, done: new Map() };
  await fc.assert(
    fc.asyncProperty(steps(size.length), (given) => follow(under, given, counts)),
    { seed: SEED, numRuns: size.runs },
  );
  report(name, size.runs, counts);
  return counts;
}

describe("the local desk against a model of its own", () => {
  it("P-01 P-02 P-03 P-04 P-05 P-10 P-11 over the memory store", { timeout: 120_000 * TIMES }, async () => {
    const { done } = await holds("memory", { truth: inMemory }, { runs: 3000 * TIMES, length: 16 });
    const rare = [
      "submit ok",
      "approve ok",
      "reject ok",
      "edit ok",
      "claim ok",
      "complete ok",
      "cancel ok",
      "renew ok",
      "reconcile ok",
      "expire ok",
      "lease ok",
      "park ok",
      "submit repeated",
    ];
    expect(rare.filter((what) => (done.get(what) ?? 0) < 20)).toEqual([]);
  });

  it("P-11 P-20 over the SQLite store, closed and opened again", { timeout: 120_000 * TIMES }, async () => {
    await holds("sqlite", { truth: inFile }, { runs: 40 * TIMES, length: 16 });
  });
});
