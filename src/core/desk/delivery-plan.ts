import { problemOf } from "../errors.ts";
import type { Identity } from "../ports/approvals.ts";
import type { Channel } from "../ports/channel.ts";
import type { Hold } from "../ports/desk.ts";
import type { Electorate } from "../quorum.ts";
import type { Grade, RequesterRecord } from "../request.ts";
import type { Terms } from "../requirement.ts";
import { look } from "./look.ts";
import { ableAmong, electorateOf, enough, personOf } from "./people.ts";
import type { DeskParts } from "./parts.ts";

/** Where a request will be shown, worked out before it is stored; nobody who could be asked means no request at all. */
export interface DeliveryPlan {
  /** In order; the next only where the ones before did not reach enough. */
  readonly channels: readonly string[];
  /** A listing alone counts as reaching somebody. */
  readonly offered: boolean;
}

export interface PlanQuestion {
  readonly terms: Terms;
  readonly requester: RequesterRecord;
  readonly grade: Grade;
  readonly wait: "block" | "suspend" | "defer";
  readonly holds: readonly Hold[];
  readonly channels: readonly string[];
}

export const channelNamed = (parts: DeskParts, name: string): Channel | undefined =>
  parts.channels.find((channel) => channel.name === name);

/** Whom a channel reaches now; one that cannot say reaches nobody. */
export async function reachedBy(parts: DeskParts, channel: Channel): Promise<readonly Identity[]> {
  try {
    return await channel.reaches();
  } catch (thrown) {
    const problem = problemOf(thrown);
    parts.runtime.log.error("a channel could not say whom it reaches", { channel: channel.name, problem });
    return [];
  }
}

type Asked = Pick<PlanQuestion, "terms" | "requester">;

async function ableOn(parts: DeskParts, question: Asked, names: readonly string[]): Promise<Electorate> {
  const asked = { clauses: question.terms.clauses, requester: question.requester };
  const able = new Map<string, Electorate extends ReadonlyMap<string, infer S> ? S : never>();
  for (const name of names) {
    const channel = channelNamed(parts, name);
    if (channel === undefined) continue;
    for (const [principal, standing] of await ableAmong(parts, asked, await reachedBy(parts, channel)))
      able.set(principal, standing);
  }
  return able;
}

/** Named by the rules that hold, else the gate's own list; named by nobody: the first that can, and no other. */
async function candidates(parts: DeskParts, question: PlanQuestion): Promise<readonly string[]> {
  const named = new Set(question.holds.flatMap((hold) => hold.channels ?? []));
  if (named.size > 0) return [...named];
  if (question.channels.length > 0) return question.channels;
  for (const channel of parts.channels) {
    if (enough(question.terms.clauses, await ableOn(parts, question, [channel.name]))) return [channel.name];
  }
  return [];
}

/** Could everybody but this person still meet every clause, with what was voted already? */
export async function othersCould(parts: DeskParts, id: string, identity: Identity): Promise<boolean> {
  const stored = await look(parts, id);
  if (stored === undefined) return false;
  const { terms, requester, decisions, digest } = stored.record;
  const asked = { clauses: terms.clauses, requester };
  const names = parts.open.get(id)?.channels ?? parts.channels.map(({ name }) => name);
  const others = new Map([
    ...(await ableOn(parts, { terms, requester }, names)),
    ...(await ableAmong(parts, asked, parts.listing)),
  ]);
  others.delete((await personOf(parts, identity)).principal);
  const counted = decisions.filter((vote) => vote.digest === digest);
  for (const [principal, standing] of await electorateOf(parts, asked, counted)) others.set(principal, standing);
  return enough(terms.clauses, others);
}

/** `undefined`: nobody who could be asked (P-06). */
export async function planDelivery(parts: DeskParts, question: PlanQuestion): Promise<DeliveryPlan | undefined> {
  const channels = await candidates(parts, question);
  const listed = await ableAmong(parts, { clauses: question.terms.clauses, requester: question.requester }, parts.listing);
  const people: Electorate = new Map([...(await ableOn(parts, question, channels)), ...listed]);
  if (!enough(question.terms.clauses, people)) return undefined;
  const byListing = enough(question.terms.clauses, listed) && (question.wait !== "block" || question.grade === "structural");
  return { channels, offered: byListing || question.holds.some((hold) => hold.offer === "enough") };
}
