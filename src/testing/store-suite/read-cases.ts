import assert from "node:assert/strict";
import type { RecordQuery, Store } from "../../core/index.ts";
import { all, plain } from "./desk.ts";
import type { StoreCase } from "./desk.ts";

const ids = async (store: Store, query: RecordQuery): Promise<readonly string[]> =>
  (await all(store.find(query))).map(({ record }) => record.id);

const lists: readonly StoreCase[] = [
  {
    name: "lists requests in the order of their creation, not of their ids or their changes",
    run: async (desk) => {
      const second = desk.request();
      const first = desk.request();
      for (const request of [first, second]) await desk.must(desk.creation(request));
      await desk.must(desk.step(first, { parked: true }));
      assert.deepEqual(await ids(desk.store, {}), [first.id, second.id]);
    },
  },
  {
    name: "goes on after a cursor and stops at a limit, while requests come and change",
    run: async (desk) => {
      const made = [];
      for (let n = 0; n < 7; n++) made.push(await desk.create());
      const expected = made.map(({ id }) => id);
      const seen: string[] = [];
      let after = "";
      for (let page = 0; page < 5; page++) {
        const list = await all(desk.store.find({ after, limit: 2 }));
        seen.push(...list.map(({ record }) => record.id));
        after = list.at(-1)?.cursor ?? after;
        const oldest = made[page];
        if (oldest !== undefined) await desk.must(desk.step(oldest, { status: "rejected" }));
        if (page === 0) expected.push((await desk.create()).id);
      }
      assert.deepEqual(seen, expected);
      assert.deepEqual(await ids(desk.store, { limit: 0 }), []);
      await assert.rejects(all(desk.store.find({ after: "not a cursor" })), RangeError);
    },
  },
  {
    name: "selects by status, and forgets none that moved",
    run: async (desk) => {
      const [one, two, three] = [await desk.create(), await desk.create(), await desk.create()];
      await desk.must(desk.step(one, { status: "rejected" }));
      await desk.must(desk.step(two, { status: "approved" }));
      assert.deepEqual(await ids(desk.store, { status: ["pending"] }), [three.id]);
      assert.deepEqual(await ids(desk.store, { status: ["approved", "pending"] }), [two.id, three.id]);
      assert.deepEqual(await ids(desk.store, { status: ["rejected"] }), [one.id]);
      assert.deepEqual(await ids(desk.store, { status: ["pending", "rejected"] }), [one.id, three.id]);
      assert.deepEqual(await ids(desk.store, { status: [] }), []);
    },
  },
  {
    name: "selects by kind, tenant and thread",
    run: async (desk) => {
      const blank = desk.request();
      const grant = await desk.create({ kind: "grant" });
      const tenant = await desk.create({ tenant: "acme" });
      const thread = await desk.create({ requester: { ...blank.requester, thread: "t1" } });
      assert.deepEqual(await ids(desk.store, { kind: "grant" }), [grant.id]);
      assert.deepEqual(await ids(desk.store, { tenant: "acme" }), [tenant.id]);
      assert.deepEqual(await ids(desk.store, { thread: "t1" }), [thread.id]);
      assert.deepEqual(await ids(desk.store, { thread: "t1", status: ["pending"], tenant: "acme" }), []);
    },
  },
  {
    name: "selects by the beginning of an id, signs of other languages' patterns included",
    run: async (desk) => {
      for (const id of ["ab-1", "ab-2", "ac-1", "a%-1", "a_-1", "a*-1"]) await desk.create({ id });
      assert.deepEqual(await ids(desk.store, { idPrefix: "ab" }), ["ab-1", "ab-2"]);
      assert.deepEqual(await ids(desk.store, { idPrefix: "AB" }), []);
      for (const sign of ["%", "_", "*"]) assert.deepEqual(await ids(desk.store, { idPrefix: `a${sign}` }), [`a${sign}-1`]);
    },
  },
  {
    name: "selects a request with all that edits made of it",
    run: async (desk) => {
      const root = await desk.create();
      await desk.create();
      const next = await desk.create({ root: root.id, supersedes: root.id });
      const last = await desk.create({ root: root.id, supersedes: next.id });
      assert.deepEqual(await ids(desk.store, { root: root.id }), [root.id, next.id, last.id]);
      assert.deepEqual(await ids(desk.store, { root: root.id, status: ["approved"] }), []);
    },
  },
  {
    name: "lists rows of one kind by key and by the beginning of a key",
    run: async (desk) => {
      const keys = ["a/1", "a/2", "a%", "a_", "b/1", "ä", "a/", "\u{1f600}"];
      for (const key of keys) await desk.put("delivery", key, { key });
      await desk.put("grant", "a/3", {});
      const list = async (keyPrefix?: string): Promise<readonly string[]> =>
        (await all(desk.store.rows(keyPrefix === undefined ? { kind: "delivery" } : { kind: "delivery", keyPrefix }))).map(
          ({ key }) => key,
        );
      assert.deepEqual([...(await list())].sort(), [...keys].sort());
      assert.deepEqual(await list("a/"), ["a/", "a/1", "a/2"]);
      await desk.must(desk.row("delivery", "a/1", { expect: 1, next: null }));
      await desk.put("delivery", "a/0", {});
      await desk.put("delivery", "a/2", { again: true });
      assert.deepEqual(await list("a/"), ["a/", "a/0", "a/2"]);
      assert.deepEqual(await list("a%"), ["a%"]);
      assert.deepEqual(await list("zz"), []);
    },
  },
  {
    name: "lists more than one page of rows and requests",
    run: async (desk) => {
      const many = Array.from({ length: 450 }, () => desk.request());
      await Promise.all(many.map((request) => desk.must(desk.creation(request))));
      assert.equal((await ids(desk.store, { status: ["pending"] })).length, 450);
      assert.equal((await all(desk.store.rows({ kind: "payload" }))).length, 450);
    },
  },
];

const reopened: readonly StoreCase[] = [
  {
    name: "has everything again after the end of every process: records, payloads, rows, journal, keys, leases",
    needs: "reopen",
    run: async (desk) => {
      const request = await desk.create();
      const change = desk.step(request, { status: "approved" });
      const first = await desk.must(change);
      await desk.put("window", "w", { uses: 1 });
      const [lease] = await desk.store.lease("sweep", "one", 1, 60_000);
      const before = plain([
        await desk.store.read(request.id),
        await all(desk.store.journal(`request/${request.id}`)),
        await desk.store.row("window", "w"),
      ]);
      const store = await desk.under.reopen?.();
      assert.ok(store !== undefined && lease !== undefined);
      assert.deepEqual(
        plain([await store.read(request.id), await all(store.journal(`request/${request.id}`)), await store.row("window", "w")]),
        before,
      );
      assert.deepEqual(plain(await store.commit(change)), plain(first));
      assert.deepEqual(await store.lease("sweep", "two", 1, 60_000), []);
      await desk.clock.advance(60_000);
      const [taken] = await store.lease("sweep", "two", 1, 60_000);
      assert.ok(taken !== undefined && taken.fence > lease.fence);
    },
  },
  {
    name: "says that it is closed instead of answering",
    run: async (desk) => {
      await desk.store.close();
      await desk.store.close();
      const change = desk.creation(desk.request());
      const closed = { code: "store_unavailable" };
      await assert.rejects(async () => desk.store.read("x"), closed);
      await assert.rejects(async () => desk.store.commit(change), closed);
      await assert.rejects(async () => all(desk.store.find({})), closed);
    },
  },
];

export const READ_CASES: readonly StoreCase[] = [...lists, ...reopened];
