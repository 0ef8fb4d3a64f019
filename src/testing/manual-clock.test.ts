import { describe, expect, it } from "vitest";
import { manualClock } from "./manual-clock.ts";

describe("manual clock", () => {
  it("stands still until it is moved, and starts far from today", () => {
    expect(manualClock().now()).toBe(1_893_456_000_000);
    expect(manualClock(5).now()).toBe(5);
  });

  it("moves at once where nothing is due, awaited or not", async () => {
    const clock = manualClock(0);
    const moved = clock.advance(10);
    expect(clock.now()).toBe(10);
    await moved;
    expect(clock.now()).toBe(10);
  });

  it("fires in order of time, then of making, each at its own time, and what it set off runs before the next", async () => {
    const clock = manualClock(0);
    const seen: string[] = [];
    const wait = (name: string, ms: number): (() => void) =>
      clock.after(ms, () => {
        seen.push(`${name} ${clock.now()}`);
        void Promise.resolve().then(() => seen.push(`after ${name}`));
        if (name === "b") wait("nested", 5);
      });
    wait("c", 30);
    wait("a", 10);
    wait("b", 10);
    const cancel = wait("never", 10);
    cancel();
    cancel();
    await clock.advance(29);
    expect(seen).toEqual(["a 10", "after a", "b 10", "after b", "nested 15", "after nested"]);
    expect(clock.waiting).toBe(1);
    await clock.advance(1);
    expect(seen.at(-2)).toBe("c 30");
    expect(clock.waiting).toBe(0);
  });

  it("waits any length, and fires none early", async () => {
    const clock = manualClock(0);
    let fired = 0;
    clock.after(90 * 86_400_000, () => fired++);
    await clock.advance(90 * 86_400_000 - 1);
    expect(fired).toBe(0);
    await clock.advance(1);
    expect(fired).toBe(1);
  });

  it("jumps without letting a wait fall due, and keeps its length", async () => {
    const clock = manualClock(1000);
    let fired = 0;
    clock.after(10, () => fired++);
    clock.set(1_000_000);
    await clock.settle();
    expect([clock.now(), fired]).toEqual([1_000_000, 0]);
    clock.set(0);
    await clock.advance(9);
    expect([clock.now(), fired]).toEqual([9, 0]);
    await clock.advance(1);
    expect([clock.now(), fired]).toEqual([10, 1]);
  });

  it("adds up steps that overlap", async () => {
    const clock = manualClock(0);
    const seen: number[] = [];
    for (const ms of [5, 15]) clock.after(ms, () => seen.push(clock.now()));
    await Promise.all([clock.advance(10), clock.advance(10)]);
    expect([seen, clock.now()]).toEqual([[5, 15], 20]);
  });

  it("gives on what a wait threw, and refuses a step that is no length of time", async () => {
    const clock = manualClock(0);
    clock.after(1, () => {
      throw new Error("from a wait");
    });
    await expect(clock.advance(1)).rejects.toThrow("from a wait");
    for (const ms of [-1, 0.5, Number.NaN]) await expect(clock.advance(ms)).rejects.toThrow(RangeError);
  });
});
