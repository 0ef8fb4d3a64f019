import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it, vi } from "vitest";
import { createGate, type Gate, nodeRuntime, type Policy, type Store } from "../../src/index.ts";
import type { Approvals, Identity } from "../../src/core/approving.ts";
import { memoryStore } from "../../src/stores/memory/index.ts";
import { sqliteStore } from "../../src/stores/sqlite/index.ts";
import { manualClock, recordingChannel } from "../../src/testing/index.ts";

const folder = mkdtempSync(join(tmpdir(), "holdpoint-races-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;
const nextFile = (): string => {
  files += 1;
  return join(folder, `${files}.db`);
};

const PEOPLE = ["ada", "bob", "cem", "dan"];
const who = (principal: string): Identity => ({
  principal,
  as: `recording:${principal}`,
  via: "recording",
  assurance: "account",
});

/** Gates on one truth, each with a desk of its own, and one counter of what ran. */
function scene(kind: "memory" | "sqlite", gates: number, policy: Policy) {
  const clock = manualClock();
  const runtime = nodeRuntime({ clock });
  const ran: unknown[] = [];
  const path = nextFile();
  const shared = memoryStore({ clock });
  const open = (): Store => (kind === "memory" ? shared : sqliteStore({ path, clock }));
  const made = Array.from({ length: gates }, (_, n) => {
    const own = nodeRuntime({ clock, keys: runtime.keys });
    const channel = recordingChannel({ people: PEOPLE, assurance: "account" });
    const gate = createGate({ policy, runtime: own, store: open(), channels: [channel] });
    gate.tool({
      name: "pay",
      tier: "write",
      run: (args: unknown) => {
        ran.push(args);
        return n;
      },
    });
    return { gate, channel, approvals: gate.desk.approvals as Approvals };
  });
  const [head] = made;
  if (head === undefined) throw new Error("no gate");
  return { clock, ran, gates: made, head };
}

const ENDS = new Set(["ran", "failed", "refused", "unknown"]);
const ask = (window?: string): Policy => ({
  rules: [{ ask: "pay", approvers: PEOPLE, self: "allow", ...(window === undefined ? {} : { window: window as "10m" }) }],
});

async function first(on: ReturnType<typeof scene>): Promise<string> {
  return vi.waitFor(async () => {
    const open = await on.head.gate.pending();
    if (open[0] === undefined) throw new Error("nothing waits");
    return open[0].record.id;
  });
}

describe.each(["memory", "sqlite"] as const)("everything at once on one request (P-03, P-04), %s", (kind) => {
  it("runs at most once, and never after a no or an edit's original", async () => {
    for (let round = 0; round < 12; round++) {
      const on = scene(kind, 2, ask());
      const outcomes = on.gates.map(({ gate }) =>
        gate.run({ principal: "ada", agent: "bot", run: "r1" }).try("pay", { amount: 1 }, { id: "c1" }),
      );
      const id = await first(on);
      const shown = await Promise.all(
        PEOPLE.map(async (name) => {
          const card = await on.head.approvals.card(id, who(name));
          return card !== undefined && "view" in card ? { digest: card.card.digest, view: card.view } : undefined;
        }),
      );
      const work: Promise<unknown>[] = [];
      for (let n = 0; n < 40; n++) {
        const { approvals, gate } = on.gates[n % 2] as { approvals: Approvals; gate: Gate };
        const person = n % PEOPLE.length;
        const seen = shown[person];
        if (seen === undefined) throw new Error("not shown");
        const as = who(PEOPLE[person] as string);
        const kinds = [
          () => approvals.decide(id, { verdict: "approve", ...seen }, as),
          () => approvals.edit(id, { arguments: { amount: 2 + (n % 3) }, ...seen }, as),
          () => gate.expire(id),
          () => (round % 3 === 0 ? approvals.decide(id, { verdict: "reject", ...seen }, as) : Promise.resolve()),
          () => (round % 3 === 1 ? gate.cancel(id) : Promise.resolve()),
        ];
        work.push((kinds[(n * 7 + round) % kinds.length] as () => Promise<unknown>)());
      }
      await Promise.allSettled(work);
      await on.clock.advance(6000);
      for (const open of await on.head.gate.pending()) await on.head.gate.cancel(open.record.id);
      // A store that tells nobody wakes the other gate at the deadline.
      await on.clock.advance(300_000);
      await on.clock.advance(6000);
      const settled = await Promise.all(outcomes);
      for (const outcome of settled) expect(ENDS.has(outcome.status)).toBe(true);
      expect(on.ran.length).toBeLessThanOrEqual(1);
      const stored = await on.head.gate.desk.standing(id);
      if (stored?.status === "rejected" || stored?.status === "cancelled" || stored?.status === "expired")
        expect(on.ran).toEqual([]);
      if (on.ran.length === 1 && stored?.edited !== undefined) expect(on.ran[0]).toEqual(stored.edited.arguments);
    }
  });

  it("lets one approval of one call id run once, over two gates and ten calls each", async () => {
    const on = scene(kind, 2, ask());
    const outcomes = on.gates.flatMap(({ gate }) => {
      const run = gate.run({ principal: "ada", agent: "bot", run: "r1" });
      return Array.from({ length: 10 }, () => run.try("pay", { amount: 1 }, { id: "c1" }));
    });
    const id = await first(on);
    await vi.waitFor(() =>
      expect(on.gates.some(({ channel }) => channel.deliveries.some(({ card }) => card.id === id))).toBe(true),
    );
    const owner = on.gates.find(({ channel }) => channel.deliveries.some(({ card }) => card.id === id));
    await owner?.channel.answer(id, "approve", { by: "ada" });
    await on.clock.advance(6000);
    // A store that tells nobody wakes the other gate at the deadline.
    await on.clock.advance(300_000);
    const settled = await Promise.all(outcomes);
    expect(on.ran).toHaveLength(1);
    expect(settled.filter(({ status }) => status === "ran").length).toBeGreaterThanOrEqual(1);
  });

  it("releases one call id of a window once", async () => {
    const on = scene(kind, 1, ask("10m"));
    const one = on.head;
    const run = one.gate.run({ principal: "ada", agent: "bot", run: "r1" });
    const opened = run.try("pay", { amount: 1 }, { id: "c1" });
    const id = await first(on);
    await vi.waitFor(() => expect(one.channel.deliveries.some(({ card }) => card.id === id)).toBe(true));
    await one.channel.answer(id, "approve", { by: "ada" });
    expect((await opened).status).toBe("ran");
    expect(await run.try("pay", { amount: 1 }, { id: "c2" })).toMatchObject({ status: "ran", how: "window" });
    expect((await run.try("pay", { amount: 1 }, { id: "c2" })).status).not.toBe("ran");
    const both = await Promise.all([1, 2, 3].map(() => run.try("pay", { amount: 1 }, { id: "c3" })));
    expect(both.filter(({ status }) => status === "ran")).toHaveLength(1);
    expect(await run.try("pay", { amount: 2 }, { id: "c3" })).toMatchObject({ status: "refused", code: "duplicate_id" });
    expect(on.ran).toHaveLength(3);
  });
});
