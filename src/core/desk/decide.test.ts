import { describe, expect, it } from "vitest";
import { memoryStore } from "../../stores/memory/index.ts";
import { manualClock } from "../../testing/index.ts";
import type { Answer, Identity } from "../ports/approvals.ts";
import { HoldpointError } from "../errors.ts";
import type { Directory } from "../ports/directory.ts";
import { isOurDecision } from "../request-hash.ts";
import {
  type Bench,
  bench,
  entriesOf,
  eventsOf,
  held,
  holdFor,
  identity,
  nodeEvents,
  standing,
  submissionOf,
  viewOf,
} from "./desk.test-kit.ts";
import { faultyStore, noFaults } from "./faulty-store.test-kit.ts";

const [ADA, BOB, CEM, EVE] = ["ada", "bob", "cem", "eve"].map((name) => identity(name)) as [
  Identity,
  Identity,
  Identity,
  Identity,
];
const TWO = holdFor({ approvers: ["bob", "cem"], quorum: 2 });

type Over = Identity | (Partial<Answer> & { readonly as: Identity });

async function answer(on: Bench, id: string, given: Over) {
  const { as, ...over } = "principal" in given ? { as: given } : given;
  const shown = await viewOf(on, id, as);
  return on.desk.approvals.decide(id, { verdict: "approve", ...shown, ...over }, as);
}

describe("decide", () => {
  it("P-01 P-02 counts a yes for what was shown, with its proof, and says who waits no more", async () => {
    const on = bench();
    const id = await held(on, submissionOf(on));
    expect(await answer(on, id, { ...ADA, proof: "oidc" })).toEqual({ found: true, status: "approved", counted: true, id });
    const { record } = await standing(on, id);
    const [decision] = record.decisions;
    expect(decision).toMatchObject({ verdict: "approve", by: "ada", as: "recording:ada", via: "recording", proof: "oidc" });
    expect(decision?.rendering).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(decision !== undefined && isOurDecision(on.runtime, id, decision)).toBe(true);
    expect((await eventsOf(on.store, id)).slice(-2)).toEqual(["request.voted", "request.approved"]);
  });

  it("P-09 waits for every clause and every person of a quorum", async () => {
    const on = bench();
    const id = await held(on, submissionOf(on, { holds: [TWO, holdFor({}, "tool")] }));
    expect(await answer(on, id, BOB)).toMatchObject({ status: "pending", counted: true });
    expect(await answer(on, id, CEM)).toMatchObject({ status: "pending", counted: true });
    expect(await answer(on, id, ADA)).toMatchObject({ status: "approved", counted: true });
  });

  it("P-07 keeps a person's words beside a no, and gives them to the model", async () => {
    const on = bench();
    const id = await held(on, submissionOf(on));
    expect(await answer(on, id, { as: ADA, verdict: "reject", reason: "x".repeat(3000) })).toMatchObject({ status: "rejected" });
    const { refusal } = await standing(on, id);
    expect([refusal?.code, refusal?.reason?.length]).toEqual(["rejected", 2000]);
    expect(JSON.stringify(await entriesOf(on.store, `request/${id}`))).not.toContain("xxx");
    const other = await held(on, submissionOf(on, { args: { n: 2 } }));
    await answer(on, other, { as: ADA, verdict: "reject", reason: "" });
    expect((await standing(on, other)).refusal).toEqual({ code: "rejected" });
  });

  it("P-01 a no after a yes stands until the claim", async () => {
    const on = bench();
    const id = await held(on, submissionOf(on));
    await answer(on, id, ADA);
    expect(await on.desk.approvals.revoke(id, "changed my mind", ADA)).toMatchObject({ status: "cancelled", counted: true });
    expect((await standing(on, id)).refusal).toEqual({ code: "rejected", reason: "changed my mind" });
    expect(await on.desk.approvals.revoke(id, undefined, ADA)).toMatchObject({ note: "this answer was counted already" });
    expect(await answer(on, id, ADA)).toMatchObject({ found: false, status: "cancelled", counted: false, code: "late" });
    expect(await on.desk.approvals.revoke("none", undefined, ADA)).toMatchObject({ found: false, code: "not_found" });
  });

  it("P-03 counts a repeat of an answer once, by person and verdict or by its key", async () => {
    const on = bench();
    const id = await held(on, submissionOf(on, { holds: [TWO] }));
    const shown = await viewOf(on, id, BOB);
    const yes = (key?: string) =>
      on.desk.approvals.decide(id, { verdict: "approve", ...shown, ...(key === undefined ? {} : { key }) }, BOB);
    const first = await yes("k1");
    expect(first).toMatchObject({ counted: true, status: "pending" });
    expect(await yes("k1")).toMatchObject({ counted: true, note: "this answer was counted already" });
    expect(await yes()).toMatchObject({ counted: true, note: "this answer was counted already" });
    expect(await yes("k2")).toMatchObject({ counted: false, code: "already_voted" });
    expect((await standing(on, id)).record.decisions).toHaveLength(1);
    const mail = { ...BOB, as: "mail:bob" };
    expect(await answer(on, id, mail)).toMatchObject({ counted: false, code: "already_voted" });
  });

  it("P-05 takes nobody's key for another person's answer, nor their words for another's", async () => {
    const on = bench();
    const id = await held(on, submissionOf(on, { holds: [TWO] }));
    await answer(on, id, { as: BOB, key: "k1", reason: "looks right" });
    expect(await answer(on, id, { as: CEM, key: "k1", reason: "mine" })).toMatchObject({ counted: true, status: "approved" });
    const { payload } = (await on.store.read(id)) ?? {};
    expect(Object.values(payload?.reasons ?? {}).sort()).toEqual(["looks right", "mine"]);
  });

  it.each<[string, { as: Identity; over: Partial<Answer> }, string]>([
    ["somebody else", { as: EVE, over: {} }, "not_eligible"],
    ["the one who asks, where approvers are named", { as: ADA, over: {} }, "self_approval"],
    ["too weak a proof", { as: { ...BOB, assurance: "local" }, over: {} }, "assurance_too_low"],
    ["another digest", { as: BOB, over: { digest: `sha256:${"0".repeat(64)}` } }, "stale_view"],
    ["no view", { as: BOB, over: { view: "" } }, "stale_view"],
    ["what is no view", { as: BOB, over: { view: 7 as never } }, "stale_view"],
    ["an unknown verdict", { as: BOB, over: { verdict: "maybe" as never } }, "stale_view"],
    ["nobody", { as: { ...BOB, principal: "" }, over: {} }, "not_eligible"],
  ])("P-01 P-02 P-09 changes nothing for %s, and says why", async (_what, { as, over }, code) => {
    const on = bench();
    const holds = [holdFor({ approvers: ["bob", "ada"] })];
    const id = await held(on, submissionOf(on, { holds }));
    const shown = await viewOf(on, id, identity("bob"));
    const view = on.channel.deliveries.find(({ to }) => to.principal === as.principal)?.view ?? shown.view;
    const said = await on.desk.approvals.decide(id, { verdict: "approve", digest: shown.digest, view, ...over }, as);
    expect(said).toMatchObject({ counted: false, code });
    expect((await standing(on, id)).record).toMatchObject({ status: "pending", decisions: [] });
    if (over.verdict === undefined)
      expect(await nodeEvents(on)).toMatchObject([{ event: "attempt.refused", data: { request: id, code, verdict: "approve" } }]);
  });

  it("P-02 takes no view of another person, channel or request", async () => {
    const on = bench();
    const holds = [holdFor({ approvers: ["bob", "cem"] })];
    const [id, other] = [await held(on, submissionOf(on, { holds })), await held(on, submissionOf(on, { holds }))];
    const mine = await viewOf(on, id, BOB);
    const theirs = await viewOf(on, id, CEM);
    const neighbour = await viewOf(on, other, BOB);
    const mail = await viewOf(on, id, { ...BOB, via: "mail" });
    for (const { view } of [theirs, neighbour, mail])
      expect(await on.desk.approvals.decide(id, { verdict: "approve", digest: mine.digest, view }, BOB)).toMatchObject({
        counted: false,
        code: "stale_view",
      });
    expect(await on.desk.approvals.decide(id, { verdict: "approve", ...mine }, BOB)).toMatchObject({ counted: true });
  });

  it("P-04 P-05 decides nothing that is unknown, over, or past its deadline", async () => {
    const on = bench();
    const id = await held(on, submissionOf(on));
    const shown = await viewOf(on, id, ADA);
    const yes = (which: string) => on.desk.approvals.decide(which, { verdict: "approve", ...shown }, ADA);
    expect(await yes("none")).toEqual({
      found: false,
      status: null,
      counted: false,
      code: "not_found",
      note: "there is no such request; nothing changed",
    });
    on.clock.set(on.clock.now() + 300_000);
    expect(await yes(id)).toMatchObject({ found: false, status: "expired", counted: false, code: "late" });
    expect((await standing(on, id)).record.resolution).toMatchObject({ status: "expired" });
    expect((await nodeEvents(on)).map(({ data }) => data.code)).toEqual(["not_found", "late"]);
  });

  it("P-04 decides nothing that its deadline overtakes on the way into the store", async () => {
    const faults = noFaults();
    const clock = manualClock();
    const on = bench({ clock, store: faultyStore(memoryStore({ clock }), faults) });
    const id = await held(on, submissionOf(on));
    const shown = await viewOf(on, id, ADA);
    clock.set(clock.now() + 299_999);
    faults.change = (change) => {
      clock.set(clock.now() + 1);
      return change;
    };
    expect(await on.desk.approvals.decide(id, { verdict: "approve", ...shown }, ADA)).toMatchObject({
      counted: false,
      code: "late",
    });
    faults.change = undefined;
    expect((await standing(on, id)).status).toBe("pending");
    expect(await on.desk.expire(id)).toBe(true);
  });

  it("P-03 counts two people who answer at once, each once", async () => {
    const on = bench();
    const id = await held(on, submissionOf(on, { holds: [TWO] }));
    const answers = await Promise.all([answer(on, id, BOB), answer(on, id, CEM), answer(on, id, BOB)]);
    expect(answers.filter(({ counted }) => counted).length).toBeGreaterThanOrEqual(2);
    expect((await standing(on, id)).record).toMatchObject({ status: "approved", decisions: { length: 2 } });
  });

  it("P-03 counts a double click once, and tells both that it was counted", async () => {
    const on = bench();
    const id = await held(on, submissionOf(on));
    const shown = await viewOf(on, id, ADA);
    const click = (verdict: "approve" | "reject") => on.desk.approvals.decide(id, { verdict, ...shown }, ADA);
    expect(await Promise.all([click("approve"), click("approve")])).toMatchObject([{ counted: true }, { counted: true }]);
    expect(await Promise.all([click("reject"), click("reject")])).toMatchObject([{ counted: true }, { counted: true }]);
    expect((await standing(on, id)).record.decisions.map(({ verdict }) => verdict)).toEqual(["approve", "reject"]);
  });

  it("P-15 gives up, changed nothing, when the record changes faster than it can be decided", async () => {
    const faults = noFaults();
    const clock = manualClock();
    const on = bench({ clock, store: faultyStore(memoryStore({ clock }), faults) });
    const id = await held(on, submissionOf(on));
    const shown = await viewOf(on, id, ADA);
    faults.instead = () => ({ ok: false, why: "conflict" });
    await expect(on.desk.approvals.decide(id, { verdict: "approve", ...shown }, ADA)).rejects.toMatchObject({
      code: "store_unavailable",
    });
    faults.instead = () => ({ ok: false, why: "clock_skew", now: shown.digest as never });
    expect(await on.desk.approvals.decide(id, { verdict: "approve", ...shown }, ADA)).toMatchObject({ code: "clock_skew" });
    faults.instead = undefined;
    expect((await standing(on, id)).status).toBe("pending");
  });
});

describe("who answers", () => {
  const directory = (principalOf: Directory["principalOf"], more: Partial<Directory> = {}): Directory => ({
    principalOf,
    holds: async (selector, { principal }) => selector === principal,
    ownerOf: async () => undefined,
    ...more,
  });

  it("P-01 is one person behind two accounts", async () => {
    const on = bench({ directory: directory(async (as) => (as === "mail:bob" ? "bob" : as.split(":")[1])) });
    const id = await held(on, submissionOf(on, { holds: [TWO] }));
    expect(await answer(on, id, BOB)).toMatchObject({ counted: true, status: "pending" });
    const alias = { principal: "robert", as: "mail:bob", via: "mail", assurance: "account" as const };
    expect(await answer(on, id, alias)).toMatchObject({ counted: false, code: "already_voted" });
  });

  it("P-01 P-15 is nobody where the directory says so, and nobody is asked there", async () => {
    let left = false;
    const on = bench({ directory: directory(async (as) => (left && as === "recording:bob" ? undefined : as.split(":")[1])) });
    const holds = [holdFor({ approvers: ["bob"] })];
    const id = await held(on, submissionOf(on, { holds }));
    const shown = await viewOf(on, id, BOB);
    left = true;
    for (const verdict of ["approve", "reject"] as const)
      expect(await on.desk.approvals.decide(id, { verdict, ...shown }, BOB)).toMatchObject({
        counted: false,
        code: "not_eligible",
      });
    expect(await on.desk.submit(submissionOf(on, { holds }))).toMatchObject({ refusal: { code: "no_approver" } });
  });

  it("P-15 is not known while the directory says so in a word of its own", async () => {
    const own = new HoldpointError("directory_unavailable", "the tree is being rebuilt");
    const on = bench({ directory: directory(() => Promise.reject(own)) });
    await expect(on.desk.approvals.list({}, ADA)).resolves.toEqual([]);
    await expect(on.desk.approvals.windows(ADA)).rejects.toBe(own);
  });

  it("P-09 is not the agent's owner where separation of duties holds", async () => {
    const owned = directory(async (_as, vouched) => vouched, { ownerOf: async (agent) => (agent === "bot" ? "bob" : undefined) });
    const on = bench({ directory: owned });
    const id = await held(on, submissionOf(on, { holds: [holdFor({ approvers: ["bob", "cem"] })] }));
    expect(await answer(on, id, BOB)).toMatchObject({ code: "self_approval" });
    expect(await answer(on, id, CEM)).toMatchObject({ status: "approved" });
    const agent = await held(on, submissionOf(on, { holds: [holdFor({ approvers: ["bot", "cem"] })], args: { n: 1 } }));
    expect(await answer(on, agent, identity("bot"))).toMatchObject({ code: "self_approval" });
  });
});
