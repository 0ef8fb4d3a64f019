import type { PolicySnapshot } from "../policy.ts";
import { freesByName } from "../rule.ts";
import type { Checked, Incoming } from "./judge.ts";
import { describe, type Descriptor, type KnownTool } from "./know.ts";
import type { Performer } from "./parts.ts";
import type { CallOptions } from "./run-port.ts";

/** A tool on its way through one run. */
export interface Lane {
  readonly known: KnownTool;
  readonly incoming: Incoming;
  /** Freed by its name: arguments go to the tool untouched. */
  readonly free: boolean;
}

/** A tool that the fast lane may take: nothing of it looks at arguments, and nothing about running it needs care. */
export function isPlain(known: KnownTool, descriptor: Descriptor): boolean {
  const { floors, requires, secrets, binds, tier } = descriptor;
  return (
    floors.length === 0 &&
    requires.length === 0 &&
    binds === undefined &&
    (secrets ?? []).length === 0 &&
    tier !== "physical" &&
    known.tool.timeout === undefined
  );
}

/**
 * Freed by its name in one scope. As that scope's own policy knows it: a child's words must loosen neither a tier nor a
 * demand of its parent's.
 */
export function isFreeIn(known: KnownTool, policy: PolicySnapshot): boolean {
  const descriptor = describe(known, policy);
  const { name, tier, edits } = descriptor;
  return isPlain(known, descriptor) && freesByName(policy, { name, tier, edits: edits === true });
}

/** The same tool and judgement, run by somebody else. */
export function performedBy(lane: Lane | undefined, performer: Performer | undefined): Lane | undefined {
  if (lane === undefined || performer === undefined) return lane;
  const known: KnownTool = { ...lane.known, tool: { ...lane.known.tool, run: (args, context) => performer.run(args, context) } };
  return { ...lane, known, incoming: { ...lane.incoming, known, performer, registered: lane.known } };
}

export const nameOf = (tool: unknown): string =>
  typeof tool === "string" ? tool : typeof tool === "object" && tool !== null && "name" in tool ? String(tool.name) : "unknown";

/** What the host of a call says of it stands on the card with what receiving it noted. */
export const noted = (checked: Checked, { notes = [] }: CallOptions): Checked => ({
  arguments: checked.arguments,
  notes: [...checked.notes, ...notes],
});
