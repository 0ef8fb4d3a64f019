import { describe, expect, it } from "vitest";
import { memoryStore } from "../../stores/memory/index.ts";
import { manualClock } from "../../testing/index.ts";
import type { JsonObject } from "../json-value.ts";
import type { EditAnswer, Identity } from "../ports/approvals.ts";
import type { Revalidated, Submission } from "../ports/desk.ts";
import {
  type Bench,
  bench,
  entriesOf,
  eventsOf,
  evidenceOf,
  held,
  holdFor,
  identity,
  nodeEvents,
  standing,
  submissionOf,
  viewOf,
} from "./desk.test-kit.ts";
import { faultyStore, noFaults } from "./faulty-store.test-kit.ts";

const [ADA, BOB, CEM] = ["ada", "bob", "cem"].map((name) => identity(name)) as [Identity, Identity, Identity];
const TWO = holdFor({ approvers: ["bob", "cem"], quorum: 2 });
const AS_ASKED = { to: "bob", amount: 7 };

async function edit(on: Bench, id: string, given: Partial<EditAnswer> & { readonly as?: Identity }) {
  const { as = ADA, ...over } = given;
  return on.desk.approvals.edit(id, { arguments: { to: "bob", amount: 5 }, ...(await viewOf(on, id, as)), ...over }, as);
}

const checked =
  (over: Partial<Extract<Revalidated, { ok: true }>> = {}) =>
  async (args: JsonObject): Promise<Revalidated> => ({
    ok: true,
    arguments: args,
    holds: [holdFor()],
    denied: undefined,
    bindings: {},
    ...over,
  });

describe("an edit", () => {
  it("P-02 ends the request, voids its votes, and opens a successor with the editor's yes as its first", async () => {
    const on = bench();
    const submission = submissionOf(on, { id: "c1", holds: [TWO] });
    const id = await held(on, submission);
    await on.channel.answer(id, "approve", { by: "cem" });
    on.clock.set(on.clock.now() + 1000);
    const done = await edit(on, id, { as: BOB });
    expect(done).toMatchObject({ found: true, status: "pending", counted: true });
    const old = (await on.store.read(id))?.record;
    expect(old).toMatchObject({
      status: "cancelled",
      resolution: { reason: "superseded", by: "bob" },
      supersededBy: done.id,
      decisions: [{ by: "cem" }],
    });
    const presented = await on.desk.approvals.card(id, BOB);
    expect(presented).toMatchObject({ card: { ending: expect.stringContaining(`; request ${done.id} took its place`) } });
    const next = await on.store.read(String(done.id));
    expect(next?.record).toMatchObject({
      status: "pending",
      supersedes: id,
      root: id,
      decisions: [{ by: "bob", verdict: "approve" }],
      call: { id: "c1" },
      decideBy: old?.decideBy,
    });
    expect(next?.record.digest).not.toBe(old?.digest);
    expect(next?.record.callKey).not.toBe(old?.callKey);
    expect(next?.payload?.arguments).toEqual({ to: "bob", amount: 5 });
    expect(next?.payload?.notes).toEqual([`edited; it takes the place of ${id}`]);
    expect(await eventsOf(on.store, id)).toContain("request.superseded");
    expect((await eventsOf(on.store, String(done.id))).slice(0, 2)).toEqual(["request.created", "request.voted"]);
    expect(JSON.stringify(await entriesOf(on.store, `request/${done.id}`))).not.toContain("amount");
    await on.clock.settle();
    expect(on.channel.deliveries.map(({ card }) => card.id)).toContain(done.id);
    expect(await on.channel.answer(String(done.id), "approve", { by: "cem" })).toMatchObject({ status: "approved" });
    const { edited, arguments: args } = await standing(on, id);
    expect([edited, args]).toEqual([
      { by: "bob", arguments: { to: "bob", amount: 5 } },
      { to: "bob", amount: 5 },
    ]);
    const claimed = await on.desk.claim(String(done.id), evidenceOf(submission, { arguments: { to: "bob", amount: 5 } }));
    expect(claimed).toMatchObject({ ok: true });
  });

  it("P-03 takes the waiter and the call id along", async () => {
    const on = bench();
    const id = await held(on, submissionOf(on, { id: "c1" }));
    const wait = on.desk.await(id, on.runtime.aborter().signal);
    const done = await edit(on, id, { reason: "less" });
    expect((await wait).record.id).toBe(done.id);
    expect(await on.desk.submit(submissionOf(on, { id: "c1" }))).toMatchObject({
      ruling: "repeated",
      standing: { status: "approved" },
    });
    const { payload } = (await on.store.read(String(done.id))) ?? {};
    expect(Object.values(payload?.reasons ?? {})).toEqual(["less"]);
    expect(await on.desk.cancel(id, "requester", { principal: "ada" })).toBe(true);
    expect((await standing(on, id)).record).toMatchObject({ id: done.id, status: "cancelled" });
  });

  it("is a rejection when it is null or false, a yes when it changes nothing", async () => {
    const on = bench();
    for (const [n, nothing] of ([null, false] as const).entries()) {
      const id = await held(on, submissionOf(on, { args: { n } }));
      expect(await edit(on, id, { arguments: nothing, reason: "no" })).toMatchObject({ status: "rejected", counted: true });
      expect((await standing(on, id)).refusal).toEqual({ code: "rejected", reason: "no" });
    }
    const id = await held(on, submissionOf(on));
    expect(await edit(on, id, { arguments: { amount: 7, to: "bob" }, reason: "fine" })).toMatchObject({ status: "approved", id });
    const empty = await held(on, submissionOf(on, { args: { a: 1 } }));
    expect(await edit(on, empty, { arguments: {} })).toMatchObject({ counted: true });
    expect((await standing(on, empty)).arguments).toEqual({});
  });

  it.each<[string, Partial<Submission>, unknown, string, RegExp]>([
    [
      "of what may not be changed",
      { editable: ["/amount"] },
      { to: "eve", amount: 7 },
      "invalid_edit",
      /^\/to may not be changed$/,
    ],
    ["of anything", { editable: [] }, { to: "bob", amount: 8 }, "invalid_edit", /^\/amount may not be changed$/],
    ["to a list", {}, [1], "invalid_edit", /must be a JSON object/],
    ["to what is no JSON", {}, { to: "bob", amount: Number.NaN }, "invalid_edit", /amount/],
    ["that keeps no type", {}, { to: "bob", amount: "7" }, "invalid_arguments", /^\/amount: must keep its type$/],
    ["that makes nothing of a list", {}, { to: null, amount: 7 }, "invalid_arguments", /^\/to: must keep its type$/],
    [
      "that the schema refuses",
      { schema: { type: "object", properties: { amount: { type: "number", maximum: 10 } } } },
      { to: "bob", amount: 11 },
      "invalid_arguments",
      /^\/amount: /,
    ],
    [
      "whose schema is none",
      { schema: { $ref: "https://elsewhere.example/" } },
      { to: "bob", amount: 1 },
      "policy_error",
      /could not be checked/,
    ],
    [
      "of what is bound to files",
      { bindings: { cwd: "/work" } },
      { to: "bob", amount: 1 },
      "invalid_edit",
      /edit it where its gate runs/,
    ],
  ])("P-02 answers a fault to the editor and leaves the request: an edit %s", async (...[, over, args, code, note]) => {
    const on = bench();
    const id = await held(on, submissionOf(on, over));
    const said = await edit(on, id, { arguments: args as JsonObject });
    expect(said).toMatchObject({ found: true, status: "pending", counted: false, code, id });
    expect(said.note).toMatch(note);
    expect((await standing(on, id)).record).toMatchObject({ status: "pending", decisions: [] });
  });

  it("P-19 changes no secret, alone or among other changes", async () => {
    const on = bench();
    const submission = submissionOf(on, { args: { a: 1, token: "hunter2" }, secrets: ["/token"], revalidate: checked() });
    const id = await held(on, submission);
    const commitment = (await standing(on, id)).arguments?.token ?? null;
    for (const args of [{ a: 1, token: "x" }, { a: 2, token: "x" }, { a: 2 }, { token: commitment, a: 1, b: 1 }])
      if ("b" in args) expect(await edit(on, id, { arguments: args })).toMatchObject({ counted: true });
      else
        expect(await edit(on, id, { arguments: args })).toMatchObject({
          counted: false,
          code: "invalid_edit",
          note: "/token is a secret and cannot be edited on a card",
        });
  });

  it("P-08 P-18 is ruled again: a deny of gate or policy is answered, a new hold is joined", async () => {
    const policy = {
      rules: [{ name: "big", deny: "pay", when: ({ arguments: args }: { arguments: JsonObject }) => args.amount === 9 }],
    };
    const on = bench({ policy });
    const open = await held(on, submissionOf(on, { revalidate: checked({ denied: { by: "parent" } }) }));
    expect(await edit(on, open, {})).toMatchObject({ counted: false, code: "denied", note: expect.stringMatching(/parent/) });
    const near = await held(on, submissionOf(on, { revalidate: checked() }));
    expect(await edit(on, near, { arguments: { to: "bob", amount: 9 } })).toMatchObject({ code: "denied" });
    const afar = await held(on, submissionOf(on));
    expect(await edit(on, afar, { arguments: { to: "bob", amount: 9 } })).toMatchObject({
      code: "denied",
      note: expect.stringMatching(/big/),
    });
    const more = { ...holdFor({ approvers: ["cem"] }, "rule:more"), message: "More for {to}" };
    const joined = await held(on, submissionOf(on, { revalidate: checked({ holds: [holdFor(), more] }) }));
    const done = await edit(on, joined, {});
    const next = await on.store.read(String(done.id));
    expect(next?.record.terms.clauses.map(({ by }) => by)).toEqual(["tool", "rule:more"]);
    expect([next?.record.status, next?.payload?.message]).toEqual(["pending", "More for bob"]);
  });

  it("P-09 wants first what the edited call needs a grant for", async () => {
    const on = bench({
      policy: { rules: [{ ask: "pay", requires: "payments", when: ({ arguments: args }) => args.amount === 3 }] },
    });
    const id = await held(on, submissionOf(on));
    expect(await edit(on, id, { arguments: { to: "bob", amount: 3 } })).toMatchObject({
      counted: false,
      code: "not_granted",
      note: 'the edited call needs a grant of "payments" first, which nobody gave',
    });
  });

  it("P-02 keeps the type of what was null, and a tool without a tier", async () => {
    const on = bench();
    const id = await held(on, submissionOf(on, { args: { to: null, list: [1] }, tier: undefined }));
    expect(await edit(on, id, { arguments: { to: "bob", list: [1] } })).toMatchObject({ code: "invalid_arguments" });
    const done = await edit(on, id, { arguments: { to: null, list: [2] } });
    expect((await on.store.read(String(done.id)))?.record.tier).toBeNull();
  });

  it("P-01 counts for nobody whose right ends between two looks", async () => {
    let asked = 0;
    const directory = {
      principalOf: async (_as: string, vouched: string) => vouched,
      holds: async () => ++asked < limit,
      ownerOf: async () => undefined,
    };
    let limit = Number.POSITIVE_INFINITY;
    const on = bench({ directory, people: ["ada"] });
    const id = await held(on, submissionOf(on, { holds: [holdFor({ approvers: ["group:x"], self: "allow" })] }));
    const shown = await viewOf(on, id, ADA);
    limit = asked + 2;
    expect(await on.desk.approvals.edit(id, { ...shown, arguments: { to: "bob", amount: 1 } }, ADA)).toMatchObject({
      counted: false,
      code: "not_eligible",
    });
    limit = Number.POSITIVE_INFINITY;
    expect((await standing(on, id)).record).toMatchObject({ status: "pending", decisions: [] });
  });

  it("passes a fault of the gate's own check on", async () => {
    const on = bench();
    const revalidate = async (): Promise<Revalidated> => ({
      ok: false,
      code: "invalid_arguments",
      pointer: "",
      problem: "too few",
    });
    const id = await held(on, submissionOf(on, { revalidate }));
    expect(await edit(on, id, {})).toMatchObject({ code: "invalid_arguments", note: "the arguments: too few" });
  });

  it("P-01 P-09 wants of an editor what it wants of an approver", async () => {
    const on = bench();
    const id = await held(on, submissionOf(on, { holds: [holdFor({ approvers: ["bob"] })] }));
    expect(await edit(on, id, { as: ADA })).toMatchObject({ counted: false, code: "not_eligible" });
    expect(await edit(on, id, { as: BOB, view: "" })).toMatchObject({ counted: false, code: "stale_view" });
    expect(await edit(on, id, { as: { ...BOB, assurance: "client" } })).toMatchObject({ code: "assurance_too_low" });
    expect((await nodeEvents(on)).map(({ data }) => data.code)).toEqual(["not_eligible", "stale_view", "assurance_too_low"]);
    expect((await standing(on, id)).status).toBe("pending");
  });

  it("takes back an earlier yes of the same person", async () => {
    const on = bench();
    const id = await held(on, submissionOf(on, { holds: [TWO] }));
    await on.channel.answer(id, "approve", { by: "bob" });
    const done = await edit(on, id, { as: BOB });
    expect(done).toMatchObject({ counted: true, status: "pending" });
    expect((await standing(on, id)).record.decisions.map(({ by }) => by)).toEqual(["bob"]);
  });

  it("P-04 P-05 is late for what is over, unknown, or already approved, and is told so", async () => {
    const on = bench();
    const id = await held(on, submissionOf(on));
    const shown = await viewOf(on, id, ADA);
    const late = (which: string) => on.desk.approvals.edit(which, { ...shown, arguments: { to: "bob", amount: 1 } }, ADA);
    await on.channel.answer(id, "approve");
    expect(await late(id)).toMatchObject({ found: true, status: "approved", counted: false, code: "late" });
    expect(await late("none")).toMatchObject({ found: false, status: null, counted: false, code: "not_found" });
    const over = await held(on, submissionOf(on));
    const view = await viewOf(on, over, ADA);
    on.clock.set(on.clock.now() + 300_000);
    expect(await on.desk.approvals.edit(over, { ...view, arguments: { to: "x", amount: 7 } }, ADA)).toMatchObject({
      code: "late",
    });
    expect((await standing(on, over)).status).toBe("expired");
    expect((await nodeEvents(on)).map(({ data }) => data.code)).toEqual(["late", "not_found", "late"]);
  });

  it("ends after five in a chain", async () => {
    const on = bench();
    let id = await held(on, submissionOf(on, { holds: [TWO] }));
    for (let n = 0; n < 5; n++) {
      const done = await edit(on, id, { as: BOB, arguments: { to: "bob", amount: n } });
      expect(done.counted).toBe(true);
      id = String(done.id);
    }
    expect(await edit(on, id, { as: BOB, arguments: { to: "bob", amount: 99 } })).toMatchObject({
      counted: false,
      code: "limit",
    });
    expect((await standing(on, id)).status).toBe("pending");
  });

  it("says who edited last, whoever voted first", async () => {
    const on = bench();
    const first = await held(on, submissionOf(on, { holds: [TWO] }));
    const second = await edit(on, first, { as: BOB });
    await edit(on, String(second.id), { as: CEM, arguments: { to: "bob", amount: 4 } });
    expect((await standing(on, first)).edited).toEqual({ by: "cem", arguments: { to: "bob", amount: 4 } });
  });

  it("P-15 cannot be made of arguments that were erased", async () => {
    const on = bench();
    const id = await held(on, submissionOf(on));
    const shown = await viewOf(on, id, ADA);
    const inner = faultyStore(on.store, noFaults());
    const erased = {
      ...inner,
      read: async (which: string) => {
        const stored = await inner.read(which);
        return stored === undefined ? undefined : { ...stored, payload: null };
      },
    };
    const other = bench({ store: erased, clock: on.clock });
    expect(await other.desk.approvals.edit(id, { ...shown, arguments: AS_ASKED }, ADA)).toMatchObject({
      counted: false,
      code: "invalid_edit",
    });
  });

  it("P-03 is one of two that come at once, and late when its deadline overtakes it", async () => {
    const faults = noFaults();
    const clock = manualClock();
    const on = bench({ clock, store: faultyStore(memoryStore({ clock }), faults) });
    const id = await held(on, submissionOf(on, { holds: [TWO] }));
    const both = await Promise.all([edit(on, id, { as: BOB }), edit(on, id, { as: CEM, arguments: { to: "bob", amount: 3 } })]);
    expect(both.map(({ counted }) => counted).sort()).toEqual([false, true]);
    expect(both.find(({ counted }) => !counted)).toMatchObject({ code: "late" });
    const slow = await held(on, submissionOf(on));
    const shown = await viewOf(on, slow, ADA);
    clock.set(clock.now() + 299_999);
    faults.change = (change) => {
      clock.set(clock.now() + 1);
      return change;
    };
    const said = await on.desk.approvals.edit(slow, { ...shown, arguments: { to: "x", amount: 1 } }, ADA);
    expect(said).toMatchObject({ counted: false, code: "late" });
  });

  it("P-10 leaves all as it was when the store does not take it", async () => {
    const faults = noFaults();
    const clock = manualClock();
    const on = bench({ clock, store: faultyStore(memoryStore({ clock }), faults) });
    const id = await held(on, submissionOf(on));
    const shown = await viewOf(on, id, ADA);
    const try_ = () => on.desk.approvals.edit(id, { ...shown, arguments: { to: "x", amount: 1 } }, ADA);
    faults.instead = () => ({ ok: false, why: "clock_skew", now: shown.digest as never });
    expect(await try_()).toMatchObject({ counted: false, code: "clock_skew" });
    faults.instead = () => ({ ok: false, why: "conflict" });
    await expect(try_()).rejects.toMatchObject({ code: "store_unavailable" });
    faults.instead = undefined;
    expect((await standing(on, id)).record).toMatchObject({ status: "pending", rev: 2 });
  });

  it("P-14 opens the window that the edited call's clauses have", async () => {
    const on = bench();
    const submission = submissionOf(on, { holds: [holdFor({ window: "5m" })] });
    const id = await held(on, submission);
    await edit(on, id, {});
    expect((await on.desk.approvals.windows(ADA)).length).toBe(1);
    const again = submissionOf(on, { holds: [holdFor({ window: "5m" })], args: { to: "bob", amount: 5 } });
    expect(await on.desk.submit(again)).toEqual({ ruling: "allow", how: "window" });
  });
});
