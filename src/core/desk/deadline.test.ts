import { describe, expect, it } from "vitest";
import { memoryStore } from "../../stores/memory/index.ts";
import { manualClock, recordingChannel } from "../../testing/index.ts";
import { instant } from "../instant.ts";
import { groupDirectory } from "../directory.ts";
import { localDesk } from "./local-desk.ts";
import {
  bench,
  benchRuntime,
  evidenceOf,
  held,
  holdFor,
  identity,
  nodeEvents,
  passes,
  rowsOf,
  standing,
  submissionOf,
} from "./desk.test-kit.ts";
import { faultyStore, noFaults } from "./faulty-store.test-kit.ts";

const ADA = identity("ada");
const faulty = (over: Parameters<typeof bench>[0] = {}) => {
  const faults = noFaults();
  const clock = manualClock();
  const inner = memoryStore({ clock });
  return { faults, inner, ...bench({ clock, store: faultyStore(inner, faults), ...over }) };
};

describe("close", () => {
  it("leaves no timer behind, whatever is still open", async () => {
    const never = recordingChannel({
      state: () => {
        throw new Error("down");
      },
    });
    const on = bench({ channels: [never] });
    await held(on, submissionOf(on, { holds: [holdFor({ remind: "1m" })] }));
    expect(on.clock.waiting).toBeGreaterThan(0);
    await on.desk.close();
    await on.clock.settle();
    expect(on.clock.waiting).toBe(0);
  });
});

describe("deadlines", () => {
  it("P-04 ends a wait that comes after the deadline, whether the store takes the end or not", async () => {
    const on = faulty();
    const late = async (instead: typeof on.faults.instead) => {
      const id = await held(on, submissionOf(on, { args: { n: on.faults.commits.length } }));
      on.clock.set(on.clock.now() + 300_000);
      on.faults.instead = instead;
      const { signal } = on.runtime.aborter();
      const ended = await on.desk.await(id, signal).then(
        ({ status }) => status,
        (thrown: unknown) => String(thrown),
      );
      on.faults.instead = undefined;
      return ended;
    };
    expect(await late(undefined)).toBe("expired");
    expect(await late(() => ({ ok: false, why: "clock_skew", now: instant(0) }))).toMatch(/the store does not take its end/);
    const elsewhere = bench({ store: on.inner, clock: on.clock });
    on.faults.instead = undefined;
    const id = await held(on, submissionOf(on, { args: { n: "other" } }));
    on.clock.set(on.clock.now() + 300_000);
    const closing = elsewhere.desk.expire(id);
    on.faults.instead = () => ({ ok: false, why: "clock_skew", now: instant(0) });
    const waits = on.desk.await(id, on.runtime.aborter().signal);
    await closing;
    expect((await waits).status).toBe("expired");
  });

  it("P-04 of what was delivered, though nobody said they saw it, are not of what nobody was shown", async () => {
    const on = bench({ channels: [recordingChannel({ state: "delivered" })] });
    const id = await held(on, submissionOf(on));
    await on.clock.advance(300_000);
    expect((await standing(on, id)).record.resolution).toMatchObject({ reason: "not_decided" });
  });

  it("P-04 of what another desk ended are over here too", async () => {
    const on = bench();
    const id = await held(on, submissionOf(on));
    const other = bench({ store: on.store, clock: on.clock });
    await other.desk.cancel(id, "operator", { principal: "ada" });
    await on.clock.advance(300_000);
    expect(on.lines.filter(({ level }) => level === "error")).toEqual([]);
    expect((await standing(on, id)).status).toBe("cancelled");
    expect(on.clock.waiting).toBe(0);
  });

  it("P-04 a cancel that the store does not take for another reason is no end", async () => {
    const on = faulty();
    const id = await held(on, submissionOf(on));
    on.faults.instead = () => ({ ok: false, why: "clock_skew", now: on.clock.now() as never });
    expect(await on.desk.cancel(id, "requester", { principal: "ada" })).toBe(false);
    on.faults.instead = undefined;
    expect((await standing(on, id)).status).toBe("pending");
  });

  it("clear away windows and grants that have run out, each journaled", async () => {
    const on = bench();
    await on.channel.answer(await held(on, submissionOf(on, { holds: [holdFor({ window: "5m" })] })), "approve");
    await on.channel.answer(await held(on, submissionOf(on, { holds: [], tier: "read", requires: ["x"] })), "approve");
    expect(await on.desk.pending()).toEqual([]);
    on.clock.set(on.clock.now() + 299_999);
    expect(await on.desk.sweep()).toBe(0);
    on.clock.set(on.clock.now() + 1);
    expect(await on.desk.sweep()).toBe(1);
    on.clock.set(on.clock.now() + 600_000);
    expect(await on.desk.sweep()).toBeGreaterThan(0);
    expect([await rowsOf(on.store, "window"), await rowsOf(on.store, "grant")]).toEqual([[], []]);
    expect((await nodeEvents(on)).map(({ event }) => event)).toEqual([
      "window.opened",
      "grant.given",
      "window.ended",
      "grant.ended",
    ]);
    await held(on, submissionOf(on, { args: { n: 1 } }));
    on.clock.set(on.clock.now() + 300_000);
    expect(await on.desk.pending()).toEqual([]);
  });

  it("P-04 are counted as refusals of that tool, and say whether it was ever shown", async () => {
    const shown = bench();
    const offered = bench({ channels: [recordingChannel({ state: "offered" })] });
    const down = bench({
      channels: [
        recordingChannel({
          state: () => {
            throw new Error("down");
          },
        }),
      ],
    });
    const enough = { ...holdFor(), offer: "enough" as const };
    for (const [on, reason] of [
      [shown, "not_decided"],
      [offered, "not_shown"],
      [down, "not_shown"],
    ] as const) {
      const id = await held(on, submissionOf(on, { holds: [enough] }));
      await on.clock.advance(300_000);
      expect((await standing(on, id)).record.resolution).toMatchObject({ status: "expired", reason });
      expect((await rowsOf(on.store, "streak"))[0]?.value).toMatchObject({ tool: "pay", count: 1 });
    }
  });

  it("P-04 end an approval that nobody took up", async () => {
    const on = bench();
    const submission = submissionOf(on);
    const id = await held(on, submission);
    await on.channel.answer(id, "approve");
    await passes(on, id, 600_000);
    expect((await standing(on, id)).record.resolution).toMatchObject({ status: "expired", reason: "not_claimed" });
    expect(await on.desk.claim(id, evidenceOf(submission))).toMatchObject({ ok: false, refusal: { code: "expired" } });
    expect(await on.desk.expire(id)).toBe(false);
  });

  it("P-04 make a cancel late: time ended the request", async () => {
    const on = bench();
    const id = await held(on, submissionOf(on));
    on.clock.set(on.clock.now() + 300_000);
    expect(await on.desk.cancel(id, "requester", { principal: "ada" })).toBe(false);
    expect((await standing(on, id)).status).toBe("expired");
    expect(await on.desk.cancel(id, "requester", { principal: "ada" })).toBe(false);
    expect(await on.desk.cancel("none", "requester", { principal: "ada" })).toBe(false);
  });

  it("sweep ends what is overdue and gives up lost claims, past a damaged record", async () => {
    const on = faulty();
    const [damaged, pending, taken] = [await held(on, submissionOf(on)), await held(on, submissionOf(on)), submissionOf(on)];
    const claimed = await held(on, taken);
    await on.channel.answer(claimed, "approve");
    expect(await on.desk.claim(claimed, evidenceOf(taken))).toMatchObject({ ok: true });
    const stored = await on.inner.read(damaged);
    const broken = {
      ...on.store,
      read: async (id: string) =>
        id === damaged && stored !== undefined ? { ...stored, record: { ...stored.record, nonce: "x" } } : on.inner.read(id),
    };
    const other = bench({ clock: on.clock, store: broken });
    expect((await other.desk.pending()).map(({ record }) => record.id)).toEqual([pending]);
    expect((await other.desk.approvals.list({}, ADA)).map(({ id }) => id)).toEqual([pending]);
    on.clock.set(on.clock.now() + 300_000);
    expect(await other.desk.sweep()).toBe(2);
    expect((await standing(other, pending)).status).toBe("expired");
    expect((await standing(other, claimed)).record.resolution).toMatchObject({ status: "indeterminate", reason: "lease_lost" });
    expect(await other.desk.sweep()).toBe(0);
  });
});

describe("a desk of few words", () => {
  it("P-14 has no operator without a name, and works without a channel", async () => {
    expect(() => bench({ desk: { operator: "" } })).toThrow(/an operator has a name/);
    const clock = manualClock();
    const runtime = benchRuntime(clock);
    const { policy } = bench();
    const desk = localDesk({ runtime, store: memoryStore({ clock }), policy, directory: groupDirectory(() => policy.groups) });
    expect(await desk.submit(submissionOf({ policy, runtime }))).toMatchObject({ refusal: { code: "no_approver" } });
  });
});
