import { describe, expect, it } from "vitest";
import { memoryStore } from "../../stores/memory/index.ts";
import { manualClock } from "../../testing/index.ts";
import type { Identity } from "../ports/approvals.ts";
import type { ClaimEvidence, Completion } from "../ports/desk.ts";
import type { Stored } from "../ports/store.ts";
import type { ApprovalRequest } from "../request.ts";
import {
  type Bench,
  bench,
  benchRuntime,
  entriesOf,
  eventsOf,
  evidenceOf,
  held,
  holdFor,
  identity,
  passes,
  standing,
  submissionOf,
  viewOf,
} from "./desk.test-kit.ts";
import { faultyStore, noFaults } from "./faulty-store.test-kit.ts";

const ADA: Identity = identity("ada");
const OPERATOR: Identity = identity("os:op");

async function approved(on: Bench, over: Parameters<typeof submissionOf>[1] = {}) {
  const submission = submissionOf(on, over);
  const id = await held(on, submission);
  await on.channel.answer(id, "approve");
  return { id, submission, evidence: evidenceOf(submission) };
}

async function claimed(on: Bench, over: Parameters<typeof submissionOf>[1] = {}) {
  const given = await approved(on, over);
  const said = await on.desk.claim(given.id, given.evidence);
  if (!said.ok) throw new Error(`not claimed: ${said.refusal.code}`);
  return { ...given, token: said.token, fence: said.fence };
}

describe("claim", () => {
  it("P-01 P-03 P-10 gives one executor the approved call, once, recorded with it", async () => {
    const on = bench();
    const { id, evidence } = await approved(on);
    const said = await on.desk.claim(id, evidence);
    const { record } = await standing(on, id);
    expect(said).toEqual({ ok: true, token: expect.any(String), fence: 4, digest: record.digest, until: record.claim?.until });
    expect(record).toMatchObject({ status: "claimed", claim: { holder: "gate", fence: 4 } });
    expect(JSON.stringify(record)).not.toContain(said.ok ? said.token : "");
    expect((await eventsOf(on.store, id)).at(-1)).toBe("request.claimed");
    expect(await on.desk.claim(id, evidence)).toMatchObject({ ok: false, refusal: { code: "cancelled" }, status: "claimed" });
  });

  it("P-03 gives it to one of many who try at once", async () => {
    const on = bench();
    const { id, evidence } = await approved(on);
    const tries = await Promise.all(Array.from({ length: 8 }, () => on.desk.claim(id, evidence)));
    expect(tries.filter(({ ok }) => ok)).toHaveLength(1);
  });

  it("P-01 is for nothing that is pending, rejected or expired", async () => {
    const on = bench();
    const submission = submissionOf(on);
    const id = await held(on, submission);
    expect(await on.desk.claim(id, evidenceOf(submission))).toMatchObject({ ok: false, status: "pending" });
    expect((await standing(on, id)).status).toBe("pending");
    await on.channel.answer(id, "reject", { reason: "no" });
    expect(await on.desk.claim(id, evidenceOf(submission))).toEqual({
      ok: false,
      refusal: { code: "rejected", reason: "no" },
      status: "rejected",
    });
    expect(await on.desk.claim("none", evidenceOf(submission))).toEqual({
      ok: false,
      refusal: { code: "invalid_token" },
      status: null,
    });
  });

  it.each<[string, Partial<ClaimEvidence["requester"]>]>([
    ["principal", { principal: "eve" }],
    ["agent", { agent: "other" }],
    ["session", { session: "s" }],
    ["run", { run: "run-2" }],
  ])("P-01 does not travel to another %s, whom it tells nothing", async (_what, other) => {
    const on = bench();
    const { id, evidence } = await approved(on);
    const requester = { ...evidence.requester, ...other };
    expect(await on.desk.claim(id, { ...evidence, requester })).toEqual({
      ok: false,
      refusal: { code: "invalid_token" },
      status: null,
    });
    expect((await standing(on, id)).status).toBe("approved");
  });

  it("P-02 withdraws what is not what was approved: tool, bindings, arguments", async () => {
    const on = bench();
    const of = async (change: (evidence: ClaimEvidence) => ClaimEvidence, n: number) => {
      const { id, evidence } = await approved(on, { args: { n }, bindings: { cwd: "/work" } });
      const said = await on.desk.claim(id, change(evidence));
      return [said.ok ? "ok" : said.refusal.code, (await standing(on, id)).record.resolution?.reason];
    };
    const { tool } = evidenceOf(submissionOf(on));
    expect(await of((e) => ({ ...e, tool: { ...tool, definition: `sha256:${"1".repeat(64)}` } }), 1)).toEqual([
      "tool_changed",
      "tool_changed",
    ]);
    expect(await of((e) => ({ ...e, bindings: { cwd: "/tmp" } }), 2)).toEqual(["context_changed", "context_changed"]);
    expect(await of((e) => ({ ...e, arguments: { n: 99 } }), 3)).toEqual(["context_changed", "context_changed"]);
    expect(await of((e) => e, 4)).toEqual(["ok", undefined]);
  });

  it("P-08 P-18 withdraws what the policy of then or of now denies, and asks neither anew", async () => {
    const on = bench();
    const { id, evidence } = await approved(on);
    const denies = bench({ policy: { rules: [{ deny: "pay" }] } });
    await on.desk.setPolicy(denies.policy);
    expect(await on.desk.claim(id, evidence)).toMatchObject({ ok: false, refusal: { code: "denied" }, status: "cancelled" });
    expect((await standing(on, id)).record.resolution?.reason).toBe("policy_changed");
    const asks = bench();
    const second = await approved(asks);
    await asks.desk.setPolicy(bench({ policy: { rules: [{ ask: "pay", approvers: ["bob"] }] } }).policy);
    expect(await asks.desk.claim(second.id, second.evidence)).toMatchObject({ ok: true });
    const restarted = bench();
    const third = await approved(restarted);
    const next = bench({ store: restarted.store, clock: restarted.clock, policy: { rules: [{ deny: "pay" }] } });
    expect(await next.desk.claim(third.id, third.evidence)).toMatchObject({ ok: false, refusal: { code: "denied" } });
  });

  it("P-08 judges a tool without a tier as one, after a restart too", async () => {
    const on = bench();
    const { id, evidence } = await approved(on, { tier: undefined });
    const next = bench({
      store: on.store,
      clock: on.clock,
      policy: { rules: [{ deny: "pay", tiers: ["read", "write", "physical"] }] },
    });
    expect(await next.desk.claim(id, evidence)).toMatchObject({ ok: true });
  });

  it("P-08 sees the kill switch in its own commit", async () => {
    const on = bench();
    for (const [n, scope] of (["all", "tenant:default", "agent:bot", "tool:pay"] as const).entries()) {
      const { id, evidence } = await approved(on, { args: { n } });
      await on.desk.approvals.kill(scope, true, ADA);
      expect(await on.desk.claim(id, evidence)).toMatchObject({ ok: false, refusal: { code: "killed" }, status: "cancelled" });
      expect((await standing(on, id)).record.resolution?.reason).toBe("kill_switch");
      const { request } = await on.desk.approvals.kill(scope, false, OPERATOR);
      await on.desk.approvals.decide(
        String(request),
        { verdict: "approve", ...(await viewOf(on, String(request), OPERATOR)) },
        OPERATOR,
      );
      await on.clock.advance(1000);
    }
  });

  it("P-01 P-11 counts no vote that we did not write, or whose person lost the right since", async () => {
    const clock = manualClock();
    const on = bench({ clock });
    const { id, evidence } = await approved(on);
    const forge = (change: (record: ApprovalRequest) => ApprovalRequest) => ({
      ...faultyStore(on.store, noFaults()),
      read: async (which: string): Promise<Stored | undefined> => {
        const stored = await on.store.read(which);
        return stored?.record.status === "approved" ? { ...stored, record: change(stored.record) } : stored;
      },
    });
    const forged = bench({
      clock,
      store: forge((record) => ({ ...record, decisions: record.decisions.map((vote) => ({ ...vote, mac: "x".repeat(43) })) })),
    });
    expect(await forged.desk.claim(id, evidence)).toMatchObject({ ok: false, refusal: { code: "denied" } });
    expect((await standing(on, id)).record.resolution).toMatchObject({ reason: "policy_changed" });

    const second = await approved(on, { args: { n: 2 }, holds: [holdFor({ approvers: ["group:x"], self: "allow" })] }).catch(
      () => undefined,
    );
    expect(second).toBeUndefined();
    let member = true;
    const directory = {
      principalOf: async (_as: string, vouched: string) => vouched,
      holds: async () => member,
      ownerOf: async () => undefined,
    };
    const lost = bench({ directory });
    const third = await approved(lost, { holds: [holdFor({ approvers: ["group:x"], self: "allow" })] });
    member = false;
    expect(await lost.desk.claim(third.id, third.evidence)).toMatchObject({ ok: false, refusal: { code: "denied" } });
    member = true;
    let renamed = false;
    const moved = bench({
      directory: { ...directory, principalOf: async (_as: string, vouched: string) => (renamed ? "somebody else" : vouched) },
    });
    const fourth = await approved(moved, { holds: [holdFor({ approvers: ["group:x"], self: "allow" })] });
    renamed = true;
    expect(await moved.desk.claim(fourth.id, fourth.evidence)).toMatchObject({ ok: false, refusal: { code: "denied" } });
  });

  it("P-11 holds after a restart with the same keys, and not with others", async () => {
    const on = bench();
    const { id, evidence } = await approved(on);
    const keys = { call: "c".repeat(40), view: "v".repeat(40), decision: "d".repeat(40), seal: null };
    const strange = bench({ store: on.store, clock: on.clock, runtime: { keys } });
    const stays = await standing(on, id);
    expect(stays.status).toBe("approved");
    const next = bench({ store: on.store, clock: on.clock });
    expect(await next.desk.claim(id, evidence)).toMatchObject({ ok: true });
    const second = await approved(on, { args: { n: 2 } });
    expect(await strange.desk.claim(second.id, second.evidence)).toMatchObject({ ok: false, refusal: { code: "denied" } });
  });

  it("P-02 P-19 checks secrets by their commitments, in the process that asked", async () => {
    const on = bench();
    const { id, evidence } = await approved(on, { args: { token: "hunter2" }, secrets: ["/token"] });
    expect(await on.desk.claim(id, evidence)).toMatchObject({ ok: true });
    const other = await approved(on, { args: { token: "hunter2", n: 1 }, secrets: ["/token"] });
    expect(await on.desk.claim(other.id, { ...other.evidence, arguments: { token: "hunter3", n: 1 } })).toMatchObject({
      ok: false,
      refusal: { code: "context_changed" },
    });
  });

  it("P-04 is late at the deadline, by the store's clock, with a code the model can read", async () => {
    const faults = noFaults();
    const clock = manualClock();
    const on = bench({ clock, store: faultyStore(memoryStore({ clock }), faults) });
    const { id, evidence } = await approved(on);
    await passes(on, id, 599_999);
    faults.change = (change) => {
      clock.set(clock.now() + 1);
      return change;
    };
    expect(await on.desk.claim(id, evidence)).toEqual({ ok: false, refusal: { code: "expired" }, status: "expired" });
    faults.change = undefined;
    const second = await approved(on, { args: { n: 2 } });
    faults.instead = () => ({ ok: false, why: "too_late" });
    expect(await on.desk.claim(second.id, second.evidence)).toMatchObject({ ok: false, refusal: { code: "expired" } });
    faults.instead = () => ({ ok: false, why: "clock_skew", now: second.submission.call.id as never });
    expect(await on.desk.claim(second.id, second.evidence)).toMatchObject({
      ok: false,
      refusal: { code: "clock_skew" },
      status: "approved",
    });
  });

  it("P-15 refuses when store or directory do not answer, and lets nothing run", async () => {
    const faults = noFaults();
    const clock = manualClock();
    const inner = memoryStore({ clock });
    const on = bench({ clock, store: faultyStore(inner, faults) });
    const { id, evidence } = await approved(on);
    faults.down = true;
    expect(await on.desk.claim(id, evidence)).toEqual({ ok: false, refusal: { code: "store_unavailable" }, status: null });
    faults.down = false;
    faults.instead = () => ({ ok: false, why: "conflict" });
    expect(await on.desk.claim(id, evidence)).toMatchObject({ ok: false, refusal: { code: "store_unavailable" } });
    faults.instead = undefined;
    expect((await inner.read(id))?.record.status).toBe("approved");
    faults.lost = 3;
    expect(await on.desk.claim(id, evidence)).toMatchObject({ ok: false, refusal: { code: "store_unavailable" } });
    expect((await inner.read(id))?.record.status).toBe("claimed");
    expect(await on.desk.claim(id, evidence)).toMatchObject({ ok: false, status: "claimed" });
    await clock.advance(60_000);
    await on.desk.sweep();
    expect((await standing(on, id)).record.resolution).toMatchObject({ status: "indeterminate", reason: "lease_lost" });
  });
});

describe("complete", () => {
  it.each<[string, Completion, object]>([
    [
      "a value",
      { status: "succeeded", value: { a: 1 }, observedBy: "executor" },
      {
        status: "succeeded",
        outcome: { status: "succeeded", observedBy: "executor", result: { digest: expect.stringMatching(/^sha256:/) } },
      },
    ],
    ["what is no JSON", { status: "succeeded", value: () => 1, observedBy: "host" }, { status: "succeeded" }],
    [
      "an error",
      { status: "failed", errorCode: "boom", observedBy: "executor" },
      { status: "failed", outcome: { status: "failed", observedBy: "executor", error: { code: "boom" } } },
    ],
    [
      "that nobody knows",
      { status: "lost", observedBy: "executor" },
      { status: "indeterminate", resolution: { status: "indeterminate", reason: "unobserved" } },
    ],
  ])("P-03 P-20 records %s, by its holder only, once", async (_what, said, record) => {
    const on = bench();
    const { id, token } = await claimed(on);
    expect(await on.desk.complete(id, "another token", said)).toBe(false);
    expect(await on.desk.complete(id, token, said)).toBe(true);
    expect((await standing(on, id)).record).toMatchObject(record);
    expect(await on.desk.complete("none", token, said)).toBe(false);
    const journal = JSON.stringify(await entriesOf(on.store, `request/${id}`));
    expect(journal).not.toContain('"a":1');
  });

  it("P-03 of a claim that was given up is a finding, once; the state stays", async () => {
    const on = bench();
    const { id, token } = await claimed(on);
    await on.clock.advance(60_000);
    expect(await on.desk.sweep()).toBe(1);
    const done: Completion = { status: "succeeded", value: 1, observedBy: "executor" };
    expect(await on.desk.complete(id, token, done)).toBe(true);
    expect((await standing(on, id)).record).toMatchObject({ status: "indeterminate", finding: { ran: true, by: "gate" } });
    expect(await on.desk.complete(id, token, done)).toBe(false);
    expect(await on.desk.approvals.reconcile(id, false, ADA)).toMatchObject({ counted: false, code: "late" });
  });

  it("ends the refusals in a row of that tool", async () => {
    const on = bench();
    for (const n of [1, 2]) {
      const id = await held(on, submissionOf(on, { args: { n } }));
      await on.channel.answer(id, "reject");
    }
    const { id, token } = await claimed(on, { args: { n: 3 } });
    await on.desk.complete(id, token, { status: "succeeded", value: null, observedBy: "executor" });
    for (const n of [4, 5]) await on.channel.answer(await held(on, submissionOf(on, { args: { n } })), "reject");
    expect(await on.desk.submit(submissionOf(on, { args: { n: 6 } }))).toMatchObject({ ruling: "held" });
  });

  it("of a call that belongs to no run ends no row of refusals", async () => {
    const on = bench();
    const { id, token } = await claimed(on, { requester: { principal: "ada", agent: "bot" } });
    expect(await on.desk.complete(id, token, { status: "succeeded", value: 1, observedBy: "executor" })).toBe(true);
  });

  it("P-15 gives on what is a fault of ours and not of the value", async () => {
    const clock = manualClock();
    const broken = benchRuntime(clock).crypto;
    let fails = false;
    const sha256 = (text: string): string => {
      if (fails && text.includes("holdpoint/result/v1")) throw new Error("no openssl");
      return broken.sha256(text);
    };
    const on = bench({ clock, runtime: { crypto: { ...broken, sha256 } } });
    const { id, token } = await claimed(on);
    fails = true;
    await expect(on.desk.complete(id, token, { status: "succeeded", value: 1, observedBy: "executor" })).rejects.toThrow(
      "no openssl",
    );
  });
});
