import type { Decided } from "../../../src/core/approving.ts";
import type { Outcome } from "../../../src/core/index.ts";

/** What the words of an outcome say: they describe, and are never matched letter by letter. */

export type Verdict = "allow" | "ask" | "deny";
const ORDER: readonly Verdict[] = ["allow", "ask", "deny"];

/** Every verdict that a text accepts: `ask or deny`, `deny (invalid arguments)`. */
export function verdictsIn(said: string): ReadonlySet<string> {
  const words = new Set<string>(said.match(/\b(?:allow|ask|deny)\b/g) ?? []);
  // Where a case is about letters that some file systems do not tell apart, both readings are right.
  if (/case-insensitive file systems/.test(said)) for (const verdict of ORDER) words.add(verdict);
  return words;
}

/** True where `got` asks for more than any of the accepted verdicts. */
export const isStricter = (got: string, accepted: ReadonlySet<string>): boolean =>
  [...accepted].every((verdict) => ORDER.indexOf(got as Verdict) > ORDER.indexOf(verdict as Verdict));

const REFUSED = /\b(?:refused|refuse|denied|deny|rejected|reviewer)\b/i;

const codeIn = (outcome: Outcome): string => (outcome.status === "refused" ? outcome.code : outcome.status);

type Fits = (outcome: Outcome, said: string) => boolean;
const byCode =
  (...codes: readonly string[]): Fits =>
  (outcome) =>
    codes.includes(codeIn(outcome));

/** What follows a colon was said by a person, and the model reads it. */
const quotes: Fits = (outcome, said) => {
  const words = /:\s*(.+)$/.exec(said)?.[1];
  return (
    codeIn(outcome) === "rejected" && (words === undefined || (outcome.status === "refused" && outcome.sentence.includes(words)))
  );
};

const SAYINGS: readonly (readonly [RegExp, Fits])[] = [
  [/no approver|nobody/i, byCode("no_approver", "undeliverable")],
  [/stored result/i, byCode("ran")],
  [/aborted/i, byCode("cancelled", "unknown")],
  [/^stale|changed/i, byCode("context_changed", "tool_changed", "invalid_edit")],
  [/expired|timed? ?out/i, byCode("expired")],
  [/cancelled|withdrawn/i, byCode("cancelled")],
  [/invalid|schema/i, byCode("invalid_arguments", "schema_not_stable")],
  [/policy/i, byCode("denied")],
  [/:.+/, (outcome, said) => REFUSED.test(said) && quotes(outcome, said)],
  [REFUSED, byCode("rejected", "already_refused", "denied", "too_many_refusals")],
];

/** Does this outcome do what the words say? */
export function outcomeSays(outcome: Outcome | undefined, said: string): boolean {
  if (outcome === undefined) return /pending|waiting/.test(said);
  if (outcome.status === "ran" && outcome.value === said) return true;
  for (const [words, fits] of SAYINGS) if (words.test(said)) return fits(outcome, said);
  return outcome.status === "ran" && String(outcome.value).includes(said);
}

type Answers = (decided: Decided) => boolean;
const codes =
  (...wanted: readonly string[]): Answers =>
  (decided) =>
    !decided.counted && wanted.includes(decided.code ?? "");

const ANSWERS: readonly (readonly [RegExp, Answers])[] = [
  [/^accepted/i, (decided) => decided.counted],
  [/expired/i, (decided) => !decided.counted && decided.status === "expired"],
  [/already (?:denied|rejected)/i, (decided) => !decided.counted && decided.status === "rejected"],
  [/already (?:decided|approved|answered)/i, codes("late", "already_voted")],
  [/not editable/i, (decided) => !decided.counted && decided.code === "invalid_edit"],
  [/policy denies/i, codes("denied")],
  [/must be|properties|missing|invalid/i, codes("invalid_arguments", "invalid_edit")],
  [/not found|unknown/i, codes("not_found", "not_eligible")],
  [/not (?:eligible|an approver|allowed)|self/i, codes("not_eligible", "self_approval", "assurance_too_low")],
  [/^refused/i, (decided) => !decided.counted],
];

/** Did the desk answer a person as the words say? */
export function answerSays(decided: Decided | undefined, said: string): boolean {
  if (decided === undefined) return false;
  for (const [words, fits] of ANSWERS) if (words.test(said)) return fits(decided);
  return false;
}

/** `<U+202E>` in a case stands for a visible escape of that character. */
export const codePointsIn = (said: string): readonly string[] =>
  [...said.matchAll(/<U\+([0-9A-F]{4,6})>/g)].map(([, hex]) => String.fromCodePoint(Number.parseInt(hex ?? "", 16)));
