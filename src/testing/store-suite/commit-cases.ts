import assert from "node:assert/strict";
import type { ApprovalRequest, Commit, JsonObject } from "../../core/index.ts";
import { all, hashOf, plain } from "./desk.ts";
import type { StoreCase, SuiteDesk } from "./desk.ts";

const CONFLICT = { ok: false, why: "conflict" };

/** Commits, insists on the refusal, and insists that nothing at all has changed. */
async function refused(desk: SuiteDesk, change: Commit, result: unknown = CONFLICT): Promise<void> {
  const ids = change.records.map(({ id }) => id);
  const before = await desk.everything(ids, change.rows);
  assert.deepEqual(plain(await desk.store.commit(change)), result);
  assert.deepEqual(await desk.everything(ids, change.rows), before, "a refused commit changed something");
}

const edit = (desk: SuiteDesk, old: ApprovalRequest, next: ApprovalRequest): Commit => {
  const end = desk.step(old, { status: "cancelled", supersededBy: next.id });
  const begin = desk.creation(next);
  return { ...begin, records: [...end.records, ...begin.records], entries: [...end.entries, ...begin.entries] };
};

const HOSTILE: JsonObject = JSON.parse(
  '{"__proto__":{"polluted":true},"constructor":"x","":"empty key","quote\'\\"":"\\u0000nul","emoji":"👩‍👧 \\u202e","deep":[[[{"a":[]}]]],"n":-1.5e-7,"zero":0}',
);

const unexpected: readonly StoreCase[] = [
  {
    name: "keeps a new request with its payload and first entry, and gives them back as they were",
    run: async (desk) => {
      const request = desk.request();
      const payload = desk.payload(request.id, { arguments: HOSTILE, reasons: { d1: "because" } });
      const change = desk.creation(request, payload);
      await desk.must(change);
      assert.deepEqual(plain(await desk.store.read(request.id)), plain({ record: request, payload }));
      assert.deepEqual(plain(await all(desk.store.journal(`request/${request.id}`))), plain(change.entries));
      assert.ok(
        Object.hasOwn((await desk.stored(request.id)).payload?.arguments ?? {}, "__proto__"),
        "an own __proto__ was lost",
      );
    },
  },
  {
    name: "knows nothing of a request, row or stream that nobody stored",
    run: async (desk) => {
      assert.equal(await desk.store.read("nobody"), undefined);
      assert.equal(await desk.store.row("window", "nobody"), undefined);
      assert.deepEqual(await all(desk.store.journal("request/nobody")), []);
    },
  },
  {
    name: "gives null for the payload of a request that has none",
    run: async (desk) => {
      const request = desk.request();
      await desk.must({ ...desk.creation(request), rows: [] });
      assert.equal((await desk.stored(request.id)).payload, null);
    },
  },
  {
    name: "refuses a second request under an id that is taken",
    run: async (desk) => {
      const request = await desk.create();
      const twin = { ...desk.creation(request), key: "another key" };
      await refused(desk, twin);
      await refused(desk, { ...twin, rows: [], entries: [], key: "a third key" });
    },
  },
  {
    name: "compares revision and head before it sets",
    run: async (desk) => {
      const first = await desk.create();
      const second = desk.step(first, { status: "approved" });
      await desk.must(second);
      await refused(desk, { ...desk.step(first, { status: "rejected" }), key: "old revision" });
      const now = (await desk.stored(first.id)).record;
      assert.equal(now.status, "approved");
      const step = desk.step(now, { status: "claimed" });
      await refused(desk, {
        ...step,
        records: step.records.map((r) => ({ ...r, expect: { rev: now.rev, head: first.head } })),
        entries: [],
      });
      const ahead = { ...now, rev: now.rev + 1 };
      await refused(desk, { ...desk.step(ahead, { status: "claimed" }), entries: [] });
      await desk.must(step);
    },
  },
  {
    name: "refuses a change of a request that does not exist",
    run: async (desk) => refused(desk, desk.step(desk.request(), { status: "approved" })),
  },
  {
    name: "prolongs a lease without a revision or an entry of its own, and under the expected revision only",
    run: async (desk) => {
      const first = await desk.create();
      const lease = { until: desk.at(60_000), holder: "gate" };
      const prolong = (from: ApprovalRequest): Commit =>
        desk.commit({ records: [{ id: from.id, expect: { rev: from.rev, head: from.head }, next: { ...from, lease } }] });
      await desk.must(prolong(first));
      assert.deepEqual(plain((await desk.stored(first.id)).record), plain({ ...first, lease }));
      await desk.must(desk.step(first, { status: "approved" }));
      await refused(desk, prolong(first));
    },
  },
  {
    name: "ends one request and opens its successor in one commit",
    run: async (desk) => {
      const old = await desk.create();
      const next = desk.request({ root: old.id, supersedes: old.id });
      await desk.must(edit(desk, old, next));
      assert.equal((await desk.stored(old.id)).record.status, "cancelled");
      assert.deepEqual(plain((await desk.stored(next.id)).record), plain(next));
    },
  },
  {
    name: "changes nothing of a commit of which one part does not fit: record, row or entry",
    run: async (desk) => {
      const old = await desk.create();
      const taken = await desk.create();
      await desk.put("window", "w", { uses: 1 });
      const good = edit(desk, old, desk.request({ root: old.id, supersedes: old.id }));
      await refused(desk, { ...edit(desk, old, desk.request({ id: taken.id, root: old.id })), key: "edit into a taken id" });
      await refused(desk, { ...good, rows: [...good.rows, { kind: "window", key: "w", expect: 7, next: { uses: 2 } }] });
      await refused(desk, {
        ...good,
        rows: [
          { kind: "token", key: "new", expect: null, next: {} },
          { kind: "window", key: "w", expect: null, next: {} },
        ],
      });
      await refused(desk, { ...good, entries: good.entries.map((entry, at) => (at === 0 ? { ...entry, n: 5 } : entry)) });
      await desk.must(good);
    },
  },
];

const keys: readonly StoreCase[] = [
  {
    name: "answers a repeated key with the first result and changes nothing (committed, but the answer was lost)",
    run: async (desk) => {
      const request = await desk.create();
      const change = desk.step(request, { status: "approved" });
      const first = await desk.must(change);
      assert.deepEqual(plain(await desk.store.commit(change)), plain(first));
      const now = (await desk.stored(request.id)).record;
      await desk.must(desk.step(now, { status: "claimed" }));
      const other = { ...desk.step(now, { status: "rejected" }), key: change.key };
      assert.deepEqual(plain(await desk.store.commit(other)), plain(first));
      assert.equal((await desk.stored(request.id)).record.status, "claimed");
    },
  },
  {
    name: "answers a repeated key before it looks at time, kill switch or expectations",
    run: async (desk) => {
      const change = { ...desk.creation(desk.request()), before: desk.at(1000), unlessKilled: ["all"] as const };
      const first = await desk.must(change);
      await desk.put("kill", "all", { on: true });
      await desk.clock.advance(5000);
      assert.deepEqual(plain(await desk.store.commit(change)), plain(first));
    },
  },
  {
    name: "does not remember the key of a commit that it refused",
    run: async (desk) => {
      const request = await desk.create();
      const wrong = { ...desk.step({ ...request, rev: 9 }, { status: "approved" }), key: "decision 1" };
      await refused(desk, wrong);
      await desk.must({ ...desk.step(request, { status: "approved" }), key: "decision 1" });
    },
  },
];

const rows: readonly StoreCase[] = [
  {
    name: "inserts, changes and removes rows by their revision",
    run: async (desk) => {
      const { store } = desk;
      await desk.must(desk.row("window", "w", { expect: null, next: { uses: 1 } }));
      assert.deepEqual(plain(await store.row("window", "w")), { kind: "window", key: "w", rev: 1, value: { uses: 1 } });
      await refused(desk, desk.row("window", "w", { expect: null, next: { uses: 9 } }));
      await desk.must(desk.row("window", "w", { expect: 1, next: { uses: 2 } }));
      await refused(desk, desk.row("window", "w", { expect: 1, next: { uses: 9 } }));
      await refused(desk, desk.row("window", "w", { expect: 1, next: null }));
      assert.equal((await store.row("window", "w"))?.rev, 2);
      await desk.must(desk.row("window", "w", { expect: 2, next: null }));
      assert.equal(await store.row("window", "w"), undefined);
      await refused(desk, desk.row("window", "w", { expect: 2, next: { uses: 3 } }));
      await desk.must(desk.row("window", "w", { expect: null, next: { uses: 1 } }));
    },
  },
  {
    name: "keeps rows of the same key and another kind apart",
    run: async (desk) => {
      await desk.put("window", "same", { is: "window" });
      await desk.put("grant", "same", { is: "grant" });
      await desk.must(desk.row("window", "same", { expect: 1, next: null }));
      assert.deepEqual(plain((await desk.store.row("grant", "same"))?.value), { is: "grant" });
    },
  },
  {
    name: "erases a payload and keeps its request",
    run: async (desk) => {
      const request = await desk.create();
      await desk.must(desk.row("payload", request.id, { expect: 1, next: null }));
      assert.deepEqual(plain(await desk.stored(request.id)), plain({ record: request, payload: null }));
      assert.equal(await desk.store.row("payload", request.id), undefined);
    },
  },
  {
    name: "changes a payload by its own revision, and takes none for a request that is not there",
    run: async (desk) => {
      const request = await desk.create();
      const value = (note: string): JsonObject => plain(desk.payload(request.id, { arguments: { note } })) as JsonObject;
      await refused(desk, desk.row("payload", request.id, { expect: null, next: value("twice") }));
      await refused(desk, desk.row("payload", request.id, { expect: 2, next: value("wrong") }));
      await desk.must(desk.row("payload", request.id, { expect: 1, next: value("second") }));
      assert.deepEqual(plain((await desk.stored(request.id)).payload), value("second"));
      assert.deepEqual(plain(await desk.store.row("payload", request.id)), {
        kind: "payload",
        key: request.id,
        rev: 2,
        value: value("second"),
      });
      await refused(desk, desk.row("payload", request.id, { expect: 1, next: null }));
      await refused(desk, desk.row("payload", "nobody", { expect: null, next: { ...value("x"), request: "nobody" } }));
      assert.deepEqual(
        (await all(desk.store.rows({ kind: "payload" }))).map(({ key, rev }) => [key, rev]),
        [[request.id, 2]],
      );
    },
  },
  {
    name: "gives out values that nobody can change, and keeps none that somebody else can",
    run: async (desk) => {
      const request = desk.request();
      const payload = { ...desk.payload(request.id), arguments: { list: ["first"] } };
      await desk.must(desk.creation(request, payload));
      const tamper = (value: unknown): void =>
        void Reflect.set((value as { arguments: { list: string[] } }).arguments.list, 0, "changed");
      tamper(payload);
      tamper((await desk.stored(request.id)).payload);
      Reflect.set((await desk.stored(request.id)).record, "status", "approved");
      const again = await desk.stored(request.id);
      assert.deepEqual(plain(again.payload?.arguments), { list: ["first"] });
      assert.equal(again.record.status, "pending");
      assert.ok(
        Object.isFrozen(again.record.terms.clauses[0]) && Object.isFrozen(again.payload?.arguments.list),
        "not frozen whole",
      );
    },
  },
];

const journal: readonly StoreCase[] = [
  {
    name: "numbers a request's entries without a gap, each after the head that the record names",
    run: async (desk) => {
      const request = await desk.create();
      const step = desk.step(request, { status: "approved" });
      const [entry] = step.entries;
      assert.ok(entry !== undefined);
      await refused(desk, { ...step, entries: [{ ...entry, n: 0 }] });
      await refused(desk, { ...step, entries: [{ ...entry, n: 2 }] });
      await refused(desk, { ...step, entries: [{ ...entry, prev: request.digest }] });
      await refused(desk, { ...step, entries: [{ ...entry, prev: null }] });
      await desk.must({ ...step, entries: [entry, { ...entry, n: 2, prev: hashOf(entry) }] });
      assert.deepEqual(
        (await all(desk.store.journal(entry.stream))).map(({ n }) => n),
        [0, 1, 2],
      );
    },
  },
  {
    name: "numbers the entries of a process without a gap, whoever submits first",
    run: async (desk) => {
      const entry = {
        ...desk.entry({ id: "", rev: 1 }, "call.denied", { n: 0, prev: null }),
        stream: "node/p1" as const,
        rev: null,
      };
      const next = { ...entry, n: 1, prev: hashOf(entry) };
      await refused(desk, desk.commit({ entries: [next] }));
      await desk.must(desk.commit({ entries: [entry, next] }));
      await refused(desk, desk.commit({ entries: [next] }));
      await desk.must(desk.commit({ entries: [{ ...next, n: 2, prev: hashOf(next) }] }));
      assert.equal((await all(desk.store.journal("node/p1"))).length, 3);
    },
  },
  {
    name: "throws at a commit that contradicts itself, instead of a conflict that would be tried again for ever",
    run: async (desk) => {
      const request = await desk.create();
      const step = desk.step(request, { status: "approved" });
      const [record] = step.records;
      assert.ok(record !== undefined);
      const same = { ...record, next: { ...record.next, rev: request.rev } };
      const contradictions: readonly Partial<Commit>[] = [
        { records: [same] },
        { records: [{ ...same, next: { ...same.next, rev: 0 } }], entries: [] },
        { records: [same], entries: [] },
        { records: [record, record] },
        { records: [{ ...record, next: { ...record.next, id: "other" } }] },
        { records: [] },
        { key: "" },
        { rows: [1, 2].map(() => ({ kind: "grant", key: "g", expect: null, next: {} }) as const) },
      ];
      for (const wrong of contradictions) await assert.rejects(desk.store.commit({ ...step, ...wrong }), Error);
      assert.deepEqual(plain((await desk.stored(request.id)).record), plain(request));
    },
  },
];

export const COMMIT_CASES: readonly StoreCase[] = [...unexpected, ...keys, ...rows, ...journal];
