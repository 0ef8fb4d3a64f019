import type { Hash } from "../hash.ts";
import { entryHash } from "../journal.ts";
import type { ApprovalRequest } from "../request.ts";
import type { DeskParts } from "./parts.ts";

/** Steps after which nothing may be taken up: whatever the record says by then, it was put back by hand. */
const OVER: ReadonlySet<string> = new Set([
  "request.claimed",
  "request.rejected",
  "request.revoked",
  "request.superseded",
  "request.cancelled",
  "request.expired",
  "request.succeeded",
  "request.failed",
  "request.indeterminate",
]);

/**
 * What the request's own journal says against taking it up; `undefined`: its entries lead to this record, and none of
 * them ended it. A record set back to approved would else be run a second time (P-03).
 */
export async function historyFlaw(parts: DeskParts, record: ApprovalRequest): Promise<string | undefined> {
  let prev: Hash | null = null;
  let approved = false;
  for await (const entry of parts.store.journal(`request/${record.id}`)) {
    if (entry.prev !== prev) return "its journal has a gap";
    if (OVER.has(entry.event)) return "it was taken up or ended before";
    approved ||= entry.event === "request.approved";
    prev = entryHash(parts.runtime.crypto, entry);
  }
  if (prev !== record.head) return "its journal does not lead to it";
  return approved ? undefined : "its journal knows of no approval";
}
