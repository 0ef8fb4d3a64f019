import { describe, expect, it } from "vitest";
import { gateJudge } from "../../../src/gateway/index.ts";
import type { Tool } from "../../../src/index.ts";
import { relayedCall } from "../world/relayed-call.ts";
import { asking, type Begun, bench, ending } from "./bench.ts";

describe("windows", () => {
  const tools = [asking("send", { confirm: { window: "5m" } }), asking("pay")];
  const approved = async (at: ReturnType<typeof bench>, tool: string, args: object): Promise<Begun> => {
    const call = await at.begin(tool, args);
    await at.answers(call.request, "approve");
    return call;
  };

  it("AP-007: the same call inside the tool's window runs, and nobody is asked", async () => {
    const at = bench();
    at.tools(...tools);
    await approved(at, "send", { to: "x" });
    expect(ending(await at.begin("send", { to: "x" }))).toBe("ran: window");
    expect(at.person.deliveries.length).toBe(1);
  });

  it("AP-008: other arguments ask once more", async () => {
    const at = bench();
    at.tools(...tools);
    await approved(at, "send", { to: "x" });
    expect(ending(await at.begin("send", { to: "y" }))).toBe("open");
    expect(at.person.deliveries.length).toBe(2);
  });

  it("AP-009: without a window each call asks", async () => {
    const at = bench();
    at.tools(...tools);
    await approved(at, "pay", {});
    expect(ending(await at.begin("pay", {}))).toBe("open");
    expect(at.person.deliveries.length).toBe(2);
  });

  it.each([["AP-041"], ["AP-066"]])("%s: no window answers for a shared identity", async () => {
    const at = bench({
      policy: { rules: [{ ask: "send", approvers: ["ada"], window: "1h" }] },
      run: { principal: "service", shared: true },
    });
    at.tools({ name: "send" });
    await approved(at, "send", {});
    expect(ending(await at.begin("send", {}))).toBe("open");
  });

  it("AP-047: before a server's tools a gate asks on its own channel, each time", async () => {
    const at = bench();
    const judge = gateJudge({ gate: at.gate, server: "files", command: ["files"], principal: "ada", waiting: (tool) => tool });
    const definition = { name: "write", inputSchema: { type: "object" } };
    const ask = (): Promise<unknown> => judge.judge(relayedCall("write", {}, definition), new AbortController().signal);
    for (const count of [1, 2]) {
      const verdict = ask();
      await at.settle();
      expect(at.person.deliveries.length).toBe(count);
      await at.answers(at.person.deliveries[count - 1]?.card.id ?? "", "approve");
      const released = (await verdict) as { run: true; finished(outcome: object): Promise<void> };
      expect(released.run).toBe(true);
      await released.finished({ isError: false, result: {} });
    }
    await judge.close();
  });
});

describe("grants", () => {
  const granting = (more: Partial<Tool> = {}): Partial<Tool> & { name: string } => ({
    name: "send",
    tier: "read",
    requires: { scope: "mail", length: "10m" },
    ...more,
  });
  const given = async (at: ReturnType<typeof bench>, args: object = {}): Promise<Begun> => {
    const call = await at.begin("send", args);
    await at.answers(call.request, "approve");
    return call;
  };

  it("AP-032: the grant is asked for before the call", async () => {
    const at = bench();
    at.tools(granting({ confirm: true }));
    const call = await at.begin("send", {});
    expect(at.person.deliveries.map(({ card }) => card.kind)).toEqual(["grant"]);
    await at.answers(call.request, "approve");
    expect(at.person.deliveries.map(({ card }) => card.kind)).toEqual(["grant", "call"]);
    expect(at.ran).toEqual([]);
  });

  it.each([
    ["AP-070", 599_999, "ran: allowed"],
    ["AP-071", 700_000, "open"],
    ["AP-072", 600_000, "open"],
  ])("%s: %i ms after it was given, a call is %s", async (_id, ms, how) => {
    const at = bench();
    at.tools(granting());
    await given(at);
    await at.advance(ms);
    expect(ending(await at.begin("send", { other: true }))).toBe(how);
  });

  it("AP-074: a grant covers any arguments of its scope, and no other scope", async () => {
    const at = bench();
    at.tools(granting(), { name: "post", tier: "read", requires: "mail" }, { name: "pay", tier: "read", requires: "money" });
    await given(at);
    expect(ending(await at.begin("post", { a: 1 }))).toBe("ran: allowed");
    expect(ending(await at.begin("pay", { a: 1 }))).toBe("open");
  });

  it("AP-076, AP-083, AP-086: a yes gives the grant that the tool describes, with an id, and the call runs", async () => {
    const at = bench();
    at.tools(granting());
    const call = await given(at);
    expect(ending(call)).toBe("ran: allowed");
    const [grant] = await at.desk.approvals.grants(at.identity());
    expect(grant).toMatchObject({ id: expect.any(String) as string, covers: "mail", by: "ada" });
    expect(Date.parse(grant?.until ?? "") - Date.parse(grant?.since ?? "")).toBe(600_000);
  });

  it("AP-078: a grant that was taken back covers nothing; one that nobody gave cannot be taken back", async () => {
    const at = bench();
    at.tools(granting());
    await given(at);
    const [grant] = await at.desk.approvals.grants(at.identity());
    expect(await at.desk.approvals.end("grant", grant?.id ?? "", at.identity())).toBe(true);
    expect(await at.desk.approvals.end("grant", "nothing", at.identity())).toBe(false);
    expect(ending(await at.begin("send", {}))).toBe("open");
  });

  it("AP-079: people see their own live grants only", async () => {
    const at = bench({ people: ["ada", "bob"] });
    at.tools(granting());
    await given(at);
    expect(await at.desk.approvals.grants(at.identity("bob"))).toEqual([]);
    expect((await at.desk.approvals.grants(at.identity())).length).toBe(1);
    await at.advance(600_000);
    expect(await at.desk.approvals.grants(at.identity())).toEqual([]);
  });

  it("AP-080: what has run out is cleared away and counted", async () => {
    const at = bench();
    at.tools(granting(), asking("pay", { confirm: { window: "1m" } }));
    await given(at);
    await at.answers((await at.begin("pay", {})).request, "approve");
    expect(await at.gate.sweep()).toBe(0);
    await at.advance(600_000);
    expect(await at.gate.sweep()).toBe(2);
    expect(await at.gate.sweep()).toBe(0);
    expect(at.journal("grant.ended", "window.ended").length).toBe(2);
  });

  it("AP-081: a tool that requires nothing needs no grant", async () => {
    const at = bench();
    at.tools({ name: "look", tier: "read" });
    expect(ending(await at.begin("look", {}))).toBe("ran: allowed");
  });

  it.each([["AP-082"], ["AP-089"]])("%s: a live grant asks nobody again", async () => {
    const at = bench();
    at.tools(granting());
    await given(at);
    expect(ending(await at.begin("send", { other: 1 }))).toBe("ran: allowed");
    expect(at.person.deliveries.length).toBe(1);
  });

  it("AP-084: a grant that a person refuses lets nothing through", async () => {
    const at = bench();
    at.tools(granting());
    const call = await at.begin("send", {});
    await at.answers(call.request, "reject");
    expect(ending(call)).toBe("refused: not_granted");
    expect(at.ran).toEqual([]);
  });
});
