import { holdOf } from "./hold.ts";
import type { CallFacts, CompiledRule, Condition, PolicySnapshot } from "./policy.ts";
import type { Hold } from "./ports/desk.ts";
import type { Requires, Tier } from "./tool-call.ts";

/** What station 4 says of a call. */
export type Verdict =
  | {
      readonly verdict: "deny";
      readonly by: string;
      readonly code: "denied" | "killed" | "policy_error";
      readonly reason?: string;
    }
  | { readonly verdict: "ask"; readonly holds: readonly Hold[] }
  | { readonly verdict: "allow"; readonly by: string };

/** A call as station 4 sees it: the facts, and what stations outside the policy already said. */
export interface Judged {
  readonly facts: CallFacts;
  readonly edits: boolean;
  readonly killed: boolean;
  readonly denied: { readonly by: string; readonly reason?: string; readonly fault?: true } | undefined;
  /** Floor, opinion's ask, parent's asks, changed definition. */
  readonly holds: readonly Hold[];
  readonly allowedByOpinion: boolean;
}

type Answer = "yes" | "no" | "fault";

/** A condition that throws, or answers anything but exactly true or false, is a fault: each verdict fails its own closed way. */
function answer(condition: Condition | undefined, facts: CallFacts): Answer {
  if (condition === undefined) return "yes";
  try {
    // Frozen: a condition that writes where it means to compare must not change what is judged after it.
    const said = condition(Object.freeze(facts));
    return said === true ? "yes" : said === false ? "no" : "fault";
  } catch {
    return "fault";
  }
}

const names = ({ globs, rule }: CompiledRule, tool: string, tier: Tier | undefined): boolean =>
  globs.some((pattern) => pattern.matches(tool)) &&
  (rule.tiers === undefined || (tier !== undefined && rule.tiers.includes(tier)));

const named = (
  policy: PolicySnapshot,
  facts: Pick<CallFacts, "tool" | "tier">,
  verdict: CompiledRule["verdict"],
): readonly CompiledRule[] => policy.rules.filter((rule) => rule.verdict === verdict && names(rule, facts.tool, facts.tier));

/**
 * Any deny of the policy's rules; a condition of a deny that fails denies. One that plainly applies says more than one
 * that failed, wherever either stands.
 */
export function denyOf(policy: PolicySnapshot, facts: CallFacts): Extract<Verdict, { verdict: "deny" }> | undefined {
  let failed: Extract<Verdict, { verdict: "deny" }> | undefined;
  for (const { name, rule } of named(policy, facts, "deny")) {
    const said = answer(rule.when, facts);
    const reason = rule.reason === undefined ? {} : { reason: rule.reason };
    if (said === "yes") return { verdict: "deny", by: name, code: "denied", ...reason };
    if (said === "fault") failed ??= { verdict: "deny", by: name, code: "policy_error" };
  }
  return failed;
}

const holdsRule = ({ rule }: CompiledRule, facts: CallFacts): boolean =>
  answer(rule.when, facts) !== "no" && !(rule.except !== undefined && answer(rule.except, facts) === "yes");

function ruleHolds(policy: PolicySnapshot, facts: CallFacts): readonly Hold[] {
  return named(policy, facts, "ask")
    .filter((rule) => holdsRule(rule, facts))
    .map(({ name, rule }) => holdOf(`rule:${name}`, rule, { exemptible: false, message: rule.message }));
}

const allowRule = (policy: PolicySnapshot, facts: CallFacts): CompiledRule | undefined =>
  named(policy, facts, "allow").find(({ rule }) => answer(rule.when, facts) === "yes");

/** The ask for a call that nothing names: the tool's own author or nobody gave it a tier, so an exemption in code may answer. */
const unmatchedHold = (): Hold => holdOf("policy", {}, { exemptible: true, message: undefined });

function unmatchedVerdict(policy: PolicySnapshot, tier: Tier | undefined): Verdict {
  if (policy.unmatched === "deny") return { verdict: "deny", by: "unmatched", code: "denied" };
  const free =
    policy.unmatched === "allow" ? tier === "read" || tier === "write" : policy.unmatched === "by-tier" && tier === "read";
  return free ? { verdict: "allow", by: "unmatched" } : { verdict: "ask", holds: [unmatchedHold()] };
}

function freedByMode(policy: PolicySnapshot, judged: Judged): boolean {
  if (policy.mode === "accept-edits") return judged.edits;
  return policy.mode === "bypass" && judged.facts.tier !== "physical";
}

/**
 * Station 4, one pure function, independent of the order of rules: adding a deny, an ask or any field of the call never
 * frees anything (design, section 4.4).
 */
export function ruleOn(policy: PolicySnapshot, judged: Judged): Verdict {
  const { facts } = judged;
  if (judged.killed) return { verdict: "deny", by: "kill switch", code: "killed" };
  if (judged.denied !== undefined) {
    const reason = judged.denied.reason === undefined ? {} : { reason: judged.denied.reason };
    return { verdict: "deny", by: judged.denied.by, code: judged.denied.fault === true ? "policy_error" : "denied", ...reason };
  }
  const deny = denyOf(policy, facts);
  if (deny !== undefined) return deny;
  const allow = allowRule(policy, facts);
  if (policy.mode === "plan" && facts.tier !== "read" && allow === undefined)
    return { verdict: "deny", by: "mode plan", code: "denied" };
  const holds = [...judged.holds, ...ruleHolds(policy, facts)];
  if (holds.length > 0) return { verdict: "ask", holds };
  if (freedByMode(policy, judged)) return { verdict: "allow", by: `mode ${policy.mode}` };
  if (allow !== undefined) return { verdict: "allow", by: allow.name };
  if (judged.allowedByOpinion) return { verdict: "allow", by: "opinion" };
  return unmatchedVerdict(policy, facts.tier);
}

/** The prerequisites that matching rules add to the tool's own. */
export const requiredBy = (policy: PolicySnapshot, facts: CallFacts): readonly Requires[] =>
  policy.rules.flatMap((compiled) =>
    compiled.rule.requires !== undefined &&
    compiled.verdict !== "deny" &&
    names(compiled, facts.tool, facts.tier) &&
    answer(compiled.rule.when, facts) !== "no"
      ? [compiled.rule.requires]
      : [],
  );

interface Named {
  readonly name: string;
  readonly tier: Tier | undefined;
  readonly edits: boolean;
}

/** The verdict on a tool by its name alone, of the rules that look at nothing else. */
function byName(policy: PolicySnapshot, tool: Named, rules: readonly CompiledRule[]): Verdict["verdict"] {
  const facts: CallFacts = { tool: tool.name, tier: tool.tier, arguments: {}, requester: { principal: "" } };
  const blind = { ...policy, rules: rules.filter(({ rule }) => rule.when === undefined) };
  const alone = { edits: tool.edits, killed: false, denied: undefined, holds: [], allowedByOpinion: false };
  return ruleOn(blind, { facts, ...alone }).verdict;
}

const concerning = (policy: PolicySnapshot, tool: Named): readonly CompiledRule[] =>
  policy.rules.filter((rule) => names(rule, tool.name, tool.tier));

/** Could the policy's rules ask a person for any call of this tool, or want a grant for one? */
export function couldAsk(policy: PolicySnapshot, tool: Named): boolean {
  const rules = concerning(policy, tool);
  if (rules.some(({ verdict, rule }) => verdict === "ask" || (verdict === "allow" && rule.requires !== undefined))) return true;
  return byName(policy, tool, rules) === "ask";
}

/**
 * True where the policy frees every call of a tool by its name alone, so that nothing looks at the arguments and they
 * go to the tool untouched. Anything that could ever judge an argument makes it false.
 */
export function freesByName(policy: PolicySnapshot, tool: Named): boolean {
  if (policy.record === "calls" || policy.opinions.length > 0) return false;
  const rules = concerning(policy, tool);
  if (rules.some(({ verdict, rule }) => verdict !== "allow" || rule.requires !== undefined)) return false;
  return byName(policy, tool, rules) === "allow";
}
