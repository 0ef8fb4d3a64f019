import { describe, expect, it } from "vitest";
import { DeclarationError } from "./errors.ts";
import { exemptBy, exemption, type ExemptionTest } from "./exemption.ts";
import { instant } from "./instant.ts";
import type { CallFacts } from "./policy.ts";

const NOW = instant(1_893_456_000_000);
const LATER = instant(1_893_456_000_001);
const facts: CallFacts = {
  tool: "fs/read",
  tier: "read",
  arguments: { path: "/a", deep: { x: 1 } },
  requester: { principal: "ada" },
};
const made = (test: ExemptionTest, words: { tools?: readonly string[]; until?: typeof NOW } = {}) =>
  exemption("tests", { tools: ["fs/*"], ...words }, { id: "e1", since: NOW, test });

describe("exemptBy", () => {
  it("P-14 takes exactly true for an answer; anything else asks", () => {
    const answers: readonly ExemptionTest[] = [
      () => false,
      () => 1,
      () => "true",
      () => undefined,
      () => Promise.resolve(true),
      () => {
        throw new Error("no");
      },
    ];
    for (const test of answers) expect(exemptBy([made(test)], facts, NOW)).toBeUndefined();
    const yes = made(() => true);
    expect(exemptBy([made(() => false), yes], facts, NOW)).toBe(yes);
    expect(exemptBy([], facts, NOW)).toBeUndefined();
  });

  it("P-14 covers only its tools, only until its end", () => {
    expect(exemptBy([made(() => true, { tools: ["pay"] })], facts, NOW)).toBeUndefined();
    expect(exemptBy([made(() => true, { until: NOW })], facts, NOW)).toBeUndefined();
    expect(exemptBy([made(() => true, { until: LATER })], facts, NOW)).toMatchObject({ until: LATER, uses: 0 });
    expect(exemptBy([made(() => true)], facts, NOW)).toMatchObject({ until: null, since: NOW });
  });

  it("P-02 shows a copy: the test cannot change what runs", () => {
    const test: ExemptionTest = ({ arguments: args }) => {
      (args as { path: string }).path = "/etc/passwd";
      (args.deep as { x: number }).x = 2;
      return true;
    };
    expect(exemptBy([made(test)], facts, NOW)).toBeDefined();
    expect(facts.arguments).toEqual({ path: "/a", deep: { x: 1 } });
  });
});

describe("exemption", () => {
  it("P-14 refuses one without a name, without tools, without a reason in code", () => {
    const end = { id: "e", since: NOW, test: () => true };
    expect(() => exemption("", { tools: ["a"] }, end)).toThrow(DeclarationError);
    expect(() => exemption("n", { tools: [] }, end)).toThrow(/covers nothing/);
    expect(() => exemption("n", { tools: ["a"] }, { ...end, test: true as never })).toThrow(/the function that says why/);
    for (const until of ["tomorrow", "2030-01-01T00:00:00+02:00"])
      expect(() => exemption("n", { tools: ["a"], until: until as never }, end)).toThrow(DeclarationError);
  });
});
