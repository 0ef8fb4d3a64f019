import { describe, expect, it } from "vitest";
import { memoryStore } from "../../stores/memory/index.ts";
import { manualClock } from "../../testing/index.ts";
import { identity } from "../desk/desk.test-kit.ts";
import { faultyStore, noFaults } from "../desk/faulty-store.test-kit.ts";
import type { JsonObject } from "../json-value.ts";
import { type GateBench, gateBench, recorder } from "./gate.test-kit.ts";

const PAY = { to: "bob", amount: 7 };
const ADA = identity("ada");

async function edit(on: GateBench, args: JsonObject | null, over: { as?: typeof ADA } = {}) {
  const id = await on.shown();
  const shown = on.channel.deliveries.find(
    ({ card, to }) => card.id === id && (over.as === undefined || to.principal === over.as.principal),
  );
  const { card, view, to } = shown ?? { card: undefined, view: "", to: ADA };
  const done = await on.gate.desk.approvals?.edit(id, { arguments: args, digest: card?.digest ?? "sha256:", view }, to);
  await on.clock.settle();
  return done;
}

describe("floors", () => {
  it.each<[string, unknown, boolean]>([
    ["nothing", undefined, true],
    ["true", true, true],
    ["false", false, false],
    ["a function that says false", () => false, false],
    ["a function that says true", () => true, true],
    ["a function that says nothing", () => undefined, true],
    ["a function that says 0", () => 0, true],
    ["a promise of false", async () => false, true],
    [
      "a function that throws",
      () => {
        throw new Error("no");
      },
      true,
    ],
  ])("P-15 with a when of %s: only exactly false frees", async (_what, when, asked) => {
    const on = gateBench();
    on.gate.tools([recorder({ tier: "read", confirm: { ...(when === undefined ? {} : { when: when as never }) } })]);
    expect((await on.run.check("pay", PAY)).verdict).toBe(asked ? "ask" : "allow");
  });

  it("P-02 shows its condition a copy", async () => {
    const on = gateBench();
    const tool = recorder({
      tier: "read",
      confirm: {
        when: (args) => {
          (args as { to: string }).to = "eve";
          return false;
        },
      },
    });
    on.gate.tools([tool]);
    await on.run.call("pay", PAY);
    expect(tool.ran).toEqual([PAY]);
  });

  it("P-08 of code, of marks and of policy entries all hold, and policy refines the rest", async () => {
    const on = gateBench({
      policy: {
        tools: [
          {
            match: "p*",
            tier: "physical",
            impact: "destructive",
            effect: "money moves",
            secrets: ["/key"],
            editable: ["/amount"],
          },
          { match: "pay", confirm: { approvers: ["bob"] }, editable: ["/amount", "/to"], ignore: ["/n"] },
          { match: "other", confirm: true },
        ],
      },
    });
    on.gate.tools([recorder({ tier: "read", confirm: "Pay {to}?", secrets: ["/token"], editable: ["/amount", "/x"] })]);
    const call = on.run.try("pay", { ...PAY, key: "k-secret", token: "t-secret" });
    const id = await on.shown();
    const { record } = (await on.store.read(id)) ?? {};
    expect(record?.terms.clauses.map(({ any }) => any[0]?.of)).toEqual([["@principal", "@operator"], ["bob"]]);
    expect(record).toMatchObject({ tier: "physical", impact: "destructive", terms: { editable: ["/amount"] } });
    expect(record?.call.secrets.slice().sort()).toEqual(["/key", "/token"]);
    expect(on.channel.deliveries[0]?.card).toMatchObject({ effect: "money moves", message: "Pay bob?" });
    await on.gate.cancelAll();
    await call;
  });
});

describe("opinions in a policy", () => {
  it("P-08 may rewrite a call, which is then judged, shown and run as rewritten, and checked once more", async () => {
    const on = gateBench({ policy: { opinions: [() => ({ verdict: "none", arguments: { to: "bob", amount: 5 } })] } });
    const tool = recorder({ input: { type: "object", properties: { amount: { type: "number", maximum: 6 } } } });
    on.gate.tools([tool]);
    const call = on.run.try("pay", { to: "bob", amount: 6 });
    await on.answer("approve");
    expect(await call).toMatchObject({ status: "ran" });
    expect(tool.ran).toEqual([{ to: "bob", amount: 5 }]);
    expect(on.channel.deliveries[0]?.card.notes).toEqual([
      "our own code changed what the agent asked for; what is shown is what would run",
    ]);
    const broken = gateBench({ policy: { opinions: [() => ({ verdict: "allow", arguments: { amount: 99 } })] } });
    broken.gate.tools([tool]);
    expect(await broken.run.try("pay", { amount: 1 })).toMatchObject({ code: "invalid_arguments" });
    expect((await broken.run.check("pay", { amount: 1 })).stations.at(-1)).toEqual({
      station: "bind",
      said: "invalid_arguments",
    });
    expect(await broken.run.available("pay", { amount: 1 })).toBe(false);
  });

  it("P-08 allow only where nothing holds, deny always, ask as a hold, and a fault refuses", async () => {
    const said = async (opinion: () => unknown, tool = {}) => {
      const on = gateBench({ policy: { opinions: [opinion as never] } });
      on.gate.tools([recorder(tool)]);
      return (await on.run.check("pay", PAY)).stations.at(-1)?.said;
    };
    expect(await said(() => ({ verdict: "allow" }))).toBe("allow: opinion");
    expect(await said(() => ({ verdict: "allow" }), { confirm: true })).toBe("ask: tool");
    expect(await said(() => ({ verdict: "ask" }), { tier: "read" })).toBe("ask: opinion");
    expect(await said(() => ({ verdict: "deny", reason: "no" }), { tier: "read" })).toBe("deny: opinion (no)");
    expect(await said(() => "allow")).toBe("deny: opinion");
  });
});

describe("secrets", () => {
  it("P-19 P-02 run as they were given, and stand as commitments everywhere else, edits included", async () => {
    const on = gateBench();
    const tool = recorder({ secrets: ["/token"] });
    on.gate.tools([tool]);
    const call = on.run.try("pay", { ...PAY, token: "t-secret" });
    await on.shown();
    const shown = on.channel.deliveries[0]?.card.arguments ?? {};
    expect(JSON.stringify([shown, on.lines])).not.toContain("t-secret");
    expect(await edit(on, { ...shown, amount: 3 } as JsonObject)).toMatchObject({ counted: true });
    expect(await call).toMatchObject({ status: "ran" });
    expect(tool.ran).toEqual([{ to: "bob", amount: 3, token: "t-secret" }]);
  });

  it("P-19 are never written on a card", async () => {
    const on = gateBench();
    on.gate.tools([recorder({ secrets: ["/token"] })]);
    const call = on.run.try("pay", PAY);
    expect(await edit(on, { ...PAY, token: "typed on a card" })).toMatchObject({ counted: false, code: "invalid_edit" });
    await on.gate.cancelAll();
    await call;
  });
});

describe("an edit", () => {
  it("P-02 P-08 is checked by the gate's own stations, and tells the model what ran", async () => {
    const on = gateBench({
      policy: {
        rules: [
          { deny: "pay", when: ({ arguments: args }) => args.amount === 9 },
          { ask: "pay", when: ({ arguments: args }) => args.amount === 8, approvers: ["bob"] },
        ],
      },
    });
    const tool = recorder({ input: { type: "object", properties: { amount: { type: "number" } } } });
    on.gate.tools([tool]);
    const call = on.run.try("pay", PAY);
    expect(await edit(on, { to: "bob", amount: "x" })).toMatchObject({
      code: "invalid_arguments",
      note: expect.stringMatching(/^\/amount: /),
    });
    expect(await edit(on, { to: "bob", amount: 9 })).toMatchObject({ code: "denied" });
    expect(await edit(on, { to: "bob", amount: 8 })).toMatchObject({ counted: true, status: "pending" });
    await on.answer("approve", { by: "bob" });
    expect(await call).toMatchObject({ status: "ran", edited: { by: "ada", arguments: { to: "bob", amount: 8 } } });
    expect(tool.ran).toEqual([{ to: "bob", amount: 8 }]);
  });

  it("P-02 that was checked elsewhere is checked here again before it runs", async () => {
    const clock = manualClock();
    const capabilities = { durable: true, shared: true, wake: "poll" as const };
    const store = { ...faultyStore(memoryStore({ clock }), noFaults()), capabilities };
    const on = gateBench({ clock, store });
    const other = gateBench({ clock, store });
    let strict = false;
    const validate = (value: unknown) => (strict ? { issues: [{ message: "too late" }] } : { value });
    const tool = recorder({ input: { "~standard": { version: 1, vendor: "x", validate } } as never });
    on.gate.tools([tool]);
    const edited = async (args: JsonObject, then?: { input: "changed" }) => {
      const call = on.run.try("pay", PAY);
      const id = await on.shown();
      const presented = await other.gate.desk.approvals?.card(id, ADA);
      if (presented === undefined || "ambiguous" in presented) throw new Error("not seen");
      const done = await other.gate.desk.approvals?.edit(
        id,
        { arguments: args, digest: presented.card.digest, view: presented.view },
        ADA,
      );
      strict = then !== undefined;
      await clock.settle();
      await clock.advance(6000);
      return [done?.counted, await call] as const;
    };
    const [counted, outcome] = await edited({ to: "bob", amount: 3 });
    expect([counted, outcome]).toMatchObject([true, { status: "ran" }]);
    expect(tool.ran).toEqual([{ to: "bob", amount: 3 }]);
    const [taken, refused] = await edited({ to: "bob", amount: 4 }, { input: "changed" });
    expect([taken, refused]).toMatchObject([true, { status: "refused", code: "invalid_edit" }]);
    expect(tool.ran).toHaveLength(1);
  });

  it("P-15 whose own check fails is answered, and leaves the request", async () => {
    let broken = false;
    const on = gateBench({ policy: { opinions: [() => (broken ? (7 as never) : null)] } });
    const schema = {
      "~standard": {
        version: 1,
        vendor: "x",
        validate: (value: unknown) => (broken ? { issues: [{ message: "no", path: ["amount"] }] } : { value }),
      },
    };
    on.gate.tools([recorder({ input: schema as never })]);
    const call = on.run.try("pay", PAY);
    await on.shown();
    broken = true;
    expect(await edit(on, { to: "bob", amount: 3 })).toMatchObject({
      counted: false,
      code: "invalid_arguments",
      note: "/amount: no",
    });
    broken = false;
    await on.answer("approve");
    expect(await call).toMatchObject({ status: "ran" });
  });

  it("P-15 on which an opinion fails, or which it rewrites into a broken call, is answered, and leaves the request", async () => {
    let said: unknown = null;
    const on = gateBench({ policy: { opinions: [() => said as never] } });
    on.gate.tools([recorder({ input: { type: "object", properties: { amount: { type: "number" } } } })]);
    const call = on.run.try("pay", PAY);
    await on.shown();
    said = 7;
    expect(await edit(on, { to: "bob", amount: 3 })).toMatchObject({ counted: false, code: "denied" });
    said = { verdict: "none", arguments: { to: "bob", amount: "three" } };
    expect(await edit(on, { to: "bob", amount: 3 })).toMatchObject({
      code: "invalid_arguments",
      note: expect.stringMatching(/^\/amount: /),
    });
    said = null;
    await on.answer("approve");
    expect(await call).toMatchObject({ status: "ran" });
  });

  it.each<[string, JsonObject, unknown]>([
    ["itself", { to: "bob", amount: 4 }, null],
    ["as an opinion rewrites it", { to: "bob", amount: 3 }, { verdict: "none", arguments: { to: "bob", amount: 4 } }],
  ])(
    "P-15 that never settles under its schema, %s, has no place to point at and is answered all the same",
    async (_what, args, says) => {
      let said: unknown = null;
      const drift = { n: 0 };
      const settled = (value: unknown) => ["3", "7"].includes(String((value as JsonObject).amount));
      const validate = (value: unknown) => {
        drift.n += 1;
        return { value: settled(value) ? value : { ...drift } };
      };
      const on = gateBench({ policy: { opinions: [() => said as never] } });
      on.gate.tools([recorder({ input: { "~standard": { version: 1, vendor: "x", validate } } as never })]);
      const call = on.run.try("pay", PAY);
      await on.shown();
      said = says;
      expect(await edit(on, args)).toMatchObject({ counted: false, code: "schema_not_stable" });
      said = null;
      await on.answer("approve");
      expect(await call).toMatchObject({ status: "ran" });
    },
  );
});
