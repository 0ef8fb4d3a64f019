import { describe, expect, test } from "vitest";
import { milliseconds } from "./duration.ts";

describe("milliseconds", () => {
  test.each([
    ["0s", 0],
    ["250ms", 250],
    ["90s", 90_000],
    ["15m", 900_000],
    ["2h", 7_200_000],
    ["30d", 2_592_000_000],
    [0, 0],
    [1500, 1500],
    [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
  ])("%j", (duration, ms) => {
    expect(milliseconds(duration)).toBe(ms);
  });

  test.each([
    "",
    "m",
    "15",
    "15 m",
    " 15m",
    "15m ",
    "15M",
    "1.5h",
    "-1m",
    "+1m",
    "1h30m",
    "15min",
    "1w",
    "١m",
    "1234567890123s",
    "toString",
  ])("%j is not a duration", (text) => {
    expect(() => milliseconds(text)).toThrow(/is not a duration; write one number and one of ms, s, m, h, d, as in "15m"/);
  });

  test.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])("%d is not a duration", (ms) => {
    expect(() => milliseconds(ms)).toThrow(/must be a whole number of 0 or more/);
  });

  test("longer than a number can count", () => {
    expect(() => milliseconds("999999999999d")).toThrow('"999999999999d" is too long');
  });
});
