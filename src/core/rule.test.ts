import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Hash } from "./hash.ts";
import { holdOf } from "./hold.ts";
import type { JsonObject } from "./json-value.ts";
import { type CallFacts, compilePolicy, type Condition, MODES, type Policy, type Rule, UNMATCHED } from "./policy.ts";
import { couldAsk, denyOf, freesByName, type Judged, requiredBy, ruleOn, type Verdict } from "./rule.ts";
import { type Tier, TIERS } from "./tool-call.ts";

const HASH: Hash = `sha256:${"0".repeat(64)}`;

/** What a condition does: answer, answer by an argument, or fail in one of the ways that code can. */
type Behaviour = "yes" | "no" | "by argument" | "throws" | "promises" | "truthy" | "nothing";
const FAULTS: readonly Behaviour[] = ["throws", "promises", "truthy", "nothing"];
const CONDITIONS: Readonly<Record<Behaviour, Condition>> = {
  yes: () => true,
  no: () => false,
  "by argument": ({ arguments: args }) => args.flag === true,
  throws: () => {
    throw new Error("a condition failed");
  },
  promises: () => Promise.resolve(false),
  truthy: () => 1,
  nothing: () => undefined,
};

interface Words {
  readonly verdict: "deny" | "ask" | "allow";
  readonly patterns: readonly string[];
  readonly tiers: readonly Tier[] | undefined;
  readonly when: Behaviour | undefined;
  readonly except: Behaviour | undefined;
  readonly requires: boolean;
}
interface Question {
  readonly mode: Policy["mode"];
  readonly unmatched: Policy["unmatched"];
  readonly tool: string;
  readonly tier: Tier | undefined;
  readonly flag: boolean;
  readonly edits: boolean;
  readonly killed: boolean;
  readonly denied: "no" | "yes" | "fault";
  readonly held: boolean;
  readonly allowedByOpinion: boolean;
}

/** --- the reference: station 4 of the design in words of its own, none of ours --- */
interface Reference {
  readonly verdict: "allow" | "ask" | "deny";
  readonly code: "denied" | "killed" | "policy_error" | null;
  /** Numbers of the rules that hold. */
  readonly holds: readonly number[];
}
const matches = (pattern: string, tool: string): boolean =>
  new RegExp(
    `^${pattern.replace(/[.+?^${}()|[\]\\]/g, "\\$&").replace(/\*\*?/g, (stars) => (stars === "**" ? "[^]*" : "[^/]*"))}$`,
  ).test(tool);
const says = (behaviour: Behaviour | undefined, flag: boolean): true | false | "fault" => {
  if (behaviour === undefined || behaviour === "yes") return true;
  if (behaviour === "no") return false;
  return behaviour === "by argument" ? flag : "fault";
};
const deny = (code: Reference["code"]): Reference => ({ verdict: "deny", code, holds: [] });
const allow: Reference = { verdict: "allow", code: null, holds: [] };

function reference(rules: readonly Words[], asked: Question): Reference {
  const { mode = "default", unmatched = "by-tier", tool, tier, flag } = asked;
  const concerning = rules
    .map((rule, number) => ({ ...rule, number }))
    .filter(
      ({ patterns, tiers }) =>
        patterns.some((pattern) => matches(pattern, tool)) &&
        (tiers === undefined || (tier !== undefined && tiers.includes(tier))),
    );
  const of = (verdict: Words["verdict"]) => concerning.filter((rule) => rule.verdict === verdict);
  if (asked.killed) return deny("killed");
  if (asked.denied !== "no") return deny(asked.denied === "fault" ? "policy_error" : "denied");
  const denials = of("deny").map(({ when }) => says(when, flag));
  if (denials.includes(true)) return deny("denied");
  if (denials.includes("fault")) return deny("policy_error");
  const allowed = of("allow").some(({ when }) => says(when, flag) === true);
  if (mode === "plan" && tier !== "read" && !allowed) return deny("denied");
  const holds = of("ask")
    .filter(({ when, except }) => says(when, flag) !== false && !(except !== undefined && says(except, flag) === true))
    .map(({ number }) => number);
  if (holds.length > 0 || asked.held) return { verdict: "ask", code: null, holds };
  if ((mode === "accept-edits" && asked.edits) || (mode === "bypass" && tier !== "physical")) return allow;
  if (allowed || asked.allowedByOpinion) return allow;
  if (unmatched === "deny") return deny("denied");
  const free = unmatched === "allow" ? tier === "read" || tier === "write" : unmatched === "by-tier" && tier === "read";
  return free ? allow : { verdict: "ask", code: null, holds: [] };
}
/** --- end of the reference --- */

const ruleOf = (words: Words, number: number): Rule => ({
  name: `r${number}`,
  [words.verdict]: words.patterns,
  ...(words.tiers === undefined ? {} : { tiers: words.tiers }),
  ...(words.when === undefined ? {} : { when: CONDITIONS[words.when] }),
  ...(words.except === undefined || words.verdict !== "ask" ? {} : { except: CONDITIONS[words.except] }),
  ...(words.requires ? { requires: `scope ${number}` } : {}),
});

const compiled = (rules: readonly Rule[], asked: Pick<Question, "mode" | "unmatched">) =>
  compilePolicy(
    {
      rules,
      ...(asked.mode === undefined ? {} : { mode: asked.mode }),
      ...(asked.unmatched === undefined ? {} : { unmatched: asked.unmatched }),
    },
    { hash: HASH, record: "counts" },
  );

const factsOf = (asked: Question, more: JsonObject = {}): CallFacts => ({
  tool: asked.tool,
  tier: asked.tier,
  arguments: { ...more, flag: asked.flag },
  requester: { principal: "ada" },
});

const FLOOR = holdOf("tool", {}, { exemptible: true, message: undefined });
const judged = (asked: Question, facts: CallFacts = factsOf(asked)): Judged => ({
  facts,
  edits: asked.edits,
  killed: asked.killed,
  denied: asked.denied === "no" ? undefined : { by: "parent", ...(asked.denied === "fault" ? { fault: true } : {}) },
  holds: asked.held ? [FLOOR] : [],
  allowedByOpinion: asked.allowedByOpinion,
});

const numbersOf = (said: Verdict): readonly number[] =>
  said.verdict !== "ask"
    ? []
    : said.holds.flatMap(({ by }) => (by.startsWith("rule:r") ? [Number(by.slice("rule:r".length))] : [])).sort((a, b) => a - b);
const plain = (said: Verdict): Reference => ({
  verdict: said.verdict,
  code: said.verdict === "deny" ? said.code : null,
  holds: numbersOf(said),
});

const TOOLS = ["fs/read_file", "fs/deep/write", "bash", "pay"] as const;
const pattern = fc.constantFrom("**", "*", "fs/*", "fs/**", "fs/read_*", "*_file", "bash", "p**y", "pay", "b.sh", "f*/d*/w*");
const words: fc.Arbitrary<Words> = fc.record({
  verdict: fc.constantFrom("deny" as const, "ask" as const, "ask" as const, "allow" as const, "allow" as const),
  patterns: fc.uniqueArray(pattern, { minLength: 1, maxLength: 2 }),
  tiers: fc.oneof(
    { weight: 3, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.subarray([...TIERS], { minLength: 1 }) },
  ),
  when: fc.option(fc.constantFrom(...(Object.keys(CONDITIONS) as Behaviour[])), { nil: undefined }),
  except: fc.option(fc.constantFrom(...(Object.keys(CONDITIONS) as Behaviour[])), { nil: undefined }),
  requires: fc.boolean(),
});
const seldom = fc.integer({ min: 0, max: 19 }).map((n) => n === 0);
const question: fc.Arbitrary<Question> = fc.record({
  mode: fc.option(fc.constantFrom(...MODES), { nil: undefined }),
  unmatched: fc.option(fc.constantFrom(...UNMATCHED), { nil: undefined }),
  tool: fc.constantFrom(...TOOLS),
  tier: fc.constantFrom(undefined, ...TIERS),
  flag: fc.boolean(),
  edits: fc.boolean(),
  killed: seldom,
  denied: fc.constantFrom("no", "no", "no", "no", "no", "no", "no", "no", "yes", "fault"),
  held: fc.constantFrom(false, false, false, true),
  allowedByOpinion: fc.constantFrom(false, false, true),
});
const rules = fc.array(words, { maxLength: 6 });
const STRICTNESS = { allow: 0, ask: 1, deny: 2 } as const;
const RUNS = { numRuns: 4000 };

const ruled = (list: readonly Words[], asked: Question): Verdict => ruleOn(compiled(list.map(ruleOf), asked), judged(asked));

describe("ruleOn", () => {
  it("P-08 says what a reference of its own says", () => {
    const seen = new Map<string, number>();
    fc.assert(
      fc.property(rules, question, (list, asked) => {
        const said = plain(ruled(list, asked));
        seen.set(`${said.verdict} ${said.code}`, (seen.get(`${said.verdict} ${said.code}`) ?? 0) + 1);
        expect(said).toEqual(reference(list, asked));
      }),
      RUNS,
    );
    expect([...seen.keys()].sort()).toEqual(["allow null", "ask null", "deny denied", "deny killed", "deny policy_error"]);
    expect(Math.min(...seen.values())).toBeGreaterThan(50);
  });

  it("P-08 is not moved by the order of rules", () => {
    fc.assert(
      fc.property(
        rules.chain((list) =>
          fc.tuple(
            fc.constant(list),
            fc.shuffledSubarray(
              list.map((_, n) => n),
              { minLength: list.length },
            ),
          ),
        ),
        question,
        ([list, order], asked) => {
          const named = list.map(ruleOf);
          const shuffled = order.flatMap((n) => named.slice(n, n + 1));
          expect(plain(ruleOn(compiled(shuffled, asked), judged(asked)))).toEqual(
            plain(ruleOn(compiled(named, asked), judged(asked))),
          );
        },
      ),
      RUNS,
    );
  });

  it("P-08 is never loosened by one more deny or ask", () => {
    const more = words.filter(({ verdict }) => verdict !== "allow");
    fc.assert(
      fc.property(rules, more, question, (list, added, asked) => {
        const before = ruled(list, asked);
        const after = ruled([...list, added], asked);
        // `unmatched` speaks of calls that nothing names: an ask rule that names one asks a person where nobody was asked.
        const nobodyAsked = before.verdict === "deny" && before.by === "unmatched";
        expect(after.verdict === "allow" && before.verdict !== "allow").toBe(false);
        if (!nobodyAsked) expect(STRICTNESS[after.verdict]).toBeGreaterThanOrEqual(STRICTNESS[before.verdict]);
        if (after.verdict === "ask") expect(numbersOf(after)).toEqual(expect.arrayContaining([...numbersOf(before)]));
      }),
      RUNS,
    );
  });

  it("P-08 is not moved by fields that the caller adds", () => {
    const claims = [
      "confirm",
      "approved",
      "mode",
      "tier",
      "verdict",
      "killed",
      "holds",
      "allowedByOpinion",
      "except",
      "__proto__",
    ];
    const fields = fc.dictionary(
      fc.constantFrom(...claims),
      fc.constantFrom<JsonObject[string]>(true, "bypass", "read", "allow", null, []),
    );
    fc.assert(
      fc.property(rules, question, fields, (list, asked, junk) => {
        const policy = compiled(list.map(ruleOf), asked);
        const facts = { ...factsOf(asked, junk), ...junk, ...factsOf(asked, junk) };
        const requester = { ...junk, principal: "ada" } as CallFacts["requester"];
        expect(plain(ruleOn(policy, judged(asked, { ...facts, requester })))).toEqual(plain(ruleOn(policy, judged(asked))));
      }),
      RUNS,
    );
  });

  it("P-08 P-15 lets every kind of rule fail its own closed way", () => {
    const base: Question = {
      mode: "default",
      unmatched: "allow",
      tool: "pay",
      tier: "write",
      flag: false,
      edits: false,
      killed: false,
      denied: "no",
      held: false,
      allowedByOpinion: false,
    };
    const one = (over: Partial<Words>): Words => ({
      verdict: "ask",
      patterns: ["pay"],
      tiers: undefined,
      when: undefined,
      except: undefined,
      requires: false,
      ...over,
    });
    for (const fault of FAULTS) {
      expect(ruled([one({ verdict: "deny", when: fault })], base)).toEqual({ verdict: "deny", by: "r0", code: "policy_error" });
      expect(ruled([one({ verdict: "ask", when: fault })], base).verdict).toBe("ask");
      expect(ruled([one({ verdict: "ask", except: fault })], base).verdict).toBe("ask");
      expect(ruled([one({ verdict: "allow", when: fault })], { ...base, unmatched: "ask" }).verdict).toBe("ask");
      expect(requiredBy(compiled([ruleOf(one({ when: fault, requires: true }), 0)], base), factsOf(base))).toEqual(["scope 0"]);
    }
  });

  it("P-07 says who denied and the words that go to the model", () => {
    const asked = { mode: undefined, unmatched: undefined };
    const facts: CallFacts = { tool: "pay", tier: "write", arguments: {}, requester: { principal: "ada" } };
    const policy = compiled([{ name: "no pay", deny: "pay", reason: "not today" }], asked);
    expect(denyOf(policy, facts)).toEqual({ verdict: "deny", by: "no pay", code: "denied", reason: "not today" });
    expect(denyOf(policy, { ...facts, tool: "read" })).toBeUndefined();
    const judgedNow = { facts, edits: false, killed: false, holds: [], allowedByOpinion: false };
    expect(ruleOn(policy, { ...judgedNow, denied: { by: "parent", reason: "no" } })).toEqual({
      verdict: "deny",
      by: "parent",
      code: "denied",
      reason: "no",
    });
  });
});

describe("requiredBy", () => {
  it("joins what matching rules want first; a rule that does not apply wants nothing", () => {
    fc.assert(
      fc.property(rules, question, (list, asked) => {
        const wanted = list.flatMap((rule, number) =>
          rule.requires &&
          rule.verdict !== "deny" &&
          rule.patterns.some((one) => matches(one, asked.tool)) &&
          (rule.tiers === undefined || (asked.tier !== undefined && rule.tiers.includes(asked.tier))) &&
          says(rule.when, asked.flag) !== false
            ? [`scope ${number}`]
            : [],
        );
        expect(requiredBy(compiled(list.map(ruleOf), asked), factsOf(asked))).toEqual(wanted);
      }),
      RUNS,
    );
  });
});

describe("couldAsk", () => {
  it("P-06 is never false where some arguments would ask, or need a grant", () => {
    let never = 0;
    fc.assert(
      fc.property(rules, question, (list, asked) => {
        const policy = compiled(list.map(ruleOf), asked);
        if (couldAsk(policy, { name: asked.tool, tier: asked.tier, edits: asked.edits })) return;
        never += 1;
        for (const flag of [true, false]) {
          const one: Question = { ...asked, flag, killed: false, denied: "no", held: false, allowedByOpinion: false };
          const said = ruleOn(policy, judged(one));
          expect(said.verdict).not.toBe("ask");
          if (said.verdict === "allow") expect(requiredBy(policy, factsOf(one))).toEqual([]);
        }
      }),
      RUNS,
    );
    expect(never).toBeGreaterThan(100);
  });
});

describe("freesByName", () => {
  it("P-08 is never true where some arguments could ask, be denied or need a grant", () => {
    let freed = 0;
    fc.assert(
      fc.property(rules, question, (list, asked) => {
        const policy = compiled(list.map(ruleOf), asked);
        if (!freesByName(policy, { name: asked.tool, tier: asked.tier, edits: asked.edits })) return;
        freed += 1;
        for (const flag of [true, false]) {
          const one: Question = { ...asked, flag, killed: false, denied: "no", held: false, allowedByOpinion: false };
          expect(ruleOn(policy, judged(one)).verdict).toBe("allow");
          expect(requiredBy(policy, factsOf(one))).toEqual([]);
        }
      }),
      RUNS,
    );
    expect(freed).toBeGreaterThan(100);
  });

  it("P-10 is false where calls are recorded or an opinion wants to be heard", () => {
    const tool = { name: "read", tier: "read", edits: false } as const;
    const free = (policy: Policy) => freesByName(compilePolicy(policy, { hash: HASH, record: "counts" }), tool);
    expect(free({})).toBe(true);
    expect(free({ record: "none" })).toBe(true);
    expect(free({ record: "calls" })).toBe(false);
    expect(free({ opinions: [() => null] })).toBe(false);
  });
});
