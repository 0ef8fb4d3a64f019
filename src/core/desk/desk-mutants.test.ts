import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nodeRuntime } from "../../runtime/node/index.ts";
import { GUARDS } from "../guards.ts";
import { type Entry, entryHash } from "../journal.ts";
import type { Commit, RecordChange, Store } from "../ports/store.ts";
import { follow, inMemory } from "./desk-follow.test-kit.ts";
import { steps } from "./desk-steps.test-kit.ts";
import type { LocalDesk } from "./local-desk.ts";
import type { Under } from "./real-desk.test-kit.ts";

const SEED = Number(process.env.HOLDPOINT_SEED ?? Date.now() % 2 ** 31);
const RUNS = 2000;
const { crypto } = nodeRuntime();

const committing = (inner: Store, commit: Store["commit"]): Store => ({
  capabilities: inner.capabilities,
  now: () => inner.now(),
  read: (id) => inner.read(id),
  find: (query) => inner.find(query),
  rows: (query) => inner.rows(query),
  row: (kind, key) => inner.row(kind, key),
  journal: (stream) => inner.journal(stream),
  commit,
  lease: (...which) => inner.lease(...which),
  watch: (since, signal) => inner.watch(since, signal),
  close: () => inner.close(),
});

/** Whoever writes last wins: a change is put on top of whatever stands there, as a store without compare-and-set would. */
async function ontoWhatStands(inner: Store, change: Commit): Promise<Commit> {
  const entries: Entry[] = change.entries.filter(({ stream }) => stream.startsWith("node/"));
  const records: RecordChange[] = [];
  for (const { id, expect: was, next } of change.records) {
    const stands = (await inner.read(id))?.record;
    let prev = stands?.head ?? null;
    let rev = stands?.rev ?? 0;
    for (const entry of change.entries.filter(({ stream }) => stream === `request/${id}`)) {
      const moved: Entry = { ...entry, n: rev, prev, rev: rev + 1 };
      entries.push(moved);
      prev = entryHash(crypto, moved);
      rev += 1;
    }
    const expectNow = was === null || stands === undefined ? null : { rev: stands.rev, head: stands.head };
    records.push({ id, expect: expectNow, next: { ...next, rev, head: prev ?? next.head } });
  }
  return { ...change, records, entries };
}

/** The same desk with one method of its own. */
const withMethod = <K extends keyof LocalDesk>(desk: LocalDesk, name: K, method: LocalDesk[K]): LocalDesk =>
  new Proxy(desk, {
    get: (target, key) => {
      if (key === name) return method;
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });

/** Those of the 15 mutants of the checked model (model/README.md) that live in desk and store; the others are the machine's. */
const MUTANTS: Readonly<Record<string, Under>> = {
  M_CARRY: {
    truth: inMemory,
    store: (inner) =>
      committing(inner, async (change) => {
        const [old, successor, ...rest] = change.records;
        if (old === undefined || successor === undefined) return inner.commit(change);
        const decisions = [...old.next.decisions, ...successor.next.decisions];
        return inner.commit({ ...change, records: [old, { ...successor, next: { ...successor.next, decisions } }, ...rest] });
      }),
  },
  M_NO_CAS: {
    truth: inMemory,
    store: (inner) =>
      committing(inner, async (change) => {
        const made = await inner.commit(change);
        return made.ok || made.why !== "conflict" ? made : inner.commit(await ontoWhatStands(inner, change));
      }),
  },
  M_VOTE_DOWN: {
    truth: inMemory,
    desk: (desk, faults) => {
      const { approvals } = desk;
      const decide: typeof approvals.decide = async (id, answer, as) =>
        faults.down ? { found: true, status: "approved", counted: true } : approvals.decide(id, answer, as);
      return withMethod(desk, "approvals", { ...approvals, decide });
    },
  },
  M_OPEN_ON_ERROR: {
    truth: inMemory,
    desk: (desk) =>
      withMethod(desk, "claim", async (id, evidence) => {
        const claimed = await desk.claim(id, evidence);
        if (claimed.ok || claimed.refusal.code !== "store_unavailable") return claimed;
        return { ok: true, token: "", fence: 0, digest: evidence.tool.definition, until: "" as never };
      }),
  },
  M_UNLOGGED: {
    truth: inMemory,
    store: (inner) =>
      committing(inner, (change) =>
        inner.commit({ ...change, entries: change.entries.filter(({ event }) => event !== "request.claimed") }),
      ),
  },
  /** The following are not of the checked model: the requester's lease and the repeat of a call are only here. */
  M_TAKEN_WHILE_HELD: { truth: inMemory, guards: { ...GUARDS, attach: { ...GUARDS.attach, free: () => undefined } } },
  M_RUNS_UNASKED: { truth: inMemory, guards: { ...GUARDS, claim: { ...GUARDS.claim, parked: () => undefined } } },
  M_TOLD_TWICE: {
    truth: inMemory,
    store: (inner) =>
      committing(inner, (change) => {
        const told = change.records.length === 0 && change.entries.some(({ event }) => event === "request.attached");
        return inner.commit(told ? { ...change, rows: [] } : change);
      }),
  },
};

describe("the model of the desk", () => {
  it.each(Object.keys(MUTANTS))("P-01 P-02 P-03 P-10 P-15 finds %s of the checked model", { timeout: 60_000 }, async (name) => {
    const under = MUTANTS[name] ?? { truth: inMemory };
    const found = await fc.check(
      fc.asyncProperty(steps(16), (given) => follow(under, given)),
      { seed: SEED, numRuns: RUNS, endOnFailure: true },
    );
    process.stdout.write(
      `${name}: ${found.failed ? `a counterexample after ${found.numRuns} sequences` : "none"} (seed ${SEED})\n`,
    );
    expect(found.failed).toBe(true);
  });
});
