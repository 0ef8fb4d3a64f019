import { afterEach, describe, expect, it } from "vitest";
import { callbackChannel } from "../../../src/channels/callback/index.ts";
import { confirm, nodeRuntime, type Tool, toolkit } from "../../../src/index.ts";
import { manualClock } from "../../../src/testing/index.ts";
import { Seat } from "../world/seat.ts";
import { asking, bench, ending } from "./bench.ts";

const PHYSICAL = { tier: "physical" as const };
const MODEL_READS =
  'Not run: a person rejected "move". This is final: do not retry or rephrase it and do not reach the same end another way. Tell the user briefly.';

describe("a tool that acts on the world", () => {
  it("TA-002: a yes runs it once, and is on record", async () => {
    const at = bench();
    at.tools({ name: "move", ...PHYSICAL });
    const call = await at.begin("move", {});
    await at.answers(call.request, "approve");
    expect(ending(call)).toBe("ran: approved");
    expect(at.ran.length).toBe(1);
    expect(at.journal("request.approved", "request.voted").map(({ event }) => event)).toEqual([
      "request.voted",
      "request.approved",
    ]);
  });

  it("TA-003: a no gives the fixed sentence, and nothing ran", async () => {
    const at = bench();
    at.tools({ name: "move", ...PHYSICAL });
    const call = await at.begin("move", {});
    await at.answers(call.request, "reject");
    expect(call.outcome).toMatchObject({ status: "refused", sentence: MODEL_READS });
    expect(at.ran).toEqual([]);
  });

  it("TA-005: a name that nobody registered is refused with an error event, and nobody is asked", async () => {
    const at = bench();
    const call = await at.begin("nothing", {});
    expect(call.outcome).toMatchObject({ sentence: 'Tool "nothing" is not registered; it was not run.' });
    expect(at.events.filter((event) => event.type === "error")).toMatchObject([{ where: "know", code: "unknown_tool" }]);
    expect(at.log).toContainEqual(expect.objectContaining({ level: "warn", message: "an unknown tool was called" }));
    expect(at.person.deliveries).toEqual([]);
  });

  it.each([
    [
      "throws",
      () => {
        throw new Error("no");
      },
    ],
    ["answers true", () => true],
    ["answers a text", () => "yes"],
    ["answers something", () => ({ ok: true })],
    ["answers nothing", () => undefined],
  ])("TA-007: a person's function that %s lets nothing run", async (_how, answer) => {
    const at = bench({ channels: [callbackChannel(answer as never, { as: "ada" })] });
    at.tools({ name: "move", ...PHYSICAL });
    expect(ending(await at.begin("move", {}))).toBe("refused: channel_fault");
    expect(at.ran).toEqual([]);
  });

  it("TA-008: a policy that throws refuses with its own sentence", async () => {
    const at = bench({
      policy: {
        opinions: [
          () => {
            throw new Error("no");
          },
        ],
      },
    });
    at.tools({ name: "look", tier: "read" });
    expect((await at.begin("look", {})).outcome).toMatchObject({
      code: "policy_error",
      sentence: 'Not run: "look" could not be checked (policy_error). Tell the user briefly.',
    });
  });

  it("TA-011: no time that passes is a yes", async () => {
    const at = bench();
    at.tools({ name: "move", ...PHYSICAL });
    const call = await at.begin("move", {});
    for (const ms of [1, 299_998, 1, 86_400_000]) await at.advance(ms);
    expect(ending(call)).toBe("refused: expired");
    expect(at.ran).toEqual([]);
    expect(at.journal("request.approved")).toEqual([]);
  });

  it("TA-013: executions never overlap, whatever is approved at once", async () => {
    const at = bench();
    const order: string[] = [];
    const slow = (name: string) => async (): Promise<void> => {
      order.push(`${name} begins`);
      await new Promise((resolve) => setImmediate(resolve));
      await new Promise((resolve) => setImmediate(resolve));
      order.push(`${name} ends`);
    };
    at.tools({ name: "a", ...PHYSICAL, run: slow("a") }, { name: "b", ...PHYSICAL, run: slow("b") });
    const calls = [await at.begin("a", {}), await at.begin("b", {})];
    await Promise.all(calls.map((call) => at.person.answer(call.request, "approve")));
    await Promise.all(calls.map((call) => call.ended));
    expect(order.map((word) => word.split(" ")[1])).toEqual(["begins", "ends", "begins", "ends"]);
  });

  it("TA-028: its tier and its mark stay with a method that is bound into another object", async () => {
    class Arm {
      async move(): Promise<string> {
        return "moved";
      }
    }
    const arm = new Arm();
    const marked: Tool = { name: "move", ...PHYSICAL, run: confirm(arm.move) };
    const bound = { ...marked, run: marked.run.bind(arm) } as Tool;
    const [kit] = toolkit({ confirming: ["move"], move: arm.move.bind(arm) } as never, {
      methods: ["move"],
      describe: { move: PHYSICAL },
      prefix: "arm/",
    });
    const at = bench();
    at.tools(bound, kit as Tool);
    for (const name of ["move", "arm/move"]) {
      const call = await at.begin(name, {});
      const card = at.person.deliveries.at(-1)?.card;
      expect(card).toMatchObject({ tool: { name }, tier: "physical" });
      expect(ending(call)).toBe("open");
    }
  });
});

describe("exemptions", () => {
  const exempted = async (
    test: (call: { arguments: unknown }) => unknown,
  ): Promise<{ at: ReturnType<typeof bench>; undo: () => Promise<void> }> => {
    const at = bench();
    at.tools({ name: "move", ...PHYSICAL });
    return { at, undo: await at.gate.exempt("trusted", { tools: ["move"] }, test) };
  };

  it("TA-014: exactly true runs unasked, and the record says so", async () => {
    const { at } = await exempted(() => true);
    expect(ending(await at.begin("move", {}))).toBe("ran: exempt");
    expect(at.person.deliveries).toEqual([]);
    expect(at.journal("request.voted", "request.approved")).toEqual([]);
    expect(at.journal("exemption.used")).toMatchObject([{ data: { name: "trusted", tool: "move" } }]);
  });

  it.each([[1], ["yes"], [{}], [undefined], [Promise.resolve(true)]])("TA-015: %j asks", async (value) => {
    const { at } = await exempted(() => value);
    expect(ending(await at.begin("move", {}))).toBe("open");
  });

  it("TA-016: a throw asks", async () => {
    const { at } = await exempted(() => {
      throw new Error("no");
    });
    expect(ending(await at.begin("move", {}))).toBe("open");
  });

  it("TA-017: what it does to its copy, the tool never sees", async () => {
    const { at } = await exempted((call) => {
      (call.arguments as { to: string }).to = "elsewhere";
      return true;
    });
    await at.begin("move", { to: "here" });
    expect(at.ran).toEqual([{ tool: "move", args: { to: "here" } }]);
  });

  it("TA-018: undone, it asks again", async () => {
    const { at, undo } = await exempted(() => true);
    await undo();
    expect(ending(await at.begin("move", {}))).toBe("open");
  });

  it("TA-019: a call that asks nobody consults none", async () => {
    const asked: string[] = [];
    const at = bench({ policy: { rules: [{ allow: "free" }] } });
    at.tools({ name: "look", tier: "read" }, { name: "free", tier: "write" });
    await at.gate.exempt("all", { tools: ["**"] }, ({ tool }) => asked.push(tool) > 0);
    for (const name of ["look", "free", "nothing"]) await at.begin(name, {});
    expect(asked).toEqual([]);
  });
});

describe("what consumers hold", () => {
  it("TA-021: a copy, whatever they do to it", async () => {
    const at = bench({
      channels: [
        callbackChannel(
          (card) => {
            (card.arguments as { to: string }).to = "elsewhere";
            return { verdict: "approve" };
          },
          { as: "ada" },
        ),
      ],
    });
    at.gate.on((event) => {
      if (event.type === "journal") (event.data as Record<string, unknown>).digest = "another";
    });
    at.tools(asking("move"));
    const call = await at.begin("move", { to: "here" });
    expect(ending(call)).toBe("ran: approved");
    expect(at.ran).toEqual([{ tool: "move", args: { to: "here" } }]);
  });
});

describe("the terminal", () => {
  const seats: Seat[] = [];
  afterEach(() => {
    for (const seat of seats.splice(0)) seat.dispose();
  });
  const seated = (): { at: ReturnType<typeof bench>; seat: Seat } => {
    const clock = manualClock();
    const seat = new Seat({ as: "ada", clock });
    seats.push(seat);
    const at = bench({ channels: [seat.channel], gate: { runtime: nodeRuntime({ clock }) } });
    return { at, seat };
  };

  it("TA-024: escapes what could move, hide or reorder", async () => {
    const { at, seat } = seated();
    at.tools(asking("move"));
    const hostile = "a\u001b[2Jb\rc\u009b1Ad\u202ee\u2066f\u200bg";
    const call = await at.begin("move", { to: hostile });
    await seat.opened();
    expect(ending(call)).toBe("open");
    for (const shown of ["\\u001b[2J", "\\r", "\\u009b", "\\u202e", "\\u2066", "\\u200b"]) expect(seat.text).toContain(shown);
    for (const char of ["\u001b[2J", "\u009b", "\u202e", "\u2066", "\u200b"]) expect(seat.written).not.toContain(char);
  });

  it.each([
    ["y", "ran: approved"],
    ["YES", "ran: approved"],
    [" e ", "ran: approved"],
    ["evet", "ran: approved"],
    ["", "refused: rejected"],
    ["yess", "refused: rejected"],
    ["ok", "refused: rejected"],
  ])("TA-025: the line %j ends the call as %s", async (line, how) => {
    const { at, seat } = seated();
    at.tools(asking("move"));
    const call = await at.begin("move", {});
    await seat.opened();
    await seat.types(`${line}\r`);
    await seat.settle();
    expect(ending(call)).toBe(how);
  });
});
