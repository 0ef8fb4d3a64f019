import { describe, expect, it } from "vitest";
import { manualClock } from "../../testing/index.ts";
import { benchRuntime, holdFor, submissionOf } from "../desk/desk.test-kit.ts";
import { MODES, type Mode, type Policy } from "../policy.ts";
import type { Submission } from "../ports/desk.ts";
import { type Elsewhere, submissionFromElsewhere, tighterMode, verdictOn } from "./elsewhere.ts";
import { snapshotOf } from "./gate.ts";

const runtime = benchRuntime(manualClock());
const snap = (policy: Policy) => snapshotOf(policy, { runtime, record: "calls" });

type Said = Partial<Omit<Elsewhere, "call">> & { readonly args?: unknown };

async function told(said: Said, ...policies: readonly Policy[]): Promise<Submission> {
  const [first = snap({}), ...others] = policies.map(snap);
  const { policy: _policy, ...plain } = submissionOf({ policy: first, runtime }, { holds: [], args: said.args ?? { to: "bob" } });
  const { args: _args, ...over } = said;
  return submissionFromElsewhere([first, ...others], { ...plain, effect: undefined, ...over }, runtime.crypto);
}
const verdict = (submission: Submission): string => verdictOn(submission, false).verdict;
const by = (submission: Submission): readonly string[] => submission.holds.map((hold) => hold.by);

describe("what a gate elsewhere says of its call can only tighten", () => {
  it("does not free a call by the tier it claims (A100)", async () => {
    expect(verdict(await told({ tier: "read" }))).toBe("ask");
    expect(verdict(await told({ tier: "read" }, { tools: [{ match: "pay", tier: "read" }] }))).toBe("allow");
  });

  it("takes the graver tier and impact of both", async () => {
    const said = await told({ tier: "physical", impact: "irreversible" }, { tools: [{ match: "pay", tier: "read" }] });
    expect([said.tier, said.impact, verdict(said)]).toEqual(["physical", "irreversible", "ask"]);
    const ours = await told(
      { tier: "read", impact: "default" },
      { tools: [{ match: "pay", tier: "write", impact: "destructive" }] },
    );
    expect([ours.tier, ours.impact]).toEqual(["write", "destructive"]);
  });

  it("is denied or asked by rules for the tier that it claims, where ours is another", async () => {
    const denied = await told({ tier: "write" }, { unmatched: "allow", rules: [{ deny: "**", tiers: ["write"] }] });
    expect(verdict(denied)).toBe("deny");
    const policy: Policy = { tools: [{ match: "pay", tier: "read" }], rules: [{ name: "writes", ask: "**", tiers: ["write"] }] };
    expect(verdict(await told({ tier: "read" }, policy))).toBe("allow");
    // Ours says read and stands; theirs says write, and the rule for writes asks all the same.
    const asked = await told({ tier: "write" }, { tools: [], rules: [{ name: "writes", ask: "**", tiers: ["write"] }] });
    expect(by(asked)).toContain("rule:writes");
  });

  it("keeps the ask of whom nothing names beside the people a caller names (P-09)", async () => {
    const theirs = holdFor({ approvers: ["mallory"] });
    const said = await told({ holds: [theirs] });
    expect(by(said)).toEqual(["tool", "policy"]);
    expect(said.holds[1]?.clause.any).toEqual([{ of: ["@principal", "@operator"], count: 1 }]);
  });

  it("makes one demand of two that are the same", async () => {
    expect(by(await told({ holds: [holdFor()] }))).toEqual(["tool"]);
  });

  it("lets no hold of theirs be called a rule of ours, or be enough by a listing (P-06)", async () => {
    const said = await told({
      holds: [{ ...holdFor({ quorum: 2 }, "rule:finance"), offer: "enough" }, holdFor({ window: 9 }, "policy")],
    });
    expect(by(said)).toEqual(["the gate's rule:finance", "the gate's policy", "policy"]);
    expect(said.holds.every(({ offer }) => offer === undefined)).toBe(true);
    expect(said.holds[0]?.clause.by).toBe("the gate's rule:finance");
  });

  it("puts the floors of our policy on the call, in place of the default", async () => {
    const said = await told({}, { tools: [{ match: "pay", confirm: { approvers: ["cem"] } }] });
    expect(said.holds.map(({ clause }) => clause.any)).toEqual([[{ of: ["cem"], count: 1 }]]);
  });

  it("commits what either calls secret, lets edit what both do, and ignores what only ours does", async () => {
    const policy: Policy = {
      tools: [{ match: "pay", secrets: ["/to"], editable: ["/to", "/amount"], ignore: ["/time"], requires: "money" }],
    };
    const said = await told({ secrets: ["/token"], editable: ["/to"], requires: ["more"] }, policy);
    expect(said).toMatchObject({ secrets: ["/token", "/to"], editable: ["/to"], ignore: ["/time"], requires: ["more", "money"] });
    expect(await told({})).toMatchObject({ ignore: [], secrets: [], editable: [""], requires: [] });
  });

  it("says on the card whose words and notes they are", async () => {
    const said = await told({ notes: ["safe"], effect: "nothing much" });
    expect(said.notes).toEqual([
      "the asking side says: safe",
      "the words about this call come from the asking side; the arguments are what runs",
    ]);
    expect((await told({ holds: [{ ...holdFor(), message: "Pay?" }] })).notes).toHaveLength(1);
    expect((await told({})).notes).toEqual([]);
  });

  it("says what our policy says an effect is", async () => {
    expect((await told({ effect: "nothing much" }, { tools: [{ match: "pay", effect: "moves money" }] })).effect).toBe(
      "moves money",
    );
  });

  it("names a tool that is known by name alone, and takes an identity as it is", async () => {
    expect((await told({ tool: "pay" })).tool).toMatchObject({ name: "pay", origin: "code" });
    const tool = { name: "pay", origin: "mcp:bank", definition: `sha256:${"a".repeat(64)}` as const };
    expect((await told({ tool })).tool).toEqual(tool);
    await expect(told({ tool: "no such name!" })).rejects.toThrow(/a tool name is/);
    expect((await told({ schema: { type: "object" } })).schema).toEqual({ type: "object" });
  });

  it("is freed by accept-edits only where our policy calls it an edit", async () => {
    const policy: Policy = { mode: "accept-edits", tools: [{ match: "pay", edits: true }] };
    expect(verdict(await told({}, policy))).toBe("allow");
    expect(verdict(await told({}, { mode: "accept-edits" }))).toBe("ask");
  });
});

describe("opinions of the desk's own code", () => {
  it("are heard on a call from elsewhere", async () => {
    expect(verdict(await told({}, { opinions: [() => ({ verdict: "deny", reason: "no" })] }))).toBe("deny");
    expect(by(await told({}, { opinions: [() => ({ verdict: "ask" })] }))).toEqual(["opinion"]);
    expect(verdict(await told({}, { opinions: [() => ({ verdict: "allow" })] }))).toBe("allow");
  });

  it("cannot rewrite what another process has in its hand", async () => {
    const said = await told({}, { opinions: [() => ({ verdict: "none", arguments: { to: "eve" } })] });
    expect(verdictOn(said, false)).toMatchObject({ verdict: "deny", code: "policy_error" });
  });
});

describe("a run that began with another policy than the present one", () => {
  const asks: Policy = { rules: [{ name: "new", ask: "pay", approvers: ["cem"], requires: "money" }] };
  const allows: Policy = { rules: [{ allow: "pay" }] };

  it("is asked by the present rules too", async () => {
    const said = await told({}, allows, asks);
    expect([by(said), said.requires]).toEqual([["rule:new"], ["money"]]);
    expect(verdict(said)).toBe("ask");
  });

  it("keeps what its own rules ask", async () => {
    const said = await told({}, asks, allows);
    expect(by(said)).toEqual([]);
    expect(verdict(said)).toBe("ask");
  });

  it("is denied by either, with the words of the one that does", async () => {
    const denies: Policy = { rules: [{ name: "stop", deny: "pay", reason: "over" }] };
    expect(verdictOn(await told({}, allows, denies), false)).toMatchObject({ verdict: "deny", by: "stop", reason: "over" });
    const broken: Policy = {
      rules: [
        {
          name: "broken",
          deny: "pay",
          when: () => {
            throw new Error("no");
          },
        },
      ],
    };
    expect(verdictOn(await told({}, allows, broken), false)).toMatchObject({ verdict: "deny", code: "policy_error" });
    expect(verdictOn(await told({ denied: { by: "parent" } }, allows), false)).toMatchObject({ verdict: "deny", by: "parent" });
  });

  it("is stopped by the kill switch whatever it says", async () => {
    expect(verdictOn(await told({}, allows), true)).toMatchObject({ verdict: "deny", code: "killed" });
  });
});

describe("a mode asked for from elsewhere", () => {
  const WANTED: readonly [Mode, Mode, Mode][] = [
    ["default", "bypass", "default"],
    ["default", "accept-edits", "default"],
    ["default", "plan", "plan"],
    ["bypass", "accept-edits", "accept-edits"],
    ["accept-edits", "bypass", "accept-edits"],
    ["plan", "no-ask", "plan"],
    ["no-ask", "default", "no-ask"],
  ];
  it.each(WANTED)("of a desk in %s, asked for %s, is %s", (desk, asked, mode) => {
    expect(tighterMode(desk, asked)).toBe(mode);
  });
  it("is the desk's own where none is asked for", () => {
    for (const mode of MODES) expect(tighterMode(mode, undefined)).toBe(mode);
  });
});
