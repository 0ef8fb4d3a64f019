import { describe, expect, it } from "vitest";
import { DeclarationError } from "./errors.ts";
import type { Hash } from "./hash.ts";
import { compilePolicy, type Policy, withMode } from "./policy.ts";

const HASH: Hash = `sha256:${"0".repeat(64)}`;
const compile = (policy: Policy) => compilePolicy(policy, { hash: HASH, record: "counts" });

describe("compilePolicy", () => {
  it("P-18 is a snapshot: what is changed afterwards changes nothing", () => {
    const members = ["ada"];
    const opinions = [() => null];
    const rule = { deny: "pay" } as { deny?: string; ask?: string };
    const entry = { match: "pay", tier: "read" as "read" | "physical" };
    const policy: Policy = { rules: [rule], approvers: { "group:a": members }, opinions, tools: [entry] };
    const snapshot = compile(policy);
    members.push("eve");
    opinions.pop();
    delete rule.deny;
    rule.ask = "pay";
    entry.tier = "physical";
    expect(snapshot.groups.get("group:a")).toEqual(["ada"]);
    expect(snapshot.opinions).toHaveLength(1);
    expect(snapshot.rules[0]).toMatchObject({ name: "rule 1", verdict: "deny", rule: { deny: "pay" } });
    expect(snapshot.entries[0]?.entry.tier).toBe("read");
  });

  it("has the defaults of the design", () => {
    expect(compile({})).toEqual({
      hash: HASH,
      mode: "default",
      unmatched: "by-tier",
      record: "counts",
      entries: [],
      rules: [],
      opinions: [],
      groups: new Map(),
    });
    expect(compile({ mode: "plan", unmatched: "ask", record: "none" })).toMatchObject({
      mode: "plan",
      unmatched: "ask",
      record: "none",
    });
    expect(compilePolicy({ mode: "plan" }, { hash: HASH, record: "calls", mode: "no-ask" })).toMatchObject({
      mode: "no-ask",
      record: "calls",
    });
  });

  it("lets a run have a mode of its own", () => {
    const snapshot = compile({});
    expect(withMode(snapshot, undefined)).toBe(snapshot);
    expect(withMode(snapshot, "plan")).toEqual({ ...snapshot, mode: "plan" });
    expect(() => withMode(snapshot, "yolo" as "plan")).toThrow(
      /"yolo" is not one of default, plan, accept-edits, bypass, no-ask/,
    );
  });

  it.each<[string, object, RegExp]>([
    ["an unknown key", { rulse: [] }, /policy: unknown key "rulse"; known are mode/],
    ["rules that are no list", { rules: { deny: "a" } }, /policy.rules is a list/],
    ["tools that are no list", { tools: "a" }, /policy.tools is a list/],
    ["an unknown key of a rule", { rules: [{ deny: "a", wen: () => true }] }, /rule 1: unknown key "wen"/],
    ["an unknown key of a tool", { tools: [{ match: "a", teir: "read" }] }, /tools "a": unknown key "teir"/],
    ["no verdict", { rules: [{ name: "n" }] }, /n: say exactly one of deny, ask, allow/],
    ["two verdicts", { rules: [{ ask: "a", allow: "a" }] }, /say exactly one/],
    ["an empty list of tools", { rules: [{ deny: [] }] }, /matches nothing; write "\*\*" for all/],
    ["a hole in what is no ask", { rules: [{ allow: "a", except: () => true }] }, /a allow has none/],
    ["a condition that is no function", { rules: [{ ask: "a", when: true }] }, /are functions of the call/],
    ["an exception that is no function", { rules: [{ ask: "a", except: "x" }] }, /are functions of the call/],
    ["a tier outside the list", { rules: [{ ask: "a", tiers: ["reed"] }] }, /"reed" is not one of read, write, physical/],
    ["no tier at all", { rules: [{ deny: "a", tiers: [] }] }, /empty list of tiers matches nothing/],
    [
      "an unknown key of a confirmation",
      { tools: [{ match: "a", confirm: { aprovers: ["b"] } }] },
      /confirm: unknown key "aprovers"/,
    ],
    [
      "a confirmation that is none",
      { tools: [{ match: "a", confirm: false as never }] },
      /confirm is true, a message or an object/,
    ],
    ["a tool's tier outside the list", { tools: [{ match: "a", tier: "reed" }] }, /tools "a".tier/],
    ["a tool's impact outside the list", { tools: [{ match: "a", impact: "bad" }] }, /tools "a".impact/],
    ["a mode outside the list", { mode: "yolo" }, /policy.mode/],
    ["unmatched outside the list", { unmatched: "run" }, /policy.unmatched/],
    ["record outside the list", { record: "some" }, /policy.record/],
    ["an empty group", { approvers: { "group:a": [] } }, /an empty list names nobody/],
    ["approvers that are nobody", { rules: [{ ask: "a", approvers: [] }] }, /an empty list of approvers names nobody/],
    ["an argument pattern", { rules: [{ deny: "bash(rm)" }] }, /looks at arguments/],
  ])("P-14 refuses %s, and with it the whole policy", (_what, policy, words) => {
    expect(() => compile(policy as Policy)).toThrow(DeclarationError);
    expect(() => compile(policy as Policy)).toThrow(words);
  });

  it.each(["window", "deadline", "remind"])("refuses a %s that is no duration, naming the rule", (member) => {
    for (const verdict of ["ask", "allow", "deny"]) {
      const rules = [{ name: "n", [verdict]: "a", [member]: "soon" }];
      expect(() => compile({ rules })).toThrow(DeclarationError);
      expect(() => compile({ rules })).toThrow(/^n: .*"soon" is not a duration/);
    }
  });

  it.each<[string, object, RegExp]>([
    ["a grant of a rule without a scope", { rules: [{ allow: "a", requires: "" }] }, /a grant's scope is empty/],
    ["a pointer of a rule", { rules: [{ ask: "a", editable: ["path"] }] }, /rule 1: editable "path" is not a JSON pointer/],
    ["approvers of a tool that are nobody", { tools: [{ match: "a", confirm: { approvers: [] } }] }, /names nobody/],
    ["a window of a tool", { tools: [{ match: "a", confirm: { window: "long" } }] }, /"long" is not a duration/],
    ["a grant of a tool without a length", { tools: [{ match: "a", requires: { scope: "x", length: 0 } }] }, /would never hold/],
    ["a pointer of a tool", { tools: [{ match: "a", secrets: ["token"] }] }, /tools "a": secrets "token" is not a JSON pointer/],
    ["a tool pattern", { tools: [{ match: "" }] }, /not a tool pattern/],
  ])("P-15 finds %s when the policy is read, not at the call", (_what, policy, words) => {
    expect(() => compile(policy as Policy)).toThrow(DeclarationError);
    expect(() => compile(policy as Policy)).toThrow(words);
  });
});
