import type { Refusal, Standing } from "../ports/desk.ts";
import type { Stored } from "../ports/store.ts";
import { codeOf } from "../refusal.ts";
import type { ApprovalRequest, Decision } from "../request.ts";

/** The words of the person who ended it, where one did. */
function reasonOf({ record, payload }: Stored): string | undefined {
  const no = record.decisions.findLast((decision) => decision.verdict === "reject");
  return no === undefined ? undefined : payload?.reasons[no.id];
}

const REFUSED: ReadonlySet<ApprovalRequest["status"]> = new Set(["rejected", "expired", "cancelled"]);

/** What a stored request amounts to for whoever waits for it. */
export function standingFrom(stored: Stored, edited?: Standing["edited"]): Standing {
  const { record, payload } = stored;
  const reason = reasonOf(stored);
  const refusal: Refusal | undefined =
    record.resolution === undefined || !REFUSED.has(record.status)
      ? undefined
      : {
          code: codeOf(record.resolution, record.kind),
          ...(reason === undefined ? {} : { reason }),
        };
  return {
    record,
    status: record.status,
    arguments: payload?.arguments ?? null,
    ...(refusal === undefined ? {} : { refusal }),
    ...(edited === undefined ? {} : { edited }),
  };
}

/** With who changed the arguments, where an edit did. */
export function standingWhole(stored: Stored): Standing {
  if (stored.record.supersedes === undefined) return standingFrom(stored);
  const [editors] = stored.record.decisions as readonly [Decision];
  return standingFrom(stored, { by: editors.by, arguments: stored.payload?.arguments ?? {} });
}
