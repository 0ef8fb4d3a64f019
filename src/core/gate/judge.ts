import { commonPart, EVERYTHING } from "../editable.ts";
import type { JsonObject } from "../json-value.ts";
import { at, replaceAt } from "../pointer.ts";
import type { CallFacts } from "../policy.ts";
import type { Hold, Refusal, Revalidated, Submission } from "../ports/desk.ts";
import { requiredBy, ruleOn } from "../rule.ts";
import { withoutSecrets } from "../secret.ts";
import type { Requester, Requires } from "../tool-call.ts";
import { bind } from "./bind.ts";
import { floorsOf } from "./floor.ts";
import { type Descriptor, describe, type KnownTool } from "./know.ts";
import { hearAll } from "./opinion.ts";
import type { GateParts, Performer, Scope } from "./parts.ts";
import { receive } from "./receive.ts";
import { validate } from "./validate.ts";

/** A call on its way through the gate's stations. */
export interface Incoming {
  readonly known: KnownTool;
  readonly descriptor: Descriptor;
  readonly requester: Requester;
  /** The run's own scope first, its parents' after it. */
  readonly scopes: readonly [Scope, ...Scope[]];
  readonly performer?: Performer;
  /** The tool as it was registered, where somebody else runs it. */
  readonly registered?: KnownTool;
}

/** A call that stations 1 to 3 let through. */
export interface Checked {
  readonly arguments: JsonObject;
  readonly notes: readonly string[];
}

export type CheckedOrNot = ({ readonly ok: true } & Checked) | { readonly ok: false; readonly refusal: Refusal };

/** Stations 1 and 3: received and validated. */
export async function check(parts: GateParts, incoming: Incoming, given: unknown): Promise<CheckedOrNot> {
  const received = receive(given, incoming.known.schema);
  if (!received.ok) return received;
  const validated = await validate(parts.runtime, incoming.known.tool.input, received.arguments);
  return validated.ok ? { ok: true, arguments: validated.arguments, notes: received.notes } : validated;
}

export const factsOf = (incoming: Incoming, args: JsonObject): CallFacts => ({
  tool: incoming.descriptor.name,
  tier: incoming.descriptor.tier,
  arguments: args,
  requester: incoming.requester,
});

interface FromScopes {
  readonly holds: readonly Hold[];
  readonly requires: readonly Requires[];
  readonly denied: Submission["denied"];
}

const inChannels = (holds: readonly Hold[], channels: readonly string[] | undefined): readonly Hold[] =>
  channels === undefined ? holds : holds.map((hold) => (hold.channels === undefined ? { ...hold, channels } : hold));

/** A parent's question goes where the parent asks; never to the channels that are the child's own (P-17). */
function channelsAround(parts: GateParts, incoming: Incoming, scope: Scope): readonly string[] | undefined {
  const own = incoming.scopes[0].asks === "own" ? incoming.scopes[0].channels : undefined;
  if (scope.channels !== undefined || own === undefined) return scope.channels;
  return parts.channels.length > 0 ? parts.channels : parts.allChannels.filter((name) => !own.includes(name));
}

/**
 * What the scopes around a call say of it: each may deny, and only those that ask are asked, their demands joined, so
 * that a child can never weaken its parent (P-17).
 */
function fromScopes(parts: GateParts, incoming: Incoming, asked: { args: JsonObject; own: readonly Hold[] }): FromScopes {
  const { args, own } = asked;
  const holds: Hold[] = [];
  const requires: Requires[] = [];
  for (const [depth, scope] of incoming.scopes.entries()) {
    const descriptor = depth === 0 ? incoming.descriptor : describe(incoming.known, scope.policy);
    const facts = { ...factsOf(incoming, args), tier: descriptor.tier };
    const floors = depth === 0 ? own : floorsOf(descriptor, args, incoming.requester);
    const edits = descriptor.edits === true;
    const verdict = ruleOn(scope.policy, {
      facts,
      edits,
      killed: false,
      denied: undefined,
      holds: floors,
      allowedByOpinion: false,
    });
    if (verdict.verdict === "ask" && scope.asks === "deny")
      return { holds: [], requires: [], denied: { by: "a child that may not ask" } };
    if (depth === 0) continue;
    if (verdict.verdict === "deny") return { holds: [], requires: [], denied: { by: "parent", ...reasonOf(verdict) } };
    if (verdict.verdict === "ask") holds.push(...inChannels(verdict.holds, channelsAround(parts, incoming, scope)));
    requires.push(...descriptor.requires, ...requiredBy(scope.policy, facts));
  }
  return { holds, requires, denied: undefined };
}

const reasonOf = (verdict: { readonly reason?: string }): { readonly reason?: string } =>
  verdict.reason === undefined ? {} : { reason: verdict.reason };

export interface Weighed extends FromScopes {
  readonly allows: boolean;
  readonly arguments: JsonObject;
}

/** What the gate's own code says before the desk rules: floors, opinions, parents. */
async function weigh(
  parts: GateParts,
  incoming: Incoming,
  args: JsonObject,
): Promise<{ ok: true; weighed: Weighed } | { ok: false; refusal: Refusal }> {
  const heard = await hearAll([...new Set(incoming.scopes.flatMap(({ policy }) => policy.opinions))], factsOf(incoming, args));
  const changed =
    heard.arguments === args ? { ok: true as const, arguments: args } : await check(parts, incoming, heard.arguments);
  if (!changed.ok) return changed;
  const floors = floorsOf(incoming.descriptor, changed.arguments, incoming.requester);
  const around = fromScopes(parts, incoming, { args: changed.arguments, own: floors });
  const own = inChannels([...floors, ...heard.holds], incoming.scopes[0].channels);
  return {
    ok: true,
    weighed: {
      arguments: changed.arguments,
      allows: heard.allows,
      denied: heard.denied ?? around.denied,
      requires: around.requires,
      holds: [...own, ...around.holds],
    },
  };
}

/** Secrets stand as commitments wherever a person edits; the values they commit to are put back before anything is checked. */
export const withSecrets = (edited: JsonObject, original: JsonObject, secrets: readonly string[]): JsonObject =>
  secrets.reduce<JsonObject>((args, pointer) => {
    const value = at(original, pointer);
    return value === undefined || at(args, pointer) === undefined ? args : (replaceAt(args, pointer, value) as JsonObject);
  }, edited);

export interface SubmissionOptions {
  readonly id: string | undefined;
  readonly statement: string | undefined;
  readonly signal: Submission["signal"];
  readonly wait: Submission["wait"];
  /** Whose lease it is: this run's. */
  readonly holder: string;
}

/** How this gate checks an edit of this call: the same stations again, on the edited arguments. */
function revalidator(parts: GateParts, incoming: Incoming, original: JsonObject): (edited: JsonObject) => Promise<Revalidated> {
  const secrets = incoming.descriptor.secrets ?? [];
  return async (edited) => {
    const full = withSecrets(edited, original, secrets);
    const checked = await check(parts, incoming, full);
    if (!checked.ok)
      return {
        ok: false,
        code: checked.refusal.code,
        pointer: checked.refusal.pointer ?? "",
        problem: checked.refusal.problem ?? "the edit could not be checked",
      };
    const said = await weigh(parts, incoming, checked.arguments);
    if (!said.ok)
      return {
        ok: false,
        code: said.refusal.code,
        pointer: said.refusal.pointer ?? "",
        problem: said.refusal.problem ?? "the edit could not be checked",
      };
    const { weighed } = said;
    const added = secrets.find((held) => at(weighed.arguments, held) !== undefined && at(original, held) === undefined);
    if (added !== undefined)
      return { ok: false, code: "invalid_edit", pointer: added, problem: "is a secret and cannot be written on a card" };
    const bindings = await bind(parts.runtime.surroundings, incoming.descriptor.binds, weighed.arguments);
    const shown = withSecrets(weighed.arguments, edited, secrets);
    return { ok: true, arguments: shown, bindings, ...ruledAgain(incoming, weighed) };
  };
}

/** What the run's own policy demands of the edited call, judged on its full values like the one that was asked. */
function ruledAgain(
  incoming: Incoming,
  weighed: Weighed,
): Pick<Extract<Revalidated, { ok: true }>, "holds" | "denied" | "requires"> {
  const { descriptor, scopes } = incoming;
  const { policy } = scopes[0];
  const { holds, denied, allows: allowedByOpinion } = weighed;
  const facts = factsOf(incoming, weighed.arguments);
  const verdict = ruleOn(policy, { facts, edits: descriptor.edits === true, killed: false, denied, holds, allowedByOpinion });
  return {
    holds: verdict.verdict === "ask" ? verdict.holds : holds,
    denied: verdict.verdict === "deny" ? { by: verdict.by, ...reasonOf(verdict) } : undefined,
    requires: [...weighed.requires, ...requiredBy(policy, facts)],
  };
}

export type Prepared = { readonly ok: true; readonly submission: Submission } | { readonly ok: false; readonly refusal: Refusal };

/** Stations 1 to 3 done, everything that the desk needs to rule put together. */
export async function prepare(
  parts: GateParts,
  incoming: Incoming,
  call: Checked & { readonly options: SubmissionOptions },
): Promise<Prepared> {
  const said = await weigh(parts, incoming, call.arguments);
  if (!said.ok) return said;
  const { weighed } = said;
  const { descriptor, known, requester, scopes } = incoming;
  const { id, statement, signal, wait } = call.options;
  const rewritten =
    weighed.arguments === call.arguments
      ? []
      : ["our own code changed what the agent asked for; what is shown is what would run"];
  return {
    ok: true,
    submission: {
      call: { id: id ?? parts.runtime.ids.request(), tool: descriptor.name, arguments: weighed.arguments },
      idGiven: id !== undefined,
      tool: known.identity,
      tier: descriptor.tier,
      impact: descriptor.impact ?? "default",
      edits: descriptor.edits === true,
      effect: descriptor.effect,
      holds: weighed.holds,
      denied: weighed.denied,
      allowedByOpinion: weighed.allows,
      requires: [...descriptor.requires, ...weighed.requires],
      secrets: descriptor.secrets ?? [],
      editable: commonPart(descriptor.editable ?? EVERYTHING, EVERYTHING),
      ignore: descriptor.ignore ?? [],
      schema: known.schema,
      revalidate: revalidator(parts, incoming, weighed.arguments),
      bindings: await bind(parts.runtime.surroundings, descriptor.binds, weighed.arguments),
      requester,
      proof: parts.proof,
      grade: parts.grade,
      statement: statement === undefined ? undefined : withoutSecrets(statement, weighed.arguments, descriptor.secrets ?? []),
      notes: [...call.notes, ...rewritten],
      policy: scopes[0].policy,
      wait,
      deadline: parts.deadline,
      windows: parts.windows,
      channels: scopes[0].channels ?? parts.channels,
      renewer: call.options.holder,
      signal,
    },
  };
}
