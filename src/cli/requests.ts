import type { Approvals, Decided, Identity, Render } from "../core/approving.ts";
import { type AnswerCode, type Hash, hasEnded, type Presented, type Status } from "../core/index.ts";
import { CommandFault, EXIT, usage } from "./exit-codes.ts";
import type { Place } from "./place.ts";

/** An answer that decided nothing, as a program reads it. */
export const uncounted = (code: AnswerCode, status: Status | null): Decided => ({
  found: status !== null && !hasEnded(status),
  status,
  counted: false,
  code,
});

/** Prefixes of at least that many characters name a request; a shorter one is a slip. */
const SHORTEST = 4;

interface Wanted {
  readonly approvals: Approvals;
  readonly as: Identity;
  readonly render?: Render;
  readonly place: Place;
}

/** The request that an id, or the beginning of one, names, as this person is shown it. @throws CommandFault for none or several */
export async function requestNamed(id: string, { approvals, as, render, place }: Wanted): Promise<Presented> {
  if (!/^[0-9a-f-]+$/u.test(id)) throw usage(`"${id}" is not the id of a request; holdpoint pending${place.option} lists them`);
  const found = id.length < SHORTEST ? undefined : await approvals.card(id, as, render);
  if (found === undefined)
    throw new CommandFault(
      `there is no request ${id}, or it is not yours to see [not_found]; holdpoint pending${place.option} lists what waits`,
      EXIT.failed,
      { result: uncounted("not_found", null) },
    );
  if ("ambiguous" in found) {
    throw new CommandFault(
      `"${id}" fits ${found.ambiguous.length} requests and names none of them [ambiguous_id]: ${found.ambiguous.join(", ")}`,
      EXIT.refused,
      { result: { ...uncounted("ambiguous_id", null), ids: found.ambiguous } },
    );
  }
  return found;
}

/** A digest as `show` prints it, long or short, names this one. */
export function isDigest(given: string, digest: Hash): boolean {
  const hex = given
    .replace(/^sha256:/u, "")
    .replaceAll(" ", "")
    .toLowerCase();
  return /^[0-9a-f]{12,64}$/u.test(hex) && digest.startsWith(`sha256:${hex}`);
}
