import { describe, expect, it } from "vitest";
import { memoryStore } from "../../stores/memory/index.ts";
import { manualClock } from "../../testing/index.ts";
import type { ApprovalRequest } from "../request.ts";
import {
  bench,
  entriesOf,
  eventsOf,
  evidenceOf,
  held,
  identity,
  passes,
  standing,
  submissionOf,
  viewOf,
} from "./desk.test-kit.ts";
import { faultyStore, noFaults } from "./faulty-store.test-kit.ts";

const ADA = identity("ada");
const GRACE = 300_000;
const until = (record: ApprovalRequest): string | undefined => record.lease?.until;
/** Longer than the grace, so that it is not the deadline that ends anything. */
const LONG = { deadline: 3_600_000 };

describe("the requester's lease", () => {
  it("is there for what blocks, and not for what is suspended or deferred", async () => {
    const on = bench();
    const id = await held(on, submissionOf(on, LONG));
    expect((await standing(on, id)).record.lease).toEqual({ holder: "gate", until: "2030-01-01T00:01:00.000Z" });
    for (const wait of ["suspend", "defer"] as const) {
      const other = await held(on, submissionOf(on, { wait }));
      expect((await standing(on, other)).record.lease).toBeUndefined();
      await on.clock.advance(1_000_000);
      expect((await standing(on, other)).status).toBe("pending");
    }
  });

  it("is renewed by whoever holds it, by nobody else, and without a word in the journal", async () => {
    const on = bench();
    const id = await held(on, submissionOf(on, LONG));
    const before = await entriesOf(on.store, `request/${id}`);
    await on.clock.advance(59_000);
    expect([await on.desk.renew(id, "gate"), await on.desk.renew(id, "another")]).toEqual([true, false]);
    expect(until((await standing(on, id)).record)).toBe("2030-01-01T00:01:59.000Z");
    expect(await entriesOf(on.store, `request/${id}`)).toEqual(before);
    await passes(on, id, 3_000_000);
    expect((await standing(on, id)).status).toBe("pending");
  });

  it("follows an edit: who waits knows only the request that was asked", async () => {
    const on = bench();
    const id = await held(on, submissionOf(on, LONG));
    await on.desk.approvals.edit(id, { ...(await viewOf(on, id, ADA)), arguments: { to: "x", amount: 1 } }, ADA);
    const after = (await standing(on, id)).record;
    expect([after.supersedes, after.status, after.lease?.holder]).toEqual([id, "approved", "gate"]);
    await passes(on, id, 500_000);
    expect((await standing(on, id)).status).toBe("approved");
    expect(await on.desk.park(id, "gate")).toBe(true);
    expect((await standing(on, id)).record).toMatchObject({ id: after.id, parked: true });
  });

  it("A105 lost for five minutes ends the request at once, however it stands, and nobody can answer or run it", async () => {
    const on = bench();
    const pending = await held(on, submissionOf(on, LONG));
    const submission = submissionOf(on, { ...LONG, args: { n: 2 } });
    const approved = await held(on, submission);
    await on.channel.answer(approved, "approve");
    await on.clock.advance(60_000 + GRACE - 1);
    expect([(await standing(on, pending)).status, (await standing(on, approved)).status]).toEqual(["pending", "approved"]);
    await on.clock.advance(1);
    for (const id of [pending, approved]) {
      expect((await standing(on, id)).record.resolution).toMatchObject({
        status: "cancelled",
        reason: "requester_gone",
        by: null,
      });
      expect((await eventsOf(on.store, id)).at(-1)).toBe("request.cancelled");
    }
    expect(await on.desk.claim(approved, evidenceOf(submission))).toMatchObject({ ok: false, refusal: { code: "cancelled" } });
    expect(on.channel.closed.map(({ request }) => request)).toContain(pending);
    expect(on.clock.waiting).toBe(0);
  });

  it("A105 lost for five minutes counts before any sweep has said so", async () => {
    const on = bench();
    const id = await held(on, submissionOf(on, LONG));
    const { digest, view } = await viewOf(on, id, ADA);
    const submission = submissionOf(on, { ...LONG, args: { n: 2 } });
    const approved = await held(on, submission);
    await on.channel.answer(approved, "approve");
    const edited = await held(on, submissionOf(on, { ...LONG, args: { n: 3 } }));
    const card = await viewOf(on, edited, ADA);
    // A jump of the clock: no timer of this process has fired.
    on.clock.set(on.clock.now() + 60_000 + GRACE);
    expect(await on.desk.approvals.decide(id, { verdict: "approve", digest, view }, ADA)).toMatchObject({
      counted: false,
      code: "late",
    });
    expect(await on.desk.claim(approved, evidenceOf(submission))).toEqual({
      ok: false,
      refusal: { code: "cancelled" },
      status: "cancelled",
    });
    expect(await on.desk.approvals.edit(edited, { ...card, arguments: { n: 4 } }, ADA)).toMatchObject({ code: "late" });
    for (const one of [id, approved, edited]) expect((await standing(on, one)).record.resolution?.reason).toBe("requester_gone");
    expect(await on.desk.renew(id, "gate")).toBe(false);
  });

  it("A105 is found lost by a sweep of another process", async () => {
    const on = bench();
    const id = await held(on, submissionOf(on, LONG));
    on.clock.set(on.clock.now() + 60_000 + GRACE);
    const other = bench({ store: on.store, clock: on.clock });
    expect(await other.desk.sweep()).toBe(1);
    expect((await standing(on, id)).record.resolution?.reason).toBe("requester_gone");
  });

  it("ends what it can once the store answers again, and says that it could not", async () => {
    const faults = noFaults();
    const clock = manualClock();
    const on = bench({ clock, store: faultyStore(memoryStore({ clock }), faults) });
    const id = await held(on, submissionOf(on, LONG));
    faults.down = true;
    await clock.advance(60_000 + GRACE);
    expect(on.lines.map(({ message }) => message)).toContain(
      "a request whose requester is gone could not be ended; nobody can run it all the same",
    );
    faults.down = false;
    await clock.advance(300_000);
    expect((await standing(on, id)).record.resolution?.reason).toBe("requester_gone");
  });
});

describe("park", () => {
  it("lets the wait go, and the request live on as its gate's", async () => {
    const on = bench();
    const submission = submissionOf(on, LONG);
    const id = await held(on, submission);
    const waits = on.desk.await(id, submission.signal);
    expect(await on.desk.park(id, "gate")).toBe(true);
    expect(await waits).toMatchObject({ status: "pending", record: { parked: true } });
    expect((await entriesOf(on.store, `request/${id}`)).at(-1)).toMatchObject({
      event: "request.parked",
      data: { holder: "gate" },
    });
    expect(await on.desk.park(id, "gate")).toBe(true);
    await passes(on, id, 1_000_000);
    expect((await standing(on, id)).status).toBe("pending");
  });

  it("is no use to another holder, of nothing, or of what has ended", async () => {
    const on = bench();
    const id = await held(on, submissionOf(on, LONG));
    expect([await on.desk.park(id, "another"), await on.desk.park("none", "gate")]).toEqual([false, false]);
    await on.desk.cancel(id, "requester", { principal: "ada" });
    expect(await on.desk.park(id, "gate")).toBe(false);
  });

  it("P-03 keeps an approval from running until it is taken up again", async () => {
    const on = bench();
    const submission = submissionOf(on, LONG);
    const id = await held(on, submission);
    await on.desk.park(id, "gate");
    expect(await on.channel.answer(id, "approve")).toMatchObject({ status: "approved" });
    expect(await on.desk.claim(id, evidenceOf(submission))).toEqual({
      ok: false,
      refusal: { code: "cancelled" },
      status: "approved",
    });
    expect((await standing(on, id)).status).toBe("approved");
  });

  it("of a gate that ends too ends the lease with it, and the grace begins", async () => {
    const on = bench();
    const id = await held(on, submissionOf(on, LONG));
    expect(await on.desk.park(id, "gate", true)).toBe(true);
    expect(until((await standing(on, id)).record)).toBe("2030-01-01T00:00:00.000Z");
    const other = await held(on, submissionOf(on, { ...LONG, args: { n: 2 } }));
    await on.desk.park(other, "gate");
    await on.clock.advance(1000);
    expect(await on.desk.park(other, "gate", true)).toBe(true);
    expect(until((await standing(on, other)).record)).toBe("2030-01-01T00:00:01.000Z");
    await on.clock.advance(GRACE);
    expect((await standing(on, id)).record.resolution?.reason).toBe("requester_gone");
  });

  it("comes at 30 s where nobody could be shown it, but its caller's own person can find it", async () => {
    const listing = [identity("ada", { via: "list", as: "list:ada" })];
    const on = bench({ people: [], desk: { listing } });
    for (const channels of [[], ["recording"]]) {
      const submission = submissionOf(on, { ...LONG, grade: "structural", channels, args: { n: channels.length } });
      const id = await held(on, submission);
      await on.clock.advance(29_999);
      expect((await standing(on, id)).record.parked).toBe(false);
      await on.clock.advance(1);
      expect((await standing(on, id)).record).toMatchObject({ parked: true, status: "pending" });
    }
    const ended = await held(on, submissionOf(on, { ...LONG, grade: "structural", args: { n: 3 } }));
    await on.desk.cancel(ended, "requester", { principal: "ada" });
    await on.clock.advance(30_000);
    expect((await standing(on, ended)).record.parked).toBe(false);
  });

  it("does not come by itself where one is listed, and is suspended or has been seen", async () => {
    const listing = [identity("ada", { via: "list", as: "list:ada" })];
    const on = bench({ people: [], desk: { listing } });
    const suspended = await held(on, submissionOf(on, { ...LONG, grade: "structural", wait: "suspend" }));
    const seen = await held(on, submissionOf(on, { ...LONG, grade: "structural", args: { n: 2 } }));
    const [person] = listing;
    if (person === undefined) throw new Error("nobody is listed");
    await on.desk.approvals.seen(seen, (await viewOf(on, seen, person)).view, person);
    await on.clock.advance(30_000);
    for (const id of [suspended, seen])
      expect((await standing(on, id)).record).toMatchObject({ parked: false, status: "pending" });
  });
});
