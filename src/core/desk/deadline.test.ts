import { describe, expect, it } from "vitest";
import { memoryStore } from "../../stores/memory/index.ts";
import { manualClock, recordingChannel } from "../../testing/index.ts";
import { bench, evidenceOf, held, holdFor, identity, rowsOf, standing, submissionOf } from "./desk.test-kit.ts";
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
    await on.clock.advance(600_000);
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
