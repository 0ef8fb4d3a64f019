import { describe, expect, it } from "vitest";
import * as holdpoint from "../../../src/index.ts";
import { createGate, DeclarationError, dataFolder, type Tool } from "../../../src/index.ts";
import { recordingChannel } from "../../../src/testing/index.ts";
import { asking, type Begun, bench, ending } from "./bench.ts";

describe("asking", () => {
  it("AP-001, AP-031: a tool without a mark runs, and nobody is asked", async () => {
    const at = bench();
    at.tools({ name: "look", tier: "read" });
    expect(ending(await at.begin("look", { a: 1 }))).toBe("ran: allowed");
    expect(at.person.deliveries).toEqual([]);
  });

  it("AP-002, AP-028, AP-042: a marked tool runs once a person said yes, and gives its own value", async () => {
    const at = bench();
    at.tools(asking("send"));
    const call = await at.begin("send", { to: "x" });
    expect(ending(call)).toBe("open");
    expect(at.ran).toEqual([]);
    await at.answers(call.request, "approve");
    expect(call.outcome).toMatchObject({ status: "ran", how: "approved", value: "send did it" });
    expect(at.ran).toEqual([{ tool: "send", args: { to: "x" } }]);
  });

  it("AP-004, AP-030, AP-044: time ends the wait and refuses; a yes that comes later changes nothing", async () => {
    const at = bench({ gate: { deadline: "1m" } });
    at.tools(asking("send"));
    const call = await at.begin("send", {});
    await at.advance(60_000);
    expect(ending(call)).toBe("refused: expired");
    expect(await at.answers(call.request, "approve")).toMatchObject({ counted: false, code: "late", status: "expired" });
    expect(at.ran).toEqual([]);
  });

  it("AP-043: a no is a refusal, and nothing ran", async () => {
    const at = bench();
    at.tools(asking("send"));
    const call = await at.begin("send", {});
    await at.answers(call.request, "reject");
    expect(ending(call)).toBe("refused: rejected");
    expect(at.ran).toEqual([]);
  });

  it("AP-006, AP-034, AP-085, AP-103, AP-143: with nobody to ask it is refused, and no request is opened", async () => {
    const at = bench({ channels: [] });
    at.tools(asking("send"), { name: "granted", tier: "read", requires: "mail" });
    expect(ending(await at.begin("send", {}))).toBe("refused: no_approver");
    expect(ending(await at.begin("granted", {}))).toBe("refused: no_approver");
    expect(at.created()).toEqual([]);
    expect(at.ran).toEqual([]);
  });

  it("AP-026: the gate's desk is the one it was given", () => {
    const desk = { ...bench().gate.desk };
    expect(createGate({ desk }).desk).toBe(desk);
  });

  it("AP-036: what declares and what recognises is exported", () => {
    for (const name of [
      "createGate",
      "confirm",
      "toolkit",
      "isRefused",
      "isSuspended",
      "isUnknown",
      "isHoldpointError",
      "Refused",
      "DeclarationError",
    ])
      expect(holdpoint).toHaveProperty(name);
  });

  it("AP-037: a guarded function asks once and runs once", async () => {
    const at = bench();
    let runs = 0;
    const send = at.run.guard(
      async ({ to }: { to: string }) => {
        runs += 1;
        return `sent to ${to}`;
      },
      { name: "send", confirm: true },
    );
    const value = send({ to: "x" });
    await at.settle();
    expect(at.person.deliveries.length).toBe(1);
    await at.answers(at.person.deliveries[0]?.card.id ?? "", "approve");
    expect(await value).toBe("sent to x");
    expect(runs).toBe(1);
  });

  it("AP-038: the channel that a rule names is used, never the gate's default", async () => {
    const [usual, special] = [recordingChannel({ name: "usual" }), recordingChannel({ name: "special" })];
    const at = bench({
      channels: [usual, special],
      policy: { rules: [{ ask: "send", channels: ["special"] }] },
      gate: { defaultChannel: "usual" },
    });
    at.tools({ name: "send" });
    await at.begin("send", {});
    expect([usual.deliveries.length, special.deliveries.length]).toEqual([0, 1]);
  });

  it("AP-039, AP-131: each call's tool sees the requester of its own run", async () => {
    const at = bench();
    const seen: unknown[] = [];
    at.tools({
      name: "look",
      tier: "read",
      run: (_args: never, { requester }: { requester: { principal: string; session?: string } }) =>
        seen.push([requester.principal, requester.session]) as never,
    });
    const runs = ["ada", "bob", "cy"].map((principal) => at.gate.run({ principal, session: `of ${principal}` }));
    await Promise.all(runs.map((run) => run.try("look", {})));
    expect(seen).toEqual([
      ["ada", "of ada"],
      ["bob", "of bob"],
      ["cy", "of cy"],
    ]);
  });

  it.each([["AP-040"], ["AP-069"]])("%s: nobody acts for nobody", () => {
    const at = bench();
    for (const principal of ["", undefined, null, 7])
      expect(() => at.gate.run({ principal: principal as never })).toThrow(DeclarationError);
  });

  it("AP-048: a gate without a tool is one, and knows none", async () => {
    const at = bench();
    expect(ending(await at.begin("anything", {}))).toBe("refused: unknown_tool");
  });

  it("AP-049, AP-098: one request is created and delivered once, and an answer in time completes it", async () => {
    const at = bench();
    at.tools(asking("send"));
    const call = await at.begin("send", {});
    expect(at.journal("request.created").length).toBe(1);
    expect(at.person.deliveries.length).toBe(1);
    await at.answers(call.request, "approve");
    expect(ending(call)).toBe("ran: approved");
    expect(at.person.deliveries.length).toBe(1);
  });

  it("AP-051: the answer that counts is the person's own, by the identity they were shown it as", async () => {
    const at = bench();
    at.tools(asking("send"));
    const call = await at.begin("send", {});
    await at.answers(call.request, "approve");
    const standing = await at.desk.standing(call.request);
    expect(standing?.record.decisions).toMatchObject([{ verdict: "approve", by: "ada", as: "recording:ada", via: "recording" }]);
  });

  it("AP-052: a channel that no desk has opened cannot answer", async () => {
    expect(() => recordingChannel().desk).toThrow("before the desk opened it");
    expect(() => recordingChannel().answer("x", "approve")).toThrow("nothing about x was delivered");
  });

  it("AP-054: what refuses a sub-agent's call is what it reads", async () => {
    const at = bench({ policy: { rules: [{ deny: "send", reason: "not by agents" }] } });
    at.tools({ name: "send" });
    const child = at.run.child({ path: "helper", asks: "parent" });
    const call = await at.begin("send", {}, { run: child });
    expect(call.outcome).toMatchObject({ code: "denied", sentence: expect.stringContaining("not by agents") as string });
  });

  it("AP-056, AP-123: a tool's schema is shown as it is, and says nothing of how people are asked", () => {
    const at = bench();
    const input = { type: "object", properties: { to: { type: "string" } } };
    const handle = at.gate.tool({ name: "send", input, confirm: { message: "Send {to}?", wait: "block" }, run: () => undefined });
    expect(handle.input).toEqual(input);
    expect(JSON.stringify(handle.input)).not.toMatch(/wait|confirm/);
  });

  it("AP-064: the data folder is where the environment says", () => {
    expect(dataFolder({ HOLDPOINT_DATA: "/srv/own" })).toBe("/srv/own");
    expect(dataFolder({ XDG_DATA_HOME: "/srv/xdg" })).toBe("/srv/xdg/holdpoint");
  });

  it("AP-067: windows are on or off, and nothing else is taken for a length", () => {
    for (const windows of [300, "5m", true]) expect(() => createGate({ windows: windows as never })).toThrow(DeclarationError);
  });

  it("AP-101: the first channel that can is the one that is used", async () => {
    const [first, second] = [recordingChannel({ name: "first" }), recordingChannel({ name: "second" })];
    const at = bench({ channels: [first, second], gate: { defaultChannel: ["first", "second"] } });
    at.tools(asking("send"));
    await at.begin("send", {});
    expect([first.deliveries.length, second.deliveries.length]).toEqual([1, 0]);
  });

  it("AP-102: a submission gives its id at once and runs nothing", async () => {
    const at = bench();
    at.tools(asking("send"));
    const { id } = await at.run.submit("send", {});
    await at.settle();
    await at.answers(id, "approve");
    expect(at.ran).toEqual([]);
    expect((await at.desk.standing(id))?.status).toBe("approved");
  });

  it("AP-106: where no channel can show it the request ends, with a code of its own", async () => {
    const down = (): never => {
      throw new Error("the transport is down");
    };
    const at = bench({
      channels: [recordingChannel({ name: "a", state: down }), recordingChannel({ name: "b", state: down })],
      gate: { defaultChannel: ["a", "b"] },
    });
    at.tools(asking("send"));
    const call = await at.begin("send", {});
    await at.advance(40_000);
    expect(ending(call)).toBe("refused: undeliverable");
  });

  it("AP-108: what is unknown or over is not moved by time", async () => {
    const at = bench();
    at.tools(asking("send"));
    const call = await at.begin("send", {});
    await at.answers(call.request, "reject");
    expect(await at.gate.expire(call.request)).toBe(false);
    expect(await at.gate.expire("00000000-0000-7000-8000-000000000000")).toBe(false);
    expect((await at.desk.standing(call.request))?.status).toBe("rejected");
  });

  it("AP-116: a subscriber that throws changes nothing", async () => {
    const at = bench();
    at.gate.on(() => {
      throw new Error("a subscriber");
    });
    at.tools(asking("send"));
    const call = await at.begin("send", {});
    await at.answers(call.request, "approve");
    expect(ending(call)).toBe("ran: approved");
  });

  it("AP-118: of several impacts the gravest is the tool's", () => {
    const mark = holdpoint.confirm;
    const tool: Tool = { name: "drop", impact: "default", run: () => undefined };
    const handle = bench().gate.tool(mark({ impact: "destructive" })(mark({ impact: "irreversible" })(tool)) as never);
    expect(handle.impact).toBe("irreversible");
  });
});

describe("who must say yes", () => {
  const asked = async (quorum: number, people: readonly string[]): Promise<{ at: ReturnType<typeof bench>; call: Begun }> => {
    const at = bench({ people, policy: { rules: [{ ask: "pay", approvers: people, quorum }] }, run: { principal: "lena" } });
    at.tools({ name: "pay" });
    return { at, call: await at.begin("pay", {}) };
  };

  it("AP-090: where one of two suffices, the first answer decides", async () => {
    const { at, call } = await asked(1, ["ann", "bob"]);
    await at.answers(call.request, "approve", { by: "bob" });
    expect(ending(call)).toBe("ran: approved");
  });

  it("AP-091: where both must, both yeses are one", async () => {
    const { at, call } = await asked(2, ["ann", "bob"]);
    await at.answers(call.request, "approve", { by: "ann" });
    await at.answers(call.request, "approve", { by: "bob" });
    expect(ending(call)).toBe("ran: approved");
  });

  it("AP-093: where both must, one is not enough", async () => {
    const { at, call } = await asked(2, ["ann", "bob"]);
    await at.answers(call.request, "approve", { by: "ann" });
    expect(ending(call)).toBe("open");
  });

  it("AP-094: two of three are a majority, one is not", async () => {
    const { at, call } = await asked(2, ["ann", "bob", "cy"]);
    await at.answers(call.request, "approve", { by: "cy" });
    expect(ending(call)).toBe("open");
    await at.answers(call.request, "approve", { by: "ann" });
    expect(ending(call)).toBe("ran: approved");
  });

  it("AP-099: a question that nobody answers ends by its own name", async () => {
    const { at, call } = await asked(1, ["ann"]);
    await at.advance(300_000);
    expect(ending(call)).toBe("refused: expired");
    expect(at.journal("request.expired")).toMatchObject([{ actor: null }]);
  });
});
