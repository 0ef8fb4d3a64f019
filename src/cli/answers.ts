import type { Decided } from "../core/approving.ts";
import type { Status } from "../core/index.ts";
import { EXIT } from "./exit-codes.ts";
import { oneLine } from "./output.ts";

/** Why an answer did not count, for the one who gave it. */
const WHY: Readonly<Record<string, string>> = {
  self_approval: "this request was made for you or by you, and it names other approvers: somebody else must decide it",
  not_eligible: "you are not among those who may decide this request",
  assurance_too_low: "this request wants a stronger proof of who you are than the command line of this account gives",
  already_voted: "you have answered this request already; one person counts once",
  stale_view: "what you named or were shown is not what is pending now; look again with holdpoint show",
  late: "it came too late: the request was decided before, or has ended",
  not_found: "there is no such request",
  ambiguous_id: "the id fits more than one request",
  limit: "the call was edited too often; approve or reject it as it is",
  denied: "policy does not allow the call with these arguments",
  invalid_edit: "the edit cannot be taken",
  invalid_arguments: "the arguments do not fit the tool's schema",
};

/** What people read of a status. */
const STATUS: Readonly<Record<Status, string>> = {
  pending: "it is still pending",
  approved: "it is approved",
  claimed: "it is running",
  succeeded: "it ran and succeeded",
  failed: "it ran and failed",
  indeterminate: "it may or may not have run; say what you find out with holdpoint reconcile",
  rejected: "it is rejected and was not run",
  expired: "it has expired and was not run",
  cancelled: "it was withdrawn and was not run",
};

export const statusWords = (status: Status | null): string => (status === null ? "" : STATUS[status]);

/** What an answer led to, in words. */
export function decidedWords(decided: Decided): string {
  const status = statusWords(decided.status);
  if (decided.counted) {
    const note = decided.note === undefined ? "" : ` (${oneLine(decided.note)})`;
    return `counted: ${decided.status === "pending" ? "it waits for another approver" : status}${note}`;
  }
  const { code = "not_found" } = decided;
  const why = WHY[code] ?? `it was refused (${code})`;
  const note = decided.note === undefined || WHY[code] !== undefined ? "" : `; ${oneLine(decided.note)}`;
  const detail = (code === "invalid_edit" || code === "invalid_arguments" || code === "denied") && decided.note !== undefined;
  return `not counted: ${why}${detail ? `: ${oneLine(decided.note ?? "")}` : note}${status === "" ? "" : `; ${status}`} [${code}]`;
}

const REFUSED: ReadonlySet<string> = new Set([
  "self_approval",
  "not_eligible",
  "assurance_too_low",
  "ambiguous_id",
  "stale_view",
]);

/** 0 where the answer counted; 3 where the one who answers is refused; 4 where time was over; else 1. */
export function exitOf({ counted, code, status }: Decided): number {
  if (counted) return EXIT.done;
  if (REFUSED.has(code ?? "")) return EXIT.refused;
  return exitOfEnded(status);
}

/** What an answer that finds no question any more exits with. */
export const exitOfEnded = (status: Status | null): number => (status === "expired" ? EXIT.expired : EXIT.failed);
