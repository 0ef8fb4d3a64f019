import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { instant, msOf, parseInstant, plus } from "./instant.ts";
import type { Instant } from "./instant.ts";

const FIRST = -62_167_219_200_000;
const LAST = 253_402_300_799_999;
const anyTime = fc.oneof(fc.integer({ min: FIRST, max: LAST }), fc.constantFrom(FIRST, LAST, 0, -1, 951_782_400_000));

describe("instant", () => {
  test.each([
    [0, "1970-01-01T00:00:00.000Z"],
    [-1, "1969-12-31T23:59:59.999Z"],
    [951_782_399_999, "2000-02-28T23:59:59.999Z"],
    [951_782_400_000, "2000-02-29T00:00:00.000Z"],
    [4_107_542_400_000, "2100-03-01T00:00:00.000Z"],
    [1_796_083_200_123, "2026-12-01T00:00:00.123Z"],
    [FIRST, "0000-01-01T00:00:00.000Z"],
    [LAST, "9999-12-31T23:59:59.999Z"],
  ])("%i", (ms, text) => {
    expect(instant(ms)).toBe(text);
    expect(parseInstant(text)).toBe(ms);
    expect(msOf(text as Instant)).toBe(ms);
  });

  test("writes what Date writes, for every time", () => {
    fc.assert(
      fc.property(anyTime, (ms) => {
        const text = instant(ms);
        expect(text).toBe(new Date(ms).toISOString());
        expect(parseInstant(text)).toBe(ms);
      }),
      { numRuns: 2000 },
    );
  });

  test("text order is time order", () => {
    fc.assert(fc.property(anyTime, anyTime, (a, b) => instant(a) < instant(b) === a < b));
  });

  test.each([FIRST - 1, LAST + 1, 0.5, Number.NaN, Number.POSITIVE_INFINITY])("no record can carry %d", (ms) => {
    expect(() => instant(ms)).toThrow(RangeError);
  });
});

describe("parseInstant", () => {
  test.each([
    "",
    "2026-11-30",
    "2026-11-30T20:54:00Z",
    "2026-11-30T20:54:00.00Z",
    "2026-11-30T20:54:00.0000Z",
    "2026-11-30T20:54:00.000+00:00",
    "2026-11-30t20:54:00.000z",
    " 2026-11-30T20:54:00.000Z",
    "2026-11-30T20:54:00.000Z\n",
    "2026-02-29T00:00:00.000Z",
    "2026-13-01T00:00:00.000Z",
    "2026-00-10T00:00:00.000Z",
    "2026-01-00T00:00:00.000Z",
    "2026-04-31T00:00:00.000Z",
    "2026-01-01T24:00:00.000Z",
    "2026-01-01T00:60:00.000Z",
    "2026-01-01T00:00:60.000Z",
    "9999-12-31T24:00:00.000Z",
    "0000-00-00T00:00:00.000Z",
    "+02026-01-01T00:00:00.000Z",
  ])("%j is no time of ours", (text) => {
    expect(parseInstant(text)).toBeUndefined();
    expect(() => msOf(text as Instant)).toThrow(RangeError);
  });

  test("never throws", () => {
    const shaped = fc.tuple(...[4, 2, 2, 2, 2, 2, 3].map((width) => fc.stringMatching(new RegExp(`^\\d{${width}}$`))));
    fc.assert(
      fc.property(shaped, ([y, mo, d, h, mi, s, ms]) => {
        const text = `${y}-${mo}-${d}T${h}:${mi}:${s}.${ms}Z`;
        const found = parseInstant(text);
        if (found !== undefined) expect(instant(found)).toBe(text);
      }),
    );
  });
});

test("plus", () => {
  expect(plus(instant(0), 300_000)).toBe("1970-01-01T00:05:00.000Z");
  expect(plus(instant(0), -1)).toBe("1969-12-31T23:59:59.999Z");
  expect(() => plus(instant(LAST), 1)).toThrow(RangeError);
});
