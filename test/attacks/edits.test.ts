import { describe, expect, it } from "vitest";
import { createGate, nodeRuntime, type Policy, type Tool } from "../../src/index.ts";
import type { Approvals, Identity } from "../../src/core/approving.ts";
import { memoryStore } from "../../src/stores/memory/index.ts";
import { bench, type BenchOptions, held, standing, submissionOf, viewOf } from "../../src/core/desk/desk.test-kit.ts";
import { manualClock, recordingChannel } from "../../src/testing/index.ts";

const who = (principal: string): Identity => ({
  principal,
  as: `recording:${principal}`,
  via: "recording",
  assurance: "account",
});

/** A gate whose people answer only when a test says so, and one call that waits. */
async function waiting(policy: Policy, tool: Partial<Tool> & { readonly name: string }, args: object) {
  const clock = manualClock();
  const channel = recordingChannel({ people: ["ada", "bob", "cem"], assurance: "account" });
  const gate = createGate({ policy, runtime: nodeRuntime({ clock }), store: memoryStore({ clock }), channels: [channel] });
  const ran: unknown[] = [];
  gate.tool({ tier: "write", ...tool, run: (given: unknown) => ran.push(given) } as never);
  const outcome = gate.run({ principal: "ada", agent: "bot" }).try(tool.name, args);
  await clock.settle();
  const approvals = gate.desk.approvals as Approvals;
  const [open] = await gate.pending();
  if (open === undefined) throw new Error(`nothing waits: ${JSON.stringify(await outcome)}`);
  return { clock, gate, ran, outcome, approvals, id: open.record.id };
}

async function edited(on: Awaited<ReturnType<typeof waiting>>, args: object, as: Identity) {
  const shown = await on.approvals.card(on.id, as);
  if (shown === undefined || !("view" in shown)) throw new Error("not shown");
  return on.approvals.edit(on.id, { arguments: args as never, digest: shown.card.digest, view: shown.view }, as);
}

const FINANCE: Policy = {
  rules: [
    { ask: "pay" },
    {
      name: "large",
      ask: "pay",
      when: ({ arguments: { amount } }) => Number(amount) >= 1000,
      approvers: ["bob", "cem"],
      quorum: 2,
    },
  ],
};

describe("an edit asks what the edited call asks (P-01, P-09)", () => {
  it("joins the demands of the policy's own rules that only the edited arguments meet", async () => {
    const on = await waiting(FINANCE, { name: "pay" }, { amount: 10 });
    const done = await edited(on, { amount: 1_000_000 }, who("ada"));
    await on.clock.settle();
    expect(on.ran).toEqual([]);
    expect(done.status).toBe("pending");
  });

  it("asks for a grant that only the edited arguments want, or is not taken", async () => {
    const policy: Policy = {
      rules: [{ ask: "pay" }, { allow: "pay", when: ({ arguments: { amount } }) => Number(amount) >= 1000, requires: "large" }],
    };
    const on = await waiting(policy, { name: "pay" }, { amount: 10 });
    await edited(on, { amount: 1_000_000 }, who("ada"));
    await on.clock.settle();
    expect(on.ran).toEqual([]);
  });

  it("is judged by the run's own deny, after the policy changed for new runs", async () => {
    const policy: Policy = { rules: [{ ask: "pay" }, { deny: "pay", when: ({ arguments: a }) => Number(a.amount) >= 1000 }] };
    const on = await waiting(policy, { name: "pay" }, { amount: 10 });
    await on.gate.setPolicy({ rules: [{ ask: "pay" }] });
    const done = await edited(on, { amount: 1_000_000 }, who("ada"));
    await on.clock.settle();
    expect(done).toMatchObject({ counted: false, code: "denied" });
    expect(on.ran).toEqual([]);
  });
});

describe("an edit on another desk of the same store (P-18)", () => {
  /** A call that one desk holds, edited on another with a policy of its own. */
  async function far(options: BenchOptions) {
    const near = bench({ policy: { rules: [{ ask: "pay" }] } });
    const desk = bench({ store: near.store, clock: near.clock, ...options });
    const id = await held(near, submissionOf(near));
    const shown = await viewOf(desk, id, who("ada"));
    const done = await desk.desk.approvals.edit(id, { arguments: { to: "bob", amount: 5000 }, ...shown }, who("ada"));
    return { near, done };
  }
  const large = { when: ({ arguments: a }: { arguments: { amount?: unknown } }) => Number(a.amount) >= 1000 };

  it("joins what that desk's rules ask", async () => {
    const { near, done } = await far({ policy: { rules: [{ ask: "pay", approvers: ["bob"], ...large }] } });
    expect(done).toMatchObject({ counted: true, status: "pending" });
    expect((await standing(near, String(done.id))).record.terms.clauses.map(({ by }) => by)).toEqual([
      "tool",
      "rule:rule 1",
      "rule:rule 1",
    ]);
  });

  it("is not taken where that desk's rules deny it or want a grant first", async () => {
    const { done } = await far({ policy: { rules: [{ deny: "pay", ...large }] } });
    expect(done).toMatchObject({ counted: false, code: "denied" });
    const other = await far({ policy: { rules: [{ allow: "pay", requires: "large", ...large }] } });
    expect(other.done).toMatchObject({ counted: false, code: "not_granted" });
  });

  it("does not run where the run's own policy denies the edited call, whatever is in force meanwhile", async () => {
    const clock = manualClock();
    const store = memoryStore({ clock });
    const runtime = nodeRuntime({ clock });
    const channel = recordingChannel({ people: ["ada"], assurance: "account" });
    const gate = createGate({
      policy: { rules: [{ ask: "pay" }, { deny: "pay", ...large }] },
      runtime,
      store,
      channels: [channel],
    });
    const ran: unknown[] = [];
    gate.tool({ name: "pay", tier: "write", run: (args) => ran.push(args) });
    const outcome = gate.run({ principal: "ada" }).try("pay", { amount: 5 });
    await clock.settle();
    await gate.setPolicy({ rules: [{ ask: "pay" }] });
    const other = createGate({ runtime, store, channels: [recordingChannel({ people: ["ada"], assurance: "account" })] });
    const id = String((await gate.pending())[0]?.record.id);
    const approvals = other.desk.approvals as Approvals;
    const shown = await approvals.card(id, who("ada"));
    if (shown === undefined || !("view" in shown)) throw new Error("not shown");
    await approvals.edit(id, { arguments: { amount: 5000 }, digest: shown.card.digest, view: shown.view }, who("ada"));
    await clock.advance(300_000);
    expect(await outcome).toMatchObject({ status: "refused" });
    expect(ran).toEqual([]);
  });
});

describe("secrets in edits (P-19)", () => {
  const tool = { name: "login", confirm: true as const, secrets: ["/token"] };

  it("takes no value where a secret would stand and none was asked about", async () => {
    const on = await waiting({}, tool, { host: "a" });
    const done = await edited(on, { host: "a", token: "hunter2-hunter2" }, who("ada"));
    await on.clock.settle();
    expect(done.counted).toBe(false);
    expect(on.ran).toEqual([]);
  });

  it("takes no change of a secret beside another change", async () => {
    const on = await waiting({}, tool, { host: "a", token: "s3cret-s3cret" });
    const done = await edited(on, { host: "b", token: "hunter2-hunter2" }, who("ada"));
    expect(done.counted).toBe(false);
  });

  it("runs an edit of something else with the secret's own value", async () => {
    const on = await waiting({}, tool, { host: "a", token: "s3cret-s3cret" });
    const shown = await on.approvals.card(on.id, who("ada"));
    if (shown === undefined || !("view" in shown)) throw new Error("not shown");
    await edited(on, { ...shown.card.arguments, host: "b" }, who("ada"));
    expect(await on.outcome).toMatchObject({ status: "ran" });
    expect(on.ran).toEqual([{ host: "b", token: "s3cret-s3cret" }]);
  });
});
