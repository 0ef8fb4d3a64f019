import { describe, expect, it } from "vitest";
import type { Mode, Policy, Rule } from "../../../src/core/index.ts";
import { createGate } from "../../../src/index.ts";
import { asking, bench, ending } from "./bench.ts";

describe("modes", () => {
  const CATASTROPHIC = /^rm -rf \/$/;
  const onCommand =
    (fits: RegExp): NonNullable<Rule["when"]> =>
    (call) =>
      fits.test(String(call.arguments.command ?? call.arguments.path ?? ""));
  const HOST: Policy = {
    rules: [
      { deny: "shell", when: onCommand(CATASTROPHIC) },
      { deny: "shell", when: onCommand(/\.ssh|credentials/) },
      { ask: "write", when: onCommand(/^\/etc\//) },
      { allow: "work" },
      { allow: "write" },
    ],
  };
  const TOOLS = [
    { name: "work", tier: "write" },
    { name: "shell", tier: "physical" },
    { name: "write", tier: "write" },
  ] as const;
  const inMode = (mode: Mode): ReturnType<typeof bench> => {
    const at = bench({ policy: HOST, run: { mode } });
    at.tools(...TOOLS);
    return at;
  };

  it("A3-052: bounded work runs, the host's shell and protected files ask, a catastrophe is denied", async () => {
    const at = inMode("default");
    const endings = [
      await at.begin("work", {}),
      await at.begin("shell", { command: "ls" }),
      await at.begin("write", { path: "/etc/hosts" }),
      await at.begin("shell", { command: "rm -rf /" }),
    ].map(ending);
    expect(endings).toEqual(["ran: allowed", "open", "open", "refused: denied"]);
  });

  it("A3-055: where nobody may be asked, what would ask is refused", async () => {
    const at = inMode("no-ask");
    const endings = [
      await at.begin("work", {}),
      await at.begin("shell", { command: "ls" }),
      await at.begin("shell", { command: "rm -rf /" }),
      await at.begin("write", { path: "/etc/hosts" }),
      await at.begin("nothing", {}),
    ].map(ending);
    expect(endings).toEqual([
      "ran: allowed",
      "refused: no_approver",
      "refused: denied",
      "refused: no_approver",
      "refused: unknown_tool",
    ]);
  });

  it.each([["A3-059"], ["A3-075"], ["A3-076"]])(
    "%s: where nobody may be asked no question appears, and nothing runs",
    async () => {
      const at = inMode("no-ask");
      expect(ending(await at.begin("shell", { command: "touch x" }))).toBe("refused: no_approver");
      expect(at.created()).toEqual([]);
      expect(at.journal("call.denied")).toMatchObject([{ data: { code: "no_approver", tool: "shell" } }]);
      expect(at.person.deliveries).toEqual([]);
      expect(at.ran).toEqual([]);
    },
  );

  it("A3-057: a run keeps the mode it began with", async () => {
    const at = inMode("no-ask");
    await at.gate.setPolicy({ ...HOST, mode: "default" });
    expect(ending(await at.begin("shell", { command: "ls" }))).toBe("refused: no_approver");
  });

  it("A3-058: a run's question is answered after the policy of new runs has changed", async () => {
    const at = inMode("default");
    const call = await at.begin("shell", { command: "ls" });
    await at.gate.setPolicy({ ...HOST, mode: "no-ask" });
    await at.answers(call.request, "approve");
    expect(ending(call)).toBe("ran: approved");
  });

  it.each([
    ["A3-054", { command: "cat ~/.ssh/id" }],
    ["A3-060", { command: "ls" }],
  ])("%s: no remembered yes reaches past a deny", async (id, args) => {
    const policy: Policy = id === "A3-060" ? {} : HOST;
    const at = bench({ policy });
    at.tools(asking("shell", { tier: "write", confirm: { window: "1h" }, requires: "hosts" }));
    const open = await at.begin("shell", { command: "ls" });
    await at.answers(open.request, "approve");
    await at.answers(at.person.deliveries.at(-1)?.card.id ?? "", "approve");
    expect(ending(open)).toBe("ran: approved");
    const later = at.gate.run({ principal: "ada", mode: id === "A3-060" ? "plan" : "default" });
    expect(ending(await at.begin("shell", args, { run: later }))).toBe("refused: denied");
  });

  it("A3-062: nothing can be configured to let silence approve", async () => {
    for (const policy of [
      { on_timeout: "approve" },
      { rules: [{ ask: "a", onTimeout: "approve" }] },
      { tools: [{ match: "a", timeoutAction: "auto" }] },
    ])
      expect(() => createGate({ policy: policy as Policy })).toThrow(/unknown key/);
    for (const mode of ["default", "plan", "accept-edits", "bypass", "no-ask"] as const) {
      const at = bench({ run: { mode } });
      at.tools(asking("bash", { tier: "physical" }));
      const call = await at.begin("bash", {});
      if (ending(call) !== "open") continue;
      await at.advance(300_000);
      expect(ending(call)).toBe("refused: expired");
    }
  });

  it("A3-063: what a look says and what a call gets are one", async () => {
    for (const mode of ["default", "plan", "accept-edits", "bypass", "no-ask"] as const) {
      const at = inMode(mode);
      const looked = await at.run.check("work", {});
      const call = await at.begin("work", {});
      expect(ending(call)).toBe(looked.verdict === "allow" ? "ran: allowed" : "refused: denied");
    }
  });

  it("A3-074: a remembered yes is for that call: the same runs, a like one asks, a catastrophe is denied", async () => {
    const at = bench({ policy: HOST });
    at.tools(asking("shell", { tier: "write", confirm: { window: "1h" } }));
    const first = await at.begin("shell", { command: "ls" });
    await at.answers(first.request, "approve");
    const endings = [
      await at.begin("shell", { command: "ls" }),
      await at.begin("shell", { command: "ls -a" }),
      await at.begin("shell", { command: "rm -rf /" }),
    ].map(ending);
    expect(endings).toEqual(["ran: window", "open", "refused: denied"]);
  });

  it("A3-079: what is remembered is ended exactly, once, and by its own id", async () => {
    const at = bench();
    at.tools(asking("a", { confirm: { window: "1h" } }), asking("b", { confirm: { window: "1h" } }));
    for (const name of ["a", "b"]) await at.answers((await at.begin(name, {})).request, "approve");
    const { approvals } = at.desk;
    const first = (await approvals.windows(at.identity())).find((window) => window.covers === "a");
    const end = (): Promise<boolean> => approvals.end("window", first?.id ?? "", at.identity());
    expect([await end(), await end()]).toEqual([true, false]);
    expect((await approvals.windows(at.identity())).map((window) => window.covers)).toEqual(["b"]);
  });
});
