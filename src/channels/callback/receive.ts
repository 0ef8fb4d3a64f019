import { copyJson, type ChannelDecision, type JsonObject } from "../../core/index.ts";

/** What a function said, once it is known to be one of the three things it may say. */
export type Said =
  | { readonly said: "decision"; readonly decision: ChannelDecision }
  | { readonly said: "pass" }
  | { readonly said: "nonsense"; readonly problem: string };

const nonsense = (problem: string): Said => ({ said: "nonsense", problem });
const MEMBERS: ReadonlySet<string> = new Set(["verdict", "reason", "arguments"]);

function edited(value: unknown): JsonObject | undefined {
  try {
    const copy = copyJson(value);
    return typeof copy === "object" && copy !== null && !Array.isArray(copy) ? (copy as JsonObject) : undefined;
  } catch {
    // Not JSON: nothing that a person could have been shown.
    return undefined;
  }
}

/**
 * Reads what the function gave. Only a plain decision decides: `true`, a text, a decision with a member too many or one
 * of the wrong kind is no answer of a person, and there is no guessing which was meant.
 */
export function readDecision(value: unknown): Said {
  if (value === null) return { said: "pass" };
  if (typeof value !== "object" || Array.isArray(value)) return nonsense("it must answer with { verdict } or null");
  const { verdict, reason, arguments: args } = value as Record<string, unknown>;
  const extra = Object.keys(value).find((name) => !MEMBERS.has(name));
  if (extra !== undefined) return nonsense("its answer has a member that a decision has not");
  if (verdict !== "approve" && verdict !== "reject") return nonsense('its verdict must be "approve" or "reject"');
  if (reason !== undefined && typeof reason !== "string") return nonsense("its reason must be a text");
  const said = reason === undefined ? {} : { reason };
  if (args === undefined) return { said: "decision", decision: { verdict, ...said } };
  const copy = edited(args);
  if (copy === undefined) return nonsense("its arguments must be a JSON object");
  return verdict === "reject"
    ? nonsense("only an approval can carry arguments")
    : { said: "decision", decision: { verdict, ...said, arguments: copy } };
}
