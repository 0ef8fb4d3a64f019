import type { Clock } from "../../core/index.ts";

/** Beyond this Node's timer overflows and fires at once: a deadline in 30 days would expire now. */
const LONGEST = 2_147_483_647;

/**
 * The wall clock of this machine, and waits of any length. A wait is measured on the monotonic clock, so that setting the
 * wall clock moves no wait; it alone keeps no process alive.
 */
export function systemClock(): Clock {
  return { now: () => Date.now(), after };
}

function after(ms: number, fire: () => void): () => void {
  if (Number.isNaN(ms)) throw new RangeError("a wait must be a number of milliseconds");
  const due = performance.now() + ms;
  let timer: NodeJS.Timeout;
  const arm = (): void => {
    const rest = Math.ceil(due - performance.now());
    timer = setTimeout(look, Math.min(Math.max(rest, 0), LONGEST));
    timer.unref();
  };
  // A timer may be a fraction of a millisecond early, and a long wait has many: only the time itself says that it is due.
  const look = (): void => (performance.now() < due ? arm() : fire());
  arm();
  return () => clearTimeout(timer);
}
