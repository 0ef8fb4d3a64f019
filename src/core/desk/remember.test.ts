import { describe, expect, it } from "vitest";
import type { Identity } from "../ports/approvals.ts";
import type { Submission } from "../ports/desk.ts";
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
import { memoryStore } from "../../stores/memory/index.ts";
import { manualClock } from "../../testing/index.ts";
import { faultyStore, noFaults } from "./faulty-store.test-kit.ts";

const [ADA, BOB, OPERATOR] = ["ada", "bob", "os:op"].map((name) => identity(name)) as [Identity, Identity, Identity];
const WINDOW = holdFor({ window: "5m" });

async function yes(on: Bench, over: Parameters<typeof submissionOf>[1] = {}): Promise<string> {
  const id = await held(on, submissionOf(on, over));
  await on.channel.answer(id, "approve");
  return id;
}
const ruled = async (on: Bench, over: Parameters<typeof submissionOf>[1] = {}) => {
  const ruling = await on.desk.submit(submissionOf(on, over));
  return ruling.ruling === "allow" ? ruling.how : ruling.ruling === "refused" ? ruling.refusal.code : ruling.ruling;
};

describe("windows", () => {
  it("P-14 answer the same call of the same principal and agent until their end, and count their uses", async () => {
    const on = bench();
    const holds = [WINDOW];
    const id = await yes(on, { holds });
    expect(await ruled(on, { holds })).toBe("window");
    expect(await ruled(on, { holds, requester: { principal: "ada", agent: "bot", run: "run-2" } })).toBe("window");
    const others: readonly Partial<Submission>[] = [
      { windows: "off" },
      { requester: { principal: "ada", agent: "other" } },
      { requester: { principal: "bob", agent: "bot" } },
      { tool: { ...evidenceOf(submissionOf(on)).tool, definition: `sha256:${"1".repeat(64)}` } },
      { bindings: { cwd: "/elsewhere" } },
    ];
    for (const other of others) expect(await ruled(on, { holds, ...other })).toBe("held");
    expect(await ruled(on, { holds, args: { to: "bob", amount: 8 } })).toBe("held");
    expect(await on.desk.approvals.windows(ADA)).toMatchObject([
      { id, kind: "window", principal: "ada", agent: "bot", covers: "pay", by: "ada", uses: 2 },
    ]);
    expect((await nodeEvents(on)).map(({ event }) => event)).toEqual(["window.opened", "window.used", "window.used"]);
    await on.clock.advance(299_999);
    expect(await ruled(on, { holds })).toBe("window");
    await on.clock.advance(1);
    expect(await ruled(on, { holds, requester: { principal: "ada", agent: "bot", run: "run-3" } })).toBe("held");
    expect(await on.desk.approvals.windows(ADA)).toEqual([]);
  });

  it("P-14 answer every hold or none, each for as long as it says itself", async () => {
    const on = bench();
    const long = holdFor({ window: "10m", deadline: "9m" }, "long");
    const short = { ...holdFor({ window: "1m", assurance: "account" }, "short") };
    await yes(on, { holds: [long, short] });
    expect(await ruled(on, { holds: [long, short] })).toBe("window");
    expect(await ruled(on, { holds: [long] })).toBe("window");
    expect(await ruled(on, { holds: [long, holdFor()] })).toBe("held");
    await on.clock.advance(60_000);
    expect(await ruled(on, { holds: [long] })).toBe("window");
    expect(await ruled(on, { holds: [long, short] })).toBe("held");
  });

  it("P-01 P-09 answer no hold that the one who said yes was not asked about", async () => {
    const on = bench();
    await yes(on, { holds: [WINDOW] });
    const stricter = holdFor({ approvers: ["bob"], window: "1h" }, "rule:finance");
    expect(await ruled(on, { holds: [stricter] })).toBe("held");
    expect(await ruled(on, { holds: [WINDOW, stricter] })).toBe("held");
    expect(await ruled(on, { holds: [holdFor({ window: "1h" }, "rule:other")] })).toBe("held");
    expect(await ruled(on, { holds: [WINDOW] })).toBe("window");
  });

  it("P-14 are not opened where a clause always asks, and never for shared identities", async () => {
    const on = bench();
    await yes(on, { holds: [WINDOW, holdFor({ self: "allow", assurance: "account" }, "again")] });
    expect(await on.desk.approvals.windows(ADA)).toEqual([]);
    const requester = { principal: "ada", shared: true } as const;
    const holds = [holdFor({ approvers: ["ada"], self: "allow", window: "5m" })];
    await yes(on, { holds, requester });
    expect(await ruled(on, { holds, requester })).toBe("held");
  });

  it("P-10 P-14 end with a later no, and with whoever may end them, each journaled", async () => {
    const on = bench();
    const holds = [WINDOW];
    await yes(on, { holds });
    const off = await held(on, submissionOf(on, { holds, windows: "off" }));
    await on.channel.answer(off, "reject");
    expect(await on.desk.approvals.windows(ADA)).toEqual([]);
    expect((await nodeEvents(on)).map(({ event }) => event)).toEqual(["window.opened", "window.ended"]);

    const other = bench();
    const id = await yes(other, { holds });
    expect(await other.desk.approvals.windows(BOB)).toEqual([]);
    expect(await other.desk.approvals.end("window", id, BOB)).toBe(false);
    expect(await other.desk.approvals.windows(OPERATOR)).toHaveLength(1);
    expect(await other.desk.approvals.end("window", id, ADA)).toBe(true);
    expect(await other.desk.approvals.end("window", id, ADA)).toBe(false);
    expect(await ruled(other, { holds })).toBe("held");
    expect((await nodeEvents(other)).at(-1)).toMatchObject({ event: "window.ended", actor: { principal: "ada" } });
  });
});

describe("refusals", () => {
  it("P-07 what a person rejected is not asked again in that run, and is in another", async () => {
    const on = bench();
    const id = await held(on, submissionOf(on));
    await on.channel.answer(id, "reject");
    expect(await ruled(on)).toBe("already_refused");
    expect(await ruled(on, { args: { to: "cem", amount: 7 } })).toBe("held");
    expect(await ruled(on, { requester: { principal: "ada", agent: "bot", run: "run-2" } })).toBe("held");
    expect(await on.desk.approvals.lift(id, BOB)).toBe(0);
    expect(await on.desk.approvals.lift(id, ADA)).toBe(1);
    expect(await on.desk.approvals.lift(id, ADA)).toBe(0);
    expect(await ruled(on)).toBe("held");
    expect((await nodeEvents(on)).at(-1)).toMatchObject({ event: "refusal.lifted", data: { target: id, ended: 1 } });
  });

  it("P-07 without a run it is remembered for half an hour", async () => {
    const on = bench();
    const requester = { principal: "ada", agent: "bot" };
    await on.channel.answer(await held(on, submissionOf(on, { requester })), "reject");
    await on.clock.advance(1_799_999);
    expect(await ruled(on, { requester })).toBe("already_refused");
    await on.clock.advance(1);
    expect(await ruled(on, { requester })).toBe("held");
    expect(await rowsOf(on.store, "streak")).toEqual([]);
  });

  it("P-07 an edited call that is rejected stands for the call that the agent made", async () => {
    const on = bench();
    const id = await held(on, submissionOf(on, { holds: [holdFor({ approvers: ["bob", "cem"], quorum: 2 })] }));
    const view = await viewOf(on, id, BOB);
    const { id: next } = await on.desk.approvals.edit(id, { ...view, arguments: { to: "bob", amount: 1 } }, BOB);
    await on.clock.settle();
    await on.channel.answer(String(next), "reject", { by: "cem" });
    expect(await ruled(on)).toBe("already_refused");
    expect(await ruled(on, { args: { to: "bob", amount: 1 } })).toBe("already_refused");
  });

  it("P-07 three in a row of one tool end it, until a person lifts it; faults do not count", async () => {
    const on = bench();
    await on.channel.answer(await held(on, submissionOf(on, { args: { n: 1 } })), "reject");
    const expired = await held(on, submissionOf(on, { args: { n: 2 } }));
    await on.clock.advance(300_000);
    expect((await standing(on, expired)).status).toBe("expired");
    expect(await ruled(on, { args: { n: 3 }, requester: { principal: "ada", shared: true, run: "run-1" } })).toBe("no_approver");
    expect(await ruled(on, { args: { n: 3 }, denied: { by: "x", fault: true } })).toBe("policy_error");
    expect(await ruled(on, { args: { n: 3 }, denied: { by: "x" } })).toBe("denied");
    expect(await ruled(on, { args: { n: 4 } })).toBe("too_many_refusals");
    expect(await ruled(on, { args: { n: 4 }, requester: { principal: "ada", agent: "bot", run: "run-2" } })).toBe("held");
    expect(await on.desk.approvals.lift("pay", OPERATOR)).toBe(2);
    expect(await ruled(on, { args: { n: 4 } })).toBe("held");
  });

  it("P-10 counts denies that come at once, each with its entry", async () => {
    const on = bench({ policy: { rules: [{ deny: "pay" }] } });
    await Promise.all([1, 2, 3, 4].map((n) => on.desk.submit(submissionOf(on, { args: { n } }))));
    expect((await nodeEvents(on)).map(({ event }) => event)).toEqual(Array(4).fill("call.denied"));
    expect((await rowsOf(on.store, "streak"))[0]?.value.count).toBe(4);
  });
});

describe("grants", () => {
  const grant = (on: Bench, over: Parameters<typeof submissionOf>[1] = {}) =>
    held(on, submissionOf(on, { holds: [], tier: "read", requires: ["deploys"], ...over }));

  it("P-10 P-14 are asked for first, given in the commit that approves, and cover any arguments of their scope for a while", async () => {
    const on = bench();
    const id = await grant(on, { id: "c1" });
    const { record, arguments: asked } = await standing(on, id);
    expect([record.kind, asked, record.terms.clauses[0]?.assurance]).toEqual([
      "grant",
      { scope: "deploys", length: 900_000, tool: "pay" },
      "account",
    ]);
    expect(await on.channel.answer(id, "approve")).toMatchObject({ status: "succeeded", counted: true });
    expect((await eventsOf(on.store, id)).slice(-4)).toEqual([
      "request.voted",
      "request.approved",
      "request.claimed",
      "request.succeeded",
    ]);
    expect((await nodeEvents(on)).map(({ event }) => event)).toEqual(["grant.given"]);
    const free = { holds: [], tier: "read" as const, requires: ["deploys"] };
    expect(await ruled(on, { ...free, id: "c1" })).toBe("allowed");
    expect(await ruled(on, { ...free, args: { other: 1 } })).toBe("allowed");
    expect(await ruled(on, { ...free, holds: [holdFor()] })).toBe("held");
    expect(await ruled(on, { ...free, requires: ["deploys", "payments"] })).toBe("held");
    expect(await on.desk.approvals.grants(ADA)).toMatchObject([
      { id, kind: "grant", covers: "deploys", principal: "ada", by: "ada" },
    ]);
    await on.clock.advance(900_000);
    expect(await ruled(on, free)).toBe("held");
  });

  it("P-14 of * cover every scope; they end at once; they are never a shared identity's", async () => {
    const on = bench();
    const id = await grant(on, { requires: [{ scope: "*", length: "1h" }] });
    await on.channel.answer(id, "approve");
    const free = { holds: [], tier: "read" as const, requires: ["payments"] };
    expect(await ruled(on, free)).toBe("allowed");
    expect(await ruled(on, { ...free, requester: { principal: "ada", agent: "bot", shared: true } })).toBe("no_approver");
    expect(await on.desk.approvals.end("grant", id, ADA)).toBe(true);
    expect(await ruled(on, free)).toBe("held");
    expect((await nodeEvents(on)).at(-1)).toMatchObject({ event: "grant.ended" });
  });

  it("P-07 that were rejected are not asked again in that run", async () => {
    const on = bench();
    const id = await grant(on);
    await on.channel.answer(id, "reject");
    expect((await standing(on, id)).refusal).toEqual({ code: "not_granted" });
    expect(await ruled(on, { holds: [], tier: "read", requires: ["deploys"] })).toBe("not_granted");
  });

  it("P-07 of one tool that were refused three times do not close another tool's", async () => {
    const on = bench();
    for (const scope of ["a", "b", "c"]) await on.channel.answer(await grant(on, { requires: [scope] }), "reject");
    expect(await ruled(on, { holds: [], tier: "read", requires: ["d"] })).toBe("too_many_refusals");
    const other = { name: "deploy", origin: "code", definition: `sha256:${"2".repeat(64)}` as const };
    expect(await ruled(on, { holds: [], tier: "read", requires: ["d"], tool: other })).toBe("held");
  });

  it("P-08 are not asked for where nobody is asked", async () => {
    const on = bench({ policy: { mode: "no-ask" } });
    expect(await ruled(on, { holds: [], tier: "read", requires: ["deploys"] })).toBe("no_approver");
    expect(
      await ruled(on, {
        holds: [],
        tier: "read",
        requires: [],
        policy: bench({ policy: { rules: [{ allow: "pay", requires: true }] } }).policy,
      }),
    ).toBe("held");
  });

  it("P-10 P-15 are not given by a vote that is not ours to count, nor when the store refuses", async () => {
    const faults = noFaults();
    const clock = manualClock();
    const on = bench({ clock, store: faultyStore(memoryStore({ clock }), faults) });
    const id = await grant(on);
    const view = await viewOf(on, id, ADA);
    faults.instead = () => ({ ok: false, why: "too_late" });
    expect(await on.desk.approvals.decide(id, { verdict: "approve", ...view }, ADA)).toMatchObject({ counted: false });
    faults.instead = undefined;
    expect((await standing(on, id)).record).toMatchObject({ status: "pending", decisions: [] });
    expect(await rowsOf(on.store, "grant")).toEqual([]);
    expect(refusalOf(await on.desk.submit(submissionOf(on, { denied: { by: "x" } })))).toEqual({ code: "denied" });
  });
});
