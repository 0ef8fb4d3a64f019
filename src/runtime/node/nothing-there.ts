import { HoldpointError } from "../../core/index.ts";

/** `ERR_INVALID_ARG_VALUE`: a name with a NUL, which no file has. */
const NOTHING = new Set(["ENOENT", "ENOTDIR", "ELOOP", "ENAMETOOLONG", "ERR_INVALID_ARG_VALUE"]);

/**
 * `undefined` where an error says that there is no such thing. "Could not look" is another answer: it refuses the call, and
 * names no path, since a path is an argument's value.
 */
export function nothingThere(thrown: unknown, work: "read" | "resolve"): undefined {
  const code = (thrown as NodeJS.ErrnoException).code ?? "unknown";
  if (NOTHING.has(code)) return undefined;
  throw new HoldpointError(
    "policy_error",
    `could not ${work} a file that a call depends on (${code}); check this account's access to it`,
  );
}
