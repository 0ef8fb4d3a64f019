import { describe, expect, it } from "vitest";
import { memoryStore } from "../../stores/memory/index.ts";
import { manualClock, recordingChannel } from "../../testing/index.ts";
import type { Committed } from "../ports/store.ts";
import {
  bench,
  entriesOf,
  eventsOf,
  held,
  holdFor,
  identity,
  nodeEvents,
  refusalOf,
  rowsOf,
  submissionOf,
  viewOf,
} from "./desk.test-kit.ts";
import { faultyStore, noFaults } from "./faulty-store.test-kit.ts";

const ADA = identity("ada");

describe("submit: rule", () => {
  it("P-08 P-10 refuses what policy denies, with the rule's words, and says so in the journal", async () => {
    const on = bench({ policy: { rules: [{ name: "no pay", deny: "pay", reason: "not today" }] } });
    const submission = submissionOf(on, { id: "c1" });
    expect(refusalOf(await on.desk.submit(submission))).toEqual({ code: "denied", reason: "not today" });
    expect(await nodeEvents(on)).toMatchObject([
      {
        event: "call.denied",
        data: { call: "c1", tool: "pay", principal: "ada", agent: "bot", run: "run-1", code: "denied", policy: on.policy.hash },
      },
    ]);
    expect(await rowsOf(on.store, "call")).toEqual([]);
    expect(on.channel.deliveries).toEqual([]);
  });

  it("P-08 refuses for a gate's own deny, and for a fault with a code of its own", async () => {
    const on = bench();
    const of = async (denied: { by: string; fault?: true }) => refusalOf(await on.desk.submit(submissionOf(on, { denied })));
    expect(await of({ by: "parent" })).toEqual({ code: "denied" });
    expect(await of({ by: "opinion", fault: true })).toEqual({ code: "policy_error" });
  });

  it("P-10 lets run what policy allows, and records it first where calls are recorded", async () => {
    const counts = bench();
    expect(await counts.desk.submit(submissionOf(counts, { tier: "read", holds: [] }))).toEqual({
      ruling: "allow",
      how: "allowed",
    });
    expect(await nodeEvents(counts)).toEqual([]);
    const calls = bench({ record: "calls" });
    expect(await calls.desk.submit(submissionOf(calls, { id: "c1", tier: "read", holds: [] }))).toMatchObject({
      ruling: "allow",
    });
    expect(await nodeEvents(calls)).toMatchObject([{ event: "call.allowed", data: { call: "c1", by: "unmatched" } }]);
  });

  it("P-10 lets nothing run whose record was not taken", async () => {
    const faults = noFaults();
    const clock = manualClock();
    const on = bench({ record: "calls", clock, store: faultyStore(memoryStore({ clock }), faults) });
    const read = () => submissionOf(on, { tier: "read", holds: [] });
    expect(await on.desk.submit(read())).toMatchObject({ ruling: "allow" });
    const answers: readonly [Extract<Committed, { ok: false }>["why"], string][] = [
      ["conflict", "journal_unavailable"],
      ["killed", "killed"],
      ["clock_skew", "clock_skew"],
      ["too_late", "store_unavailable"],
      ["too_early", "store_unavailable"],
    ];
    for (const [why, code] of answers) {
      faults.instead = () => ({ ok: false, why }) as Committed;
      expect(refusalOf(await on.desk.submit(read()))).toEqual({ code });
    }
  });

  it("P-15 refuses when the store does not answer, with one code, and logs why", async () => {
    const faults = noFaults();
    const clock = manualClock();
    const on = bench({ clock, store: faultyStore(memoryStore({ clock }), faults) });
    faults.down = true;
    expect(refusalOf(await on.desk.submit(submissionOf(on)))).toEqual({ code: "store_unavailable" });
    expect(on.lines.map(({ message }) => message)).toContain("a call could not be judged");
    faults.down = false;
    await on.desk.submit(submissionOf(on, { holds: [], tier: "read" }));
    faults.down = true;
    await clock.advance(1000);
    expect(refusalOf(await on.desk.submit(submissionOf(on)))).toEqual({ code: "store_unavailable" });
    faults.down = false;
    expect(await on.desk.submit(submissionOf(on))).toMatchObject({ ruling: "held" });
  });

  it("P-15 refuses when the directory does not answer, or something throws what is no error", async () => {
    const directory = { principalOf: async () => undefined, holds: async () => true, ownerOf: async () => undefined };
    const down = { ...directory, principalOf: () => Promise.reject(new Error("ldap is down")) };
    const on = bench({ directory: down });
    expect(refusalOf(await on.desk.submit(submissionOf(on)))).toEqual({ code: "directory_unavailable" });
    const odd = bench({ directory: { ...directory, principalOf: () => Promise.reject("no error") } });
    expect(refusalOf(await odd.desk.submit(submissionOf(odd)))).toEqual({ code: "directory_unavailable" });
    const broken = submissionOf(on, { ignore: ["no pointer"] });
    expect(refusalOf(await on.desk.submit(broken))).toEqual({ code: "policy_error" });
    expect(on.lines).toContainEqual(expect.objectContaining({ level: "error", message: "a call could not be judged" }));
  });
});

describe("submit: ask", () => {
  it("P-10 P-18 stores the request with frozen terms before anybody is told", async () => {
    const on = bench();
    const submission = submissionOf(on, { statement: "I need this", notes: ["a note"] });
    const id = await held(on, submission);
    const stored = await on.store.read(id);
    expect(stored?.record).toMatchObject({ status: "pending", kind: "call", requester: { principal: "ada", session: null } });
    expect(stored?.payload).toMatchObject({ arguments: { to: "bob", amount: 7 }, statement: "I need this", notes: ["a note"] });
    expect(await eventsOf(on.store, id)).toEqual(["request.created", "request.seen"]);
    expect(on.channel.deliveries.map(({ to, card }) => [to.principal, card.id])).toEqual([["ada", id]]);
    const [created] = await entriesOf(on.store, `request/${id}`);
    expect(created?.data).toMatchObject({ digest: stored?.record.digest, terms: stored?.record.termsHash, kind: "call" });
    expect(JSON.stringify(await entriesOf(on.store, `request/${id}`))).not.toMatch(/bob|I need this/);
  });

  it("P-06 P-09 refuses before anything is stored where nobody could be asked", async () => {
    const refused = async (on: ReturnType<typeof bench>, over: Parameters<typeof submissionOf>[1] = {}) =>
      refusalOf(await on.desk.submit(submissionOf(on, over)));
    const nobody = { code: "no_approver" };
    expect(await refused(bench({ channels: [] }))).toEqual(nobody);
    expect(await refused(bench({ people: [] }))).toEqual(nobody);
    expect(await refused(bench({ people: ["eve"] }))).toEqual(nobody);
    expect(await refused(bench(), { requester: { principal: "ada", shared: true } })).toEqual(nobody);
    expect(await refused(bench(), { holds: [holdFor({ approvers: ["ada"] })] })).toEqual(nobody);
    expect(await refused(bench({ assurance: "client" }))).toEqual(nobody);
    const noAsk = bench({ policy: { mode: "no-ask" } });
    expect(await refused(noAsk)).toEqual(nobody);
    expect((await nodeEvents(noAsk)).map(({ data }) => data.code)).toEqual(["no_approver"]);
    const unsure = recordingChannel();
    const lost = Object.assign(unsure, { reaches: () => Promise.reject(new Error("offline")) });
    expect(await refused(bench({ channels: [lost] }))).toEqual(nobody);
  });

  it("P-03 finds the same request for the same call id, and refuses another call under it", async () => {
    const on = bench();
    const first = await held(on, submissionOf(on, { id: "c1" }));
    const again = await on.desk.submit(submissionOf(on, { id: "c1" }));
    expect(again).toMatchObject({ ruling: "repeated", standing: { status: "pending", record: { id: first } } });
    expect(refusalOf(await on.desk.submit(submissionOf(on, { id: "c1", args: { to: "eve" } })))).toEqual({
      code: "duplicate_id",
    });
    await on.channel.answer(first, "reject", { reason: "no" });
    expect(await on.desk.submit(submissionOf(on, { id: "c1" }))).toMatchObject({
      ruling: "repeated",
      standing: { status: "rejected", refusal: { code: "rejected", reason: "no" } },
    });
    const elsewhere = { principal: "ada", agent: "bot", run: "run-2" };
    expect(await on.desk.submit(submissionOf(on, { id: "c1", requester: elsewhere }))).toMatchObject({ ruling: "held" });
  });

  it("P-03 opens one request for one call id that comes twice at once", async () => {
    const on = bench();
    const [one, two] = await Promise.all([1, 2].map(() => on.desk.submit(submissionOf(on, { id: "c1" }))));
    const rulings = [one, two].map((ruling) => ruling?.ruling).sort();
    expect(rulings).toEqual(["held", "repeated"]);
    expect(await rowsOf(on.store, "payload")).toHaveLength(1);
  });

  it("P-03 releases one call id once, however often it comes and whatever answers its holds", async () => {
    const on = bench();
    await on.desk.exempt("tests", { tools: ["pay"] }, () => true);
    const rulings = await Promise.all([1, 2, 3].map(() => on.desk.submit(submissionOf(on, { id: "c1" }))));
    expect(rulings.map(({ ruling }) => ruling).sort()).toEqual(["allow", "refused", "refused"]);
    expect(refusalOf(await on.desk.submit(submissionOf(on, { id: "c1" })))).toEqual({ code: "duplicate_id" });
  });

  it("P-15 refuses a call whose request is gone from under its id", async () => {
    const on = bench();
    await held(on, submissionOf(on, { id: "c1" }));
    const lost = faultyStore(on.store, noFaults());
    const other = bench({ store: { ...lost, read: async () => undefined }, clock: on.clock });
    expect(refusalOf(await other.desk.submit(submissionOf(other, { id: "c1" })))).toEqual({ code: "duplicate_id" });
  });

  it("P-10 refuses and forgets a request that the store did not take", async () => {
    const faults = noFaults();
    const clock = manualClock();
    const on = bench({ clock, store: faultyStore(memoryStore({ clock }), faults) });
    await on.desk.submit(submissionOf(on, { holds: [], tier: "read" }));
    const answers: readonly [Extract<Committed, { ok: false }>["why"], string][] = [
      ["conflict", "duplicate_id"],
      ["clock_skew", "clock_skew"],
      ["too_late", "store_unavailable"],
    ];
    for (const [why, code] of answers) {
      faults.instead = () => ({ ok: false, why }) as Committed;
      expect(refusalOf(await on.desk.submit(submissionOf(on)))).toEqual({ code });
    }
    expect(on.channel.deliveries).toEqual([]);
  });

  it("P-15 refuses with clock_skew when our clock and the store's disagree", async () => {
    const clock = manualClock();
    const on = bench({ clock, store: memoryStore({ clock: { now: () => clock.now() + 3000 } }) });
    expect(refusalOf(await on.desk.submit(submissionOf(on)))).toEqual({ code: "clock_skew" });
  });

  it("P-19 keeps secrets out of store, journal, card and log, and knows when it cannot", async () => {
    const on = bench();
    const args = { to: "bob", token: "hunter2-hunter2" };
    const id = await held(on, submissionOf(on, { args, secrets: ["/token", "/none"] }));
    const { card } = on.channel.deliveries[0] ?? {};
    const everything = JSON.stringify([
      await on.store.read(id),
      await entriesOf(on.store, `request/${id}`),
      await rowsOf(on.store, "payload"),
      card,
      on.lines,
    ]);
    expect(everything).not.toContain("hunter2");
    expect(card?.arguments.token).toEqual({ $secret: expect.stringMatching(/^sha256:/) });
    expect((await on.store.read(id))?.record.call.secrets).toEqual(["/token"]);
    expect(refusalOf(await on.desk.submit(submissionOf(on, { args, secrets: ["/token"], wait: "suspend" })))).toEqual({
      code: "cannot_seal",
    });
  });

  it("joins all holds: every clause once, the shortest times, the common part of what may be edited", async () => {
    const on = bench({ people: ["ada", "bob"] });
    const holds = [
      holdFor({ approvers: ["bob"], deadline: "10m", remind: "2m", editable: ["/to", "/amount"] }),
      holdFor({ approvers: ["bob"] }, "again"),
      holdFor({ deadline: "3m", remind: "1m", editable: ["/amount"] }, "rule:x"),
    ];
    const { terms } = (await on.store.read(await held(on, submissionOf(on, { holds }))))?.record ?? {};
    expect(terms).toMatchObject({ decideWithin: 180_000, remind: 60_000, editable: ["/amount"], runWithin: 600_000 });
    expect(terms?.clauses.map(({ any }) => any[0]?.of)).toEqual([["bob"], ["@principal", "@operator"]]);
  });

  it("takes the deadline of rule or tool, else the gate's, else the channel's, else the default of its way of waiting", async () => {
    const slow = recordingChannel({ people: ["ada"], capabilities: { deadline: 120_000 } });
    const on = bench({ channels: [slow] });
    const within = async (over: Parameters<typeof submissionOf>[1]) => {
      const ruling = await on.desk.submit(submissionOf(on, over));
      return ruling.ruling === "held" ? (await on.store.read(ruling.request))?.record.terms.decideWithin : ruling;
    };
    expect(await within({ holds: [holdFor({ deadline: "1m" })], deadline: 5000 })).toBe(60_000);
    expect(await within({ deadline: 5000, channels: ["recording"] })).toBe(5000);
    expect(await within({ channels: ["recording"] })).toBe(120_000);
    expect(await within({})).toBe(300_000);
    expect(await within({ wait: "defer" })).toBe(86_400_000);
  });

  it("P-09 asks no more of an answer than the desk's configuration can prove, unless it was stated", async () => {
    const asked = async (assurance: "local" | "account", words: Parameters<typeof holdFor>[0]) => {
      const on = bench({ assurance, people: ["bob"] });
      const ruling = await on.desk.submit(submissionOf(on, { holds: [holdFor({ approvers: ["bob"], ...words })] }));
      return ruling.ruling === "held"
        ? (await on.store.read(ruling.request))?.record.terms.clauses[0]?.assurance
        : refusalOf(ruling);
    };
    expect(await asked("account", {})).toBe("account");
    expect(await asked("local", {})).toBe("local");
    expect(await asked("local", { assurance: "account" })).toEqual({ code: "no_approver" });
  });

  it("keeps an agent's own words to 2,000 characters and says that it cut", async () => {
    const on = bench();
    const id = await held(on, submissionOf(on, { statement: "x".repeat(2001) }));
    const { payload } = (await on.store.read(id)) ?? {};
    expect([payload?.statement?.length, payload?.notes]).toEqual([
      2000,
      ["the agent's own words were cut after 2000 characters"],
    ]);
  });

  it("P-13 says the declaration's words of a call, and the whole call beside them", async () => {
    const on = bench();
    const hold = { ...holdFor(), message: "Pay {to}?" };
    const id = await held(on, submissionOf(on, { holds: [hold], effect: () => "money moves" }));
    const { card } = on.channel.deliveries[0] ?? {};
    expect([card?.message, card?.effect, card?.arguments]).toEqual(["Pay bob?", "money moves", { to: "bob", amount: 7 }]);
    expect((await viewOf(on, id, ADA)).view).not.toBe("");
  });
});
