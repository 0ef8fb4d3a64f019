import { type Clause, suffices } from "./requirement.ts";
import type { Decision } from "./request.ts";

/** What the directory says of one person in the light of one request's clauses. */
export interface Standing {
  /** The requester's principal, the agent itself, or its owner. */
  readonly self: boolean;
  /** By clause, by alternative: its selectors hold this person. */
  readonly holds: readonly (readonly boolean[])[];
}

/** By principal. Whoever is missing counts for nothing. */
export type Electorate = ReadonlyMap<string, Standing>;

const excluded = (clause: Clause, standing: Standing): boolean => clause.self === "deny" && standing.self;

/** May this person's approval count towards this clause, assurance apart? */
export const eligible = (clause: Clause, index: number, standing: Standing): boolean =>
  !excluded(clause, standing) && (standing.holds[index] ?? []).some(Boolean);

const counts = (
  vote: Decision,
  place: { clause: Clause; index: number; alternative: number },
  electorate: Electorate,
): boolean => {
  const standing = electorate.get(vote.by);
  if (standing === undefined || vote.verdict !== "approve") return false;
  if (excluded(place.clause, standing) || !suffices(vote.assurance, place.clause.assurance)) return false;
  return standing.holds[place.index]?.[place.alternative] === true;
};

interface Votes {
  readonly decisions: readonly Decision[];
  readonly electorate: Electorate;
}

/** Different people whose approval counts for one alternative: each person once, whatever the number of identities. */
const supporting = (
  clause: Clause,
  place: { readonly index: number; readonly alternative: number },
  { decisions, electorate }: Votes,
): ReadonlySet<string> =>
  new Set(decisions.filter((vote) => counts(vote, { clause, ...place }, electorate)).map((vote) => vote.by));

export const supporters = (clause: Clause, index: number, votes: Votes): readonly ReadonlySet<string>[] =>
  clause.any.map((_, alternative) => supporting(clause, { index, alternative }, votes));

export const clauseMet = (clause: Clause, index: number, votes: Votes): boolean =>
  clause.any.some(({ count }, alternative) => count >= 1 && count <= supporting(clause, { index, alternative }, votes).size);

/** All clauses, and at least one: a request without a clause is nobody's to approve. */
export const allMet = (clauses: readonly Clause[], votes: Votes): boolean =>
  clauses.length > 0 && clauses.every((clause, index) => clauseMet(clause, index, votes));

/** Could these people together meet the clause? For asking only those who can suffice (P-06). */
export const couldMeet = (clause: Clause, index: number, people: Electorate): boolean =>
  clause.any.some(({ count }, alternative) => {
    const able = [...people.values()].filter(
      (standing) => !excluded(clause, standing) && standing.holds[index]?.[alternative] === true,
    );
    return count >= 1 && able.length >= count;
  });
