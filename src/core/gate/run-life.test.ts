import { describe, expect, it } from "vitest";
import { evidenceOf, submissionOf } from "../desk/desk.test-kit.ts";
import type { HoldpointEvent } from "../desk/events.ts";
import type { JsonObject } from "../json-value.ts";
import type { Tool } from "../tool-call.ts";
import { gateBench, recorder } from "./gate.test-kit.ts";

const PAY = { to: "bob", amount: 7 };

describe("a run", () => {
  it("withdraws what waits when it ends, and opens nothing afterwards", async () => {
    const on = gateBench();
    on.gate.tools([recorder(), recorder({ name: "look", tier: "read" })]);
    const call = on.run.try("pay", PAY);
    const id = await on.shown();
    await on.run[Symbol.asyncDispose]();
    expect(await call).toMatchObject({ status: "refused", code: "cancelled" });
    expect((await on.store.read(id))?.record.resolution).toMatchObject({ status: "cancelled", reason: "abort" });
    for (const name of ["pay", "look"]) expect(await on.run.try(name, PAY)).toMatchObject({ code: "cancelled" });
    await expect(on.run.call("look", PAY)).rejects.toMatchObject({ code: "cancelled" });
    await expect(on.run.submit("pay", PAY)).rejects.toMatchObject({ code: "cancelled" });
  });

  it("ends with the signal it was given, and a call with its own; the caller's word for it is kept", async () => {
    const on = gateBench();
    on.gate.tools([recorder()]);
    const [outer, inner] = [on.runtime.aborter(), on.runtime.aborter()];
    const run = on.gate.run({ principal: "ada", signal: outer.signal });
    const one = run.try("pay", PAY, { signal: inner.signal });
    const first = await on.shown();
    inner.abort("requester_gone");
    expect(await one).toMatchObject({ code: "cancelled" });
    expect((await on.store.read(first))?.record.resolution?.reason).toBe("requester_gone");
    const two = run.try("pay", { to: "x" });
    await on.shown();
    outer.abort(new Error("over"));
    expect(await two).toMatchObject({ code: "cancelled" });
    const late = on.gate.run({ principal: "ada", signal: outer.signal });
    expect(await late.try("pay", PAY)).toMatchObject({ code: "cancelled" });
    expect(await on.run.try("pay", PAY, { signal: inner.signal })).toMatchObject({ code: "cancelled" });
  });

  it("P-09 acts for somebody", () => {
    const on = gateBench();
    expect(() => on.gate.run({ principal: "" })).toThrow(/principal that is not empty/);
    expect(() => on.gate.run({ principal: 7 as never })).toThrow(/principal/);
    expect(on.run.requester).toMatchObject({ principal: "ada", agent: "bot", run: expect.stringMatching(/^[0-9a-f-]{36}$/) });
    expect(Object.isFrozen(on.run.requester)).toBe(true);
  });

  it("P-18 keeps the policy and the mode it started with", async () => {
    const on = gateBench();
    on.gate.tools([recorder()]);
    const plan = on.gate.run({ principal: "ada", mode: "plan" });
    await on.gate.setPolicy({ rules: [{ allow: "**" }] });
    expect(await plan.try("pay", PAY)).toMatchObject({ code: "denied" });
    expect(await on.gate.run({ principal: "ada" }).try("pay", PAY)).toMatchObject({ status: "ran", how: "allowed" });
  });

  it("runs at once what policy frees after a look at its arguments, and asks about the rest", async () => {
    const on = gateBench({ policy: { rules: [{ allow: "pay", when: ({ arguments: args }) => args.amount === 7 }] } });
    const tool = recorder();
    on.gate.tools([tool]);
    // The first one also looks at the kill switch; the second finds it looked at.
    for (const _call of [1, 2]) expect(await on.run.try("pay", PAY)).toMatchObject({ status: "ran", how: "allowed" });
    expect(tool.ran).toEqual([PAY, PAY]);
    expect((await on.run.check("pay", { ...PAY, amount: 8 })).verdict).toBe("ask");
  });

  it("opens without running, for code that runs the tool itself", async () => {
    const on = gateBench();
    on.gate.tools([recorder(), recorder({ name: "look", tier: "read" })]);
    const { id, settled } = await on.run.submit("pay", PAY, { statement: "please" });
    expect(await on.answer("approve")).toBe(id);
    expect(await settled).toMatchObject({ status: "approved" });
    const evidence = evidenceOf(submissionOf({ policy: on.gate.policy(), runtime: on.runtime }, { args: PAY }), {
      requester: on.run.requester,
    });
    const { tool } = (await on.store.read(id))?.record.call ?? { tool: evidence.tool };
    expect(await on.gate.desk.claim(id, { ...evidence, tool })).toMatchObject({ ok: true });
    await expect(on.run.submit("look", PAY)).rejects.toThrow(/is not held; call it/);
    await expect(on.run.submit("none", PAY)).rejects.toMatchObject({ code: "unknown_tool" });
    await expect(on.run.submit("pay", [1])).rejects.toMatchObject({ code: "invalid_arguments" });
    const open = await on.run.submit("pay", { to: "x" });
    const ended = expect(open.settled).rejects.toThrow(/the run has ended/);
    await on.run[Symbol.asyncDispose]();
    await ended;
    expect((await on.store.read(open.id))?.record.status).toBe("cancelled");
  });

  it("says beforehand whether an ask would reach somebody", async () => {
    const on = gateBench();
    on.gate.tools([recorder()]);
    expect(await on.run.available("pay", PAY)).toBe(true);
    expect(await on.run.available("pay", [1])).toBe(false);
    const nobody = gateBench({ people: [] });
    nobody.gate.tools([recorder()]);
    expect(await nobody.run.available("pay", PAY)).toBe(false);
  });

  it("P-16 checks a call station by station, asking nobody and changing nothing", async () => {
    const on = gateBench({
      policy: {
        rules: [
          { name: "no big", deny: "pay", when: ({ arguments: args }) => args.amount === 9, reason: "too big" },
          { allow: "free" },
        ],
      },
    });
    on.gate.tools([recorder(), recorder({ name: "free" }), recorder({ name: "plain", tier: undefined as never })]);
    const said = async (tool: string, args: unknown) => {
      const { verdict, stations } = await on.run.check(tool, args);
      return [verdict, stations.at(-1)?.said];
    };
    expect(await said("pay", PAY)).toEqual(["ask", "ask: policy"]);
    expect(await said("pay", { amount: 9 })).toEqual(["deny", "deny: no big (too big)"]);
    expect(await said("free", {})).toEqual(["allow", "allow: rule 2"]);
    expect(await said("free", 7)).toEqual(["refused", "invalid_arguments"]);
    expect((await on.run.check("plain", {})).stations[1]).toEqual({ station: "know", said: "no tier" });
    expect(on.channel.deliveries).toEqual([]);
  });

  it("P-03 P-09 asks for a missing grant first, then for the call", async () => {
    const on = gateBench();
    const tool = recorder({ requires: "deploys" });
    on.gate.tools([tool]);
    const call = on.run.try("pay", PAY);
    await on.answer("approve");
    expect(on.channel.deliveries.map(({ card }) => card.kind)).toEqual(["grant", "call"]);
    await on.answer("approve");
    expect(await call).toMatchObject({ status: "ran" });
    const refused = on.run.try("pay", { n: 1 });
    await on.answer("approve");
    expect(await refused).toMatchObject({ status: "ran" });
    const other = gateBench();
    other.gate.tools([recorder({ requires: true })]);
    const no = other.run.try("pay", PAY);
    await other.answer("reject");
    expect(await no).toMatchObject({ status: "refused", code: "not_granted" });
    const gone = other.gate.run({ principal: "ada" });
    const waits = gone.try("pay", PAY);
    await other.shown();
    await gone[Symbol.asyncDispose]();
    expect(await waits).toMatchObject({ status: "refused", code: "not_granted" });
  });

  it("never runs two physical tools at once, and its harmless siblings meanwhile", async () => {
    const on = gateBench();
    const order: string[] = [];
    const ends: (() => void)[] = [];
    const move = (name: string): Tool => ({
      name,
      tier: "physical",
      run: (() =>
        new Promise<void>((resolve) => {
          order.push(`${name} starts`);
          ends.push(() => {
            order.push(`${name} ends`);
            resolve();
          });
        })) as Tool["run"],
    });
    on.gate.tools([move("left"), move("right"), { name: "look", tier: "read", run: () => order.push("look") }]);
    const calls = [on.run.try("left", {}), on.run.try("right", {})];
    await on.shown();
    for (const { card } of [...on.channel.deliveries]) await on.channel.answer(card.id, "approve");
    await on.clock.settle();
    await on.run.call("look", {});
    while (ends.length > 0) {
      ends.shift()?.();
      await on.clock.settle();
    }
    await Promise.all(calls);
    expect(order).toEqual(["left starts", "look", "left ends", "right starts", "right ends"]);
  });

  it("tells subscribers of every call, once", async () => {
    const on = gateBench();
    const heard: HoldpointEvent[] = [];
    on.gate.on((event) => heard.push(event));
    on.gate.tools([recorder({ name: "look", tier: "read" }), recorder()]);
    await on.run.call("look", {});
    const call = on.run.try("pay", PAY);
    const id = await on.answer("reject");
    await call;
    await on.clock.settle();
    expect(heard.filter(({ type }) => type === "call")).toEqual([
      {
        type: "call",
        tool: "look",
        tier: "read",
        status: "ran",
        summary: "ran",
        how: "allowed",
        duration: 0,
        who: "ada",
        request: null,
      },
      {
        type: "call",
        tool: "pay",
        tier: "write",
        status: "refused",
        summary: "rejected",
        how: null,
        duration: 0,
        who: "ada",
        request: id,
      },
    ]);
    expect(JSON.stringify(heard)).not.toContain("amount");
  });
});

describe("guard", () => {
  it("P-01 gives a function of the same type that runs only through the run", async () => {
    const on = gateBench();
    const send = (mail: { to: string }): string => `sent to ${mail.to}`;
    const safe = on.run.guard(send, { name: "send_mail", tier: "write", confirm: "Send to {to}?" });
    const call = safe({ to: "bob" });
    await on.answer("approve");
    expect(await call).toBe("sent to bob");
    expect(on.channel.deliveries[0]?.card.message).toBe("Send to bob?");
    expect(on.run.guard(send, { name: "send_mail", tier: "write" })).toBeTypeOf("function");
    expect(() => on.run.guard((_: never) => 1, { name: "send_mail" })).toThrow(/called "send_mail" already/);
    expect(() => on.run.guard(((_a: never, _b: never) => 1) as never, { name: "two" })).toThrow(/one argument/);
    expect(() => on.run.guard(7 as never, { name: "none" })).toThrow(/one argument/);
    on.gate.tools([recorder()]);
    expect(() => on.run.guard(send, { name: "pay" })).toThrow(/called "pay" already/);
  });
});

describe("a performer", () => {
  it("P-01 of a name is the tool that has it now: one declared graver meanwhile is asked about", async () => {
    const on = gateBench();
    const [first, second] = [recorder({ tier: "read" }), recorder({ tier: "physical", version: "2" })];
    on.gate.observe(first);
    expect(await on.run.try("pay", PAY)).toMatchObject({ status: "ran", how: "allowed" });
    on.gate.observe(second);
    const call = on.run.try("pay", PAY);
    await on.answer("approve");
    expect(await call).toMatchObject({ status: "ran", how: "approved" });
    expect([first.ran, second.ran]).toEqual([[PAY], [PAY]]);
  });

  it("P-02 runs a tool that lives elsewhere, looked at again just before", async () => {
    const on = gateBench();
    const tool = recorder();
    const handle = on.gate.observe(tool);
    const ran: JsonObject[] = [];
    let now: Tool | undefined = tool;
    const performer = { run: (args: JsonObject) => ran.push(args), current: async () => now };
    const call = async (n: number) => {
      const outcome = on.run.try(handle, { n } as never, { performer });
      await on.shown();
      return outcome;
    };
    const first = call(1);
    await on.answer("approve");
    expect(await first).toMatchObject({ status: "ran", value: 1 });
    now = { ...tool, version: "2" };
    const second = call(2);
    await on.answer("approve");
    expect(await second).toMatchObject({ status: "refused", code: "tool_changed" });
    now = undefined;
    const third = call(3);
    await on.answer("approve");
    expect(await third).toMatchObject({ status: "refused", code: "tool_changed" });
    const plain = on.run.try(handle, { n: 4 } as never, { performer: { run: (args) => ran.push(args) } });
    await on.shown();
    on.gate.observe({ ...tool, version: "3" });
    await on.answer("approve");
    expect(await plain).toMatchObject({ status: "refused", code: "tool_changed" });
    expect([ran, tool.ran]).toEqual([[{ n: 1 }], []]);
  });
});
