import { runInNewContext } from "node:vm";
import { type Fields, isFields } from "../faults/shape.ts";

/** The shape of a line of `attacks.jsonl`, as `security.md` section 1 describes it. */
export interface AttackCase {
  readonly id: string;
  readonly title: string;
  readonly where: string;
  readonly input: Fields;
  readonly expect: { readonly outcome: string; readonly checks: readonly string[] };
}

export const isAttack = (value: unknown): value is AttackCase =>
  isFields(value) &&
  typeof value.where === "string" &&
  isFields(value.input) &&
  isFields(value.expect) &&
  typeof value.expect.outcome === "string" &&
  Array.isArray(value.expect.checks);

/** One step of a machine: `tenant=A submit args={id:1}`. */
export interface Step {
  readonly text: string;
  readonly verb: string;
  /** Words after the verb. */
  readonly words: readonly string[];
  readonly params: Fields;
}

/** A name, a number, or a literal of JavaScript data; it is made in an empty context and copied out of it. */
function literal(text: string): unknown {
  if (!/^[[{'"]/.test(text)) return /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text;
  return JSON.parse(JSON.stringify(runInNewContext(`(${text})`, Object.create(null) as object, { timeout: 100 })));
}

/** Words, with what is in quotes or brackets kept whole. */
function wordsIn(text: string): readonly string[] {
  const words: string[] = [];
  let word = "";
  let depth = 0;
  let quote: string | undefined;
  for (const char of text) {
    if (quote === undefined && depth === 0 && char === " ") {
      if (word !== "") words.push(word);
      word = "";
      continue;
    }
    word += char;
    if (quote !== undefined) quote = char === quote ? undefined : quote;
    else if (char === "'" || char === '"') quote = char;
    else if ("[{(".includes(char)) depth += 1;
    else if ("]})".includes(char)) depth -= 1;
  }
  return word === "" ? words : [...words, word];
}

export function stepOf(text: string): Step {
  const params: Record<string, unknown> = {};
  const words: string[] = [];
  for (const word of wordsIn(text)) {
    const pair = /^(\w+)=(.+)$/s.exec(word);
    if (pair === null) words.push(word);
    else params[pair[1] ?? ""] = literal(pair[2] ?? "");
  }
  const [verb = "", ...rest] = words;
  return { text, verb, words: rest, params };
}
