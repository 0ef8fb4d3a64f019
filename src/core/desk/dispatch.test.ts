import { describe, expect, it } from "vitest";
import { memoryStore } from "../../stores/memory/index.ts";
import { manualClock, recordingChannel } from "../../testing/index.ts";
import type { Identity } from "../ports/approvals.ts";
import {
  bench,
  entriesOf,
  eventsOf,
  held,
  holdFor,
  identity,
  refusalOf,
  standing,
  submissionOf,
  viewOf,
} from "./desk.test-kit.ts";
import { faultyStore, noFaults } from "./faulty-store.test-kit.ts";

const [ADA, BOB] = ["ada", "bob"].map((name) => identity(name)) as [Identity, Identity];
const dead = (): never => {
  throw new Error("no connection");
};

describe("delivering", () => {
  it("P-06 tells each person who could approve, once, and nobody else", async () => {
    const on = bench({ people: ["ada", "bob", "cem", "eve"] });
    const id = await held(on, submissionOf(on, { holds: [holdFor({ approvers: ["bob", "cem"], quorum: 2 })] }));
    expect(on.channel.deliveries.map(({ to }) => to.principal)).toEqual(["bob", "cem"]);
    await on.clock.advance(60_000);
    expect(on.channel.deliveries).toHaveLength(2);
    expect((await standing(on, id)).status).toBe("pending");
    expect((await entriesOf(on.store, `request/${id}`)).slice(1).map(({ event, data }) => [event, data])).toEqual([
      ["request.seen", { channel: "recording", to: "bob", state: "seen" }],
      ["request.seen", { channel: "recording", to: "cem", state: "seen" }],
    ]);
  });

  it("P-06 asks about an edit's successor though the request it took the place of can no longer be read", async () => {
    const faults = noFaults();
    const clock = manualClock();
    const inner = memoryStore({ clock });
    const gone = new Set<string>();
    const store = { ...faultyStore(inner, faults), read: async (id: string) => (gone.has(id) ? undefined : inner.read(id)) };
    const on = bench({ clock, store, people: ["bob", "cem"] });
    const hold = holdFor({ approvers: ["bob", "cem"], quorum: 2, edit: true });
    const id = await held(on, submissionOf(on, { holds: [hold], editable: ["/amount"] }));
    faults.change = (change) => {
      if (change.records.length === 2) gone.add(id);
      return change;
    };
    const { view, digest } = await viewOf(on, id, BOB);
    const done = await on.desk.approvals.edit(id, { arguments: { to: "bob", amount: 5 }, digest, view }, BOB);
    await on.clock.settle();
    expect(on.channel.deliveries.map(({ card }) => card.id)).toContain(done.id);
  });

  it("P-06 through a channel that any process serves is journaled by itself before the next delivery", async () => {
    const on = bench({ channels: [recordingChannel({ people: ["ada"], capabilities: { reach: "shared" } })] });
    const id = await held(on, submissionOf(on));
    expect(await eventsOf(on.store, id)).toEqual(["request.created", "request.seen"]);
  });

  it("P-06 tries again, and refuses in time what reached too few, with a code of its own", async () => {
    let tries = 0;
    const channel = recordingChannel({
      people: ["bob", "cem"],
      state: ({ to }) => {
        tries += 1;
        if (to.principal === "cem") throw new Error("no connection");
        return "delivered";
      },
    });
    const on = bench({ channels: [channel] });
    const id = await held(on, submissionOf(on, { holds: [holdFor({ approvers: ["bob", "cem"], quorum: 2 })] }));
    await on.clock.advance(29_999);
    expect((await standing(on, id)).status).toBe("pending");
    await on.clock.advance(1);
    expect((await standing(on, id)).refusal).toEqual({ code: "undeliverable" });
    expect(tries).toBe(17);
    expect(channel.closed.map(({ request, card }) => [request, card.status])).toEqual([[id, "cancelled"]]);
    expect(on.lines).toContainEqual({
      level: "error",
      message: "a delivery failed",
      fields: { request: id, channel: "recording", problem: "no connection" },
    });
  });

  it("P-06 is content when it succeeds at last", async () => {
    let up = false;
    const channel = recordingChannel({ state: () => (up ? "seen" : dead()) });
    const on = bench({ channels: [channel] });
    const id = await held(on, submissionOf(on));
    await on.clock.advance(10_000);
    up = true;
    await on.clock.advance(60_000);
    expect((await standing(on, id)).status).toBe("pending");
    expect(channel.deliveries).toHaveLength(1);
    expect(await channel.answer(id, "approve")).toMatchObject({ counted: true });
  });

  it("P-06 falls over only along the list that is named, and asks on none that is not", async () => {
    const [first, second, third] = ["first", "second", "third"].map((name) =>
      recordingChannel({ name, state: name === "first" ? dead : "seen" }),
    );
    const channels = [first, second, third].flatMap((channel) => channel ?? []);
    const on = bench({ channels });
    await held(on, submissionOf(on, { channels: ["first", "second"] }));
    expect(channels.map(({ deliveries }) => deliveries.length)).toEqual([0, 1, 0]);
    const alone = await held(on, submissionOf(on, { channels: ["first"], args: { n: 1 } }));
    await on.clock.advance(30_000);
    expect((await standing(on, alone)).refusal).toEqual({ code: "undeliverable" });
    await held(on, submissionOf(on, { args: { n: 2 }, holds: [{ ...holdFor(), channels: ["third"] }] }));
    expect(channels.map(({ deliveries }) => deliveries.length)).toEqual([0, 1, 1]);
    expect(refusalOf(await on.desk.submit(submissionOf(on, { args: { n: 3 }, channels: ["nowhere"] })))).toEqual({
      code: "no_approver",
    });
  });

  it("P-06 without a list asks on the first channel that can", async () => {
    const strangers = recordingChannel({ name: "strangers", people: ["eve"] });
    const ours = recordingChannel({ name: "ours" });
    const on = bench({ channels: [strangers, ours] });
    await held(on, submissionOf(on));
    expect([strangers.deliveries.length, ours.deliveries.length]).toEqual([0, 1]);
  });

  it("P-06 being offered is enough where a rule says so, or where a listing is and the wait is long", async () => {
    const channel = recordingChannel({ state: "offered" });
    const on = bench({ channels: [channel] });
    const plain = await held(on, submissionOf(on));
    const enough = await held(on, submissionOf(on, { args: { n: 1 }, holds: [{ ...holdFor(), offer: "enough" }] }));
    await on.clock.advance(30_000);
    expect([(await standing(on, plain)).refusal?.code, (await standing(on, enough)).status]).toEqual([
      "undeliverable",
      "pending",
    ]);

    const listing = [{ principal: "ada", as: "cli:ada", via: "cli", assurance: "local" as const }];
    const listed = bench({ channels: [], desk: { listing } });
    const watched = await held(listed, submissionOf(listed, { args: { n: 2 } }));
    const parked = await held(listed, submissionOf(listed, { grade: "structural" }));
    const deferred = await held(listed, submissionOf(listed, { wait: "defer", args: { n: 1 } }));
    await listed.clock.advance(30_000);
    expect((await standing(listed, watched)).refusal).toEqual({ code: "undeliverable" });
    expect([(await standing(listed, parked)).status, (await standing(listed, deferred)).status]).toEqual(["pending", "pending"]);
    const both = bench({ channels: [recordingChannel({ state: dead })], desk: { listing } });
    const blocked = await held(both, submissionOf(both));
    const offered = await held(both, submissionOf(both, { args: { n: 1 }, grade: "structural" }));
    await both.clock.advance(30_000);
    expect([(await standing(both, blocked)).refusal?.code, (await standing(both, offered)).status]).toEqual([
      "undeliverable",
      "pending",
    ]);
  });

  it("P-06 a channel that is named but not there reaches nobody; the listing may", async () => {
    const listing = [{ principal: "ada", as: "cli:ada", via: "cli", assurance: "local" as const }];
    const on = bench({ desk: { listing } });
    const id = await held(on, submissionOf(on, { grade: "structural", channels: ["gone"] }));
    await on.clock.advance(30_000);
    expect([(await standing(on, id)).status, on.channel.deliveries]).toEqual(["pending", []]);
  });

  it("P-06 waits for no channel that never answers, and not at all once the request has ended", async () => {
    const stuck = Object.assign(recordingChannel({ name: "stuck" }), { deliver: () => new Promise<never>(() => undefined) });
    const next = recordingChannel({ name: "next" });
    const on = bench({ channels: [stuck, next] });
    const id = await held(on, submissionOf(on, { channels: ["stuck", "next"] }));
    await on.clock.advance(10_000);
    expect(next.deliveries).toHaveLength(1);
    await next.answer(id, "approve");
    const other = await held(on, submissionOf(on, { args: { n: 1 }, channels: ["stuck"] }));
    await on.desk.cancel(other, "requester", { principal: "ada" });
    await on.clock.settle();
    expect((await eventsOf(on.store, other)).filter((event) => event === "request.undelivered")).toEqual([]);
  });

  it("P-16 says that it was seen, also of what another process delivers", async () => {
    const on = bench({ channels: [recordingChannel({ state: "offered" })] });
    const id = await held(on, submissionOf(on, { holds: [{ ...holdFor(), offer: "enough" }] }));
    const other = bench({ store: on.store, clock: on.clock });
    await other.desk.approvals.seen(id, (await viewOf(other, id, ADA)).view, ADA);
    expect((await eventsOf(on.store, id)).at(-1)).toBe("request.seen");
    await other.channel.desk.endEdit(id, ADA);
    expect((await standing(on, id)).refusal).toEqual({ code: "invalid_edit" });
  });

  it("P-13 stops when the request ends, and brings every surface to its final form", async () => {
    const [one, two] = [recordingChannel({ name: "one" }), recordingChannel({ name: "two", people: ["bob"] })];
    const on = bench({ channels: [one, two] });
    const holds = [holdFor({}), holdFor({ approvers: ["bob"] }, "rule:x")];
    const id = await held(on, submissionOf(on, { holds, channels: ["one", "two"] }));
    expect([one.deliveries.length, two.deliveries.length]).toEqual([1, 1]);
    await one.answer(id, "reject");
    await on.clock.settle();
    for (const { closed } of [one, two])
      expect(closed.map(({ card }) => [card.status, card.ending])).toEqual([["rejected", "rejected; it was not run, by ada"]]);
    expect(one.deliveries[0]?.signal.aborted).toBe(true);
  });

  it("P-11 lets no surface that fails keep the others from their final form", async () => {
    const [one, two] = [recordingChannel({ name: "one" }), recordingChannel({ name: "two", people: ["bob"] })];
    const broken = Object.assign(one, { close: () => Promise.reject(new Error("gone")) });
    const on = bench({ channels: [broken, two] });
    const holds = [holdFor({}), holdFor({ approvers: ["bob"] }, "rule:x")];
    const id = await held(on, submissionOf(on, { holds, channels: ["one", "two"] }));
    await two.answer(id, "reject");
    await on.clock.settle();
    expect(two.closed).toHaveLength(1);
    expect(on.lines).toContainEqual({
      level: "error",
      message: "a surface was not brought to its final form",
      fields: { request: id, channel: "one", problem: "gone" },
    });
  });

  it("closes twice: when it is decided and when it has ended", async () => {
    const on = bench();
    const id = await held(on, submissionOf(on));
    await on.channel.answer(id, "approve");
    await on.clock.settle();
    await on.desk.cancel(id, "requester", { principal: "ada" });
    await on.clock.settle();
    expect(on.channel.closed.map(({ card }) => card.status)).toEqual(["approved", "cancelled"]);
    await on.desk.expire(id);
  });

  it("P-15 gives up what it cannot go on with, and says so where even that fails", async () => {
    const faults = noFaults();
    const clock = manualClock();
    const on = bench({
      clock,
      store: faultyStore(memoryStore({ clock }), faults),
      channels: [
        recordingChannel({
          state: () => {
            faults.down = true;
            return "seen";
          },
        }),
      ],
    });
    const ruling = await on.desk.submit(submissionOf(on));
    await clock.settle();
    expect(ruling.ruling).toBe("held");
    expect(on.lines.map(({ message }) => message)).toEqual(
      expect.arrayContaining(["delivering stopped", "an undeliverable request could not be withdrawn; its deadline ends it"]),
    );
  });

  it("withdraws a request whose delivering fails in a way of its own", async () => {
    let asked = 0;
    const directory = {
      principalOf: async (_as: string, vouched: string) => {
        asked += 1;
        if (asked === 3) throw new Error("ldap is down");
        return vouched;
      },
      holds: async () => true,
      ownerOf: async () => undefined,
    };
    const on = bench({ directory, people: ["ada"] });
    const id = await held(on, submissionOf(on));
    expect((await standing(on, id)).refusal).toEqual({ code: "undeliverable" });
  });
});

describe("reminding", () => {
  it("says again that it waits, on every surface that shows it, until it does not", async () => {
    const on = bench();
    const id = await held(on, submissionOf(on, { holds: [holdFor({ remind: "1m" })] }));
    await on.clock.advance(60_000);
    await on.clock.advance(60_000);
    expect(on.channel.reminded).toEqual([id, id]);
    expect((await eventsOf(on.store, id)).filter((event) => event === "request.reminded")).toHaveLength(2);
    await on.channel.answer(id, "approve");
    await on.clock.advance(60_000);
    expect(on.channel.reminded).toHaveLength(2);
  });

  it("P-15 goes quiet, and says so, when a reminder fails", async () => {
    const channel = Object.assign(recordingChannel(), { remind: () => Promise.reject(new Error("gone")) });
    const on = bench({ channels: [channel] });
    const id = await held(on, submissionOf(on, { holds: [holdFor({ remind: "1m" })] }));
    await on.clock.advance(120_000);
    expect(on.lines.filter(({ message }) => message === "a reminder failed")).toEqual([
      { level: "error", message: "a reminder failed", fields: { request: id, problem: "gone" } },
    ]);
  });

  it("reminds of nothing that another process ended meanwhile", async () => {
    const on = bench();
    const id = await held(on, submissionOf(on, { holds: [holdFor({ remind: "1m" })] }));
    const other = bench({ store: on.store, clock: on.clock });
    await other.desk.cancel(id, "operator", { principal: "ada" });
    await on.clock.advance(60_000);
    expect(on.channel.reminded).toEqual([]);
  });
});

describe("an edit", () => {
  it("P-13 takes deliveries over: the old card to its end, the new one to the same people", async () => {
    const on = bench({ people: ["bob", "cem"] });
    const id = await held(on, submissionOf(on, { holds: [holdFor({ approvers: ["bob", "cem"], quorum: 2 })] }));
    const view = await viewOf(on, id, BOB);
    const { id: next } = await on.desk.approvals.edit(id, { ...view, arguments: { to: "x", amount: 1 } }, BOB);
    await on.clock.settle();
    expect(on.channel.closed.map(({ request, card }) => [request, card.status])).toEqual([[id, "cancelled"]]);
    expect(on.channel.deliveries.slice(2).map(({ card, to }) => [card.id, to.principal])).toEqual([
      [next, "bob"],
      [next, "cem"],
    ]);
    const last = await viewOf(on, String(next), identity("cem"));
    await on.desk.approvals.edit(String(next), { ...last, arguments: { to: "y", amount: 1 } }, identity("cem"));
    await on.clock.settle();
    expect(on.channel.closed).toHaveLength(2);
  });

  it("that approves at once is shown to nobody any more", async () => {
    const on = bench();
    const id = await held(on, submissionOf(on));
    await on.desk.approvals.edit(id, { ...(await viewOf(on, id, ADA)), arguments: { to: "x", amount: 1 } }, ADA);
    await on.clock.settle();
    expect(on.channel.deliveries).toHaveLength(1);
  });

  it("of a request that another process delivers closes nothing here", async () => {
    const on = bench();
    const id = await held(on, submissionOf(on));
    const other = bench({ store: on.store, clock: on.clock });
    await other.desk.approvals.edit(id, { ...(await viewOf(other, id, ADA)), arguments: { to: "x", amount: 1 } }, ADA);
    await on.clock.settle();
    expect(other.channel.closed).toEqual([]);
    await other.channel.desk.pass(id);
    expect((await standing(on, id)).status).toBe("approved");
  });
});
