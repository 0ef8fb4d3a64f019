import { describe, expect, it } from "vitest";
import { recordingChannel } from "../../testing/index.ts";
import type { Policy } from "../policy.ts";
import { type GateBench, gateBench, recorder } from "./gate.test-kit.ts";
import { snapshotOf } from "./gate.ts";

const PAY = { to: "bob", amount: 7 };
const policyOf = (on: GateBench, policy: Policy) => snapshotOf(policy, { runtime: on.runtime, record: "counts" });

describe("a child run", () => {
  const TOOL = { name: "pay", tier: "write" as const };

  it("P-17 is shown as who it is, asks its parent's people, and cannot weaken what they are asked", async () => {
    const on = gateBench({ policy: { rules: [{ ask: "pay", approvers: ["bob"] }] } });
    const tool = recorder();
    on.gate.tools([tool]);
    const child = on.run.child({ path: "researcher", asks: "parent", policy: policyOf(on, { rules: [{ allow: "**" }] }) });
    const call = child.try("pay", PAY);
    await on.shown();
    expect(on.channel.deliveries.map(({ to, card }) => [to.principal, card.requester.path])).toEqual([["bob", ["researcher"]]]);
    await on.answer("approve", { by: "bob" });
    expect(await call).toMatchObject({ status: "ran" });
    expect(() => on.run.child({ path: "", asks: "parent" })).toThrow(/name of its agent/);
  });

  it("P-17 is denied what its parent denies, and what only it asks joins what its parent asks", async () => {
    const on = gateBench({
      policy: {
        rules: [
          { deny: "drop", reason: "never" },
          { ask: "pay", approvers: ["bob"] },
        ],
      },
    });
    on.gate.tools([recorder(), recorder({ name: "drop" }), recorder({ name: "free", tier: "read" })]);
    const child = on.run.child({
      path: "r",
      asks: "own",
      policy: policyOf(on, { rules: [{ ask: "pay", approvers: ["ada"], self: "allow" }, { allow: "drop" }] }),
    });
    expect(await child.try("drop", PAY)).toMatchObject({ code: "denied", reason: "never" });
    expect(await child.try("free", PAY)).toMatchObject({ status: "ran" });
    const call = child.try("pay", PAY);
    const id = await on.shown();
    expect((await on.store.read(id))?.record.terms.clauses.map(({ any }) => any[0]?.of).sort()).toEqual([["ada"], ["bob"]]);
    await on.gate.cancelAll();
    await call;
    const plain = gateBench({ policy: { unmatched: "deny" } });
    plain.gate.tools([recorder()]);
    const below = plain.run.child({ path: "r", asks: "parent", policy: policyOf(plain, { rules: [{ allow: "**" }] }) });
    expect(await below.try("pay", PAY)).toMatchObject({ code: "denied" });
  });

  it("P-17 that may not ask is denied where its own scope asks", async () => {
    const on = gateBench({ policy: { rules: [{ allow: "pay" }] } });
    on.gate.tools([
      recorder(),
      recorder({ name: "free", tier: "read" }),
      recorder({ name: "floor", tier: "read", confirm: true }),
    ]);
    const child = on.run.child({ path: "r", asks: "deny", policy: policyOf(on, {}) });
    expect(await child.try("pay", PAY)).toMatchObject({ code: "denied" });
    expect(await child.try("floor", PAY)).toMatchObject({ code: "denied" });
    expect(await child.try("free", PAY)).toMatchObject({ status: "ran" });
    expect(await child.child({ path: "s", asks: "parent" }).try("pay", PAY)).toMatchObject({ code: "denied" });
    expect(on.channel.deliveries).toEqual([]);
  });

  it("P-17 asks its own questions on its own channel, and its parent's where its parent asks", async () => {
    const [main, side] = [recordingChannel({ name: "main" }), recordingChannel({ name: "side" })];
    const on = gateBench({ channels: [side, main], policy: { rules: [{ ask: "pay" }] } });
    on.gate.tools([recorder(), recorder({ name: "own", tier: "read" })]);
    const child = on.run.child({
      path: "r",
      asks: "own",
      channels: ["side"],
      policy: policyOf(on, { rules: [{ ask: "own" }, { allow: "pay" }] }),
    });
    const calls = [child.try("own", PAY), child.try("pay", PAY)];
    await on.clock.settle();
    expect(side.deliveries.map(({ card }) => card.tool.name)).toEqual(["own"]);
    expect(main.deliveries.map(({ card }) => card.tool.name)).toEqual(["pay"]);
    const named = gateBench({
      channels: [recordingChannel({ name: "a" }), recordingChannel({ name: "b" })],
      defaultChannel: "b",
      policy: { rules: [{ ask: "pay" }] },
    });
    named.gate.tools([recorder()]);
    const other = named.run.child({
      path: "r",
      asks: "own",
      channels: ["a"],
      policy: policyOf(named, { rules: [{ allow: "pay" }] }),
    });
    const third = other.try("pay", PAY);
    await named.clock.settle();
    const { record } = (await named.gate.pending())[0] ?? {};
    expect(record?.status).toBe("pending");
    await on.gate.cancelAll();
    await named.gate.cancelAll();
    await Promise.all([...calls, third]);
  });

  it("P-17 P-19 keeps its parent's word about a tool: tier, impact, secrets, edits, grants", async () => {
    const on = gateBench({
      policy: {
        tools: [
          {
            match: "pay",
            tier: "physical",
            impact: "irreversible",
            secrets: ["/token"],
            editable: ["/amount"],
            ignore: ["/n"],
            requires: "payments",
            confirm: { approvers: ["bob"] },
          },
        ],
      },
    });
    on.gate.tools([recorder({ tier: "read" })]);
    const child = on.run.child({
      path: "r",
      asks: "parent",
      policy: policyOf(on, { tools: [{ match: "pay", tier: "read", ignore: ["/amount"], impact: "default" }] }),
    });
    const call = child.try("pay", { ...PAY, token: "t-secret" });
    const grant = await on.answer("approve");
    expect((await on.store.read(grant))?.record.kind).toBe("grant");
    const id = await on.shown();
    const { record } = (await on.store.read(id)) ?? {};
    expect(record).toMatchObject({
      tier: "physical",
      impact: "irreversible",
      terms: { editable: ["/amount"] },
      call: { secrets: ["/token"] },
    });
    expect(record?.terms.clauses.map(({ any }) => any[0]?.of)).toContainEqual(["bob"]);
    await on.gate.cancelAll();
    await call;
  });

  it("P-17 has no fast way past its parent", async () => {
    const on = gateBench();
    on.gate.tools([recorder(TOOL)]);
    const child = on.run.child({ path: "r", asks: "parent", policy: policyOf(on, { tools: [{ match: "pay", tier: "read" }] }) });
    const call = child.try("pay", PAY);
    await on.answer("reject");
    expect(await call).toMatchObject({ code: "rejected" });
    await on.run[Symbol.asyncDispose]();
    expect(await child.try("pay", { n: 1 })).toMatchObject({ code: "cancelled" });
  });
});
