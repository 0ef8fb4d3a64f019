import { describe, expect, it } from "vitest";
import { memoryStore } from "../../stores/memory/index.ts";
import { manualClock, recordingChannel } from "../../testing/index.ts";
import {
  bench,
  type BenchOptions,
  entriesOf,
  evidenceOf,
  held,
  holdFor,
  identity,
  nodeEvents,
  refusalOf,
  rowsOf,
  standing,
  submissionOf,
  viewOf,
} from "./desk.test-kit.ts";
import { faultyStore, noFaults } from "./faulty-store.test-kit.ts";
import { callOf, claimed, HOUR, parked, ranUnseen, requestOf } from "./repeat.test-kit.ts";

const ADA = identity("ada");

describe("the same call made again", () => {
  it("takes its parked request up, which the next one of a live caller does not", async () => {
    const on = bench();
    const id = await parked(on);
    const again = await on.desk.submit(callOf(on));
    expect(again).toMatchObject({ ruling: "held", request: id, kind: "call", attached: id });
    expect((await standing(on, id)).record).toMatchObject({ parked: false, lease: { holder: "gate s1" } });
    expect((await entriesOf(on.store, `request/${id}`)).at(-1)).toMatchObject({
      event: "request.attached",
      data: { holder: "gate s1", session: "s1", run: "s1" },
    });
    const third = await on.desk.submit(callOf(on));
    expect(requestOf(third)).not.toBe(id);
    expect(third).not.toHaveProperty("attached");
  });

  it("P-03 runs an approved request, once, by whoever took it up", async () => {
    const on = bench();
    const id = await parked(on);
    await on.channel.answer(id, "approve");
    const again = callOf(on);
    expect(requestOf(await on.desk.submit(again))).toBe(id);
    expect(await on.desk.await(id, again.signal)).toMatchObject({ status: "approved" });
    const token = await claimed(on, again, id);
    expect(await on.desk.complete(id, token, { status: "succeeded", value: 1, observedBy: "executor" })).toBe(true);
    expect(requestOf(await on.desk.submit(callOf(on)))).not.toBe(id);
  });

  it("with other arguments, of another principal, agent or tool, is a request of its own", async () => {
    const on = bench();
    const id = await parked(on);
    const other = submissionOf(on).tool;
    for (const over of [
      { args: { to: "bob", amount: 8 } },
      { requester: { principal: "bob", agent: "client", session: "s1", run: "s1" } },
      { requester: { principal: "ada", agent: "another", session: "s1", run: "s1" } },
      { tool: { ...other, origin: "mcp:other" } },
    ])
      expect(requestOf(await on.desk.submit(callOf(on, "s1", over)))).not.toBe(id);
  });

  it("takes nothing up for a gate in code, or for what is suspended: those call by id", async () => {
    const on = bench();
    const id = await parked(on);
    expect(requestOf(await on.desk.submit(callOf(on, "s1", { grade: "in-process" })))).not.toBe(id);
    expect(requestOf(await on.desk.submit(callOf(on, "s1", { wait: "suspend" })))).not.toBe(id);
  });

  it("from another session takes it up once the lease is lost, for five minutes", async () => {
    const on = bench();
    const id = await parked(on);
    const early = await on.desk.submit(callOf(on, "s2"));
    expect(requestOf(early)).not.toBe(id);
    await on.clock.advance(60_000);
    expect(await on.desk.submit(callOf(on, "s3"))).toMatchObject({ ruling: "held", request: id, attached: id });
    await on.desk.park(id, "gate s3");
    await on.clock.advance(60_000 + 300_000);
    expect((await standing(on, id)).record.resolution?.reason).toBe("requester_gone");
    const late = await on.desk.submit(callOf(on, "s4"));
    expect(late).toMatchObject({ ruling: "held" });
    expect(requestOf(late)).not.toBe(id);
  });

  it("A105 takes up what was held and never parked, once whoever asked is gone", async () => {
    const on = bench();
    const id = await held(on, callOf(on));
    await on.clock.advance(60_000);
    const again = callOf(on, "s2");
    expect(await on.desk.submit(again)).toMatchObject({ request: id, attached: id });
    await on.channel.answer(id, "approve");
    expect(await on.desk.renew(id, "gate s1")).toBe(false);
    const token = await claimed(on, again, id);
    expect(await on.desk.renew(id, "gate s2", token)).toBe(true);
  });

  it("A105 ends what nobody took up in time before it opens its own", async () => {
    const on = bench();
    const id = await parked(on);
    on.clock.set(on.clock.now() + 60_000 + 300_000);
    expect(requestOf(await on.desk.submit(callOf(on, "s2")))).not.toBe(id);
    expect((await standing(on, id)).record.resolution?.reason).toBe("requester_gone");
  });

  it("I13 gives the claim to the session that took it up, whatever holder another one names", async () => {
    const on = bench();
    const id = await parked(on);
    await on.clock.advance(60_000);
    const second = callOf(on, "s2");
    await on.desk.submit(second);
    await on.channel.answer(id, "approve");
    const other = callOf(on, "s3");
    const refused = { ok: false, refusal: { code: "invalid_token" }, status: null };
    expect(await on.desk.claim(id, evidenceOf(other, { holder: "gate s3" }))).toEqual(refused);
    expect(await on.desk.claim(id, evidenceOf(other, { holder: "gate s2" }))).toEqual(refused);
    await claimed(on, second, id);
  });

  it("takes up what an edit made of it", async () => {
    const on = bench();
    const id = await parked(on);
    await on.desk.approvals.edit(id, { ...(await viewOf(on, id, ADA)), arguments: { to: "x", amount: 1 } }, ADA);
    const successor = (await standing(on, id)).record;
    expect(successor).toMatchObject({ parked: true, status: "approved" });
    expect(await on.desk.submit(callOf(on))).toMatchObject({ request: successor.id, attached: id });
  });

  it("finds each of several that are parked, oldest first", async () => {
    const on = bench();
    const first = await held(on, callOf(on));
    const second = await held(on, callOf(on));
    expect(second).not.toBe(first);
    await on.desk.park(first, "gate s1");
    await on.desk.park(second, "gate s1");
    expect(requestOf(await on.desk.submit(callOf(on)))).toBe(first);
    expect(requestOf(await on.desk.submit(callOf(on)))).toBe(second);
    expect(await on.desk.submit(callOf(on))).not.toHaveProperty("attached");
  });

  it("without session or run is its caller's by the lease alone", async () => {
    const on = bench();
    const nameless = { requester: { principal: "ada", agent: "client" } };
    const id = await parked(on, "s1", nameless);
    expect(requestOf(await on.desk.submit(callOf(on, "s2", nameless)))).not.toBe(id);
    expect(requestOf(await on.desk.submit(callOf(on, "s1", nameless)))).toBe(id);
    const mine = { requester: { principal: "ada", agent: "client", session: "s" } };
    const other = await parked(on, "s1", { ...mine, args: { n: 2 } });
    expect(requestOf(await on.desk.submit(callOf(on, "s2", { ...mine, args: { n: 2 } })))).toBe(other);
  });

  it("takes the missing grant's request up before the call's own", async () => {
    const on = bench({ people: ["ada", "op"] });
    const needs = { requires: ["money"], args: { n: 2 } };
    const submission = callOf(on, "s1", needs);
    const id = await held(on, submission);
    await on.desk.park(id, "gate s1");
    expect(await on.desk.submit(callOf(on, "s1", needs))).toMatchObject({ request: id, kind: "grant", attached: id });
    await on.desk.park(id, "gate s1");
    await on.channel.answer(id, "reject");
    expect(refusalOf(await on.desk.submit(callOf(on, "s1", needs)))).toEqual({ code: "not_granted" });
  });

  it("shows what it took up where the process that asked is gone", async () => {
    const on = bench();
    const id = await parked(on);
    await on.clock.advance(60_000);
    const other = bench({ store: on.store, clock: on.clock });
    expect(requestOf(await other.desk.submit(callOf(other, "s2")))).toBe(id);
    await on.clock.settle();
    expect(other.channel.deliveries.map(({ card }) => card.id)).toContain(id);
    expect(on.channel.deliveries.filter(({ card }) => card.id === id)).toHaveLength(1);
    const unheard = bench({ store: on.store, clock: on.clock, people: [] });
    await on.clock.advance(60_000);
    expect(requestOf(await unheard.desk.submit(callOf(unheard, "s3")))).toBe(id);
    expect(unheard.channel.deliveries).toEqual([]);
  });

  it("names where a person finds it, where the desk has an address", async () => {
    const on = bench({ desk: { link: (id) => `https://desk.example/r/${id}` } });
    const id = await parked(on);
    expect(await on.desk.submit(callOf(on))).toMatchObject({ link: `https://desk.example/r/${id}` });
  });
});

describe("a request that ended while its caller was gone", () => {
  it.each([
    ["reject", "rejected"],
    ["expire", "expired"],
    ["revoke", "rejected"],
  ] as const)("P-07 after %s is told once, as %s", async (how, code) => {
    const on = bench();
    const id = await parked(on);
    if (how === "reject") await on.channel.answer(id, "reject", { reason: "too much" });
    if (how === "revoke") {
      await on.channel.answer(id, "approve");
      await on.desk.approvals.revoke(id, undefined, ADA);
    }
    if (how === "expire")
      for (let passed = 0; passed < HOUR; passed += 50_000) {
        await on.clock.advance(50_000);
        await on.desk.renew(id, "gate s1");
      }
    const told = await on.desk.submit(callOf(on));
    expect(told).toEqual({
      ruling: "refused",
      refusal: { code, ...(how === "reject" ? { reason: "too much" } : {}) },
      request: id,
    });
    expect((await nodeEvents(on)).at(-1)).toMatchObject({ event: "request.attached", data: { request: id } });
    const after = await on.desk.submit(callOf(on));
    if (how === "expire") expect(after).toMatchObject({ ruling: "held" });
    else expect(refusalOf(after)).toEqual({ code: "already_refused" });
    expect((await rowsOf(on.store, "call")).flatMap(({ value }) => value.requests)).not.toContain(id);
  });

  it("P-07 is remembered for the run that is told of the no, and not asked again in it", async () => {
    const on = bench({ people: ["ada"] });
    const id = await parked(on);
    await on.channel.answer(id, "reject");
    await on.clock.advance(60_000);
    expect(refusalOf(await on.desk.submit(callOf(on, "s2")))).toEqual({ code: "rejected" });
    expect(refusalOf(await on.desk.submit(callOf(on, "s2")))).toEqual({ code: "already_refused" });
    const attached = await parked(on, "s1", { args: { n: 2 } });
    await on.clock.advance(60_000);
    await on.desk.submit(callOf(on, "s2", { args: { n: 2 } }));
    await on.channel.answer(attached, "reject");
    for (const run of ["s1", "s2"])
      expect(refusalOf(await on.desk.submit(callOf(on, run, { args: { n: 2 } })))).toEqual({ code: "already_refused" });
  });

  it("P-14 ends the window of its call once, however many runs are told", async () => {
    const on = bench({ people: ["ada"] });
    const windowed = { holds: [holdFor({ window: "1h" })] };
    const first = callOf(on, "s1", windowed);
    const id = await held(on, first);
    const second = await parked(on, "s1", windowed);
    await on.channel.answer(id, "approve");
    expect(await rowsOf(on.store, "window")).toHaveLength(1);
    await on.clock.advance(60_000);
    expect(requestOf(await on.desk.submit(callOf(on, "s2", windowed)))).toBe(id);
    expect(requestOf(await on.desk.submit(callOf(on, "s3", windowed)))).toBe(second);
    expect(await on.channel.answer(second, "reject")).toMatchObject({ status: "rejected" });
    expect(await rowsOf(on.store, "window")).toEqual([]);
  });

  it("was withdrawn by its caller, or held to its end, and the next call is a new one", async () => {
    const on = bench();
    const first = await held(on, callOf(on));
    await on.desk.cancel(first, "requester", { principal: "ada" });
    const second = await on.desk.submit(callOf(on));
    expect(second).toMatchObject({ ruling: "held" });
    expect((await rowsOf(on.store, "call")).map(({ value }) => value.requests)).toEqual([[requestOf(second)]]);
  });

  it("in another session is told of by nobody but a lost lease", async () => {
    const on = bench();
    const id = await parked(on);
    await on.channel.answer(id, "reject");
    expect(await on.desk.submit(callOf(on, "s2"))).toMatchObject({ ruling: "held" });
    expect(refusalOf(await on.desk.submit(callOf(on, "s1")))).toEqual({ code: "rejected" });
  });
});

describe("repeats at once, and stores that fail", () => {
  const faulty = (over: BenchOptions = {}) => {
    const faults = noFaults();
    const clock = manualClock();
    return { faults, on: bench({ clock, store: faultyStore(memoryStore({ clock }), faults), ...over }) };
  };

  it("P-03 are one that takes it up and one of its own", async () => {
    const on = bench();
    const id = await parked(on);
    const both = (await Promise.all([on.desk.submit(callOf(on)), on.desk.submit(callOf(on))])).map(requestOf);
    expect(both.filter((one) => one === id)).toHaveLength(1);
    expect(new Set(both).size).toBe(2);
    const calls = await Promise.all([1, 2, 3].map(() => on.desk.submit(callOf(on, "s1", { args: { n: 5 } }))));
    const ids = calls.map(requestOf);
    expect(new Set(ids).size).toBe(3);
    expect((await rowsOf(on.store, "call")).map(({ value }) => value.requests)).toContainEqual(expect.arrayContaining(ids));
  });

  it("P-03 P-07 are told an end once between them", async () => {
    const on = bench();
    await ranUnseen(on, { value: 1 });
    const both = await Promise.all([on.desk.submit(callOf(on)), on.desk.submit(callOf(on))]);
    expect(both.map(({ ruling }) => ruling).sort()).toEqual(["held", "repeated"]);
  });

  it("P-15 refuse where the store takes neither", async () => {
    const { on, faults } = faulty();
    await parked(on);
    faults.instead = () => ({ ok: false, why: "conflict" });
    await expect(on.desk.submit(callOf(on))).resolves.toMatchObject({ refusal: { code: "store_unavailable" } });
    faults.instead = undefined;
    await ranUnseen(on, { value: 1 }, { args: { n: 2 } });
    faults.instead = () => ({ ok: false, why: "conflict" });
    expect(refusalOf(await on.desk.submit(callOf(on, "s1", { args: { n: 2 } })))).toEqual({ code: "store_unavailable" });
    expect(refusalOf(await on.desk.submit(callOf(on, "s1", { args: { n: 3 } })))).toEqual({ code: "duplicate_id" });
  });

  it("find nothing in a row or a record that was damaged, and are asked anew", async () => {
    const { on, faults } = faulty();
    faults.change = (change) => ({
      ...change,
      rows: change.rows.map((row) => (row.kind === "call" ? { ...row, next: { requests: "r1" } } : row)),
    });
    const first = await parked(on);
    faults.change = undefined;
    const second = await on.desk.submit(callOf(on));
    expect(requestOf(second)).not.toBe(first);
    await on.desk.park(requestOf(second) ?? "", "gate s1");
    const other = bench({ store: on.store, clock: on.clock, channels: [recordingChannel()] });
    faults.change = (change) => ({
      ...change,
      records: change.records.map((record) => ({ ...record, next: { ...record.next, decideBy: record.next.createdAt } })),
    });
    const torn = await on.desk.submit(callOf(on, "s1", { args: { n: 9 } }));
    faults.change = undefined;
    expect(torn).toMatchObject({ ruling: "held" });
    expect(await other.desk.submit(callOf(other, "s1", { args: { n: 9 } }))).toMatchObject({ ruling: "held" });
  });

  it("keep the newest sixteen of one act", async () => {
    const on = bench();
    for (let n = 0; n < 18; n++) await held(on, callOf(on));
    expect((await rowsOf(on.store, "call")).map(({ value }) => (value.requests as readonly string[]).length)).toEqual([16]);
  });
});
