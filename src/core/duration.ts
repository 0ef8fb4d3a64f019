/** Durations: integer milliseconds in records; in options `"15m"` or a number of milliseconds. */

const UNITS: ReadonlyMap<string, number> = new Map([
  ["ms", 1],
  ["s", 1000],
  ["m", 60_000],
  ["h", 3_600_000],
  ["d", 86_400_000],
]);
const PATTERN = /^(\d{1,12})(ms|s|m|h|d)$/;

/** `"15m"`, `"90s"`, `"2h"`, `"30d"`, `"250ms"`; or a number of milliseconds. */
export type Duration = string | number;

/**
 * Milliseconds of a duration.
 * @throws RangeError on anything else than a whole, finite, non-negative duration: a guess here would move a deadline
 */
export function milliseconds(duration: Duration): number {
  if (typeof duration === "number") {
    if (Number.isSafeInteger(duration) && duration >= 0) return duration;
    throw new RangeError(`a duration in milliseconds must be a whole number of 0 or more, not ${duration}`);
  }
  const parts = PATTERN.exec(duration);
  const unit = parts === null ? undefined : UNITS.get(parts[2] as string);
  if (parts === null || unit === undefined) {
    throw new RangeError(`"${duration}" is not a duration; write one number and one of ms, s, m, h, d, as in "15m"`);
  }
  const ms = Number(parts[1]) * unit;
  if (!Number.isSafeInteger(ms)) throw new RangeError(`"${duration}" is too long`);
  return ms;
}
