import { describe, expect, it } from "vitest";
import { memoryStore } from "../../stores/memory/index.ts";
import { manualClock, recordingChannel } from "../../testing/index.ts";
import { DeclarationError } from "../errors.ts";
import { instant } from "../instant.ts";
import type { Commit, Committed } from "../ports/store.ts";
import {
  bench,
  benchRuntime,
  entriesOf,
  evidenceOf,
  held,
  holdFor,
  identity,
  nodeEvents,
  passes,
  refusalOf,
  standing,
  submissionOf,
  viewOf,
} from "./desk.test-kit.ts";
import { faultyStore, noFaults } from "./faulty-store.test-kit.ts";

const ADA = identity("ada");
const faulty = (over: Parameters<typeof bench>[0] = {}) => {
  const faults = noFaults();
  const clock = manualClock();
  const inner = memoryStore({ clock });
  return { faults, inner, ...bench({ clock, store: faultyStore(inner, faults), ...over }) };
};

describe("a local desk", () => {
  it("P-18 says which policy it started with, once, before anything is ruled", async () => {
    const on = bench();
    await Promise.all([1, 2].map(() => on.desk.submit(submissionOf(on, { holds: [], tier: "read" }))));
    const entries = await entriesOf(on.store, `node/${on.runtime.ids.process}`);
    expect(entries.map(({ event, data }) => [event, data])).toEqual([
      ["policy.loaded", { policy: on.policy.hash }],
      ["policy.accepted", { policy: on.policy.hash, by: "start" }],
    ]);
  });

  it.each<[Extract<Committed, { ok: false }>["why"], string]>([
    ["clock_skew", "clock_skew"],
    ["conflict", "journal_unavailable"],
  ])("P-10 P-18 rules nothing while its policy could not be journaled (%s)", async (why, code) => {
    const on = faulty();
    on.faults.instead = () => ({ ok: false, why }) as Committed;
    expect(refusalOf(await on.desk.submit(submissionOf(on, { holds: [], tier: "read" })))).toEqual({ code });
    on.faults.instead = undefined;
    expect(await on.desk.submit(submissionOf(on, { holds: [], tier: "read" }))).toMatchObject({ ruling: "allow" });
  });

  it("P-10 P-18 takes a new policy, or an exemption, only once it is journaled", async () => {
    const on = faulty();
    const next = { ...on.policy, mode: "plan" as const };
    on.faults.instead = () => ({ ok: false, why: "clock_skew", now: instant(0) });
    await expect(on.desk.setPolicy(next)).rejects.toMatchObject({ code: "clock_skew" });
    await expect(on.desk.exempt("tests", { tools: ["pay"] }, () => true)).rejects.toMatchObject({ code: "clock_skew" });
    expect([on.desk.policy(), await on.desk.approvals.exemptions(identity("os:op"))]).toEqual([on.policy, []]);
    on.faults.instead = undefined;
    await on.desk.setPolicy(next);
    expect(on.desk.policy()).toBe(next);
    expect(on.desk.snapshot("no-ask")).toMatchObject({ mode: "no-ask" });
    expect(on.desk.snapshot()).toBe(next);
  });

  it("has one name for each channel", () => {
    const channels = [recordingChannel(), recordingChannel()];
    expect(() => bench({ channels })).toThrow(DeclarationError);
  });

  it("P-13 reaches an assurance by its listing too", async () => {
    const listing = [{ principal: "os:op", as: "cli:op", via: "cli", assurance: "fresh" as const }];
    const on = bench({ channels: [], desk: { listing } });
    const submission = submissionOf(on, { grade: "structural", holds: [holdFor({ approvers: ["os:op"] })] });
    expect((await on.store.read(await held(on, submission)))?.record.terms.clauses[0]?.assurance).toBe("account");
    expect(await on.desk.reachable(submission)).toBe(true);
  });

  it("names an operator and a tenant of its own", async () => {
    const on = bench({ people: ["root"], desk: { operator: "root", tenant: "acme" } });
    const id = await held(on, submissionOf(on));
    expect((await on.store.read(id))?.record.tenant).toBe("acme");
    expect(await on.channel.answer(id, "approve")).toMatchObject({ status: "approved" });
  });

  it("P-05 shows and decides nothing of another tenant on the same store", async () => {
    const on = bench({ desk: { tenant: "acme" } });
    const submission = submissionOf(on, { id: "c1" });
    const id = await held(on, submission);
    const other = bench({ store: on.store, clock: on.clock });
    expect(await other.desk.standing(id)).toBeUndefined();
    expect(await other.desk.approvals.card(id, ADA)).toBeUndefined();
    expect(await other.desk.approvals.list({}, ADA)).toEqual([]);
    expect(await other.desk.pending()).toEqual([]);
    const { digest, view } = await viewOf(on, id, ADA);
    expect(await other.desk.approvals.decide(id, { verdict: "approve", digest, view }, ADA)).toMatchObject({ found: false });
    expect(await on.channel.answer(id, "approve")).toMatchObject({ status: "approved" });
    expect(await other.desk.claim(id, evidenceOf(submission))).toMatchObject({ ok: false, refusal: { code: "invalid_token" } });
    await passes(on, id, 600_000);
    expect(await other.desk.sweep()).toBe(0);
    expect((await standing(on, id)).status).toBe("expired");
  });
});

describe("await", () => {
  it("P-04 P-11 ends with the decision, and at the deadline without one", async () => {
    const on = bench();
    const [one, two] = [await held(on, submissionOf(on)), await held(on, submissionOf(on))];
    const signal = on.runtime.aborter().signal;
    const waits = [on.desk.await(one, signal), on.desk.await(one, signal), on.desk.await(two, signal)];
    await on.channel.answer(one, "approve");
    await on.clock.advance(300_000);
    expect((await Promise.all(waits)).map(({ status, refusal }) => [status, refusal?.code])).toEqual([
      ["approved", undefined],
      ["approved", undefined],
      ["expired", "expired"],
    ]);
    expect(await on.desk.await(one, signal)).toMatchObject({ status: "approved" });
    await expect(on.desk.await("none", signal)).rejects.toMatchObject({ code: "not_found" });
  });

  it("ends with the caller's own reason when the caller gives up", async () => {
    const on = bench();
    const id = await held(on, submissionOf(on));
    const source = on.runtime.aborter();
    const wait = on.desk.await(id, source.signal);
    source.abort(new Error("enough"));
    await expect(wait).rejects.toThrow("enough");
    await expect(on.desk.await(id, source.signal)).rejects.toThrow("enough");
  });

  it("P-04 P-15 ends at the deadline though the store is down, and the record follows when it is back", async () => {
    const on = faulty();
    const id = await held(on, submissionOf(on));
    const wait = on.desk.await(id, on.runtime.aborter().signal);
    const ended = expect(wait).rejects.toThrow();
    on.faults.down = true;
    await on.clock.advance(300_000);
    await ended;
    expect(on.lines.map(({ message }) => message)).toContain("a deadline could not be recorded; it holds all the same");
    on.faults.down = false;
    await on.clock.advance(10_000);
    expect((await on.inner.read(id))?.record.status).toBe("expired");
  });

  it("P-04 tries a deadline again that the store's clock had not reached", async () => {
    const clock = manualClock();
    let lag = 0;
    const on = bench({ clock, store: memoryStore({ clock: { now: () => clock.now() - lag } }) });
    const id = await held(on, submissionOf(on));
    const wait = on.desk.await(id, on.runtime.aborter().signal);
    lag = 1500;
    await clock.advance(300_000);
    expect((await standing(on, id)).status).toBe("pending");
    await clock.advance(10_000);
    expect((await wait).status).toBe("expired");
  });

  it("P-11 goes on after the desk that asked is gone", async () => {
    const on = bench();
    const id = await held(on, submissionOf(on));
    const next = bench({ store: on.store, clock: on.clock });
    const wait = next.desk.await(id, next.runtime.aborter().signal);
    const { digest, view } = await viewOf(next, id, ADA);
    await next.desk.approvals.decide(id, { verdict: "approve", digest, view }, ADA);
    expect((await wait).status).toBe("approved");
  });

  it("is woken by what other processes change, where the store is shared", async () => {
    const clock = manualClock();
    const inner = memoryStore({ clock });
    const shared = { ...faultyStore(inner, noFaults()), capabilities: { durable: true, shared: true, wake: "push" as const } };
    const one = bench({ clock, store: shared });
    const two = bench({ clock, store: shared });
    const id = await held(one, submissionOf(one));
    const wait = two.desk.await(id, two.runtime.aborter().signal);
    await one.channel.answer(id, "reject");
    expect((await wait).status).toBe("rejected");
  });

  it("ends with the desk", async () => {
    const on = bench();
    const id = await held(on, submissionOf(on));
    const wait = on.desk.await(id, on.runtime.aborter().signal);
    const ended = expect(wait).rejects.toThrow(/closed/);
    await on.desk.close();
    await ended;
    await on.clock.settle();
    expect(on.clock.waiting).toBe(0);
  });
});

describe("renew", () => {
  it("P-12 keeps a claim alive while its holder says so", async () => {
    const on = bench();
    const submission = submissionOf(on);
    const id = await held(on, submission);
    expect(await on.desk.renew(id, "gate")).toBe(true);
    expect(await on.desk.renew("none", "gate")).toBe(false);
    await on.channel.answer(id, "approve");
    const claimed = await on.desk.claim(id, evidenceOf(submission));
    if (!claimed.ok) throw new Error("not claimed");
    await on.clock.advance(50_000);
    expect(await on.desk.renew(id, "gate", claimed.token)).toBe(true);
    expect(await on.desk.renew(id, "gate", "another token")).toBe(false);
    await on.clock.advance(50_000);
    expect(await on.desk.sweep()).toBe(0);
    await on.clock.advance(10_000);
    expect(await on.desk.sweep()).toBe(1);
    expect(await on.desk.renew(id, "gate", claimed.token)).toBe(false);
    expect(await on.desk.renew(id, "gate")).toBe(false);
  });
});

describe("frees", () => {
  it("P-08 is true only where policy allows at once, with nothing to record, to ask for first, or switched off", async () => {
    const on = bench();
    await on.desk.submit(submissionOf(on, { holds: [], tier: "read" }));
    const facts = { tool: "look", tier: "read" as const, arguments: {}, requester: { principal: "ada" } };
    const frees = (over: object = {}) => on.desk.frees({ facts, edits: false, policy: { ...on.policy, ...over } });
    expect([frees(), on.desk.clear]).toEqual([true, true]);
    expect(frees({ record: "calls" })).toBe(false);
    expect(frees({ opinions: [() => null] })).toBe(false);
    expect(frees({ unmatched: "ask" })).toBe(false);
    const requires = bench({ policy: { rules: [{ allow: "look", requires: true }] } });
    expect(frees({ rules: requires.policy.rules })).toBe(false);
    await on.clock.advance(1000);
    expect([frees(), on.desk.clear]).toEqual([false, false]);
    await on.desk.approvals.kill("tool:look", true, ADA);
    expect([frees(), on.desk.clear]).toEqual([false, false]);
  });
});

describe("exempt", () => {
  it("P-14 answers holds that permit it, is journaled with each use, and ends when it is undone", async () => {
    const on = bench();
    const undo = await on.desk.exempt("tests", { tools: ["pay"] }, ({ arguments: args }) => args.amount === 7);
    expect(await on.desk.submit(submissionOf(on, { id: "c1" }))).toEqual({ ruling: "allow", how: "exempt" });
    expect(await on.desk.submit(submissionOf(on, { args: { amount: 8 } }))).toMatchObject({ ruling: "held" });
    expect(await on.desk.submit(submissionOf(on, { holds: [holdFor({ exemptible: false })] }))).toMatchObject({ ruling: "held" });
    const shared = submissionOf(on, { requester: { principal: "ada", shared: true } });
    expect(refusalOf(await on.desk.submit(shared))).toEqual({ code: "no_approver" });
    await undo();
    await undo();
    expect(await on.desk.submit(submissionOf(on))).toMatchObject({ ruling: "held" });
    expect((await nodeEvents(on)).map(({ event }) => event)).toEqual([
      "exemption.added",
      "exemption.used",
      "call.denied",
      "exemption.removed",
    ]);
  });

  it("P-10 counts a use only when it is recorded, and not when calls are switched off", async () => {
    const on = faulty();
    await on.desk.exempt("tests", { tools: ["pay"] }, () => true);
    await on.desk.submit(submissionOf(on));
    let conflicts = 2;
    on.faults.instead = () => (conflicts-- > 0 ? { ok: false, why: "conflict" } : undefined);
    expect(await on.desk.submit(submissionOf(on))).toMatchObject({ ruling: "allow" });
    expect((await on.desk.approvals.exemptions(identity("os:op")))[0]?.uses).toBe(2);
    on.faults.instead = () => ({ ok: false, why: "killed" });
    expect(refusalOf(await on.desk.submit(submissionOf(on)))).toEqual({ code: "killed" });
    on.faults.instead = () => ({ ok: false, why: "conflict" });
    expect(refusalOf(await on.desk.submit(submissionOf(on)))).toEqual({ code: "store_unavailable" });
    expect((await on.desk.approvals.exemptions(identity("os:op")))[0]?.uses).toBe(2);
  });
});

describe("reachable", () => {
  it("P-06 says beforehand whether an ask would reach somebody", async () => {
    const on = bench();
    expect(await on.desk.reachable(submissionOf(on))).toBe(true);
    expect(await on.desk.reachable(submissionOf(on, { holds: [], tier: "read" }))).toBe(true);
    expect(await on.desk.reachable(submissionOf(on, { denied: { by: "x" } }))).toBe(false);
    const nobody = bench({ people: [] });
    expect(await nobody.desk.reachable(submissionOf(nobody))).toBe(false);
    expect(await on.store.read("x")).toBeUndefined();
  });
});

describe("what a channel may tell the desk", () => {
  it("P-15 ends a request whose answer could not be read, loudly", async () => {
    const on = bench();
    const id = await held(on, submissionOf(on));
    await on.channel.desk.fault(id, "it said 7");
    expect((await standing(on, id)).refusal).toEqual({ code: "channel_fault" });
    expect(on.lines).toContainEqual({
      level: "error",
      message: "a channel's answer could not be read",
      fields: { channel: "recording", request: id, problem: "it said 7" },
    });
    expect([on.channel.desk.editRetries, on.channel.desk.clock]).toEqual([1, on.clock]);
  });

  it("ends a conversation's edit, and the request only where nobody else could still meet it", async () => {
    const on = bench({ people: ["bob", "cem"] });
    const alone = await held(on, submissionOf(on, { holds: [holdFor({ approvers: ["bob"] })] }));
    await on.channel.desk.endEdit(alone, identity("bob"));
    expect((await standing(on, alone)).refusal).toEqual({ code: "invalid_edit" });
    const two = await held(on, submissionOf(on, { holds: [holdFor({ approvers: ["bob", "cem"] })] }));
    await on.channel.desk.endEdit(two, identity("bob"));
    expect((await standing(on, two)).status).toBe("pending");
    const both = await held(on, submissionOf(on, { holds: [holdFor({ approvers: ["bob", "cem"], quorum: 2 })] }));
    await on.channel.desk.endEdit(both, identity("bob"));
    expect((await standing(on, both)).refusal).toEqual({ code: "invalid_edit" });
    await on.channel.desk.endEdit("none", identity("bob"));
  });

  it("goes to the next channel of the list when one passes, and refuses at its end", async () => {
    const [first, second] = [recordingChannel({ name: "first" }), recordingChannel({ name: "second" })];
    const on = bench({ channels: [first, second] });
    const id = await held(on, submissionOf(on, { channels: ["first", "second"] }));
    expect([first.deliveries.length, second.deliveries.length]).toEqual([1, 0]);
    await first.desk.pass(id);
    await on.clock.settle();
    expect(second.deliveries.length).toBe(1);
    await second.desk.pass(id);
    expect((await standing(on, id)).refusal).toEqual({ code: "no_approver" });
    await on.clock.settle();
    expect([first.closed.length, second.closed.length]).toEqual([1, 1]);
    await second.desk.pass(id);
  });
});

describe("ran", () => {
  it("logs how a call that policy freed ended", async () => {
    const on = bench();
    await on.desk.ran({ submission: submissionOf(on), how: "allowed", status: "ran" });
    expect(on.lines).toContainEqual({
      level: "debug",
      message: "a call ended",
      fields: { tool: "pay", how: "allowed", status: "ran" },
    });
  });
});

describe("surfaces", () => {
  it("P-11 P-15 that could not be closed change nothing of the decision, and the log says so", async () => {
    const on = faulty();
    const dies = async (change: Commit): Promise<Committed> => {
      const committed = await on.inner.commit(change);
      on.faults.down = change.records.some(({ next }) => next.status !== "pending");
      return committed;
    };
    const next = bench({ clock: on.clock, store: { ...on.store, commit: dies } });
    const id = await held(next, submissionOf(next));
    expect(await next.channel.answer(id, "reject")).toMatchObject({ counted: true });
    await on.clock.settle();
    expect(next.lines.map(({ message }) => message)).toContain("surfaces could not be brought to their final form");
    on.faults.down = false;
    const edited = await held(next, submissionOf(next, { args: { to: "bob", amount: 2 } }));
    const shown = await viewOf(next, edited, ADA);
    expect(await next.desk.approvals.edit(edited, { ...shown, arguments: { to: "bob", amount: 1 } }, ADA)).toMatchObject({
      counted: true,
    });
    await on.clock.settle();
    expect(next.lines.map(({ message }) => message)).toContain("an edit's successor could not be shown");
  });
});

it("makes a runtime of its own for each process", () => {
  const clock = manualClock();
  expect(benchRuntime(clock).ids.process).not.toBe(benchRuntime(clock).ids.process);
});
