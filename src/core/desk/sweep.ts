import { msOf } from "../instant.ts";
import type { Stored } from "../ports/store.ts";
import { change } from "./change.ts";
import type { DeskParts } from "./parts.ts";

/** An open request and how long a person still has. */
export interface Open extends Stored {
  readonly remainingMs: number;
}

/** What is pending and not overdue, oldest first. */
export async function openRequests(parts: DeskParts): Promise<readonly Open[]> {
  const open: Open[] = [];
  const now = msOf(await parts.store.now());
  for await (const { record } of parts.store.find({ status: ["pending"] })) {
    const remainingMs = msOf(record.decideBy) - now;
    const stored = remainingMs > 0 ? await parts.look(record.id) : undefined;
    if (stored !== undefined) open.push({ ...stored, remainingMs });
  }
  return open;
}

async function giveUp(parts: DeskParts, id: string): Promise<boolean> {
  const done = await change(parts, id, async (stored, now) => ({
    event: { type: "sweep", reason: "lease_lost", now },
    beside: async () => (stored.record.claim === undefined ? {} : { notBefore: stored.record.claim.until }),
  }));
  if (done.ok) parts.settled(done.record);
  return done.ok;
}

/** Expires what is overdue and gives up claims whose lease is lost; nothing is ever run again by it. */
export async function sweep(parts: DeskParts): Promise<number> {
  let changed = 0;
  for await (const { record } of parts.store.find({ status: ["pending", "approved"] }))
    if (await parts.expire(record.id)) changed += 1;
  for await (const { record } of parts.store.find({ status: ["claimed"] })) if (await giveUp(parts, record.id)) changed += 1;
  return changed;
}
