import { notYet, type Result, type Work } from "../work.ts";
import { list, text } from "../faults/shape.ts";
import type { AttackCase } from "./shape.ts";

/** Places that do not exist yet, and the work that makes each. */
const PLACES: Readonly<Record<string, Work>> = {
  web: "inbox and server",
  http: "inbox and server",
  slack: "channels",
  telegram: "channels",
  email: "channels",
  teams: "channels",
  sms: "channels",
};

/** What a case uses, and the work that makes it. */
const USES: readonly (readonly [Work, string, (one: AttackCase) => boolean])[] = [
  ["receipts", "a signed envelope", ({ input }) => input.envelope !== undefined || input.tamper !== undefined],
  ["receipts", "erasing a payload", ({ input }) => steps(input.events).some((step) => step.startsWith("erase"))],
  ["stores of many processes", "another store", ({ input }) => input.backend !== undefined],
  [
    "stores of many processes",
    "a store that fails over",
    ({ input }) => steps(input.events).some((step) => step.startsWith("failover")),
  ],
  ["adapters and hooks", "a host's hook", ({ input }) => input.adapter !== undefined],
  ["policy file", "escalation", ({ input }) => input.escalate_to !== undefined],
  ["policy file", "the file's own protection", ({ expect }) => expect.checks.some((check) => /own configuration/.test(check))],
  ["policy file", "the introduction of a server", ({ input }) => introduces(input)],
  ["inbox and server", "a budget of requests", ({ expect }) => expect.checks.some((check) => /rate_limited/.test(check))],
  ["inbox and server", "the requester's lease", ({ input }) => steps(input.events).some((step) => step.startsWith("lease"))],
];

const steps = (events: unknown): readonly string[] => list(events).flatMap((step) => text(step) ?? []);

/** A server is introduced, or said to be known by its definition or its command. */
function introduces(input: AttackCase["input"]): boolean {
  const tool = input.tool as { description?: unknown } | undefined;
  return (
    typeof tool?.description === "string" || steps(input.events).some((step) => /^(?:list|start|approve server)\b/.test(step))
  );
}

/** `undefined`: this case can run. */
export function laterThan(one: AttackCase): Result | undefined {
  for (const [work, why, uses] of USES) if (uses(one)) return notYet(work, why);
  const place = Object.hasOwn(PLACES, one.where) ? PLACES[one.where] : undefined;
  return place === undefined ? undefined : notYet(place, `the place "${one.where}"`);
}
