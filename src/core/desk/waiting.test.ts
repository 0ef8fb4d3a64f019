import { describe, expect, it } from "vitest";
import { memoryStore } from "../../stores/memory/index.ts";
import { manualClock } from "../../testing/index.ts";
import { instant } from "../instant.ts";
import type { Hint, Store } from "../ports/store.ts";
import { benchRuntime, type Line } from "./desk.test-kit.ts";
import { faultyStore, noFaults } from "./faulty-store.test-kit.ts";
import { waiting } from "./waiting.ts";

function made(over: Partial<Store> = {}) {
  const clock = manualClock();
  const lines: Line[] = [];
  const runtime = benchRuntime(clock, lines);
  const store = { ...faultyStore(memoryStore({ clock }), noFaults()), ...over };
  const waits = waiting({ store, clock, log: runtime.log, stop: runtime.aborter() });
  const seen: string[] = [];
  const wait = (id: string, name = id) => waits.changed(id, runtime.aborter().signal).then(() => seen.push(name));
  return { clock, lines, runtime, waits, seen, wait };
}
const SHARED = { durable: true, shared: true, wake: "push" as const };

describe("waiting", () => {
  it("wakes whoever waits for that request, once", async () => {
    const { waits, wait, seen, clock } = made();
    void wait("a", "one");
    void wait("a", "two");
    void wait("b");
    waits.wake(["a", "none"]);
    waits.wake(["a"]);
    await clock.settle();
    expect(seen).toEqual(["one", "two"]);
  });

  it("keeps one timer for all deadlines, each at its time, later words replacing earlier ones", async () => {
    const { waits, clock } = made();
    const rung: string[] = [];
    const at = (ms: number) => instant(clock.now() + ms);
    const start = clock.now();
    for (const [id, ms] of [
      ["late", 300],
      ["soon", 100],
      ["gone", 200],
      ["moved", 100],
    ] as const)
      waits.remind(id, at(ms), () => rung.push(`${id} ${clock.now() - start}`));
    waits.remind("moved", at(400), () => rung.push(`moved ${clock.now() - start}`));
    waits.forget("gone");
    expect(clock.waiting).toBe(1);
    await clock.advance(1000);
    expect(rung).toEqual(["soon 100", "late 300", "moved 400"]);
    waits.remind("past", instant(start), () => rung.push("past"));
    await clock.advance(0);
    expect(rung.at(-1)).toBe("past");
    expect(clock.waiting).toBe(0);
  });

  it("waits on when the clock was set back, and rings nobody early", async () => {
    const { waits, clock } = made();
    const rung: string[] = [];
    waits.remind("a", instant(clock.now() + 100), () => rung.push("a"));
    clock.set(clock.now() - 1000);
    await clock.advance(100);
    expect(rung).toEqual([]);
    await clock.advance(1000);
    expect(rung).toEqual(["a"]);
  });

  it("looks again by itself where hints may be lost, and wakes by hints where there are some", async () => {
    let push: ((hint: Hint) => void) | undefined;
    const watch = async function* (): AsyncGenerator<Hint> {
      for (;;) yield await new Promise<Hint>((resolve) => (push = resolve));
    };
    const { wait, seen, clock } = made({ capabilities: SHARED, watch });
    void wait("a");
    void wait("b");
    await clock.settle();
    push?.({ cursor: "1", ids: ["a"] });
    await clock.settle();
    expect(seen).toEqual(["a"]);
    push?.({ cursor: "2", ids: [] });
    await clock.settle();
    expect(seen).toEqual(["a", "b"]);
    void wait("c");
    await clock.advance(5000);
    expect(seen).toEqual(["a", "b", "c"]);
  });

  it.each([
    [new Error("line cut"), "line cut"],
    ["no error", "not an error"],
  ])("goes on without hints when they stop, and says so", async (thrown, problem) => {
    const watch = async function* (): AsyncGenerator<Hint> {
      yield { cursor: "", ids: ["another"] };
      throw thrown;
    };
    const { wait, seen, clock, lines } = made({ capabilities: SHARED, watch });
    void wait("a");
    await clock.advance(5000);
    expect(seen).toEqual(["a"]);
    expect(lines[0]).toEqual({
      level: "warn",
      message: "the store's wake-ups stopped; waiters look again by themselves",
      fields: { problem },
    });
  });

  it("ends all waits when it closes, and takes no reminder afterwards", async () => {
    const { waits, wait, seen, clock } = made({ capabilities: SHARED });
    void wait("a");
    waits.remind("a", instant(clock.now() + 100), () => seen.push("rung"));
    waits.close();
    waits.remind("b", instant(clock.now() + 100), () => seen.push("rung"));
    await clock.advance(1000);
    expect([seen, clock.waiting]).toEqual([["a"], 0]);
    made().waits.close();
  });
});
