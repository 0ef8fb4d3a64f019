import { commonPart, EVERYTHING } from "../editable.ts";
import { canonicalize } from "../json.ts";
import type { JsonObject } from "../json-value.ts";
import type { CallFacts, Mode, PolicySnapshot } from "../policy.ts";
import type { Crypto } from "../ports/runtime.ts";
import type { Hold, Submission } from "../ports/desk.ts";
import { requiredBy, ruleOn, type Verdict } from "../rule.ts";
import type { Tier } from "../tool-call.ts";
import { floorsOf } from "./floor.ts";
import { describe, describeBelow, type Descriptor, graverImpact, graverTier, type KnownTool, knownTool } from "./know.ts";
import { hearAll, type Heard } from "./opinion.ts";

/**
 * A call as a gate in another process tells of it. Nothing of this is believed where believing would free anything: it
 * tightens, or it describes (design, section 3).
 */
export interface Elsewhere
  extends Omit<Submission, "policy" | "allowedByOpinion" | "edits" | "ignore" | "revalidate" | "tool" | "effect"> {
  /** By name alone where the caller knows no more. */
  readonly tool: Submission["tool"] | string;
  readonly effect: string | undefined;
}

/** The policies that such a call is judged by, all of them: the one its run began with, and the present one. */
export type Policies = readonly [PolicySnapshot, ...PolicySnapshot[]];

const TIGHTER: Readonly<Record<Mode, readonly Mode[]>> = {
  default: ["plan", "no-ask"],
  plan: [],
  "no-ask": [],
  "accept-edits": ["default", "plan", "no-ask"],
  bypass: ["accept-edits", "default", "plan", "no-ask"],
};

/** The mode that a run elsewhere may have: its own where that is the tighter, else the desk's. */
export const tighterMode = (desk: Mode, asked: Mode | undefined): Mode =>
  asked !== undefined && TIGHTER[desk].includes(asked) ? asked : desk;

/** The same demand, whoever makes it, is made once. */
function unique(holds: readonly Hold[]): readonly Hold[] {
  const seen = new Set<string>();
  return holds.filter((hold) => {
    const demand = canonicalize({ ...hold.clause, by: "", deadline: hold.deadline ?? null });
    return !seen.has(demand) && seen.add(demand);
  });
}

/** Names that only the desk's own policy gives to a hold. */
const ownName = (by: string): boolean => by.startsWith("rule:") || by === "policy";

/**
 * A hold of the caller's counts beside our own. It cannot be called one of ours, and being listed is enough only where
 * our policy says so (P-06).
 */
const theirHold = (hold: Hold): Hold => {
  const by = ownName(hold.by) ? `the gate's ${hold.by}` : hold.by;
  return { ...hold, by, clause: { ...hold.clause, by }, offer: undefined };
};

interface Weighed {
  readonly known: KnownTool;
  readonly descriptor: Descriptor;
  readonly tier: Tier | undefined;
  readonly facts: CallFacts;
  readonly heard: Heard;
  readonly denied: Submission["denied"];
}

/** Our own code cannot change a call that runs in another process: that process would run what it has. */
const deniedBy = (heard: Heard, said: Elsewhere): Submission["denied"] => {
  if (heard.denied !== undefined) return heard.denied;
  return heard.arguments === said.call.arguments ? said.denied : { by: "opinion", fault: true };
};

async function weigh(policies: Policies, said: Elsewhere, crypto: Crypto): Promise<Weighed> {
  const name = typeof said.tool === "string" ? said.tool : said.tool.name;
  const known = knownTool({ name, ...(said.schema === null ? {} : { input: said.schema }), run: () => undefined }, crypto);
  const descriptor = describeBelow(known, policies);
  const tier = graverTier(descriptor.tier, said.tier);
  const facts = { tool: name, tier, arguments: said.call.arguments, requester: said.requester };
  const heard = await hearAll([...new Set(policies.flatMap(({ opinions }) => opinions))], facts);
  return { known, descriptor, tier, facts, heard, denied: deniedBy(heard, said) };
}

/** What one policy says of the call, for one tier of the tool, with nothing of what the caller demands. */
const ruled = (policy: PolicySnapshot, weighed: Weighed, as: { tier: Tier | undefined; edits: boolean }): Verdict =>
  ruleOn(policy, {
    facts: { ...weighed.facts, tier: as.tier },
    edits: as.edits,
    killed: false,
    denied: weighed.denied,
    holds: [],
    allowedByOpinion: weighed.heard.allows,
  });

const isRule = ({ by }: Hold): boolean => by.startsWith("rule:");

/** What every policy says, of the tool as we know it and as the caller calls it: the strictest of it all. */
function judged(policies: Policies, said: Elsewhere, weighed: Weighed): { denied: Submission["denied"]; holds: readonly Hold[] } {
  const { known, facts, heard } = weighed;
  const holds: Hold[] = [...heard.holds];
  for (const [index, policy] of policies.entries()) {
    const own = describe(known, policy);
    const edits = own.edits === true;
    const floors = floorsOf(own, facts.arguments, said.requester);
    const asks = floors.length + heard.holds.length > 0;
    const ours = ruled(policy, weighed, { tier: weighed.tier, edits });
    const theirs = ruled(policy, weighed, { tier: said.tier, edits });
    const deny = [ours, theirs].find((verdict) => verdict.verdict === "deny");
    if (deny?.verdict === "deny") return { denied: deniedAs(deny), holds: [] };
    const demands = ours.verdict === "ask" ? ours.holds : [];
    const claimed = theirs.verdict === "ask" ? theirs.holds : [];
    holds.push(
      ...floors,
      // The desk adds the rules of the run's own policy by itself.
      ...demands.filter((hold) => (isRule(hold) ? index > 0 : !asks)),
      // A tier that is only claimed adds rules, never a default.
      ...claimed.filter((hold) => isRule(hold) && !demands.some(({ by }) => by === hold.by)),
    );
  }
  return { denied: undefined, holds };
}

const deniedAs = ({ by, code, reason }: Extract<Verdict, { verdict: "deny" }>): Submission["denied"] => ({
  by,
  ...(reason === undefined ? {} : { reason }),
  ...(code === "policy_error" ? { fault: true as const } : {}),
});

/**
 * What the desk rules on for a gate in another process: its claims, and everything that our own policies say of the
 * tool and the call. A claim never takes a hold of ours away.
 * @throws DeclarationError where the tool's name or schema is none
 */
export async function submissionFromElsewhere(policies: Policies, said: Elsewhere, crypto: Crypto): Promise<Submission> {
  const weighed = await weigh(policies, said, crypto);
  const { known, descriptor, tier, facts, heard } = weighed;
  const { denied, holds } = judged(policies, said, weighed);
  const [policy, ...others] = policies;
  const words = said.effect !== undefined || said.holds.some(({ message }) => message !== undefined);
  return {
    ...said,
    tool: typeof said.tool === "string" ? known.identity : said.tool,
    tier,
    impact: graverImpact(descriptor.impact, said.impact),
    edits: descriptor.edits === true,
    effect: descriptor.effect ?? said.effect,
    holds: unique([...said.holds.map(theirHold), ...holds]),
    denied,
    allowedByOpinion: heard.allows,
    requires: [...said.requires, ...descriptor.requires, ...others.flatMap((other) => requiredBy(other, facts))],
    secrets: [...new Set([...said.secrets, ...(descriptor.secrets ?? [])])],
    editable: commonPart(descriptor.editable ?? EVERYTHING, said.editable),
    ignore: descriptor.ignore ?? [],
    revalidate: undefined,
    notes: [
      ...said.notes.map((note) => `the asking side says: ${note}`),
      ...(words ? ["the words about this call come from the asking side; the arguments are what runs"] : []),
    ],
    policy,
  };
}

/** What the policy says of a call that was put together so, asking nobody. */
export function verdictOn(submission: Submission, killed: boolean): Verdict {
  const { tool, tier, call, requester, edits, denied, holds, allowedByOpinion, policy } = submission;
  const facts = { tool: tool.name, tier, arguments: call.arguments as JsonObject, requester };
  return ruleOn(policy, { facts, edits, killed, denied, holds, allowedByOpinion });
}
