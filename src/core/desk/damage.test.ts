import { describe, expect, it } from "vitest";
import type { Entry } from "../journal.ts";
import type { Identity } from "../ports/approvals.ts";
import type { Row, Store, Stored } from "../ports/store.ts";
import { instant, plus } from "../instant.ts";
import type { JsonObject } from "../json-value.ts";
import type { ApprovalRequest } from "../request.ts";
import { termsHash } from "../request-hash.ts";
import {
  type Bench,
  bench,
  evidenceOf,
  held,
  holdFor,
  identity,
  nodeEvents,
  rowsOf,
  standing,
  submissionOf,
  viewOf,
} from "./desk.test-kit.ts";
import { faultyStore, noFaults } from "./faulty-store.test-kit.ts";

/** What somebody with the database in their hands can do: nothing that they put there decides, shows or runs anything. */

const ADA: Identity = identity("ada");

const reading = (store: Store, change: (stored: Stored) => Stored | undefined): Store => ({
  ...faultyStore(store, noFaults()),
  read: async (id) => {
    const stored = await store.read(id);
    return stored === undefined ? undefined : change(stored);
  },
});
const recording = (store: Store, change: (record: ApprovalRequest) => ApprovalRequest): Store =>
  reading(store, (stored) => ({ ...stored, record: change(stored.record) }));
const beside = (on: Bench, store: Store): Bench => bench({ store, clock: on.clock });

describe("a record that was changed by hand", () => {
  const longer = (on: Bench, record: ApprovalRequest): ApprovalRequest => {
    const terms = { ...record.terms, decideWithin: 999_999 };
    return { ...record, terms, termsHash: termsHash(on.runtime.crypto, terms) };
  };

  it.each<[string, (record: ApprovalRequest, on: Bench) => ApprovalRequest, RegExp]>([
    ["of another format", (record) => ({ ...record, v: 2 as 1 }), /it has format 2; this version reads format 1/],
    ["in a state that does not exist", (record) => ({ ...record, status: "open" as "pending" }), /none that exists/],
    ["in a state it did not come to", (record) => ({ ...record, status: "approved" }), /does not follow/],
    ["with other terms", (record) => ({ ...record, terms: { ...record.terms, clauses: [] } }), /terms are not those/],
    ["with other terms and their hash", (record, on) => longer(on, record), /arguments are not those|deadline/],
    ["with another deadline", (record) => ({ ...record, decideBy: plus(record.decideBy, 1) }), /deadline is not the one/],
    [
      "with an approval that lasts",
      (record) => ({ ...record, status: "approved", runBy: plus(record.decideBy, 1) }),
      /does not end when it has to/,
    ],
    ["that cannot be read", (record) => ({ ...record, createdAt: "soon" as never }), /cannot be read/],
  ])("P-15 decides and runs nothing: %s", async (_what, change, problem) => {
    const on = bench();
    const submission = submissionOf(on);
    const id = await held(on, submission);
    const shown = await viewOf(on, id, ADA);
    const other = beside(
      on,
      recording(on.store, (record) => change(record, on)),
    );
    await expect(other.desk.approvals.decide(id, { verdict: "approve", ...shown }, ADA)).rejects.toMatchObject({
      code: "store_unavailable",
      message: expect.stringMatching(problem),
    });
    expect(await other.desk.claim(id, evidenceOf(submission))).toMatchObject({
      ok: false,
      refusal: { code: "store_unavailable" },
    });
    expect(await other.desk.approvals.list({}, ADA)).toEqual([]);
    expect(other.lines).toContainEqual(
      expect.objectContaining({ level: "error", message: "a stored request does not hold together" }),
    );
  });

  it("P-02 is noticed by the process that asked, though it holds together", async () => {
    const on = bench();
    const [id, twin] = [await held(on, submissionOf(on)), await held(on, submissionOf(on, { args: { to: "eve" } }))];
    const stored = await on.store.read(twin);
    let swapped = false;
    const store = reading(on.store, (was) =>
      swapped && was.record.id === id && stored !== undefined ? { ...stored, record: { ...stored.record, id } } : was,
    );
    const same = bench({ store, clock: on.clock });
    const mine = await held(same, submissionOf(same, { args: { n: 1 } }));
    const other = await same.store.read(twin);
    swapped = true;
    expect(other).toBeDefined();
    await expect(same.desk.standing(id)).rejects.toMatchObject({ code: "store_unavailable" });
    expect((await standing(same, mine)).status).toBe("pending");
    const asked = bench({ store: recording(on.store, (record) => ({ ...record, callKey: "another" })), clock: on.clock });
    const ruling = await asked.desk.submit(submissionOf(asked, { args: { n: 2 } }));
    await on.clock.settle();
    await expect(asked.desk.standing(ruling.ruling === "held" ? ruling.request : "")).rejects.toThrow(/it is not what was asked/);
  });

  it("P-01 counts no vote that was put in: a decision without our proof, before another is counted", async () => {
    const on = bench();
    const holds = [holdFor({ approvers: ["bob", "cem"], quorum: 2 })];
    const id = await held(on, submissionOf(on, { holds }));
    await on.channel.answer(id, "approve", { by: "bob" });
    const forged = beside(
      on,
      recording(on.store, (record) => ({ ...record, decisions: record.decisions.map((vote) => ({ ...vote, by: "dora" })) })),
    );
    const cem = identity("cem");
    const shown = await viewOf(on, id, cem);
    await expect(forged.desk.approvals.decide(id, { verdict: "approve", ...shown }, cem)).rejects.toMatchObject({
      code: "store_unavailable",
    });
    expect((await standing(on, id)).record.decisions).toHaveLength(1);
  });

  it("leads in no circle", async () => {
    const on = bench();
    const id = await held(on, submissionOf(on));
    await on.desk.cancel(id, "requester", { principal: "ada" });
    const circle = beside(
      on,
      recording(on.store, (record) => ({ ...record, supersededBy: record.id })),
    );
    await expect(circle.desk.standing(id)).rejects.toThrow(/run in a circle \(this is a bug/);
  });
});

describe("a journal that was changed by hand", () => {
  const approved = async () => {
    const on = bench();
    const submission = submissionOf(on);
    const id = await held(on, submission);
    await on.channel.answer(id, "approve");
    return { on, id, submission };
  };

  it.each<[string, (entries: readonly JsonObject[]) => readonly JsonObject[], RegExp]>([
    ["with a gap", (entries) => entries.slice(1), /has a gap/],
    ["cut off", (entries) => entries.slice(0, -1), /does not lead to it/],
    ["gone", () => [], /does not lead to it/],
  ])("P-03 P-20 lets no claim through: %s", async (_what, change, problem) => {
    const { on, id, submission } = await approved();
    const store: Store = {
      ...faultyStore(on.store, noFaults()),
      journal: async function* (stream) {
        const entries = [];
        for await (const entry of on.store.journal(stream)) entries.push(entry);
        yield* change(entries as unknown as JsonObject[]) as unknown as readonly Entry[];
      },
    };
    const other = beside(on, store);
    expect(await other.desk.claim(id, evidenceOf(submission))).toMatchObject({
      ok: false,
      refusal: { code: "store_unavailable" },
    });
    expect(other.lines.some(({ fields }) => problem.test(String(fields.problem)))).toBe(true);
    expect(await on.desk.claim(id, evidenceOf(submission))).toMatchObject({ ok: true });
  });

  it("P-03 lets nothing run again that its journal says was taken up, whatever the record says", async () => {
    const { on, id, submission } = await approved();
    const before = await on.store.read(id);
    expect(await on.desk.claim(id, evidenceOf(submission))).toMatchObject({ ok: true });
    const other = beside(
      on,
      reading(on.store, () => before),
    );
    expect(await other.desk.claim(id, evidenceOf(submission))).toMatchObject({
      ok: false,
      refusal: { code: "store_unavailable" },
    });
    expect(other.lines.some(({ fields }) => /taken up or ended before/.test(String(fields.problem)))).toBe(true);
  });

  it("P-01 lets nothing run whose journal knows of no approval", async () => {
    const on = bench();
    const submission = submissionOf(on);
    const id = await held(on, submission);
    const other = beside(
      on,
      recording(on.store, (record) => ({
        ...record,
        status: "approved",
        runBy: plus(record.createdAt, 600_000),
        decisions: [{ verdict: "approve", at: record.createdAt }] as never,
      })),
    );
    expect(await other.desk.claim(id, evidenceOf(submission))).toMatchObject({
      ok: false,
      refusal: { code: "store_unavailable" },
    });
    expect(other.lines.some(({ fields }) => /knows of no approval/.test(String(fields.problem)))).toBe(true);
  });

  it("P-03 is looked at again where somebody else was faster: that is no damage", async () => {
    const { on, id, submission } = await approved();
    let first = true;
    const store: Store = {
      ...faultyStore(on.store, noFaults()),
      journal: async function* (stream) {
        if (first) await on.desk.claim(id, evidenceOf(submission));
        first = false;
        yield* on.store.journal(stream);
      },
    };
    const other = beside(on, store);
    expect(await other.desk.claim(id, evidenceOf(submission))).toEqual({
      ok: false,
      refusal: { code: "cancelled" },
      status: "claimed",
    });
    expect(other.lines.filter(({ level }) => level === "error")).toEqual([]);
  });
});

describe("remembered authority that was changed by hand", () => {
  const put = async (
    on: Bench,
    kind: "window" | "grant" | "kill",
    change: (row: Row | undefined) => { key: string; next: JsonObject },
  ) => {
    const [row] = await rowsOf(on.store, kind);
    const { key, next } = change(row);
    await on.store.commit({
      records: [],
      entries: [],
      rows: [{ kind, key, expect: row?.key === key ? row.rev : null, next }],
      at: instant(on.clock.now()),
      key: `by hand ${key}`,
    });
  };
  const ruling = async (on: Bench, over: Parameters<typeof submissionOf>[1]) =>
    (await on.desk.submit(submissionOf(on, over))).ruling;

  it("P-14 answers nothing, and the log says so", async () => {
    const on = bench();
    const windowed = { holds: [holdFor({ window: "5m" })] };
    await on.channel.answer(await held(on, submissionOf(on, windowed)), "approve");
    const free = { holds: [], tier: "read" as const, requires: ["x"] };
    await on.channel.answer(await held(on, submissionOf(on, free)), "approve");
    expect([await ruling(on, windowed), await ruling(on, free)]).toEqual(["allow", "allow"]);
    for (const kind of ["window", "grant"] as const)
      await put(on, kind, (row) => ({
        key: row?.key ?? "",
        next: { ...row?.value, until: "2099-01-01T00:00:00.000Z", since: instant(on.clock.now()) },
      }));
    expect([await ruling(on, windowed), await ruling(on, free)]).toEqual(["held", "held"]);
    expect(on.lines.filter(({ message }) => message.startsWith("remembered authority was changed"))).toHaveLength(2);
    expect((await on.desk.approvals.windows(ADA))[0]?.until).toBe("2099-01-01T00:00:00.000Z");
  });

  it("P-14 lasts no longer for a clock that was set back", async () => {
    const on = bench();
    const windowed = { holds: [holdFor({ window: "5m" })] };
    await on.channel.answer(await held(on, submissionOf(on, windowed)), "approve");
    on.clock.set(on.clock.now() - 1000);
    expect(await ruling(on, windowed)).toBe("held");
  });

  it("P-14 is listed as what it is, however little somebody put in", async () => {
    const on = bench();
    await put(on, "window", () => ({ key: "by hand", next: { principal: "ada", until: "2099-01-01T00:00:00.000Z" } }));
    await put(on, "grant", () => ({ key: "by hand", next: { principal: 7, until: 7 } }));
    await put(on, "kill", () => ({ key: "tool:x", next: { on: false } }));
    expect(await on.desk.approvals.windows(ADA)).toEqual([
      {
        id: "",
        kind: "window",
        principal: "ada",
        agent: null,
        covers: "",
        since: "",
        until: "2099-01-01T00:00:00.000Z",
        by: "",
        uses: 0,
      },
    ]);
    expect([await on.desk.approvals.grants(ADA), await on.desk.approvals.killed()]).toEqual([[], []]);
  });
});

describe("a payload that was erased", () => {
  const erased = (on: Bench): Bench =>
    beside(
      on,
      reading(on.store, (stored) => ({ ...stored, payload: null })),
    );

  it("P-13 is said on the card, which is not complete and cannot be approved", async () => {
    const on = bench();
    const id = await held(on, submissionOf(on, { statement: "please" }));
    const other = erased(on);
    const presented = await other.desk.approvals.card(id, ADA);
    expect(presented).toMatchObject({
      complete: false,
      view: "",
      card: {
        message: "the arguments of this request were erased",
        arguments: {},
        notes: [],
        statement: null,
        schema: null,
        effect: null,
      },
    });
    const { digest } = await viewOf(on, id, ADA);
    expect(await other.desk.approvals.decide(id, { verdict: "approve", digest, view: "" }, ADA)).toMatchObject({
      code: "stale_view",
    });
    expect((await standing(other, id)).arguments).toBeNull();
    expect(await other.desk.approvals.decide(id, { verdict: "reject", reason: "gone", digest, view: "" }, ADA)).toMatchObject({
      status: "rejected",
    });
  });

  it("P-10 gives no grant any more", async () => {
    const on = bench();
    const id = await held(on, submissionOf(on, { holds: [], tier: "read", requires: ["x"] }));
    const shown = await viewOf(on, id, ADA);
    expect(await erased(on).desk.approvals.decide(id, { verdict: "approve", ...shown }, ADA)).toMatchObject({
      counted: false,
      code: "context_changed",
    });
    expect([await rowsOf(on.store, "grant"), (await standing(on, id)).status]).toEqual([[], "pending"]);
  });

  it("says of an edit that it was one, without what it made of the call", async () => {
    const on = bench();
    const id = await held(on, submissionOf(on));
    await on.desk.approvals.edit(id, { ...(await viewOf(on, id, ADA)), arguments: { to: "x", amount: 1 } }, ADA);
    expect(await standing(erased(on), id)).toMatchObject({ arguments: null, edited: { by: "ada", arguments: {} } });
  });

  it("P-19 shows a result that was kept for a repeat to nobody else", async () => {
    const on = bench();
    const id = await held(on, submissionOf(on));
    const kept = beside(
      on,
      reading(on.store, ({ record, payload }) => ({
        record,
        payload: payload === null ? null : { ...payload, result: { value: 7 } },
      })),
    );
    expect(await standing(kept, id)).not.toHaveProperty("result");
  });
});

describe("a request that is gone", () => {
  it("P-15 is nobody's any more, at whatever moment it went", async () => {
    const on = bench();
    const submission = submissionOf(on);
    const id = await held(on, submission);
    let left = Number.POSITIVE_INFINITY;
    const store = reading(on.store, (stored) => (left-- > 0 ? stored : undefined));
    const other = beside(on, store);
    const shown = await viewOf(on, id, ADA);
    const reads = async (n: number, act: () => Promise<unknown>) => {
      left = n;
      return act();
    };
    expect(await reads(1, () => other.desk.approvals.decide(id, { verdict: "approve", ...shown }, ADA))).toMatchObject({
      found: false,
      code: "not_found",
    });
    expect(await reads(1, () => other.desk.approvals.cancel(id, ADA))).toMatchObject({
      found: true,
      status: null,
      counted: false,
    });
    expect(await reads(1, () => other.desk.approvals.reconcile(id, true, ADA))).toMatchObject({ status: null, counted: false });
    expect(await reads(2, () => other.desk.claim(id, evidenceOf(submission)))).toMatchObject({ ok: false, status: null });
    expect((await nodeEvents(other)).length).toBeGreaterThan(0);
    expect((await standing(on, id)).status).toBe("pending");
  });
});
