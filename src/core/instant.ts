/**
 * Times as the record keeps them: `YYYY-MM-DDTHH:mm:ss.sssZ`, always that width, so that text order is time order.
 * The core has no `Date`; a clock gives milliseconds and this file is the only place that turns them into text.
 */
export type Instant = string & { readonly instant: unique symbol };

const DAY = 86_400_000;
const PATTERN = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)\.(\d{3})Z$/;

const pad = (n: number, width: number): string => String(n).padStart(width, "0");
const TWO: readonly string[] = Array.from({ length: 60 }, (_, n) => pad(n, 2));
const two = (n: number): string => TWO[n] as string;

/** The day that was written last: nearly all times of one call are of one day, and its date is the costly part. */
let day: { readonly days: number; readonly text: string } = { days: 0, text: "1970-01-01T" };

function dayText(days: number): string {
  if (days !== day.days) {
    const { year, month, day: ofMonth } = civilOf(days);
    day = { days, text: `${pad(year, 4)}-${pad(month, 2)}-${pad(ofMonth, 2)}T` };
  }
  return day.text;
}

/** Days since 1970-01-01 of a proleptic Gregorian date (Howard Hinnant's civil-from-days arithmetic). */
function daysOf(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year;
  const era = Math.floor(y / 400);
  const yearOfEra = y - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}

function civilOf(days: number): { year: number; month: number; day: number } {
  const z = days + 719_468;
  const era = Math.floor(z / 146_097);
  const dayOfEra = z - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shifted = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * shifted + 2) / 5) + 1;
  const month = shifted < 10 ? shifted + 3 : shifted - 9;
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day };
}

/** The years 0 to 9999: beyond them the width would change, and with it the order of texts. */
const isRecordable = (ms: number): boolean => Number.isSafeInteger(ms) && ms >= -62_167_219_200_000 && ms <= 253_402_300_799_999;

/**
 * The text of a time.
 * @param ms milliseconds since 1970-01-01T00:00:00Z, an integer within the years 0 to 9999
 * @throws RangeError outside that range: a wrong clock must not write a record that sorts wrongly
 */
export function instant(ms: number): Instant {
  if (!isRecordable(ms)) {
    throw new RangeError(`not a time that a record can carry: ${ms}`);
  }
  const days = Math.floor(ms / DAY);
  const rest = ms - days * DAY;
  const seconds = Math.floor(rest / 1000);
  const clock = `${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  return `${dayText(days)}${clock}.${pad(rest % 1000, 3)}Z` as Instant;
}

/** Milliseconds of a time; `undefined` for any text that {@link instant} would not have written. */
export function parseInstant(text: string): number | undefined {
  const parts = PATTERN.exec(text);
  if (parts === null) return undefined;
  const [year, month, day, hour, minute, second, milli] = parts.slice(1).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const ms = daysOf(year, month, day) * DAY + hour * 3_600_000 + minute * 60_000 + second * 1000 + milli;
  return isRecordable(ms) && instant(ms) === text ? ms : undefined;
}

/** Milliseconds of a time that we wrote ourselves. @throws RangeError on a corrupt record */
export function msOf(at: Instant): number {
  const ms = parseInstant(at);
  if (ms === undefined) throw new RangeError("a record carries a time that is not one (this is a bug or a corrupt record)");
  return ms;
}

/** `at` moved by `ms` milliseconds. */
export const plus = (at: Instant, ms: number): Instant => instant(msOf(at) + ms);
