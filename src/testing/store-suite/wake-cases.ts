import assert from "node:assert/strict";
import type { Instant, Leased, Store } from "../../core/index.ts";
import { plus } from "../../core/index.ts";
import { Listener, told } from "./desk.ts";
import type { StoreCase } from "./desk.ts";

const keysOf = (leased: readonly Leased[]): readonly string[] => leased.map(({ key }) => key);

const leases: readonly StoreCase[] = [
  {
    name: "gives one sweep and one sequencer to one owner at a time, and a growing fence to the next",
    run: async ({ store, clock }) => {
      for (const kind of ["sweep", "sequence"] as const) {
        const [mine] = await store.lease(kind, "one", 5, 1000);
        assert.ok(mine !== undefined);
        assert.equal(mine.until, plus(await store.now(), 1000));
        assert.deepEqual(await store.lease(kind, "two", 5, 1000), []);
        await clock.advance(999);
        assert.deepEqual(await store.lease(kind, "two", 5, 1000), []);
        await clock.advance(1);
        const [theirs] = await store.lease(kind, "two", 5, 1000);
        assert.ok(theirs !== undefined && theirs.fence > mine.fence);
        assert.deepEqual(await store.lease(kind, "one", 5, 1000), []);
      }
    },
  },
  {
    name: "prolongs an owner's own lease",
    run: async ({ store, clock }) => {
      const [first] = await store.lease("sweep", "one", 1, 1000);
      await clock.advance(900);
      const [again] = await store.lease("sweep", "one", 1, 1000);
      assert.ok(first !== undefined && again !== undefined && again.fence === first.fence);
      await clock.advance(900);
      assert.deepEqual(await store.lease("sweep", "two", 1, 1000), []);
    },
  },
  {
    name: "gives out deliveries whose time has come, the longest due first, up to a number",
    run: async (desk) => {
      const due = (key: string, dueAt: Instant | null): Promise<void> => desk.put("delivery", key, { dueAt });
      await due("later", desk.at(5000));
      await due("b", desk.at(-1000));
      await due("a", desk.at(-500));
      await due("now", desk.at());
      await due("done", null);
      assert.deepEqual(keysOf(await desk.store.lease("delivery", "one", 2, 60_000)), ["b", "a"]);
      assert.deepEqual(keysOf(await desk.store.lease("delivery", "two", 9, 60_000)), ["now"]);
      await due("now", null);
      await desk.clock.advance(5000);
      assert.deepEqual(keysOf(await desk.store.lease("delivery", "two", 9, 60_000)), ["later"]);
      // Done and due again: nobody holds it any more.
      await due("later", null);
      await due("later", desk.at());
      assert.deepEqual(keysOf(await desk.store.lease("delivery", "three", 9, 1000)), ["later"]);
      await due("later", null);
      await desk.clock.advance(55_000);
      assert.deepEqual(keysOf(await desk.store.lease("delivery", "three", 9, 60_000)), ["b", "a"]);
    },
  },
  {
    name: "gives out lanes in which something is approved",
    run: async (desk) => {
      await desk.create({ lane: "waiting" });
      const one = await desk.create({ lane: "ready", status: "approved" });
      await desk.create({ lane: "ready", status: "approved" });
      await desk.create({ lane: "over", status: "succeeded" });
      await desk.create({ status: "approved" });
      assert.deepEqual(keysOf(await desk.store.lease("lane", "one", 9, 1000)), ["ready"]);
      assert.deepEqual(await desk.store.lease("lane", "two", 9, 1000), []);
      await desk.clock.advance(1000);
      await desk.must(desk.step(one, { status: "claimed" }));
      assert.deepEqual(keysOf(await desk.store.lease("lane", "two", 9, 1000)), ["ready"]);
    },
  },
  {
    name: "never gives one delivery to two owners who ask at once",
    run: async (desk) => {
      for (let n = 0; n < 20; n++) await desk.put("delivery", `d${n}`, { dueAt: desk.at() });
      const taken = await Promise.all(Array.from({ length: 10 }, (_, n) => desk.store.lease("delivery", `owner ${n}`, 3, 1000)));
      const keys = taken.flatMap(keysOf);
      assert.equal(keys.length, 20);
      assert.equal(new Set(keys).size, 20);
      assert.equal(new Set(taken.flat().map(({ fence }) => fence)).size, 20);
    },
  },
];

/** Commits `many` requests and insists that each is hinted: by name, or by a later "look at everything". */
async function losesNothing(listener: Listener, ids: readonly string[]): Promise<void> {
  const unseen = new Set(ids);
  let read = 0;
  await listener.until((hints) => {
    for (; read < hints.length; read++) {
      const named = hints[read]?.ids ?? [];
      if (named.length === 0) unseen.clear();
      for (const id of named) unseen.delete(id);
    }
    return unseen.size === 0;
  }, `${unseen.size} of ${ids.length} commits were never hinted`);
}

const watching: readonly StoreCase[] = [
  {
    name: "hints every commit after the watch began",
    run: async (desk) => {
      const listener = new Listener(desk.store, "");
      const made = [];
      for (let n = 0; n < 50; n++) made.push((await desk.create()).id);
      await losesNothing(listener, made);
      await desk.must(desk.row("grant", "a grant", { expect: null, next: {} }));
      await listener.until(told("a grant"), "a row's change");
      await listener.stop();
    },
  },
  {
    name: "hints what was committed between a cursor and the watch that starts at it",
    run: async (desk) => {
      const { cursor } = await desk.must(desk.creation(desk.request()));
      const between = await desk.create();
      const listener = new Listener(desk.store, cursor);
      await listener.until(told(between.id), "a commit before the watch");
      await listener.stop();
    },
  },
  {
    name: "hints what is committed before the first hint is asked for, and nothing when nothing is",
    run: async (desk) => {
      const { cursor } = await desk.must(desk.creation(desk.request()));
      const abort = new AbortController();
      const hints = desk.store.watch(cursor, abort.signal)[Symbol.asyncIterator]();
      const next = await desk.create();
      const first = await hints.next();
      assert.ok(first.done !== true && told(next.id)([first.value]));
      abort.abort();
      assert.equal((await hints.next()).done, true);
    },
  },
  {
    name: "ends a watch at its signal, also one that was given already, and at the end of the store",
    run: async (desk) => {
      const already = new AbortController();
      already.abort();
      for await (const hint of desk.store.watch("", already.signal)) assert.fail(`a hint after the end: ${hint.cursor}`);
      const aborted = new Listener(desk.store, "");
      await aborted.stop();
      const closed = new Listener(desk.store, "");
      await desk.store.close();
      await closed.ended;
    },
  },
  {
    name: "loses no wake-up between two handles on one truth, and both see one winner",
    needs: "second",
    run: async (desk) => {
      const other = (await desk.under.second?.()) as Store;
      const listener = new Listener(other, "");
      const made = [];
      for (let n = 0; n < 100; n++) made.push((await desk.create()).id);
      // Both in one turn: the one handle's news must not cover up the other's.
      for (let n = 0; n < 20; n++) {
        const pair = [desk.creation(desk.request()), desk.creation(desk.request())] as const;
        await Promise.all([desk.store.commit(pair[0]), other.commit(pair[1])]);
        for (const { records } of pair) made.push(records[0]?.id ?? "");
      }
      await losesNothing(listener, made);
      const request = (await desk.stored(made[0] as string)).record;
      const answers = [desk.store, other, desk.store, other].map((store) =>
        store.commit(desk.step(request, { status: "approved" })),
      );
      assert.equal((await Promise.all(answers)).filter(({ ok }) => ok).length, 1);
      assert.equal((await other.read(request.id))?.record.status, "approved");
      await listener.stop();
      await other.close();
    },
  },
];

export const WAKE_CASES: readonly StoreCase[] = [...leases, ...watching];
