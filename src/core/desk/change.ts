import { HoldpointError } from "../errors.ts";
import type { Instant } from "../instant.ts";
import type { KillScope, RowChange, Stored } from "../ports/store.ts";
import type { ApprovalRequest } from "../request.ts";
import { type Event, type Moved, transition } from "../transition.ts";
import type { NodeDraft, Written } from "./journal-writer.ts";
import { look } from "./look.ts";
import { type DeskParts, MOST_RACES } from "./parts.ts";

/** What goes into the same commit as a change of one request. */
export interface Beside {
  readonly rows?: readonly RowChange[];
  readonly node?: readonly NodeDraft[];
  readonly before?: Instant;
  readonly notBefore?: Instant;
  readonly unlessKilled?: readonly KillScope[];
}
export type Changed =
  | { readonly ok: true; readonly record: ApprovalRequest; readonly stored: Stored }
  | {
      readonly ok: false;
      readonly code: Extract<Moved, { ok: false }>["code"];
      readonly stored: Stored | undefined;
    };

/** Why the store did not make a change, as a code. */
export const codeOfWritten = (why: Extract<Written, { ok: false }>["why"]): "killed" | "clock_skew" | "late" =>
  why === "killed" || why === "clock_skew" ? why : "late";

type Plan = (
  stored: Stored,
  now: Instant,
) => Promise<{
  /** `undefined`: nothing beyond what is noted of the request already. */
  readonly event: Event | undefined;
  /** Further events that belong into the same commit, once the first one moved the request there. */
  readonly further?: (next: ApprovalRequest) => readonly Event[];
  readonly beside?: (next: ApprovalRequest) => Promise<Beside>;
}>;

/** Several events in one commit: all of them hold, or the first objection stands and nothing changed. */
function moveAll(
  record: ApprovalRequest,
  events: { readonly event: Event | undefined; readonly further?: (next: ApprovalRequest) => readonly Event[] },
  guards: DeskParts["guards"],
): Moved {
  let moved: Moved =
    events.event === undefined ? { ok: true, next: record, drafts: [] } : transition(record, events.event, guards);
  if (!moved.ok) return moved;
  for (const event of events.further?.(moved.next) ?? []) {
    const further = transition(moved.next, event, guards);
    if (!further.ok) return further;
    moved = { ...further, drafts: [...moved.drafts, ...further.drafts] };
  }
  return moved;
}

/**
 * One change of one request: read, judge by the pure transition, commit if nobody else changed it meanwhile, else read
 * again. Nothing is decided on what was read before the race was lost.
 * @throws HoldpointError `store_unavailable` when the races do not end
 */
export async function change(parts: DeskParts, id: string, plan: Plan): Promise<Changed> {
  for (let race = 0; race < MOST_RACES; race++) {
    const stored = await look(parts, id);
    if (stored === undefined) return { ok: false, code: "not_found", stored };
    const now = await parts.store.now();
    const noted = parts.notes.onto(stored.record);
    const planned = await plan({ ...stored, record: noted.record }, now);
    if (planned.event === undefined && noted.drafts.length === 0) return { ok: false, code: "late", stored };
    const moved = moveAll(noted.record, planned, parts.guards);
    if (!moved.ok) return { ok: false, code: moved.code, stored };
    const extra = (await planned.beside?.(moved.next)) ?? {};
    const written = await parts.journal.write({
      ...extra,
      records: [{ before: stored.record, next: moved.next, drafts: [...noted.drafts, ...moved.drafts] }],
    });
    if (written.ok) {
      parts.notes.written(id, noted.drafts);
      const [record] = written.records as readonly [ApprovalRequest];
      parts.waiting.wake([id]);
      return { ok: true, record, stored: { ...stored, record } };
    }
    if (written.why !== "conflict") return { ok: false, code: codeOfWritten(written.why), stored };
  }
  throw new HoldpointError("store_unavailable", `request ${id} changes faster than it can be decided; nothing was released`);
}
