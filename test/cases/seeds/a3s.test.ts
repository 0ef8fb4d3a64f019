import { describe, expect, it } from "vitest";
import { callbackChannel } from "../../../src/channels/callback/index.ts";
import { snapshotOf } from "../../../src/core/approving.ts";
import { type Policy, TIERS, type Tool } from "../../../src/core/index.ts";
import { nodeRuntime } from "../../../src/index.ts";
import { manualClock, recordingChannel } from "../../../src/testing/index.ts";
import { Seat } from "../world/seat.ts";
import { asking, type Begun, bench, ending } from "./bench.ts";

describe("tools and lanes", () => {
  it("A3-001: a policy says what tools are, by name", async () => {
    const at = bench({
      policy: {
        tools: [
          { match: "*", tier: "write" },
          { match: "read_*", tier: "read" },
          { match: "list_*", tier: "read" },
          { match: "shell", tier: "physical" },
        ],
      },
    });
    const names = ["read_file", "list_dir", "write_file", "edit_file", "delete_file", "move_file", "copy_file", "shell"];
    at.tools(...names.map((name) => ({ name })));
    const endings = await Promise.all(names.map(async (name) => ending(await at.begin(name, {}))));
    expect(endings).toEqual(["ran: allowed", "ran: allowed", "open", "open", "open", "open", "open", "open"]);
  });

  it("A3-002: tiers have an order", () => {
    expect(TIERS).toEqual(["read", "write", "physical"]);
  });

  it("A3-038: what is allowed for a tier runs", async () => {
    const at = bench({ policy: { unmatched: "ask", rules: [{ allow: "**", tiers: ["read"] }] } });
    at.tools({ name: "look", tier: "read" }, { name: "write", tier: "write" });
    expect([ending(await at.begin("look", {})), ending(await at.begin("write", {}))]).toEqual(["ran: allowed", "open"]);
  });

  it("A3-078: how long a person has and how long a tool has are two things", async () => {
    const at = bench({ gate: { deadline: "1h" } });
    let aborted = false;
    at.tools(
      asking("slow", {
        timeout: "5s",
        run: (_args: never, { signal }: { signal: AbortSignal }) =>
          new Promise((resolve) => {
            signal.addEventListener("abort", () => {
              aborted = true;
              resolve(undefined);
            });
          }),
      }),
    );
    const call = await at.begin("slow", {});
    await at.advance(3_000_000);
    expect([ending(call), aborted]).toEqual(["open", false]);
    await at.answers(call.request, "approve");
    await at.advance(5000);
    expect([call.outcome?.status, aborted]).toEqual(["unknown", true]);
  });
});

describe("one question", () => {
  const asked = async (more: Partial<Tool> = {}): Promise<{ at: ReturnType<typeof bench>; call: Begun }> => {
    const at = bench();
    at.tools(asking("bash", more));
    return { at, call: await at.begin("bash", { command: "ls" }) };
  };

  it("A3-011: a policy that is set decides for runs that begin then", async () => {
    const at = bench({ policy: { rules: [{ allow: "write" }] } });
    at.tools({ name: "write", tier: "write" });
    expect(ending(await at.begin("write", {}))).toBe("ran: allowed");
    await at.gate.setPolicy({ rules: [{ deny: "write" }] });
    const later = at.gate.run({ principal: "ada" });
    expect(ending(await at.begin("write", {}, { run: later }))).toBe("refused: denied");
  });

  it("A3-012: it is created, answered and resolved, and the call has its yes", async () => {
    const { at, call } = await asked();
    expect(at.journal("request.created")).toMatchObject([{ request: call.request, data: { tool: "bash" } }]);
    expect(await at.answers(call.request, "approve")).toMatchObject({ found: true, counted: true });
    expect(call.outcome).toMatchObject({ status: "ran", how: "approved" });
    expect(at.journal("request.approved").length).toBe(1);
  });

  it("A3-013: a no with words brings the words to whoever waits", async () => {
    const { at, call } = await asked();
    await at.answers(call.request, "reject", { reason: "not here" });
    expect(call.outcome).toMatchObject({ code: "rejected", reason: "not here" });
    expect(at.journal("request.rejected")).toMatchObject([{ actor: { principal: "ada" } }]);
  });

  it("A3-015: three that are answered yes, no, yes each get their own", async () => {
    const at = bench();
    at.tools(asking("a"), asking("b"), asking("c"));
    const calls = [await at.begin("a", {}), await at.begin("b", {}), await at.begin("c", {})];
    expect((await at.gate.pending()).length).toBe(3);
    for (const [place, call] of calls.entries()) await at.answers(call.request, place === 1 ? "reject" : "approve");
    expect(calls.map(ending)).toEqual(["ran: approved", "refused: rejected", "ran: approved"]);
    expect(await at.gate.pending()).toEqual([]);
  });

  it("A3-017, A3-018: what is open is withdrawn once; what is not is not", async () => {
    const { at, call } = await asked();
    expect(await at.gate.cancel(call.request)).toBe(true);
    await at.settle();
    expect(ending(call)).toBe("refused: cancelled");
    expect(await at.gate.pending()).toEqual([]);
    expect(await at.gate.cancel(call.request)).toBe(false);
    expect(await at.gate.cancelAll()).toBe(0);
  });

  it("A3-020, A3-025: silence ends in a refusal that says so, and in an event of its own", async () => {
    const at = bench({ gate: { deadline: 5 } });
    at.tools(asking("bash"));
    const call = await at.begin("bash", {});
    await at.advance(5);
    expect(call.outcome).toMatchObject({
      code: "expired",
      sentence: expect.stringContaining('nobody answered for "bash" in time, and silence is not consent') as string,
    });
    expect(at.journal("request.created", "request.expired").map(({ event }) => event)).toEqual([
      "request.created",
      "request.expired",
    ]);
    expect(await at.gate.sweep()).toBe(0);
  });

  it("A3-022: a yes before the deadline stands, whoever sweeps later", async () => {
    const { at, call } = await asked();
    await at.answers(call.request, "approve");
    await at.advance(400_000);
    expect(await at.gate.sweep()).toBe(0);
    expect(ending(call)).toBe("ran: approved");
  });

  it("A3-024: a no says that a person said it, and why", async () => {
    const { at, call } = await asked();
    await at.answers(call.request, "reject", { reason: "not here" });
    expect(call.outcome).toMatchObject({
      sentence: expect.stringMatching(/a person rejected "bash"\. Reason given: "not here"\./) as string,
    });
  });

  it("A3-027: a channel that breaks off ends it, and nothing runs", async () => {
    const at = bench({ channels: [callbackChannel(async () => Promise.reject(new Error("closed")), { as: "ada" })] });
    at.tools(asking("bash"));
    const call = await at.begin("bash", {});
    expect(ending(call)).toBe("refused: channel_fault");
    expect(at.events).toContainEqual(
      expect.objectContaining({ type: "error", where: "channel:callback", code: "channel_fault" }),
    );
    expect(at.ran).toEqual([]);
  });

  it("A3-033: without anybody to ask it is refused", async () => {
    const at = bench({ channels: [] });
    at.tools({ name: "bash", tier: "physical" });
    expect(ending(await at.begin("bash", {}))).toBe("refused: no_approver");
  });

  it("A3-034: without a policy it is asked, for as long as its channel says", async () => {
    const at = bench({
      channels: [recordingChannel({ capabilities: { deadline: 77_000 } })],
      gate: { defaultChannel: "recording" },
    });
    at.tools({ name: "bash", tier: "physical" });
    await at.begin("bash", {});
    expect((await at.gate.pending())[0]?.remainingMs).toBe(77_000);
  });

  it("A3-035: what policy allows and its author holds is asked", async () => {
    const at = bench({ policy: { rules: [{ allow: "bash" }] } });
    at.tools(asking("bash"));
    expect(ending(await at.begin("bash", {}))).toBe("open");
  });

  it("A3-037: what policy denies is denied, whatever its author holds", async () => {
    const at = bench({ policy: { rules: [{ deny: "look" }] } });
    at.tools({ name: "look", tier: "read" });
    expect(ending(await at.begin("look", {}))).toBe("refused: denied");
  });

  it("A3-072: an ending of what is unknown changes nothing", async () => {
    const { at, call } = await asked();
    const card = at.person.deliveries[0]?.card;
    if (card !== undefined) await at.person.close("nothing", card);
    expect(await at.gate.expire("nothing")).toBe(false);
    expect(ending(call)).toBe("open");
  });
});

describe("children", () => {
  const snapshot = (policy: Policy) => snapshotOf(policy, { runtime: nodeRuntime(), record: "counts" });
  const both = async (
    parent: Policy,
    child: Policy,
    how: { asks?: "parent" | "own" | "deny"; tool?: Partial<Tool> } = {},
  ): Promise<{ at: ReturnType<typeof bench>; call: Begun }> => {
    const at = bench({ policy: parent });
    at.tools({ name: "bash", tier: "write", ...how.tool });
    const run = at.run.child({ path: "worker", asks: how.asks ?? "parent", policy: snapshot(child) });
    return { at, call: await at.begin("bash", {}, { run }) };
  };
  const ALLOW: Policy = { rules: [{ allow: "bash" }] };
  const ASK: Policy = { rules: [{ ask: "bash", name: "the rule" }] };

  it("A3-041: a parent's deny holds for its worker", async () => {
    const { call } = await both({ rules: [{ deny: "bash" }] }, ALLOW);
    expect(ending(call)).toBe("refused: denied");
  });

  it("A3-042: where the child allows and the parent asks, the parent is asked", async () => {
    const { at, call } = await both(ASK, ALLOW);
    expect(ending(call)).toBe("open");
    expect(at.person.deliveries.length).toBe(1);
  });

  it("A3-044: a child that may not ask is refused, and nobody is disturbed", async () => {
    const { at, call } = await both(ALLOW, ASK, { asks: "deny" });
    expect(ending(call)).toBe("refused: denied");
    expect(at.person.deliveries).toEqual([]);
  });

  it("A3-046: a child's question goes to its parent's people", async () => {
    const { at, call } = await both(ALLOW, ASK);
    await at.answers(call.request, "approve");
    expect(ending(call)).toBe("ran: approved");
  });

  it("A3-047: where both ask, their questions are one request, asked once", async () => {
    const { at, call } = await both(ASK, ASK);
    expect(at.created().length).toBe(1);
    expect(at.person.deliveries.length).toBe(1);
    await at.answers(call.request, "approve");
    expect(ending(call)).toBe("ran: approved");
  });

  it("A3-048: where both allow and the tool asks, the parent is asked, in the parent's time", async () => {
    const { at } = await both(ALLOW, ALLOW, { tool: { confirm: { deadline: "7m" } } });
    expect((await at.gate.pending())[0]?.remainingMs).toBe(420_000);
    expect(at.person.deliveries.length).toBe(1);
  });

  it("A3-049: what both ask is one entry, one answer, one withdrawal, one expiry", async () => {
    const answered = await both(ASK, ASK);
    expect((await answered.at.gate.pending()).length).toBe(1);
    await answered.at.answers(answered.call.request, "approve");
    expect(ending(answered.call)).toBe("ran: approved");
    const withdrawn = await both(ASK, ASK);
    expect(await withdrawn.at.gate.cancelAll()).toBe(1);
    const late = await both(ASK, ASK);
    late.at.clock.set(late.at.clock.now() + 400_000);
    expect(await late.at.gate.sweep()).toBe(1);
  });
});

describe("several at the terminal", () => {
  const seated = async (
    names: readonly string[],
  ): Promise<{ at: ReturnType<typeof bench>; seat: Seat; calls: readonly Begun[] }> => {
    const clock = manualClock();
    const seat = new Seat({ as: "ada", clock });
    const at = bench({ channels: [seat.channel], gate: { runtime: nodeRuntime({ clock }) } });
    at.tools(...names.map((name) => asking(name)));
    const calls: Begun[] = [];
    for (const name of names) calls.push(await at.begin(name, {}));
    await seat.opened();
    return { at, seat, calls };
  };
  const elsewhere = async (at: ReturnType<typeof bench>, request: string, verdict: "approve" | "reject"): Promise<void> => {
    const as = at.identity("ada", "cli");
    const shown = await at.desk.approvals.card(request, as);
    if (shown === undefined || "ambiguous" in shown) throw new Error("there is no card");
    await at.desk.approvals.decide(request, { verdict, digest: shown.card.digest, view: shown.view }, as);
    await at.settle();
  };

  it("A3-068: they are asked in the order in which they came", async () => {
    const { seat, calls } = await seated(["first", "second"]);
    await seat.types("y\r");
    await seat.settle();
    expect(calls.map(ending)).toEqual(["ran: approved", "open"]);
    seat.dispose();
  });

  it("A3-069: an answer leaves the others as they are", async () => {
    const { at, seat, calls } = await seated(["a", "b", "c"]);
    await elsewhere(at, calls[1]?.request ?? "", "reject");
    expect(calls.map(ending)).toEqual(["open", "refused: rejected", "open"]);
    seat.dispose();
  });

  it("A3-070: one that is settled elsewhere does not take the place of the one on screen", async () => {
    const { at, seat, calls } = await seated(["first", "second"]);
    await elsewhere(at, calls[1]?.request ?? "", "approve");
    await seat.settle();
    await seat.types("n\r");
    await seat.settle();
    expect(calls.map(ending)).toEqual(["refused: rejected", "ran: approved"]);
    seat.dispose();
  });

  it("A3-071: an answer typed for one that was settled elsewhere does not hit the next", async () => {
    const { at, seat, calls } = await seated(["first", "second"]);
    await seat.types("y");
    await elsewhere(at, calls[0]?.request ?? "", "reject");
    await seat.types("\r");
    await seat.settle();
    expect(calls.map(ending)).toEqual(["refused: rejected", "open"]);
    seat.dispose();
  });
});
