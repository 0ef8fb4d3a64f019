import { describe, expect, it } from "vitest";
import { memoryStore } from "../../stores/memory/index.ts";
import { manualClock } from "../../testing/index.ts";
import { instant } from "../instant.ts";
import { benchRuntime } from "./desk.test-kit.ts";
import { faultyStore, noFaults } from "./faulty-store.test-kit.ts";
import { killScopes, killSwitch } from "./kill.ts";

async function made() {
  const clock = manualClock();
  const faults = noFaults();
  const store = faultyStore(memoryStore({ clock }), faults);
  const { log } = benchRuntime(clock);
  const put = (key: string, next: { on: boolean | string } | null, expect: number | null) =>
    store.commit({
      records: [],
      entries: [],
      rows: [{ kind: "kill", key, expect, next }],
      at: instant(clock.now()),
      key: `${key} ${expect}`,
    });
  return { clock, faults, store, put, kills: killSwitch({ store, clock, log }) };
}

describe("the kill switch", () => {
  it("P-08 P-15 lets nothing through that it did not look for, or not lately", async () => {
    const { clock, kills } = await made();
    expect([kills.due, kills.clear]).toEqual([true, false]);
    expect(() => kills.isKilled(["all"])).toThrow(expect.objectContaining({ code: "store_unavailable" }));
    await kills.look();
    expect([kills.due, kills.clear, kills.isKilled(["all"])]).toEqual([false, true, false]);
    await clock.advance(1000);
    expect([kills.due, kills.clear, kills.isKilled(["all"])]).toEqual([true, false, false]);
    await clock.advance(9001);
    expect(() => kills.isKilled(["all"])).toThrow(/not confirmed lately/);
    await kills.look();
    clock.set(clock.now() - 20_000);
    expect([kills.due, kills.clear]).toEqual([true, false]);
    expect(() => kills.isKilled(["all"])).toThrow(/not confirmed lately/);
  });

  it("P-08 knows what is on; only exactly false is off", async () => {
    const { kills, put } = await made();
    await put("all", { on: false }, null);
    await put("tool:pay", { on: true }, null);
    await put("agent:bot", { on: "no" }, null);
    await kills.look();
    expect(kills.isKilled(killScopes("default", "look", { agent: "other" }))).toBe(false);
    expect(kills.isKilled(killScopes("default", "pay", {}))).toBe(true);
    expect(kills.isKilled(killScopes("default", "look", { agent: "bot" }))).toBe(true);
    expect(kills.clear).toBe(false);
    expect(killScopes("t", "x", { agent: null })).toEqual(["all", "tenant:t", "tool:x"]);
  });

  it("P-15 says store_unavailable when it cannot look, and looks once for all who ask at once", async () => {
    const { kills, faults } = await made();
    faults.down = true;
    await expect(kills.look()).rejects.toMatchObject({ code: "store_unavailable" });
    faults.down = false;
    await Promise.all([kills.look(), kills.look()]);
    expect(kills.clear).toBe(true);
  });
});
