import { asWritten, checkPointers, refuseUnknownKeys } from "./declared.ts";
import type { Duration } from "./duration.ts";
import { DeclarationError } from "./errors.ts";
import { type Glob, glob } from "./glob.ts";
import { prerequisite } from "./grant.ts";
import type { Hash } from "./hash.ts";
import { checkConfirmation, holdOf } from "./hold.ts";
import type { JsonObject } from "./json-value.ts";
import type { Alternative, Assurance, Selector } from "./requirement.ts";
import type { Confirmation, Impact, Message, Requester, Requires, Tier } from "./tool-call.ts";
import { IMPACTS, TIERS } from "./tool-call.ts";

export const MODES = ["default", "plan", "accept-edits", "bypass", "no-ask"] as const;
/** A run's preset; never lowers a hold. */
export type Mode = (typeof MODES)[number];
export const UNMATCHED = ["by-tier", "ask", "deny", "allow"] as const;
export type Unmatched = (typeof UNMATCHED)[number];
export const RECORDS = ["calls", "counts", "none"] as const;
/** What is kept of calls that policy alone lets through. */
export type RecordKeeping = (typeof RECORDS)[number];

/** What a rule's condition is shown. Exactly `true`: the rule applies; exactly `false`: it does not. */
export interface CallFacts {
  readonly tool: string;
  readonly tier: Tier | undefined;
  readonly arguments: JsonObject;
  readonly requester: Requester;
}
export type Condition = (call: CallFacts) => unknown;

/** What WE say of tools; later entries refine earlier ones. */
export interface ToolEntry {
  readonly match: string;
  readonly tier?: Tier;
  readonly impact?: Impact;
  readonly effect?: Message;
  readonly message?: Message;
  readonly edits?: boolean;
  readonly editable?: readonly string[];
  readonly secrets?: readonly string[];
  readonly ignore?: readonly string[];
  readonly requires?: Requires;
  readonly confirm?: true | string | Confirmation;
}

/** One rule: exactly one of `deny`, `ask`, `allow` with tool patterns. Order never matters: deny beats holds beats allow. */
export interface Rule {
  readonly name?: string;
  readonly deny?: string | readonly string[];
  readonly ask?: string | readonly string[];
  readonly allow?: string | readonly string[];
  readonly tiers?: readonly Tier[];
  readonly when?: Condition;
  /** Only for `ask`: what it does not hold. Exactly `true` lets the call past this rule. */
  readonly except?: Condition;
  readonly reason?: string;
  readonly message?: Message;
  readonly approvers?: readonly Selector[];
  readonly quorum?: number;
  readonly any?: readonly Alternative[];
  readonly self?: "allow" | "deny";
  readonly assurance?: Assurance;
  readonly window?: Duration;
  readonly exemptible?: boolean;
  readonly requires?: Requires;
  readonly edit?: boolean;
  readonly editable?: readonly string[];
  readonly deadline?: Duration;
  readonly remind?: Duration;
  readonly channels?: readonly string[];
  readonly offer?: "enough";
}

/**
 * An opinion in code, heard on every call not yet denied. `null`: none. `arguments` rewrites the call, which is then
 * validated and judged as rewritten. A throw, `undefined`, anything else: `policy_error`. Its allow answers no hold.
 */
export type Opinion = (call: CallFacts) => OpinionAnswer | null | Promise<OpinionAnswer | null>;
export interface OpinionAnswer {
  readonly verdict: "allow" | "ask" | "deny" | "none";
  readonly reason?: string;
  readonly arguments?: JsonObject;
}

export interface Policy {
  readonly mode?: Mode;
  /** What a call that nothing names gets. Default `by-tier`: `read` runs, the rest asks. */
  readonly unmatched?: Unmatched;
  readonly record?: RecordKeeping;
  readonly tools?: readonly ToolEntry[];
  readonly rules?: readonly Rule[];
  readonly opinions?: readonly Opinion[];
  /** `group:…` and `role:…` → who is in it. */
  readonly approvers?: Readonly<Record<string, readonly string[]>>;
}

/** A policy read once and frozen: what a run holds on to. */
export interface PolicySnapshot {
  readonly hash: Hash;
  readonly mode: Mode;
  readonly unmatched: Unmatched;
  readonly record: RecordKeeping;
  readonly entries: readonly CompiledEntry[];
  readonly rules: readonly CompiledRule[];
  readonly opinions: readonly Opinion[];
  readonly groups: ReadonlyMap<string, readonly string[]>;
}
export interface CompiledEntry {
  readonly glob: Glob;
  readonly entry: ToolEntry;
}
export interface CompiledRule {
  readonly name: string;
  readonly verdict: "deny" | "ask" | "allow";
  readonly globs: readonly Glob[];
  readonly rule: Rule;
}

const RULE_KEYS: ReadonlySet<string> = new Set([
  "name",
  "deny",
  "ask",
  "allow",
  "tiers",
  "when",
  "except",
  "reason",
  "message",
  "approvers",
  "quorum",
  "any",
  "self",
  "assurance",
  "window",
  "exemptible",
  "requires",
  "edit",
  "editable",
  "deadline",
  "remind",
  "channels",
  "offer",
]);
const ENTRY_KEYS: ReadonlySet<string> = new Set([
  "match",
  "tier",
  "impact",
  "effect",
  "message",
  "edits",
  "editable",
  "secrets",
  "ignore",
  "requires",
  "confirm",
]);
const POLICY_KEYS: ReadonlySet<string> = new Set(["mode", "unmatched", "record", "tools", "rules", "opinions", "approvers"]);
const VERDICTS = ["deny", "ask", "allow"] as const;

/** The first of the allowed words is the default. */
function oneOf<T extends string>(where: string, value: T | undefined, allowed: readonly T[]): T {
  if (value === undefined) return allowed[0] as T;
  if (!allowed.includes(value)) throw new DeclarationError(`${where}: "${String(value)}" is not one of ${allowed.join(", ")}`);
  return value;
}

function compileRule(rule: Rule, index: number): CompiledRule {
  const name = rule.name ?? `rule ${index + 1}`;
  refuseUnknownKeys(name, rule, RULE_KEYS);
  const said = VERDICTS.filter((verdict) => rule[verdict] !== undefined);
  const verdict = said[0];
  if (verdict === undefined || said.length > 1) throw new DeclarationError(`${name}: say exactly one of deny, ask, allow`);
  const patterns = rule[verdict] as string | readonly string[];
  const globs = (typeof patterns === "string" ? [patterns] : patterns).map(glob);
  if (globs.length === 0) throw new DeclarationError(`${name}: an empty list of tools matches nothing; write "**" for all`);
  if (rule.except !== undefined && verdict !== "ask")
    throw new DeclarationError(`${name}: "except" cuts a hole into an ask; a ${verdict} has none`);
  if (rule.tiers?.length === 0)
    throw new DeclarationError(`${name}: an empty list of tiers matches nothing; leave it out for all`);
  for (const tier of rule.tiers ?? []) oneOf(`${name}.tiers`, tier, TIERS);
  for (const condition of [rule.when, rule.except]) {
    if (condition !== undefined && typeof condition !== "function")
      throw new DeclarationError(`${name}: "when" and "except" are functions of the call`);
  }
  holdOf(name, rule, { exemptible: false, message: undefined });
  if (rule.requires !== undefined) prerequisite(rule.requires, name);
  checkPointers(`${name}: editable`, rule.editable ?? []);
  return { name, verdict, globs, rule: asWritten(rule) };
}

function compileEntry(entry: ToolEntry): CompiledEntry {
  const where = `tools "${entry.match}"`;
  refuseUnknownKeys(where, entry, ENTRY_KEYS);
  oneOf(`${where}.tier`, entry.tier, TIERS);
  oneOf(`${where}.impact`, entry.impact, IMPACTS);
  checkConfirmation(where, entry.confirm);
  if (entry.requires !== undefined) prerequisite(entry.requires, entry.match);
  for (const member of ["editable", "secrets", "ignore"] as const) checkPointers(`${where}: ${member}`, entry[member] ?? []);
  return { glob: glob(entry.match), entry: asWritten(entry) };
}

const LISTS = ["tools", "rules", "opinions"] as const;

/**
 * The members of a policy, before anything looks into them.
 * @throws DeclarationError on an unknown key, and on something else where a list belongs
 */
export function checkMembers(policy: Policy): void {
  refuseUnknownKeys("policy", policy, POLICY_KEYS);
  for (const member of LISTS)
    if (policy[member] !== undefined && !Array.isArray(policy[member])) throw new DeclarationError(`policy.${member} is a list`);
}

/**
 * Reads a policy in code; one bad rule fails the whole policy, because a rule that is skipped is a hole.
 * @throws DeclarationError naming the rule and the fix
 */
export function compilePolicy(
  policy: Policy,
  options: { readonly hash: Hash; readonly record: RecordKeeping; readonly mode?: Mode },
): PolicySnapshot {
  checkMembers(policy);
  const groups = new Map(Object.entries(policy.approvers ?? {}).map(([group, members]) => [group, [...members]] as const));
  for (const [group, members] of groups) {
    if (members.length === 0)
      throw new DeclarationError(`approvers "${group}": an empty list names nobody; remove it or name someone`);
  }
  return {
    hash: options.hash,
    mode: oneOf("policy.mode", options.mode ?? policy.mode, MODES),
    unmatched: oneOf("policy.unmatched", policy.unmatched, UNMATCHED),
    record: oneOf("policy.record", policy.record ?? options.record, RECORDS),
    entries: (policy.tools ?? []).map(compileEntry),
    rules: (policy.rules ?? []).map(compileRule),
    opinions: [...(policy.opinions ?? [])],
    groups,
  };
}

export const withMode = (snapshot: PolicySnapshot, mode: Mode | undefined): PolicySnapshot =>
  mode === undefined ? snapshot : { ...snapshot, mode: oneOf("mode", mode, MODES) };
