import { bug, HoldpointError } from "../errors.ts";
import { plus } from "../instant.ts";
import { lasting } from "../lasting.ts";
import type { Stored } from "../ports/store.ts";
import { type ApprovalRequest, STATUSES } from "../request.ts";
import { digestOf, partsOf, termsHash } from "../request-hash.ts";
import { derivedStatus } from "../transition.ts";
import type { DeskParts } from "./parts.ts";

/** What is wrong with a record by itself. */
const ownFlaw = lasting((record: ApprovalRequest): string | undefined => {
  if (record.v !== 1) return `it has format ${String(record.v)}; this version reads format 1`;
  if (!STATUSES.includes(record.status)) return "its status is none that exists";
  if (derivedStatus(record) !== record.status) return "its status does not follow from its decisions and claim";
  return timeFlaw(record);
});

/** What is wrong with a stored request; `undefined`: it holds together. */
function flaw(parts: DeskParts, { record, payload }: Stored): string | undefined {
  const own = ownFlaw(record);
  if (own !== undefined) return own;
  if (termsHash(parts.runtime.crypto, record.terms) !== record.termsHash) return "its terms are not those that were asked";
  if (payload !== null && digestOf(parts.runtime.crypto, partsOf(record, payload.arguments)) !== record.digest) {
    return "its arguments are not those that were shown";
  }
  const open = parts.open.get(record.id);
  if (open !== undefined && (open.digest !== record.digest || open.callKey !== record.callKey)) return "it is not what was asked";
  return undefined;
}

/** Times follow from others of the record; a deadline that somebody moved would make a late answer or a late run count. */
function timeFlaw({ status, createdAt, decideBy, runBy, terms, decisions }: ApprovalRequest): string | undefined {
  if (decideBy !== plus(createdAt, terms.decideWithin)) return "its deadline is not the one that was asked";
  if (status !== "approved") return undefined;
  const last = decisions.findLast((vote) => vote.verdict === "approve");
  return last !== undefined && runBy === plus(last.at, terms.runWithin) ? undefined : "its approval does not end when it has to";
}

/** A record so torn that it cannot even be read is damaged like any other. */
function readableFlaw(parts: DeskParts, stored: Stored): string | undefined {
  try {
    return flaw(parts, stored);
  } catch {
    return "it cannot be read";
  }
}

export const integrityFault = (id: string, problem: string): HoldpointError =>
  new HoldpointError(
    "store_unavailable",
    `request ${id} was changed outside Holdpoint or is damaged: ${problem}. It can be neither decided nor run; run "holdpoint doctor"`,
  );

/** A damaged record must not hide the others. */
export async function lookOrSkip(parts: DeskParts, id: string): Promise<Stored | undefined> {
  try {
    return await look(parts, id);
  } catch {
    // Looking has said what is wrong with it.
    return undefined;
  }
}

/**
 * A request as the store has it, checked: a record edited by hand or torn by a crash is nobody's approval (A103), and one
 * of another tenant is nothing at all (I13).
 * @throws HoldpointError `store_unavailable` on a record that does not hold together, or when the store cannot be read
 */
export async function look(parts: DeskParts, id: string): Promise<Stored | undefined> {
  const stored = await parts.store.read(id);
  if (stored === undefined || stored.record.tenant !== parts.tenant) return undefined;
  const problem = readableFlaw(parts, stored);
  if (problem === undefined) return stored;
  parts.runtime.log.error("a stored request does not hold together", { request: id, problem });
  parts.events.emit({ type: "error", where: "store", code: "store_unavailable", problem });
  throw integrityFault(id, problem);
}

/** The request that an edit chain goes on with. Chains are short by rule; a longer one is a loop. */
export async function lookThrough(parts: DeskParts, id: string): Promise<Stored | undefined> {
  let stored = await look(parts, id);
  for (let hops = 0; stored?.record.supersededBy !== undefined; hops++) {
    if (hops > 8) bug(`the edits of request ${id} run in a circle`);
    stored = await look(parts, stored.record.supersededBy);
  }
  return stored;
}
