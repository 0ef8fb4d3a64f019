import { goneAt } from "../guards.ts";
import { type Instant, instant, plus } from "../instant.ts";
import { problemOf } from "../errors.ts";
import type { ApprovalRequest } from "../request.ts";
import { type Changed, change } from "./change.ts";
import { type DeskParts, TIMES } from "./parts.ts";

/** A change of the request, or of what edits made of it meanwhile: its holder knows only the one that it asked for. */
async function onLatest(parts: DeskParts, id: string, plan: Parameters<typeof change>[2]): Promise<Changed> {
  const done = await change(parts, id, plan);
  const next = done.stored?.record.supersededBy;
  return done.ok || next === undefined ? done : onLatest(parts, next, plan);
}

/** Keeps the requester's lease for as long again. False: the request has ended, or is another's. */
export async function keepLease(parts: DeskParts, id: string, holder: string): Promise<boolean> {
  const done = await onLatest(parts, id, async (_stored, now) => ({
    event: { type: "lease", lease: { holder, until: plus(now, TIMES.requesterLease) }, now },
  }));
  if (done.ok) watchLease(parts, done.record);
  return done.ok;
}

/**
 * The caller waits no longer and the request lives on. Whoever leaves as well ends the lease with it, so that a repeat from
 * another session need not wait until it has run out.
 */
export async function park(parts: DeskParts, id: string, by: { holder: string; leaving: boolean }): Promise<boolean> {
  const { holder, leaving } = by;
  const done = await onLatest(parts, id, async ({ record }, now) => {
    const lease = { holder, until: leaving ? now : plus(now, TIMES.requesterLease) };
    return { event: { type: record.parked ? "lease" : "park", lease, now } };
  });
  if (done.ok) watchLease(parts, done.record);
  return done.ok;
}

/**
 * Nobody was shown it, but its caller's own person can find it by its id: the pending result brings that person the id, so
 * the caller gets it now rather than later (design, section 4.6).
 */
export async function parkUnseen(parts: DeskParts, id: string): Promise<void> {
  await onLatest(parts, id, async ({ record }, now) => ({
    event: record.status === "pending" && record.lease !== undefined ? { type: "park", lease: record.lease, now } : undefined,
  }));
}

/** Ends the request promptly once its grace is over; the guards hold without it, and the sweep comes later. */
export function watchLease(parts: DeskParts, record: ApprovalRequest): void {
  const at = goneAt(record);
  if (at !== undefined) remind(parts, record.id, at);
}

function remind(parts: DeskParts, id: string, at: Instant): void {
  parts.waiting.remind(leaseReminder(id), at, () => {
    parts.expire(id).catch((thrown: unknown) => {
      parts.runtime.log.error("a request whose requester is gone could not be ended; nobody can run it all the same", {
        request: id,
        problem: problemOf(thrown),
      });
      remind(parts, id, instant(parts.runtime.clock.now() + TIMES.longestAgain));
    });
  });
}

/** A request has a reminder of its deadline by its id already. */
export const leaseReminder = (id: string): string => `lease/${id}`;
