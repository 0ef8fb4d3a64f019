import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { systemClock } from "./clock.ts";

beforeEach(() => {
  vi.useFakeTimers({ now: 1_000, toFake: ["setTimeout", "clearTimeout", "Date", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

const DAY = 86_400_000;

test("now is the wall clock in milliseconds", () => {
  expect(systemClock().now()).toBe(1_000);
});

test("fires once, not before the time", () => {
  const fire = vi.fn();
  systemClock().after(1_000, fire);
  vi.advanceTimersByTime(999);
  expect(fire).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  vi.advanceTimersByTime(10_000);
  expect(fire).toHaveBeenCalledTimes(1);
});

test("a wait beyond what a timer can hold does not fire at once", () => {
  const fire = vi.fn();
  systemClock().after(90 * DAY, fire);
  vi.advanceTimersByTime(90 * DAY - 1);
  expect(fire).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(fire).toHaveBeenCalledTimes(1);
});

test("no time or less: at the next turn, not now", () => {
  const fire = vi.fn();
  systemClock().after(0, fire);
  systemClock().after(-5, fire);
  expect(fire).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(fire).toHaveBeenCalledTimes(2);
});

test("cancelled waits never fire, also after the first chunk; cancelling twice is fine", () => {
  const fire = vi.fn();
  const [short, long] = [systemClock().after(10, fire), systemClock().after(60 * DAY, fire)];
  short();
  short();
  vi.advanceTimersByTime(30 * DAY);
  long();
  vi.advanceTimersByTime(90 * DAY);
  expect(fire).not.toHaveBeenCalled();
  expect(vi.getTimerCount()).toBe(0);
});

test("setting the wall clock moves no wait", () => {
  const fire = vi.fn();
  systemClock().after(1_000, fire);
  vi.setSystemTime(10 * DAY);
  vi.advanceTimersByTime(999);
  expect(fire).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(fire).toHaveBeenCalledTimes(1);
});

test("without end", () => {
  const fire = vi.fn();
  const cancel = systemClock().after(Number.POSITIVE_INFINITY, fire);
  vi.advanceTimersByTime(200 * DAY);
  expect(fire).not.toHaveBeenCalled();
  cancel();
});

test("NaN is a fault, not a wait of no time", () => {
  expect(() => systemClock().after(Number.NaN, () => undefined)).toThrow(RangeError);
});

test("a wait alone keeps no process alive", () => {
  vi.useRealTimers();
  const before = process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
  const cancel = systemClock().after(60_000, () => undefined);
  // Unreferenced timers are not listed.
  expect(process.getActiveResourcesInfo().filter((name) => name === "Timeout")).toHaveLength(before);
  cancel();
});
