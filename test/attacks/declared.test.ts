import { afterEach, describe, expect, it } from "vitest";
import { confirm, createGate, type Policy, toolkit } from "../../src/index.ts";

type Gate = ReturnType<typeof createGate>;
/** Nobody can be asked here: whatever would ask is refused, whatever runs ran without a yes. */
const outcomeOf = async (gate: Gate, tool: string, args: unknown = {}) =>
  (await gate.run({ principal: "ada" }).try(tool, args)) as { status: string; code?: string };

describe("what was declared stays declared (P-01)", () => {
  it("keeps a floor whose confirm object is changed afterwards", async () => {
    const gate = createGate();
    const floor: { message: string; when?: () => boolean } = { message: "wipe?" };
    gate.tool({ name: "wipe", tier: "read", confirm: floor, run: () => "wiped" });
    floor.when = () => false;
    expect(await outcomeOf(gate, "wipe")).toMatchObject({ status: "refused", code: "no_approver" });
  });

  it("keeps a policy's rules, tools and approvers whose objects are changed afterwards", async () => {
    const tiers = ["write"] as ("write" | "read")[];
    const entry = {
      match: "note",
      tier: "read" as const,
      confirm: { message: "note?" } as { message: string; when?: () => boolean },
    };
    const rules: Policy["rules"] & unknown[] = [{ deny: "wipe", tiers }];
    const policy: Policy = { rules, tools: [entry] };
    const gate = createGate({ policy });
    gate.tool({ name: "wipe", tier: "write", run: () => "wiped" });
    gate.tool({ name: "note", run: () => "noted" });
    tiers.length = 0;
    rules.push({ allow: "**" } as never);
    entry.confirm.when = () => false;
    expect(await outcomeOf(gate, "wipe")).toMatchObject({ status: "refused", code: "denied" });
    expect(await outcomeOf(gate, "note")).toMatchObject({ status: "refused", code: "no_approver" });
  });

  it("keeps secrets, bound paths and the schema whose objects are changed afterwards", async () => {
    const gate = createGate();
    const secrets = ["/token"];
    const input = { type: "object", properties: { n: { type: "integer" } } };
    const handle = gate.tool({ name: "login", tier: "read", secrets, input, run: () => "in" });
    secrets.length = 0;
    input.properties.n.type = "string";
    expect(handle.secrets).toEqual(["/token"]);
    expect(() => (handle.secrets as string[]).push("/x")).toThrow(TypeError);
    expect(await outcomeOf(gate, "login", { n: "x" })).toMatchObject({ status: "refused", code: "invalid_arguments" });
  });
});

describe("marks cannot be slipped off (P-01)", () => {
  const wipe = confirm("wipe?")(() => "wiped");

  it("sees the mark of a function that a getter gives", async () => {
    const gate = createGate();
    class Wiper {
      readonly name = "wipe";
      readonly tier = "read";
      get run() {
        return wipe;
      }
    }
    gate.tool(new Wiper() as unknown as never);
    expect(await outcomeOf(gate, "wipe")).toMatchObject({ status: "refused" });
  });

  it("sees the mark of a toolkit's method that a getter gives", async () => {
    const gate = createGate();
    class Kit {
      get wipe() {
        return wipe;
      }
    }
    gate.tools(toolkit(new Kit(), { methods: ["wipe"], describe: { wipe: { tier: "read" } } }));
    expect(await outcomeOf(gate, "wipe")).toMatchObject({ status: "refused" });
  });

  it("keeps marks over call, apply, a foreign bind, Reflect and an override", async () => {
    expect(() => wipe.call(undefined)).toThrow();
    expect(() => Reflect.apply(wipe, undefined, [])).toThrow();
    const gate = createGate();
    class Base {
      readonly name: string = "base";
      readonly tier = "read";
      run(): string {
        return "ran";
      }
    }
    confirm("base?")(Base);
    class Sub extends Base {
      override readonly name = "sub";
      override run(): string {
        return "sub ran";
      }
    }
    gate.tool(new Sub() as unknown as never);
    gate.tool({ name: "bound", tier: "read", run: Function.prototype.bind.call(wipe, undefined) });
    gate.tool({ name: "proxied", tier: "read", run: new Proxy(wipe, {}) });
    expect(await outcomeOf(gate, "sub")).toMatchObject({ status: "refused" });
    expect((await outcomeOf(gate, "bound")).status).not.toBe("ran");
    expect((await outcomeOf(gate, "proxied")).status).not.toBe("ran");
  });

  it("gives a handle that runs nothing", async () => {
    const gate = createGate();
    const handle = gate.tool({ name: "wipe", tier: "read", run: () => "wiped" }) as unknown as { run: () => unknown };
    expect(() => handle.run()).toThrow();
    expect(() => Object.assign(handle, { run: () => 1 })).toThrow(TypeError);
  });
});

describe("a polluted Object.prototype frees nothing (P-15)", () => {
  const polluted = Object.prototype as Record<string, unknown>;
  afterEach(() => {
    for (const key of ["when", "except", "exemptible", "window", "tiers"]) delete polluted[key];
  });

  it("keeps floors and rules", async () => {
    const gate = createGate({ policy: { rules: [{ ask: "note" }, { deny: "wipe" }] } });
    gate.tool({ name: "floor", tier: "read", confirm: true, run: () => "ran" });
    gate.tool({ name: "worded", tier: "read", confirm: { message: "sure?" }, run: () => "ran" });
    gate.tool({ name: "note", tier: "read", run: () => "noted" });
    gate.tool({ name: "wipe", tier: "read", run: () => "wiped" });
    polluted.when = false;
    polluted.except = () => true;
    polluted.tiers = [];
    for (const name of ["floor", "worded", "note", "wipe"])
      expect(await outcomeOf(gate, name), name).toMatchObject({ status: "refused" });
  });
});
