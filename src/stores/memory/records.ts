import type { ApprovalRequest, RecordQuery, Status, Summary } from "../../core/index.ts";
import { hasEnded } from "../../core/index.ts";
import { placeBefore, recordCursor } from "../cursor.ts";

interface Slot {
  record: ApprovalRequest;
  readonly place: number;
}

/** Requests in order of creation, with what is still open kept apart so that it is found beside any number of ended ones. */
export class Records {
  readonly #byId = new Map<string, Slot>();
  readonly #order: Slot[] = [];
  /** A set keeps the order of creation: a request enters it once, when it is created, and leaves it for good. */
  readonly #open = new Set<Slot>();
  readonly #successors = new Map<string, Slot[]>();

  get(id: string): ApprovalRequest | undefined {
    return this.#byId.get(id)?.record;
  }

  insert(record: ApprovalRequest, place: number): void {
    const slot: Slot = { record, place };
    this.#byId.set(record.id, slot);
    this.#order.push(slot);
    if (!hasEnded(record.status)) this.#open.add(slot);
    if (record.root === record.id) return;
    const chain = this.#successors.get(record.root);
    if (chain === undefined) this.#successors.set(record.root, [slot]);
    else chain.push(slot);
  }

  replace(record: ApprovalRequest): void {
    const slot = this.#byId.get(record.id);
    if (slot === undefined) return;
    slot.record = record;
    if (hasEnded(record.status)) this.#open.delete(slot);
  }

  *find(query: RecordQuery): Generator<Summary, void, undefined> {
    const after = placeBefore(query.after);
    let left = query.limit ?? Number.POSITIVE_INFINITY;
    for (const slot of this.#candidates(query)) {
      if (left <= 0) return;
      if (slot.place <= after || !matches(slot.record, query)) continue;
      left--;
      yield { record: slot.record, cursor: recordCursor(slot.place) };
    }
  }

  /** Lanes with something approved, oldest first. */
  *lanes(): Generator<string, void, undefined> {
    const seen = new Set<string>();
    for (const { record } of this.#open) {
      if (record.status !== "approved" || record.lane === undefined || seen.has(record.lane)) continue;
      seen.add(record.lane);
      yield record.lane;
    }
  }

  #candidates(query: RecordQuery): Iterable<Slot> {
    if (query.root !== undefined) return this.#chain(query.root);
    if (query.status !== undefined && !query.status.some((status: Status) => hasEnded(status))) return this.#open;
    return this.#order;
  }

  *#chain(root: string): Generator<Slot, void, undefined> {
    const first = this.#byId.get(root);
    if (first !== undefined && first.record.root === root) yield first;
    yield* this.#successors.get(root) ?? [];
  }
}

function matches(record: ApprovalRequest, query: RecordQuery): boolean {
  return (
    (query.status === undefined || query.status.includes(record.status)) &&
    (query.kind === undefined || query.kind === record.kind) &&
    (query.tenant === undefined || query.tenant === record.tenant) &&
    (query.thread === undefined || query.thread === record.requester.thread) &&
    (query.idPrefix === undefined || record.id.startsWith(query.idPrefix))
  );
}
