import { afterEach, describe, expect, it } from "vitest";
import { gateJudge } from "../../src/gateway/index.ts";
import { createGate, type Policy } from "../../src/index.ts";
import { recordingChannel } from "../../src/testing/index.ts";
import { asking, bench, ending } from "./seeds/bench.ts";
import { relayedCall } from "./world/relayed-call.ts";

/** Where a case and the design differ: what docs/decisions/0010-cases-and-design.md settles. */

const gates: AsyncDisposable[] = [];
afterEach(async () => {
  for (const gate of gates.splice(0)) await gate[Symbol.asyncDispose]();
});

describe("settled", () => {
  it("BR-202: two gates in the way of one call are two questions, each of which names its place", async () => {
    const at = bench();
    const judge = gateJudge({ gate: at.gate, server: "crm", command: ["crm"], principal: "ada", waiting: (tool) => tool });
    const definition = { name: "write", inputSchema: { type: "object" } };
    at.tools(
      asking("write", {
        run: async () => {
          const verdict = await judge.judge(relayedCall("write", {}, definition), new AbortController().signal);
          if (verdict.run) await verdict.finished({ isError: false, result: "written" });
          return verdict.run;
        },
      }),
    );
    const call = await at.begin("write", {});
    await at.answers(call.request, "approve");
    expect(ending(call)).toBe("open");
    const [second] = await at.gate.pending();
    await at.answers(second?.record.id ?? "", "approve");
    expect(call.outcome).toMatchObject({ status: "ran", value: true });
    expect(at.person.deliveries.map(({ card }) => [card.tool.name, card.tool.origin])).toEqual([
      ["write", "code"],
      ["crm/write", "mcp:crm"],
    ]);
    await judge.close();
  });

  it("BR-115: one rule that cannot be read fails the policy, and what was in force goes on denying", async () => {
    const broken = { rules: [{ deny: "rm" }, { allow: "echo('unpaired" }] } as Policy;
    expect(() => createGate({ policy: broken })).toThrow(/looks at arguments/);
    const at = bench({ policy: { rules: [{ deny: "rm" }] } });
    at.tools({ name: "rm" });
    await expect((async () => at.gate.setPolicy(broken))()).rejects.toThrow(/looks at arguments/);
    expect(ending(await at.begin("rm", {}))).toBe("refused: denied");
  });

  it("BR-043, BR-044, BR-046, BR-047: on a card the request stays after a fault; only a conversation can end it", async () => {
    const at = bench({ policy: { rules: [{ deny: "pay", when: (call) => Number(call.arguments.n) > 1000 }] } });
    at.tools(asking("pay", { input: { type: "object", properties: { n: { type: "number" }, to: {} } }, editable: ["/n"] }));
    const call = await at.begin("pay", { n: 1, to: "x" });
    for (const args of [{ n: "ten", to: "x" }, { n: 5000, to: "x" }, { n: 1, to: "y" }, { action: "pay" }])
      expect(await at.edits(call.request, args)).toMatchObject({ counted: false, status: "pending" });
    expect(ending(call)).toBe("open");
    await at.answers(call.request, "approve");
    expect(ending(call)).toBe("ran: approved");
  });

  it("BR-077: after a no the run goes on; another call is asked as itself, and the same one is not asked again", async () => {
    const at = bench();
    at.tools(asking("http"), asking("bash"));
    const first = await at.begin("http", { url: "https://api.test" });
    await at.answers(first.request, "reject");
    expect(ending(await at.begin("http", { url: "https://api.test" }))).toBe("refused: already_refused");
    expect(ending(await at.begin("bash", { command: "curl https://api.test" }))).toBe("open");
  });

  it("BR-035: a caller's id that comes with another call is refused loudly, and never answered by the first", async () => {
    const at = bench();
    at.tools(asking("read"));
    const first = await at.begin("read", { path: "a" }, { id: "dup" });
    const second = await at.begin("read", { path: "b" }, { id: "dup" });
    expect([ending(first), ending(second)]).toEqual(["open", "refused: duplicate_id"]);
  });

  it("BR-227: an opinion's allow answers no ask, and a deny beats both", async () => {
    const at = bench({ policy: { opinions: [() => ({ verdict: "allow" })], rules: [{ ask: "plan" }, { deny: "apply" }] } });
    at.tools({ name: "plan" }, { name: "apply" });
    expect([ending(await at.begin("plan", {})), ending(await at.begin("apply", {}))]).toEqual(["open", "refused: denied"]);
  });

  it("A37: a default is shown as the value it is", async () => {
    const person = recordingChannel();
    const gate = createGate({ channels: [person] });
    gates.push(gate);
    const input = {
      "~standard": {
        version: 1 as const,
        vendor: "test",
        validate: (value: unknown) => ({ value: { force: true, ...(value as object) } }),
      },
    };
    gate.tools([{ name: "drop", confirm: true, input, run: () => undefined }]);
    const run = gate.run({ principal: "ada" });
    void run.try("drop", { id: 1 });
    while (person.deliveries.length === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(person.deliveries[0]?.card.arguments).toEqual({ force: true, id: 1 });
  });
});
