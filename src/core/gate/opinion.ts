import { copyJson } from "../json.ts";
import type { JsonObject } from "../json-value.ts";
import { thaw } from "../desk/events.ts";
import { holdOf } from "../hold.ts";
import type { CallFacts, Opinion, OpinionAnswer } from "../policy.ts";
import type { Hold } from "../ports/desk.ts";

/** What the opinions in code make of a call: rewritten arguments, a deny, asks, an allow; a fault denies. */
export interface Heard {
  readonly arguments: JsonObject;
  readonly denied: { readonly by: string; readonly reason?: string; readonly fault?: true } | undefined;
  readonly holds: readonly Hold[];
  readonly allows: boolean;
}

const VERDICTS: ReadonlySet<unknown> = new Set(["allow", "ask", "deny", "none"]);
const KEYS: ReadonlySet<string> = new Set(["verdict", "reason", "arguments"]);

/** Exactly one of the four verdicts in a plain object, or `null`; a truthy something is not an allow (A94). */
function read(answer: unknown): OpinionAnswer | null | undefined {
  if (answer === null) return null;
  if (typeof answer !== "object" || Array.isArray(answer)) return undefined;
  const said = answer as Record<string, unknown>;
  if (!VERDICTS.has(said.verdict) || Object.keys(said).some((key) => !KEYS.has(key))) return undefined;
  if (said.reason !== undefined && typeof said.reason !== "string") return undefined;
  return answer as OpinionAnswer;
}

async function hear(opinion: Opinion, facts: CallFacts): Promise<OpinionAnswer | null | undefined> {
  try {
    return read(await opinion({ ...facts, arguments: thaw(facts.arguments) }));
  } catch {
    return undefined;
  }
}

function rewritten(answer: OpinionAnswer, args: JsonObject): JsonObject | undefined {
  if (answer.arguments === undefined) return args;
  try {
    const copy = copyJson(answer.arguments);
    return typeof copy === "object" && copy !== null && !Array.isArray(copy) ? (copy as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

const FAULT = { by: "opinion", fault: true } as const;

/**
 * Hears every opinion in turn; each sees what the ones before it made of the arguments, and one that says nothing
 * changes nothing (BR-039). The first deny or fault ends it.
 */
export async function hearAll(opinions: readonly Opinion[], facts: CallFacts): Promise<Heard> {
  let args = facts.arguments;
  const holds: Hold[] = [];
  let allows = false;
  for (const opinion of opinions) {
    const answer = await hear(opinion, { ...facts, arguments: args });
    if (answer === null) continue;
    const next = answer === undefined ? undefined : rewritten(answer, args);
    if (answer === undefined || next === undefined) return { arguments: args, denied: FAULT, holds: [], allows: false };
    const reason = answer.reason === undefined ? {} : { reason: answer.reason };
    if (answer.verdict === "deny") return { arguments: args, denied: { by: "opinion", ...reason }, holds: [], allows: false };
    args = next;
    if (answer.verdict === "ask") holds.push(holdOf("opinion", {}, { exemptible: false, message: answer.reason }));
    if (answer.verdict === "allow") allows = true;
  }
  return { arguments: args, denied: undefined, holds, allows };
}
