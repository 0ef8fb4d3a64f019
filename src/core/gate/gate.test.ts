import { describe, expect, it } from "vitest";
import { memoryStore } from "../../stores/memory/index.ts";
import { recordingChannel } from "../../testing/index.ts";
import { benchRuntime } from "../desk/desk.test-kit.ts";
import { manualClock } from "../../testing/index.ts";
import { DeclarationError } from "../errors.ts";
import { isRefused } from "../outcome.ts";
import type { Desk } from "../ports/desk.ts";
import type { InputSchema, Tool } from "../tool-call.ts";
import { type GateOptions, makeGate, snapshotOf } from "./gate.ts";
import { gateBench, recorder } from "./gate.test-kit.ts";
import { knownTool } from "./know.ts";
import type { GatedTool } from "./tool.ts";

const PAY = { to: "bob" };

describe("a gate", () => {
  it.each<[string, GateOptions, RegExp]>([
    ["a desk and a policy", { desk: {} as Desk, policy: {} }, /give either desk or those/],
    ["a desk and channels", { desk: {} as Desk, channels: [] }, /give either desk or those/],
    ["another way to wait", { wait: "suspend" as "block" }, /"suspend" is not offered/],
    ["half a window", { windows: "maybe" as "on" }, /windows is "on" or "off"/],
    ["no deadline", { deadline: 0 }, /at least 1 ms and at most 90 days/],
    ["a deadline beyond 90 days", { deadline: "91d" }, /at most 90 days/],
  ])("refuses %s when it is made", (_what, options, words) => {
    const clock = manualClock();
    const made = () =>
      makeGate({
        ...options,
        runtime: benchRuntime(clock),
        store: options.desk === undefined ? memoryStore({ clock }) : undefined,
      });
    expect(made).toThrow(DeclarationError);
    expect(made).toThrow(words);
  });

  it("needs a store for a desk of its own, and none beside a desk elsewhere", () => {
    const runtime = benchRuntime(manualClock());
    expect(() => makeGate({ runtime, store: undefined })).toThrow(/needs a store/);
    expect(() => makeGate({ runtime, store: memoryStore(), desk: {} as Desk })).toThrow(/give either desk or those/);
  });

  it("P-01 has no way to approve but through the desk that the app owns, and its handles do not run", async () => {
    const on = gateBench();
    const [pay] = on.gate.tools([recorder()]) as [GatedTool & { run: () => void }];
    expect(Object.keys(on.gate).filter((name) => /approve|decide/.test(name))).toEqual([]);
    expect(on.gate.desk.approvals).toBeDefined();
    const thrown = (() => {
      try {
        return pay.run();
      } catch (error) {
        return error;
      }
    })();
    expect(isRefused(thrown) && thrown.code).toBe("no_gate");
    expect(Object.isFrozen(pay)).toBe(true);
  });

  it("P-01 asks nothing it need not know: without a channel every ask is refused", async () => {
    const on = gateBench({ channels: [] });
    on.gate.tools([recorder()]);
    expect(await on.run.try("pay", PAY)).toMatchObject({ code: "no_approver" });
  });

  it("registers all tools or none, one for each name", () => {
    const on = gateBench();
    expect(() => on.gate.tools([recorder(), recorder()])).toThrow(/registered already/);
    expect(on.gate.requires("pay")).toBe(false);
    on.gate.tools([recorder()]);
    expect(() => on.gate.tool({ name: "pay", run: () => 1 })).toThrow(/registered already/);
    expect(() => on.gate.tools([recorder({ name: "ok" }), recorder({ name: "no way" })])).toThrow(/a tool name is ASCII/);
    expect(on.gate.requires("ok")).toBe(false);
  });

  it("says whether any call of a tool could ask", () => {
    const asks = (tool: Partial<Tool>, options: Parameters<typeof gateBench>[0] = {}): boolean => {
      const on = gateBench(options);
      on.gate.tools([recorder(tool)]);
      return on.gate.requires("pay");
    };
    expect(asks({})).toBe(true);
    expect(asks({ tier: "read" })).toBe(false);
    expect(asks({ tier: "read", confirm: true })).toBe(true);
    expect(asks({ tier: "read", requires: "x" })).toBe(true);
    expect(asks({ tier: "physical" }, { policy: { unmatched: "allow" } })).toBe(true);
    expect(asks({ tier: "write" }, { policy: { unmatched: "allow" } })).toBe(false);
    expect(asks({ tier: "write" }, { policy: { unmatched: "deny" } })).toBe(false);
    expect(asks({ tier: "write" }, { policy: { rules: [{ allow: "pay" }] } })).toBe(false);
    expect(asks({ tier: "write" }, { policy: { rules: [{ allow: "pay", when: () => true }] } })).toBe(true);
    expect(asks({ tier: "read" }, { policy: { rules: [{ ask: "p*", when: () => false }] } })).toBe(true);
    expect(asks({ tier: "read" }, { policy: { rules: [{ ask: "pay", tiers: ["write"] }] } })).toBe(false);
    expect(asks({ tier: "read" }, { policy: { rules: [{ allow: "pay", requires: "x" }] } })).toBe(true);
    expect(asks({ tier: "read" }, { policy: { opinions: [() => null] } })).toBe(true);
    expect(asks({ tier: "read" }, { policy: { unmatched: "ask" } })).toBe(true);
    expect(asks({ tier: "write" }, { policy: { rules: [{ deny: "pay" }] } })).toBe(false);
  });

  it("withdraws, expires and lists what it opened", async () => {
    const on = gateBench();
    on.gate.tools([recorder(), recorder({ name: "send" })]);
    const other = on.gate.run({ principal: "bob", run: "r2" });
    const calls = [on.run.try("pay", PAY), on.run.try("send", PAY), other.try("pay", PAY)];
    await on.clock.settle();
    await on.clock.advance(1000);
    const open = await on.gate.pending();
    expect(open.map(({ remainingMs, record }) => `${record.call.tool.name} ${remainingMs}`).sort()).toEqual([
      "pay 299000",
      "pay 299000",
      "send 299000",
    ]);
    const mine = open.find(({ record }) => record.requester.principal === "ada")?.record.id ?? "";
    expect(await on.gate.pending({ principal: "bob" })).toHaveLength(1);
    expect(await on.gate.pending({ tool: "send" })).toHaveLength(1);
    expect(await on.gate.pending({ run: "r2" })).toHaveLength(1);
    expect(await on.gate.cancelAll({ principal: "bob" })).toBe(1);
    expect(await on.gate.expire(mine)).toBe(false);
    expect(await on.gate.cancel(mine)).toBe(true);
    expect(await on.gate.cancelAll()).toBe(1);
    expect(await on.gate.cancelAll()).toBe(0);
    expect((await Promise.all(calls)).map((outcome) => outcome.status === "refused" && outcome.code)).toEqual([
      "cancelled",
      "cancelled",
      "cancelled",
    ]);
    const late = on.run.try("pay", { n: 1 });
    await on.shown();
    on.clock.set(on.clock.now() + 300_000);
    expect(await on.gate.sweep()).toBe(1);
    expect(await late).toMatchObject({ code: "expired" });
  });

  it("ends with everything that still waits", async () => {
    const on = gateBench();
    on.gate.tools([recorder()]);
    const call = on.run.try("pay", PAY);
    const id = await on.shown();
    await on.gate[Symbol.asyncDispose]();
    expect(await call).toMatchObject({ status: "refused", code: "cancelled" });
    expect(id).toBeTruthy();
  });

  it("takes words for deadline, channels, windows, tenant and operator to its desk", async () => {
    const channels = ["a", "b"].map((name) => recordingChannel({ name, people: ["root"] }));
    const on = gateBench({
      channels,
      defaultChannel: ["b", "a"],
      deadline: "1m",
      windows: "off",
      tenant: "acme",
      operator: "root",
      mode: "default",
      editRetries: 3,
    });
    on.gate.tools([recorder({ confirm: { window: "5m" } })]);
    const call = on.run.try("pay", PAY);
    await on.clock.settle();
    expect(channels.map(({ deliveries }) => deliveries.length)).toEqual([0, 1]);
    const id = channels[1]?.deliveries[0]?.card.id ?? "";
    expect((await on.store.read(id))?.record).toMatchObject({ tenant: "acme", terms: { decideWithin: 60_000 } });
    expect(channels[1]?.desk.editRetries).toBe(3);
    await channels[1]?.answer(id, "approve");
    expect(await call).toMatchObject({ status: "ran" });
    const again = on.run.try("pay", PAY);
    await on.clock.settle();
    expect(channels[1]?.deliveries).toHaveLength(2);
    await on.gate.cancelAll();
    await again;
    const one = gateBench({
      defaultChannel: "recording",
      host: { grade: "structural", proof: "claimed", record: "calls", listing: [] },
    });
    one.gate.tools([recorder({ name: "look", tier: "read" })]);
    expect(await one.run.try("look", {})).toMatchObject({ status: "ran" });
    expect(one.gate.policy().record).toBe("calls");
  });

  it("P-14 exempts by code that says exactly true, until it is undone", async () => {
    const on = gateBench();
    on.gate.tools([recorder()]);
    const undo = await on.gate.exempt("tests", { tools: ["pay"] }, ({ arguments: args }) => args.to === "bob");
    expect(await on.run.try("pay", PAY)).toMatchObject({ status: "ran", how: "exempt" });
    await undo();
    const call = on.run.try("pay", PAY);
    await on.answer("approve");
    expect(await call).toMatchObject({ how: "approved" });
  });
});

describe("a gate before a desk elsewhere", () => {
  const elsewhere = (over: Partial<Desk>): Desk => over as Desk;

  it("runs on what that desk says, and says that what is the desk's is elsewhere", async () => {
    const { policy } = { policy: snapshotOf({}, { runtime: benchRuntime(manualClock()), record: "counts" }) };
    const on = gateBench({
      desk: elsewhere({ snapshot: () => policy, submit: async () => ({ ruling: "allow", how: "allowed" }) }),
    });
    on.gate.tools([recorder({ name: "look", tier: "read" })]);
    expect(await on.run.try("look", {})).toMatchObject({ status: "ran", how: "allowed" });
    expect(await on.run.call("look", {})).toEqual({ paid: true });
    for (const act of [() => on.gate.policy(), () => on.gate.sweep(), () => on.gate.expire("x"), () => on.gate.requires("look")])
      expect(act).toThrow(/elsewhere; ask that desk/);
    await expect(on.gate.pending()).rejects.toThrow(/elsewhere/);
    await on.gate[Symbol.asyncDispose]();
  });

  it("says so when the policy comes later", () => {
    expect(() => gateBench({ desk: elsewhere({ snapshot: async () => ({}) as never }) })).toThrow(/gives its policy later/);
  });

  it("starts a run with the policy that comes later, and none where it does not come", async () => {
    const runtime = benchRuntime(manualClock());
    const policy = snapshotOf({}, { runtime, record: "counts" });
    const submit: Desk["submit"] = async () => ({ ruling: "allow", how: "allowed" });
    const gate = makeGate({ runtime, store: undefined, desk: elsewhere({ snapshot: async () => policy, submit }) });
    gate.tools([recorder({ name: "look" })]);
    const run = await gate.start({ principal: "ada" });
    expect(await run.try("look", {})).toMatchObject({ status: "ran" });
    const gone = async () => {
      throw new Error("not there");
    };
    const other = makeGate({ runtime, store: undefined, desk: elsewhere({ snapshot: gone }) });
    await expect(other.start({ principal: "ada" })).rejects.toThrow("not there");
  });
});

describe("a declaration", () => {
  it.each<[string, Partial<Tool>, RegExp]>([
    ["a name with a line break", { name: "a\nb" }, /a tool name is ASCII/],
    ["a name that looks like another", { name: "pаy" }, /a tool name is ASCII/],
    ["an empty part of a name", { name: "a//b" }, /a tool name is ASCII/],
    ["a name too long", { name: "a".repeat(257) }, /a tool name is ASCII/],
    ["a name that is none", { name: 7 as never }, /a tool name is ASCII/],
    ["nothing to run", { run: undefined as never }, /give it a run function/],
    ["a tier outside the list", { tier: "reed" as never }, /tier "reed" is not one of/],
    ["an impact outside the list", { impact: "bad" as never }, /impact "bad" is not one of/],
    ["a confirmation that is none", { confirm: 7 as never }, /confirm is true, a message or an object/],
    ["approvers that are nobody", { confirm: { approvers: [] } }, /names nobody/],
    ["a mistyped approvers", { confirm: { aprovers: ["bob"] } as never }, /unknown key "aprovers"/],
    ["a message with an unknown name", { confirm: "Pay {tо}?", input: { type: "object", properties: { to: {} } } }, /tool "pay"/],
    ["a grant without a scope", { requires: "" }, /scope is empty/],
    ["a secret that is no pointer", { secrets: ["token"] }, /secrets "token" is not a JSON pointer/],
    ["an editable that is no pointer", { editable: ["a"] }, /editable "a"/],
    ["an ignore that is no pointer", { ignore: ["a"] }, /ignore "a"/],
    ["a binding that is no pointer", { binds: { files: ["a"] } }, /binds "a"/],
    ["a timeout that is none", { timeout: "soon" }, /"soon" is not a duration/],
    ["a timeout of nothing", { timeout: 0 }, /timeout of 0/],
  ])("P-14 P-15 is refused with %s", (_what, tool, words) => {
    const on = gateBench();
    expect(() => on.gate.tools([recorder(tool)])).toThrow(DeclarationError);
    expect(() => on.gate.tools([recorder(tool)])).toThrow(words);
  });

  it("knows the JSON Schema behind an input where its library can say", () => {
    const { crypto } = benchRuntime(manualClock());
    const jsonSchemaOf = (input: InputSchema | undefined) =>
      knownTool({ name: "a", run: () => 1, ...(input === undefined ? {} : { input }) }, crypto).schema;
    expect(jsonSchemaOf(undefined)).toBeNull();
    expect(jsonSchemaOf({ type: "object" })).toEqual({ type: "object" });
    expect(jsonSchemaOf({ bad: () => 1 })).toBeNull();
    const standard = { version: 1, vendor: "x", validate: () => ({ value: {} }) };
    expect(jsonSchemaOf({ "~standard": standard } as never)).toBeNull();
    expect(jsonSchemaOf({ "~standard": standard, toJSONSchema: () => ({ type: "object" }) } as never)).toEqual({
      type: "object",
    });
    const said = { ...standard, jsonSchema: { input: ({ target }: { target: string }) => ({ $comment: target }) } };
    expect(jsonSchemaOf({ "~standard": said } as never)).toEqual({ $comment: "draft-2020-12" });
  });

  it.each(["needsApproval", "requireApproval", "requiresConfirmation"])(
    "P-01 takes another framework's %s for a floor",
    async (flag) => {
      for (const [value, asked] of [
        [true, true],
        [() => false, true],
        [false, false],
      ] as const) {
        const on = gateBench();
        on.gate.tools([recorder({ tier: "read", [flag]: value } as never)]);
        expect(on.gate.requires("pay")).toBe(asked);
      }
    },
  );
});
