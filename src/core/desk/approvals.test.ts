import { describe, expect, it } from "vitest";
import { memoryStore } from "../../stores/memory/index.ts";
import { manualClock, recordingChannel } from "../../testing/index.ts";
import type { Identity } from "../ports/approvals.ts";
import {
  type Bench,
  bench,
  eventsOf,
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

const [ADA, BOB, EVE, OPERATOR] = ["ada", "bob", "eve", "os:op"].map((name) => identity(name)) as [
  Identity,
  Identity,
  Identity,
  Identity,
];
const BOBS = { holds: [holdFor({ approvers: ["bob"] })] };

describe("list and card", () => {
  it("P-16 show what is open, oldest first, to whom it concerns, and change nothing", async () => {
    const on = bench();
    const [one, two] = [
      await held(on, submissionOf(on)),
      await held(on, submissionOf(on, { ...BOBS, requester: { principal: "cem", thread: "t1" } })),
    ];
    const before = JSON.stringify([await eventsOf(on.store, one), await eventsOf(on.store, two), await nodeEvents(on)]);
    const ids = async (as: Identity, query = {}) => (await on.desk.approvals.list(query, as)).map(({ id }) => id);
    expect(await ids(OPERATOR)).toEqual([one, two]);
    expect(await ids(ADA)).toEqual([one]);
    expect(await ids(BOB)).toEqual([two]);
    expect(await ids(EVE)).toEqual([]);
    expect(await ids(OPERATOR, { limit: 1 })).toEqual([one]);
    expect(await ids(OPERATOR, { thread: "t1" })).toEqual([two]);
    expect(await ids(OPERATOR, { status: ["rejected"] })).toEqual([]);
    on.clock.set(on.clock.now() + 300_000);
    expect(await ids(OPERATOR)).toEqual([]);
    expect(JSON.stringify([await eventsOf(on.store, one), await eventsOf(on.store, two), await nodeEvents(on)])).toBe(before);
  });

  it("P-05 finds one request by its id or the beginning of it, never one of several, never by nothing", async () => {
    const on = bench();
    const id = await held(on, submissionOf(on));
    const card = async (prefix: string, as = ADA) => {
      const found = await on.desk.approvals.card(prefix, as);
      return found === undefined ? undefined : "ambiguous" in found ? found.ambiguous : found.card.id;
    };
    expect(await card(id)).toBe(id);
    expect(await card(id.slice(0, 20))).toBe(id);
    expect(await card("")).toBeUndefined();
    expect(await card("ffff")).toBeUndefined();
    expect(await card(id, EVE)).toBeUndefined();
    const second = await held(on, submissionOf(on, { ...BOBS, requester: { principal: "cem" } }));
    expect(await card(id.slice(0, 4), OPERATOR)).toEqual([id, second]);
    expect(await card(id.slice(0, 4), ADA)).toBe(id);
    expect(await card(id.slice(0, 4), EVE)).toBeUndefined();
  });

  it("P-05 counts no further than it takes to know that a beginning names nobody in particular", async () => {
    const on = bench();
    const first = await held(on, submissionOf(on, { args: { n: 0 } }));
    for (let n = 1; n < 12; n++) await on.desk.submit(submissionOf(on, { args: { n } }));
    const found = await on.desk.approvals.card(first.slice(0, 4), ADA);
    expect(found !== undefined && "ambiguous" in found && found.ambiguous).toHaveLength(9);
  });

  it("P-02 P-13 gives a view only for a complete rendering, one for each surface", async () => {
    const on = bench();
    const id = await held(on, submissionOf(on));
    const presented = async (complete: boolean) => on.desk.approvals.card(id, ADA, () => ({ text: "short", complete }));
    expect(await presented(true)).toMatchObject({
      text: "short",
      complete: true,
      view: expect.stringMatching(/^[0-9a-f]{64}\./),
    });
    expect(await presented(false)).toMatchObject({ complete: false, view: "" });
  });
});

describe("cancel, revoke, reconcile", () => {
  it("cancel is for the operator and for whom it was asked", async () => {
    const on = bench();
    const id = await held(on, submissionOf(on, BOBS));
    expect(await on.desk.approvals.cancel(id, BOB)).toMatchObject({ found: true, counted: false, code: "not_eligible" });
    expect(await on.desk.approvals.cancel(id, OPERATOR)).toMatchObject({ found: true, status: "cancelled", counted: true });
    expect((await standing(on, id)).record.resolution).toMatchObject({ reason: "operator", by: "os:op" });
    expect(await on.desk.approvals.cancel(id, ADA)).toMatchObject({ counted: false, code: "late" });
    expect(await on.desk.approvals.cancel("none", ADA)).toMatchObject({ found: false, code: "not_found" });
  });

  it("P-03 reconcile says once of an unknown outcome what a person found out", async () => {
    const on = bench();
    const submission = submissionOf(on);
    const id = await held(on, submission);
    await on.channel.answer(id, "approve");
    expect(await on.desk.approvals.reconcile(id, true, ADA)).toMatchObject({ counted: false, code: "late", status: "approved" });
    await on.desk.claim(id, evidenceOf(submission));
    await on.clock.advance(60_000);
    await on.desk.sweep();
    expect(await on.desk.approvals.reconcile(id, false, EVE)).toMatchObject({ found: false, code: "not_found" });
    expect(await on.desk.approvals.reconcile("none", false, ADA)).toMatchObject({ found: false });
    expect(await on.desk.approvals.reconcile(id, false, ADA)).toMatchObject({ counted: true, status: "indeterminate" });
    expect((await standing(on, id)).record.finding).toMatchObject({ ran: false, by: "ada" });
    expect(await on.desk.approvals.reconcile(id, true, ADA)).toMatchObject({ counted: false, code: "late" });
  });
});

describe("kill switch", () => {
  it("P-08 P-10 stops at once, for everybody in its scope, and is journaled", async () => {
    const on = bench();
    expect(await on.desk.approvals.kill("tool:pay", true, BOB)).toEqual({ changed: true });
    expect(await on.desk.approvals.kill("tool:pay", true, BOB)).toEqual({ changed: false });
    expect(refusalOf(await on.desk.submit(submissionOf(on)))).toEqual({ code: "killed" });
    expect(
      await on.desk.submit(
        submissionOf(on, {
          holds: [],
          tier: "read",
          tool: { name: "look", origin: "code", definition: `sha256:${"0".repeat(64)}` },
        }),
      ),
    ).toMatchObject({ ruling: "allow" });
    expect(await on.desk.approvals.killed()).toEqual([{ scope: "tool:pay", at: expect.any(String), by: "bob" }]);
    expect((await nodeEvents(on))[0]).toMatchObject({
      event: "kill.changed",
      actor: { principal: "bob" },
      data: { scope: "tool:pay", on: true },
    });
  });

  it("P-08 off is a change: asked, shown, decided, recorded in one commit", async () => {
    const on = bench();
    expect(await on.desk.approvals.kill("all", false, OPERATOR)).toEqual({ changed: false });
    await on.desk.approvals.kill("all", true, ADA);
    const { changed, request } = await on.desk.approvals.kill("all", false, OPERATOR);
    expect(changed).toBe(false);
    const id = String(request);
    const { record } = await standing(on, id);
    expect(record).toMatchObject({ kind: "change", status: "pending", impact: "destructive" });
    expect(await on.desk.approvals.killed()).toHaveLength(1);
    const done = await on.desk.approvals.decide(id, { verdict: "approve", ...(await viewOf(on, id, OPERATOR)) }, OPERATOR);
    expect(done).toMatchObject({ status: "succeeded", counted: true });
    expect(await on.desk.approvals.killed()).toEqual([]);
    expect((await nodeEvents(on)).map(({ event, data }) => [event, data.on])).toEqual([
      ["kill.changed", true],
      ["kill.changed", false],
    ]);
    await on.clock.advance(1000);
    expect(await on.desk.submit(submissionOf(on))).toMatchObject({ ruling: "held" });
  });

  it("P-08 a change that was rejected, or came twice, changes nothing more", async () => {
    const on = bench();
    await on.desk.approvals.kill("all", true, ADA);
    const [one, two] = [
      await on.desk.approvals.kill("all", false, OPERATOR),
      await on.desk.approvals.kill("all", false, OPERATOR),
    ].map(({ request }) => String(request)) as [string, string];
    const third = String((await on.desk.approvals.kill("all", false, OPERATOR)).request);
    const decide = async (id: string, verdict: "approve" | "reject") =>
      on.desk.approvals.decide(id, { verdict, ...(await viewOf(on, id, OPERATOR)) }, OPERATOR);
    expect(await decide(third, "reject")).toMatchObject({ status: "rejected" });
    expect(await on.desk.approvals.killed()).toHaveLength(1);
    expect(await decide(one, "approve")).toMatchObject({ status: "succeeded" });
    expect(await decide(two, "approve")).toMatchObject({ status: "succeeded" });
    expect(await on.desk.approvals.killed()).toEqual([]);
  });

  it.each(["", "tools:pay", "tool:", "everything", "agent:"])(
    "P-14 refuses the scope %j, under which nothing would stop",
    async (scope) => {
      const on = bench();
      await expect(on.desk.approvals.kill(scope as "all", true, ADA)).rejects.toMatchObject({ name: "DeclarationError" });
      expect(await on.desk.approvals.killed()).toEqual([]);
    },
  );

  it("P-15 changes nothing that the store does not take", async () => {
    const faults = noFaults();
    const clock = manualClock();
    const on = bench({ clock, store: faultyStore(memoryStore({ clock }), faults) });
    await on.desk.approvals.kill("all", true, ADA);
    faults.instead = () => ({ ok: false, why: "conflict" });
    expect(await on.desk.approvals.kill("tool:pay", true, ADA)).toEqual({ changed: false });
    expect(await on.desk.approvals.kill("all", false, ADA)).toEqual({ changed: false });
  });
});

describe("exemptions", () => {
  it("P-10 P-14 are listed and ended by the operator, and the end is journaled", async () => {
    const on = bench();
    const undo = await on.desk.exempt("tests", { tools: ["pay", "look*"] }, () => true);
    await on.desk.exempt("soon over", { tools: ["pay"], until: await on.store.now() }, () => true);
    const [one, ...more] = await on.desk.approvals.exemptions(OPERATOR);
    expect(one).toMatchObject({
      kind: "exemption",
      principal: "os:op",
      agent: null,
      covers: "pay, look*",
      by: "tests",
      uses: 0,
      until: null,
    });
    expect(more).toEqual([]);
    expect(await on.desk.approvals.exemptions(ADA)).toEqual([]);
    expect(await on.desk.approvals.end("exemption", String(one?.id), ADA)).toBe(false);
    expect(await on.desk.approvals.end("exemption", String(one?.id), OPERATOR)).toBe(true);
    expect(await on.desk.approvals.end("exemption", String(one?.id), OPERATOR)).toBe(false);
    await undo();
    expect((await nodeEvents(on)).map(({ event, actor }) => [event, actor?.principal])).toEqual([
      ["exemption.added", undefined],
      ["exemption.added", undefined],
      ["exemption.removed", "os:op"],
    ]);
    expect(await on.desk.submit(submissionOf(on))).toMatchObject({ ruling: "held" });
  });
});

describe("ends that race", () => {
  it("P-15 are false where the store did not take them", async () => {
    const faults = noFaults();
    const clock = manualClock();
    const on = bench({ clock, store: faultyStore(memoryStore({ clock }), faults) });
    const id = await held(on, submissionOf(on, { holds: [holdFor({ window: "5m" })] }));
    await on.channel.answer(id, "approve");
    const rejected = await held(on, submissionOf(on, { args: { n: 1 } }));
    await on.channel.answer(rejected, "reject");
    faults.instead = () => ({ ok: false, why: "conflict" });
    expect(await on.desk.approvals.end("window", id, ADA)).toBe(false);
    expect(await on.desk.approvals.lift(rejected, ADA)).toBe(0);
    faults.instead = undefined;
    expect(await on.desk.approvals.windows(ADA)).toHaveLength(1);
    expect(await rowsOf(on.store, "refusal")).toHaveLength(1);
  });
});

describe("seen", () => {
  const offering = async (): Promise<[Bench, string]> => {
    const on = bench({ channels: [recordingChannel({ state: "offered" })] });
    return [on, await held(on, submissionOf(on, { holds: [{ ...holdFor(), offer: "enough" }] }))];
  };

  it("P-06 counts a surface's own report, with the view it was given, of a person who may see it", async () => {
    const [on, id] = await offering();
    const { view } = await viewOf(on, id, ADA);
    for (const [which, given, as] of [
      [id, "", ADA],
      [id, `${"0".repeat(64)}.forged`, ADA],
      [id, view, OPERATOR],
      [id, view, EVE],
      ["none", view, ADA],
    ] as const)
      await on.desk.approvals.seen(which, given, as);
    expect(await eventsOf(on.store, id)).toEqual(["request.created", "request.delivered"]);
    await on.desk.approvals.seen(id, view, ADA);
    expect((await eventsOf(on.store, id)).at(-1)).toBe("request.seen");
    await on.desk.cancel(id, "requester", { principal: "ada" });
    await on.desk.approvals.seen(id, view, ADA);
    expect((await eventsOf(on.store, id)).at(-1)).toBe("request.cancelled");
  });
});

describe("watch", () => {
  it("wakes when something may have changed", async () => {
    const on = bench();
    const source = on.runtime.aborter();
    const hints = on.desk.approvals.watch(source.signal)[Symbol.asyncIterator]();
    const next = hints.next();
    const id = await held(on, submissionOf(on));
    const ids = (await next).value?.ids ?? ["none"];
    expect(ids.length === 0 || ids.includes(id)).toBe(true);
    source.abort();
  });
});
