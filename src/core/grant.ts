import { declaredDuration } from "./declared.ts";
import type { Duration } from "./duration.ts";
import { DeclarationError } from "./errors.ts";
import type { Requires } from "./tool-call.ts";

/** A prerequisite in its long form: any arguments of its scope, for a while. */
export interface Prerequisite {
  readonly scope: string;
  /** Milliseconds. */
  readonly length: number;
}

/** Default length of a grant: 15 minutes. */
const LENGTH: Duration = "15m";

/**
 * @throws DeclarationError on an empty scope or a length of 0 or less: a grant without an end, or for nothing, must be
 *   written by nobody by accident
 */
export function prerequisite(requires: Requires, tool: string): Prerequisite {
  const { scope, length } =
    requires === true
      ? { scope: `tool:${tool}`, length: LENGTH }
      : typeof requires === "string"
        ? { scope: requires, length: LENGTH }
        : { length: LENGTH, ...requires };
  if (scope === "") throw new DeclarationError(`"${tool}": a grant's scope is empty; "*" for everything must be written out`);
  const ms = declaredDuration(`"${tool}": a grant`, length);
  if (ms <= 0)
    throw new DeclarationError(`"${tool}": a grant of length ${String(length)} would never hold; give it a length above 0`);
  return { scope, length: ms };
}
