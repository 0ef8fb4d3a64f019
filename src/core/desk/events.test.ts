import { describe, expect, it } from "vitest";
import { manualClock } from "../../testing/index.ts";
import { benchRuntime, type Line } from "./desk.test-kit.ts";
import { eventStream, type HoldpointEvent, thaw } from "./events.ts";

const EVENT: HoldpointEvent = { type: "error", where: "desk", code: "policy_error", problem: "x" };

describe("events", () => {
  it("give each subscriber a copy of its own; one that throws or is slow changes nothing", async () => {
    const lines: Line[] = [];
    const clock = manualClock();
    const events = eventStream(benchRuntime(clock, lines).log);
    const heard: unknown[] = [];
    events.subscribe((event) => Object.assign(event, { where: "changed" }));
    events.subscribe(() => {
      throw new TypeError("no");
    });
    events.subscribe(() => Promise.reject("no error"));
    events.subscribe(() => new Promise(() => undefined));
    const end = events.subscribe((event) => heard.push(event));
    expect(events.heard).toBe(true);
    events.emit(EVENT);
    await clock.settle();
    end();
    events.emit(EVENT);
    await clock.settle();
    expect(heard).toEqual([EVENT]);
    expect(lines.slice(0, 2)).toEqual([
      { level: "warn", message: "a subscriber threw", fields: { problem: "TypeError" } },
      { level: "warn", message: "a subscriber threw", fields: { problem: "not an error" } },
    ]);
    expect(eventStream(benchRuntime(clock).log).heard).toBe(false);
  });
});

describe("thaw", () => {
  it("copies deep, own members only, and keeps __proto__ a member", () => {
    const frozen = Object.freeze({ a: Object.freeze([1, Object.freeze({ b: null })]), ["__proto__"]: "x" });
    const copy = thaw(frozen) as unknown as { a: [number, { b: unknown }] };
    copy.a[1].b = 2;
    copy.a.push(3 as never);
    expect(frozen.a).toEqual([1, { b: null }]);
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
    expect(thaw("x")).toBe("x");
    expect(thaw(null as never)).toBeNull();
  });
});
