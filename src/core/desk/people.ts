import { isGroup } from "../directory.ts";
import { HoldpointError, isHoldpointError } from "../errors.ts";
import type { Identity } from "../ports/approvals.ts";
import { couldMeet, type Electorate, type Standing } from "../quorum.ts";
import type { Decision, RequesterRecord } from "../request.ts";
import type { Clause, Selector } from "../requirement.ts";
import { suffices } from "../requirement.ts";
import type { DeskParts } from "./parts.ts";

interface Person {
  readonly principal: string;
  readonly as: string;
}
interface Question {
  readonly clauses: readonly Clause[];
  readonly requester: RequesterRecord;
}

/** Asks the directory; a fault of its is a refusal of ours, with a code of its own (P-15). */
async function ask<T>(question: () => Promise<T>): Promise<T> {
  try {
    return await question();
  } catch (thrown) {
    if (isHoldpointError(thrown)) throw thrown;
    throw new HoldpointError("directory_unavailable", "the directory could not say who this person is", { cause: thrown });
  }
}

/** Whom the directory knows as no approver: a principal that no selector, operator or requester has. */
const NOBODY = "";

/** The one person behind an identity, whatever the channel: two accounts of one person are one vote (A49.2). */
export async function personOf(parts: DeskParts, identity: Pick<Identity, "principal" | "as">): Promise<Person> {
  const known = await ask(() => parts.directory.principalOf(identity.as, identity.principal));
  return { principal: typeof known === "string" ? known : NOBODY, as: identity.as };
}

async function selects(
  parts: DeskParts,
  selector: Selector,
  who: { person: Person; requester: RequesterRecord },
): Promise<boolean> {
  const { person, requester } = who;
  if (person.principal === NOBODY) return false;
  if (selector === "@principal") return !requester.shared && person.principal === requester.principal;
  if (selector === "@operator") return !requester.shared && person.principal === parts.operator;
  if (!isGroup(selector) && (selector === person.principal || selector === person.as)) return true;
  // Only a plain yes: anything else that happens to be truthy names nobody.
  return (await ask(() => parts.directory.holds(selector, person))) === true;
}

async function isSelf(parts: DeskParts, person: Person, requester: RequesterRecord): Promise<boolean> {
  if (person.principal === requester.principal || person.principal === requester.agent) return true;
  const { agent } = requester;
  return agent !== null && (await ask(() => parts.directory.ownerOf(agent))) === person.principal;
}

/** What one person is to one question. */
export async function standingOf(parts: DeskParts, question: Question, person: Person): Promise<Standing> {
  const { requester } = question;
  const holds = await Promise.all(
    question.clauses.map((clause) =>
      Promise.all(
        clause.any.map(async ({ of }) => {
          for (const selector of of) if (await selects(parts, selector, { person, requester })) return true;
          return false;
        }),
      ),
    ),
  );
  return { self: await isSelf(parts, person, requester), holds };
}

/** Everybody who voted, as the directory sees them now: whoever lost the right meanwhile counts no more (A56.2). */
export async function electorateOf(parts: DeskParts, question: Question, decisions: readonly Decision[]): Promise<Electorate> {
  const people = new Map<string, Standing>();
  for (const { by, as } of decisions) {
    const person = await personOf(parts, { principal: by, as });
    if (person.principal === by) people.set(by, await standingOf(parts, question, person));
  }
  return people;
}

/** Those among `reached` who could approve, by principal, whatever is left of each clause's assurance applied. */
export async function ableAmong(parts: DeskParts, question: Question, reached: readonly Identity[]): Promise<Electorate> {
  const able = new Map<string, Standing>();
  for (const identity of reached) {
    const person = await personOf(parts, identity);
    const standing = await standingOf(parts, question, person);
    const holds = standing.holds.map((row, index) => {
      const clause = question.clauses[index];
      return row.map((held) => held && clause !== undefined && suffices(identity.assurance, clause.assurance));
    });
    if (holds.some((row) => row.some(Boolean))) able.set(person.principal, { ...standing, holds });
  }
  return able;
}

/** Could these people together meet every clause? */
export const enough = (clauses: readonly Clause[], people: Electorate): boolean =>
  clauses.length > 0 && clauses.every((clause, index) => couldMeet(clause, index, people));

/** May this identity be shown the request at all? Whoever a clause names, who asked, and the desk's operator. */
export async function mayView(parts: DeskParts, question: Question, identity: Identity): Promise<boolean> {
  const person = await personOf(parts, identity);
  if (person.principal === parts.operator || person.principal === question.requester.principal) return true;
  const standing = await standingOf(parts, question, person);
  return standing.holds.some((row) => row.some(Boolean));
}
