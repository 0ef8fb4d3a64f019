import { describe, expect, it } from "vitest";
import { confirm, isRefused, type Opinion, type OpinionAnswer, type Policy, type Tool } from "../../../src/core/index.ts";
import { marksOf } from "../../../src/core/index.ts";
import { asking, type Begun, bench, ending } from "./bench.ts";

const messageOf = async (at: ReturnType<typeof bench>, call: Begun): Promise<string> => {
  const shown = await at.card(call.request);
  return shown === undefined || "ambiguous" in shown ? "" : shown.card.message;
};

describe("marks", () => {
  const plain = (): void => undefined;

  it("SH-001: the bare mark asks, and says nothing of its own", () => {
    expect(marksOf(confirm(plain))).toEqual([{ confirm: {}, impact: undefined }]);
  });

  it("SH-002: a message is the mark's", () => {
    expect(marksOf(confirm("Delete it?")(plain))).toEqual([{ confirm: { message: "Delete it?" }, impact: undefined }]);
  });

  it("SH-005: without a mark there is none", () => {
    expect(marksOf(plain)).toEqual([]);
  });

  it("SH-008: a condition that throws asks", async () => {
    const at = bench();
    at.tools(
      asking("drop", {
        tier: "read",
        confirm: {
          when: () => {
            throw new Error("no");
          },
        },
      }),
    );
    expect(ending(await at.begin("drop", {}))).toBe("open");
  });
});

describe("policy in code", () => {
  interface Row {
    readonly policy: Policy;
    readonly tool: Partial<Tool> & { readonly name: string };
    readonly how: string;
  }
  const rows: readonly (readonly [string, string, Row])[] = [
    ["SH-010", "a deny beats a mark", { policy: { rules: [{ deny: "drop" }] }, tool: asking("drop"), how: "refused: denied" }],
    [
      "SH-012",
      "bypass frees a tool without a mark",
      { policy: { mode: "bypass" }, tool: { name: "write", tier: "write" }, how: "ran: allowed" },
    ],
    [
      "SH-015",
      "what is denied is, what is not is not: bash",
      { policy: { rules: [{ deny: "bash" }, { allow: "other" }] }, tool: { name: "bash" }, how: "refused: denied" },
    ],
    [
      "SH-015",
      "what is denied is, what is not is not: other",
      { policy: { rules: [{ deny: "bash" }, { allow: "other" }] }, tool: { name: "other" }, how: "ran: allowed" },
    ],
    [
      "SH-016",
      "bypass frees nothing that is denied",
      { policy: { mode: "bypass", rules: [{ deny: "db_*" }] }, tool: { name: "db_drop", tier: "write" }, how: "refused: denied" },
    ],
    [
      "SH-017",
      "a deny by prefix",
      { policy: { rules: [{ deny: "db_*" }] }, tool: { name: "db_drop", tier: "read" }, how: "refused: denied" },
    ],
    [
      "SH-017",
      "a deny by suffix",
      { policy: { rules: [{ deny: "*_drop" }] }, tool: { name: "db_drop", tier: "read" }, how: "refused: denied" },
    ],
    ["SH-018", "an ask holds", { policy: { rules: [{ ask: "look" }] }, tool: { name: "look", tier: "read" }, how: "open" }],
    [
      "SH-019",
      "plan refuses what changes something",
      { policy: { mode: "plan" }, tool: { name: "write", tier: "write" }, how: "refused: denied" },
    ],
    ["SH-019", "plan lets read", { policy: { mode: "plan" }, tool: { name: "look", tier: "read" }, how: "ran: allowed" }],
    [
      "SH-020",
      "plan lets what is allowed by name",
      { policy: { mode: "plan", rules: [{ allow: "bash" }] }, tool: { name: "bash", tier: "write" }, how: "ran: allowed" },
    ],
    [
      "SH-021",
      "accept-edits frees an edit",
      { policy: { mode: "accept-edits" }, tool: { name: "edit", tier: "write", edits: true }, how: "ran: allowed" },
    ],
    [
      "SH-021",
      "accept-edits frees a write that is one",
      {
        policy: { mode: "accept-edits", tools: [{ match: "write", edits: true }] },
        tool: { name: "write", tier: "write" },
        how: "ran: allowed",
      },
    ],
    [
      "SH-022",
      "a reading tool reads, whatever its name",
      { policy: { mode: "plan" }, tool: { name: "write_report", tier: "read" }, how: "ran: allowed" },
    ],
  ];

  it.each(rows)("%s: %s", async (_id, _words, { policy, tool, how }) => {
    const at = bench({ policy });
    at.tools(tool);
    expect(ending(await at.begin(tool.name, {}))).toBe(how);
  });

  it("SH-009: bypass leaves a mark's question, with its words", async () => {
    const at = bench({ policy: { mode: "bypass" } });
    at.tools(asking("drop", { confirm: "Drop {table}?" }));
    const call = await at.begin("drop", { table: "orders" });
    expect(ending(call)).toBe("open");
    expect(await messageOf(at, call)).toBe("Drop orders?");
  });

  const heard = (answer: OpinionAnswer | null): { policy: Policy; seen: string[] } => {
    const seen: string[] = [];
    const opinion: Opinion = (call) => {
      seen.push(call.tool);
      return answer;
    };
    return { policy: { opinions: [opinion] }, seen };
  };

  it.each([
    ["SH-023", { verdict: "deny" }, "refused: denied"],
    ["SH-026", { verdict: "deny", reason: "never" }, "refused: denied"],
    ["SH-031", { verdict: "deny" }, "refused: denied"],
    ["SH-036", { verdict: "deny" }, "refused: denied"],
    ["SH-037", { verdict: "deny" }, "refused: denied"],
  ] as const)("%s: the opinion %j ends a call that the rules allow as %s, and nothing runs", async (_id, answer, how) => {
    const { policy } = heard(answer);
    const at = bench({ policy: { ...policy, rules: [{ allow: "drop" }] } });
    at.tools({ name: "drop", tier: "write" });
    expect(ending(await at.begin("drop", {}))).toBe(how);
    expect(at.ran).toEqual([]);
  });

  it.each([["SH-023"], ["SH-028"], ["SH-032"]])("%s: an opinion of null saw the call and changes nothing", async () => {
    const { policy, seen } = heard(null);
    const at = bench({ policy });
    at.tools({ name: "look", tier: "read" }, { name: "write", tier: "write" });
    expect([ending(await at.begin("look", {})), ending(await at.begin("write", {}))]).toEqual(["ran: allowed", "open"]);
    expect(seen).toEqual(["look", "write"]);
  });

  it.each([["SH-024"], ["SH-029"], ["SH-039"]])("%s: an opinion that rewrites is what the tool receives", async () => {
    const { policy } = heard({ verdict: "allow", arguments: { to: "safe" } });
    const at = bench({ policy: { ...policy, unmatched: "ask" } });
    at.tools({ name: "write", tier: "write" });
    expect(ending(await at.begin("write", { to: "anywhere" }))).toBe("ran: allowed");
    expect(at.ran).toEqual([{ tool: "write", args: { to: "safe" } }]);
  });

  it("SH-033: a denied call is told as not run", async () => {
    const at = bench({ policy: { rules: [{ deny: "drop" }] } });
    at.tools({ name: "drop" });
    expect((await at.begin("drop", {})).outcome).toMatchObject({
      status: "refused",
      sentence: expect.stringMatching(/^Not run: policy does not allow "drop"/) as string,
    });
    expect(at.ran).toEqual([]);
  });

  it("SH-034: plan runs no write", async () => {
    const at = bench({ policy: { mode: "plan" } });
    at.tools({ name: "write", tier: "write" });
    expect(ending(await at.begin("write", {}))).toBe("refused: denied");
    expect(at.ran).toEqual([]);
  });

  it("SH-035: a look at what would happen runs nothing and changes no mode", async () => {
    const at = bench({ policy: { rules: [{ ask: "write" }] } });
    at.tools({ name: "write", tier: "write" });
    expect(await at.run.check("write", {})).toMatchObject({ verdict: "ask" });
    expect(at.ran).toEqual([]);
    expect(at.created()).toEqual([]);
    expect(at.gate.policy().mode).toBe("default");
  });
});

describe("the open list", () => {
  it("SH-041, SH-071: a held call is listed, alone", async () => {
    const at = bench();
    at.tools(asking("drop"));
    const call = await at.begin("drop", {});
    expect((await at.gate.pending()).map(({ record }) => record.id)).toEqual([call.request]);
  });

  it.each([
    ["SH-043", "bash", { command: "ls -la" }, "bash with: command=ls -la"],
    ["SH-044", "mail", { to: "x", subject: "hi" }, "mail with: subject=hi, to=x"],
    ["SH-046", "refund", {}, "refund without arguments"],
  ])("%s: %s is listed as what it would do", async (...[, name, args, title]) => {
    const at = bench();
    at.tools(asking(name));
    expect(await messageOf(at, await at.begin(name, args))).toBe(title);
  });

  it("SH-047: whoever subscribed hears of the question and of its answer", async () => {
    const at = bench();
    at.tools(asking("drop"));
    const call = await at.begin("drop", {});
    await at.answers(call.request, "approve");
    expect(at.journal("request.created", "request.approved").map(({ event }) => event)).toEqual([
      "request.created",
      "request.approved",
    ]);
  });

  it("SH-050: a yes runs it, with its value, and names who said it", async () => {
    const at = bench();
    at.tools(asking("drop"));
    const call = await at.begin("drop", {});
    await at.answers(call.request, "approve");
    expect(call.outcome).toMatchObject({ status: "ran", how: "approved", value: "drop did it" });
    const standing = await at.desk.standing(call.request);
    expect(standing?.record).toMatchObject({ status: "succeeded", decisions: [{ by: "ada", via: "recording" }] });
  });

  it("SH-051: a no keeps its words, and nothing runs", async () => {
    const at = bench();
    at.tools(asking("drop"));
    const call = await at.begin("drop", {});
    await at.answers(call.request, "reject", { reason: "not today" });
    expect(call.outcome).toMatchObject({ code: "rejected", reason: "not today" });
    expect(at.ran).toEqual([]);
  });

  it("SH-053: a tool that fails after a yes fails the call with its own error", async () => {
    const at = bench();
    at.tools(
      asking("drop", {
        run: () => {
          throw new Error("the disk is full");
        },
      }),
    );
    const thrown = at.run.call("drop", {});
    thrown.catch(() => undefined);
    await at.settle();
    const [request = ""] = at.created();
    await at.answers(request, "approve");
    await expect(thrown).rejects.toThrow("the disk is full");
    expect((await at.desk.standing(request))?.status).toBe("failed");
    expect(await at.gate.pending()).toEqual([]);
  });

  it("SH-054: an unknown id is said to be one", async () => {
    const at = bench();
    const decided = await at.desk.approvals.decide("nothing", { verdict: "approve", digest: "sha256:", view: "" }, at.identity());
    expect(decided).toMatchObject({ found: false, counted: false, code: "not_found" });
  });

  it("SH-057: three that are refused are three refusals", async () => {
    const at = bench();
    at.tools(asking("a"), asking("b"), asking("c"));
    const calls = await Promise.all(["a", "b", "c"].map((name) => at.begin(name, {})));
    for (const request of at.created()) await at.answers(request, "reject");
    expect(calls.map(ending)).toEqual(["refused: rejected", "refused: rejected", "refused: rejected"]);
  });

  it("SH-070: of fifty that come and are answered at once none is lost", async () => {
    const at = bench();
    at.tools(asking("drop"));
    const calls = Array.from({ length: 50 }, (_, n) => at.run.try("drop", { n }, { id: `call-${n}` }));
    await at.settle();
    const open = at.created();
    expect(open.length).toBe(50);
    await Promise.all(open.map((request) => at.person.answer(request, "approve")));
    const outcomes = await Promise.all(calls);
    expect(outcomes.every((outcome) => outcome.status === "ran")).toBe(true);
    expect(at.ran.length).toBe(50);
    expect(await at.gate.pending()).toEqual([]);
  });

  it("SH-074: a card is JSON and stays itself", async () => {
    const at = bench();
    at.tools(asking("drop"));
    const shown = await at.card((await at.begin("drop", { table: "x" })).request);
    expect(shown).toBeDefined();
    expect(JSON.parse(JSON.stringify(shown))).toEqual(shown);
  });

  it("SH-082: an allowed read runs and opens nothing", async () => {
    const at = bench();
    at.tools({ name: "look", tier: "read" });
    expect(ending(await at.begin("look", {}))).toBe("ran: allowed");
    expect(await at.gate.pending()).toEqual([]);
  });

  it("SH-083: a read that is held does not run", async () => {
    const at = bench({ policy: { rules: [{ ask: "look" }] } });
    at.tools({ name: "look", tier: "read" });
    expect(ending(await at.begin("look", {}))).toBe("open");
    expect(at.ran).toEqual([]);
  });

  it("SH-086: a call of nothing is refused, with an event", async () => {
    const at = bench();
    await expect(at.run.call("", {})).rejects.toSatisfy(isRefused);
    expect(at.events).toContainEqual(expect.objectContaining({ type: "error", code: "unknown_tool" }));
  });

  it("SH-088: a child's question is in its parent's list", async () => {
    const at = bench();
    at.tools(asking("drop"));
    const child = at.run.child({ path: "helper", asks: "parent" });
    const call = await at.begin("drop", {}, { run: child });
    const [open] = await at.gate.pending({ run: "run-1" });
    expect(open?.record).toMatchObject({ id: call.request, requester: { path: ["helper"] } });
  });
});
