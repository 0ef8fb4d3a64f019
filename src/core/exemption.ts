import { DeclarationError } from "./errors.ts";
import { type Glob, glob } from "./glob.ts";
import { type Instant, parseInstant } from "./instant.ts";
import type { CallFacts } from "./policy.ts";
import { thaw } from "./desk/events.ts";

/** A coded reason not to ask. It is shown a copy and must answer exactly `true`; anything else asks. */
export type ExemptionTest = (call: CallFacts) => unknown;

export interface ExemptionWords {
  /** Tool patterns; an empty list covers nothing and is an error. */
  readonly tools: readonly string[];
  /** When it ends by itself; `undefined`: with the process, or when it is undone. */
  readonly until?: Instant;
}

export interface Exemption {
  readonly id: string;
  readonly name: string;
  readonly tools: readonly Glob[];
  readonly until: Instant | null;
  readonly since: Instant;
  readonly test: ExemptionTest;
  uses: number;
}

/** @throws DeclarationError on an empty list of tools, no name, or an end that is no time: nobody could read what it covers, or until when */
export function exemption(
  name: string,
  words: ExemptionWords,
  made: { readonly id: string; readonly since: Instant; readonly test: ExemptionTest },
): Exemption {
  if (name === "") throw new DeclarationError("an exemption needs a name: the journal says which one answered");
  if (words.tools.length === 0)
    throw new DeclarationError(`exemption "${name}": an empty list of tools covers nothing; name the tools`);
  if (words.until !== undefined && parseInstant(words.until) === undefined)
    throw new DeclarationError(
      `exemption "${name}": until is a time such as 2030-01-01T10:00:00.000Z; without a zone it could be any`,
    );
  if (typeof made.test !== "function")
    throw new DeclarationError(`exemption "${name}": give the function that says why not to ask`);
  return { ...made, name, tools: words.tools.map(glob), until: words.until ?? null, uses: 0 };
}

/** The exemption that covers this call now, if one says exactly `true`. One that throws is "not exempt". */
export function exemptBy(exemptions: Iterable<Exemption>, facts: CallFacts, now: Instant): Exemption | undefined {
  for (const candidate of exemptions) {
    if (candidate.until !== null && now >= candidate.until) continue;
    if (!candidate.tools.some((pattern) => pattern.matches(facts.tool))) continue;
    if (saysTrue(candidate.test, facts)) return candidate;
  }
  return undefined;
}

function saysTrue(test: ExemptionTest, facts: CallFacts): boolean {
  try {
    return test({ ...facts, arguments: thaw(facts.arguments) }) === true;
  } catch {
    return false;
  }
}
