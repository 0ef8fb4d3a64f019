import { problemOf } from "../errors.ts";
import { hasEnded } from "../request.ts";
import { goneAt, isGone, overdue } from "../guards.ts";
import { instant, type Instant } from "../instant.ts";
import { change } from "./change.ts";
import { leaseReminder } from "./lease.ts";
import { look } from "./look.ts";
import { type DeskParts, TIMES } from "./parts.ts";
import { countRefusal, toolOf } from "./remember.ts";

/** Was it ever in front of anybody? What is only offered stands in a list that nobody need have opened. */
async function wasShown(parts: DeskParts, id: string): Promise<boolean> {
  for await (const { event, data } of parts.store.journal(`request/${id}`)) {
    if (event === "request.seen" || event === "request.voted") return true;
    if (event === "request.delivered" && data.state !== "offered") return true;
  }
  return false;
}

/** Commits what time has ended: past a deadline an expiry, else a request that nobody took up again. False: nothing is due. */
export async function expire(parts: DeskParts, id: string): Promise<boolean> {
  const shown = await wasShown(parts, id);
  const done = await change(parts, id, async (stored, now) => {
    const { record } = stored;
    const gone = overdue(record, now) === undefined && isGone(record, now);
    if (gone) return { event: { type: "gone", now }, beside: async () => ({ notBefore: goneAt(record) as Instant }) };
    return {
      event: { type: "tick", now, shown },
      beside: async () => ({
        rows: await countRefusal(parts, record.requester, toolOf(stored)),
        notBefore: record.runBy ?? record.decideBy,
      }),
    };
  });
  if (done.ok) parts.settled(done.record);
  return done.ok;
}

/**
 * At a deadline. Whoever waits looks again whatever comes of it, and what could not be recorded, or was not yet due by the
 * store's clock, is tried again, later each time: a timer that gives up once would leave a wait open for ever (P-04).
 */
export async function due(parts: DeskParts, id: string, again: number = TIMES.lookAgain): Promise<void> {
  try {
    if (await expire(parts, id)) return;
    const stored = await look(parts, id);
    // Another desk may have ended it, and a store that nobody shares tells no one: whoever waits here looks now.
    if (stored === undefined || hasEnded(stored.record.status) || stored.record.status === "claimed") {
      parts.waiting.forget(leaseReminder(id));
      return parts.waiting.wake([id]);
    }
  } catch (thrown) {
    parts.runtime.log.error("a deadline could not be recorded; it holds all the same", {
      request: id,
      problem: problemOf(thrown),
    });
  }
  parts.waiting.wake([id]);
  const { clock } = parts.runtime;
  parts.waiting.remind(id, instant(clock.now() + again), () => void due(parts, id, Math.min(again * 2, TIMES.longestAgain)));
}
