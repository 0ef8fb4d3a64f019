import { describe, expect, it } from "vitest";
import { memoryStore } from "../../stores/memory/index.ts";
import { manualClock } from "../../testing/index.ts";
import { HoldpointError } from "../errors.ts";
import { instant } from "../instant.ts";
import { verifyStream } from "../journal.ts";
import type { Store } from "../ports/store.ts";
import { benchRuntime, entriesOf, type Line } from "./desk.test-kit.ts";
import { eventStream, type HoldpointEvent } from "./events.ts";
import { faultyStore, noFaults } from "./faulty-store.test-kit.ts";
import { journalWriter } from "./journal-writer.ts";

function made(over: { store?: (inner: Store) => Store } = {}) {
  const clock = manualClock();
  const lines: Line[] = [];
  const runtime = benchRuntime(clock, lines);
  const inner = memoryStore({ clock });
  const store = over.store?.(inner) ?? inner;
  const events = eventStream(runtime.log);
  const journal = journalWriter({ runtime, store, tenant: "default", events });
  return { clock, lines, runtime, store, inner, events, journal };
}
const note = (n: number) => ({ event: "call.allowed" as const, actor: null, data: { n } });
const stream = ({ runtime }: { runtime: { ids: { process: string } } }): string => `node/${runtime.ids.process}`;

describe("journal", () => {
  it("P-20 chains the entries of one process, whoever writes at once", async () => {
    const on = made();
    const written = await Promise.all([0, 1, 2, 3].map((n) => on.journal.write({ node: [note(n), note(n)] })));
    expect(written.every(({ ok }) => ok)).toBe(true);
    const entries = await entriesOf(on.store, stream(on));
    expect(entries.map(({ n, data }) => [n, data.n])).toEqual([0, 1, 2, 3, 4, 5, 6, 7].map((n) => [n, Math.floor(n / 2)]));
    expect(verifyStream(on.runtime.crypto, entries, null)).toBeUndefined();
    expect(entries[0]).toMatchObject({ at: instant(on.clock.now()), tenant: "default", rev: null, actor: null });
  });

  it("P-03 P-10 repeats a commit whose answer was lost under the same key, so that it is made once", async () => {
    const faults = noFaults();
    const on = made({ store: (inner) => faultyStore(inner, faults) });
    faults.lost = 2;
    expect(await on.journal.write({ node: [note(0)] })).toMatchObject({ ok: true });
    expect(new Set(faults.commits.map(({ key }) => key)).size).toBe(1);
    expect(await entriesOf(on.store, stream(on))).toHaveLength(1);
  });

  it("P-15 says store_unavailable when it cannot know, and goes on where the record stands", async () => {
    const faults = noFaults();
    const on = made({ store: (inner) => faultyStore(inner, faults) });
    faults.lost = 3;
    await expect(on.journal.write({ node: [note(0)] })).rejects.toMatchObject({ code: "store_unavailable" });
    faults.down = true;
    await expect(on.journal.write({ node: [note(1)] })).rejects.toBeInstanceOf(HoldpointError);
    faults.down = false;
    expect(await on.journal.write({ node: [note(2)] })).toMatchObject({ ok: true });
    expect(await on.journal.write({ node: [note(3)] })).toMatchObject({ ok: true });
    const entries = await entriesOf(on.store, stream(on));
    expect(entries.map(({ data }) => data.n)).toEqual([0, 2, 3]);
    expect(verifyStream(on.runtime.crypto, entries, null)).toBeUndefined();
  });

  it("P-20 lets two desks of one process write one chain", async () => {
    const on = made();
    const other = journalWriter({ runtime: on.runtime, store: on.store, tenant: "default", events: on.events });
    for (let n = 0; n < 3; n++) {
      expect(await on.journal.write({ node: [note(n)] })).toMatchObject({ ok: true });
      expect(await other.write({ node: [note(n)] })).toMatchObject({ ok: true });
    }
    const entries = await entriesOf(on.store, stream(on));
    expect(entries.map(({ n }) => n)).toEqual([0, 1, 2, 3, 4, 5]);
    expect(verifyStream(on.runtime.crypto, entries, null)).toBeUndefined();
  });

  it("tells a conflict of its rows from one of its chain, and keeps an error that is ours", async () => {
    const on = made();
    const row = { kind: "kill" as const, key: "all", expect: null, next: { on: true } };
    expect(await on.journal.write({ node: [note(0)], rows: [row] })).toMatchObject({ ok: true });
    expect(await on.journal.write({ node: [note(1)], rows: [row] })).toEqual({ ok: false, why: "conflict" });
    expect(await on.journal.write({ node: [note(2)], unlessKilled: ["all"] })).toEqual({ ok: false, why: "killed" });
    expect(await on.journal.write({ before: instant(0) })).toEqual({ ok: false, why: "too_late" });
    expect(await on.journal.write({ notBefore: instant(4_000_000_000_000) })).toEqual({ ok: false, why: "too_early" });
    await on.store.close();
    await expect(on.journal.write({ node: [note(3)] })).rejects.toMatchObject({ message: expect.stringMatching(/was closed/) });
  });

  it("tells log and subscribers what became durable, and nothing else", async () => {
    const on = made();
    const heard: HoldpointEvent[] = [];
    const data = { scope: "all", on: true };
    const actor = { principal: "op", as: "terminal:op", via: "terminal" };
    await on.journal.write({ node: [{ event: "kill.changed", actor, data }] });
    on.events.subscribe((event) => heard.push(event));
    await on.journal.write({ node: [{ event: "kill.changed", actor, data }, note(1)] });
    await on.journal.write({ node: [note(2)], unlessKilled: [], before: instant(0) });
    expect(heard).toEqual([
      { type: "journal", event: "kill.changed", at: instant(on.clock.now()), request: null, actor, data },
      { type: "journal", event: "call.allowed", at: instant(on.clock.now()), request: null, actor: null, data: { n: 1 } },
    ]);
    expect(on.lines).toEqual([
      { level: "warn", message: "kill.changed", fields: { request: null, by: "op" } },
      { level: "warn", message: "kill.changed", fields: { request: null, by: "op" } },
    ]);
  });
});
