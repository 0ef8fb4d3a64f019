import assert from "node:assert/strict";
import type { Committed } from "../../core/index.ts";
import { all, plain } from "./desk.ts";
import type { StoreCase } from "./desk.ts";

const outcomes = (results: readonly Committed[]): readonly string[] => results.map((result) => (result.ok ? "ok" : result.why));
const count = (results: readonly Committed[], what: string): number =>
  outcomes(results).filter((outcome) => outcome === what).length;

const time: readonly StoreCase[] = [
  {
    name: "takes its time from the clock it was given",
    run: async (desk) => {
      assert.equal(await desk.store.now(), desk.at());
      await desk.clock.advance(1234);
      assert.equal(await desk.store.now(), desk.at());
    },
  },
  {
    name: "is too late at the deadline itself, and not a millisecond earlier",
    run: async (desk) => {
      const request = await desk.create();
      const before = desk.at(1000);
      await desk.clock.advance(999);
      await desk.must(desk.step(request, { status: "approved" }, { before }));
      await desk.clock.advance(1);
      const approved = (await desk.stored(request.id)).record;
      assert.deepEqual(plain(await desk.store.commit(desk.step(approved, { status: "claimed" }, { before }))), {
        ok: false,
        why: "too_late",
      });
      assert.equal((await desk.stored(request.id)).record.status, "approved");
    },
  },
  {
    name: "is too early up to the deadline, and no longer at the deadline itself",
    run: async (desk) => {
      const request = await desk.create();
      const notBefore = desk.at(1000);
      await desk.clock.advance(999);
      const early = desk.step(request, { status: "expired" }, { notBefore });
      assert.deepEqual(plain(await desk.store.commit(early)), { ok: false, why: "too_early" });
      await desk.clock.advance(1);
      await desk.must({ ...early, at: desk.at() });
    },
  },
  {
    name: "refuses a committer whose time is more than two seconds off, and says its own",
    run: async (desk) => {
      for (const ms of [2000, -2000]) await desk.must({ ...desk.creation(desk.request()), at: desk.at(ms) });
      for (const ms of [2001, -2001, 86_400_000]) {
        const request = desk.request();
        const result = await desk.store.commit({ ...desk.creation(request), at: desk.at(ms) });
        assert.deepEqual(plain(result), { ok: false, why: "clock_skew", now: desk.at() });
        assert.equal(await desk.store.read(request.id), undefined);
      }
    },
  },
  {
    name: "measures deadlines by its own clock, whatever jumps",
    run: async (desk) => {
      const request = await desk.create();
      const before = desk.at(60_000);
      const written = desk.step(request, { status: "approved" }, { before });
      desk.clock.set(desk.clock.now() + 120_000);
      assert.deepEqual(outcomes([await desk.store.commit(written)]), ["clock_skew"]);
      assert.deepEqual(outcomes([await desk.store.commit({ ...written, at: desk.at() })]), ["too_late"]);
      desk.clock.set(desk.clock.now() - 240_000);
      assert.deepEqual(outcomes([await desk.store.commit(written)]), ["clock_skew"]);
      assert.equal((await desk.stored(request.id)).record.status, "pending");
    },
  },
];

const kill: readonly StoreCase[] = [
  {
    name: "lets nothing through while a kill row that the commit names is on",
    run: async (desk) => {
      const approved = await desk.create({ status: "approved" });
      const claim = (): Promise<Committed> =>
        desk.store.commit(desk.step(approved, { status: "claimed" }, { unlessKilled: ["all", "tool:write_file"] }));
      await desk.put("kill", "tool:write_file", { on: true });
      assert.deepEqual(plain(await claim()), { ok: false, why: "killed" });
      await desk.put("kill", "tool:write_file", { on: false });
      await desk.put("kill", "all", { on: true });
      assert.deepEqual(outcomes([await claim()]), ["killed"]);
      await desk.put("kill", "all", { on: false });
      await desk.put("kill", "tool:other", { on: true });
      assert.deepEqual(outcomes([await claim()]), ["ok"]);
    },
  },
  {
    name: "takes a kill row that it cannot understand for one that is on",
    run: async (desk) => {
      for (const value of [{}, { on: null }, { on: "false" }, { on: 0 }]) {
        await desk.put("kill", "all", value);
        assert.deepEqual(outcomes([await desk.store.commit(desk.commit({ unlessKilled: ["all"] }))]), ["killed"]);
      }
    },
  },
  {
    name: "sees a kill that was committed just before, in the same turn",
    run: async (desk) => {
      const approved = await desk.create({ status: "approved" });
      const claim = desk.step(approved, { status: "claimed" }, { unlessKilled: ["all"] });
      const killing = desk.row("kill", "all", { expect: null, next: { on: true } });
      const results = await Promise.all([killing, claim].map((change) => desk.store.commit(change)));
      assert.deepEqual(outcomes(results), ["ok", "killed"]);
      assert.equal((await desk.stored(approved.id)).record.status, "approved");
    },
  },
];

const races: readonly StoreCase[] = [
  {
    name: "lets exactly one of a hundred answers to one revision win (A53)",
    run: async (desk) => {
      const request = await desk.create();
      const answers = Array.from({ length: 100 }, (_, n) =>
        desk.step(request, { status: n % 2 === 0 ? "approved" : "rejected" }),
      );
      const results = await Promise.all(answers.map((answer) => desk.store.commit(answer)));
      assert.equal(count(results, "ok"), 1);
      assert.equal(count(results, "conflict"), 99);
      assert.equal((await desk.stored(request.id)).record.rev, 2);
      assert.equal((await all(desk.store.journal(`request/${request.id}`))).length, 2);
    },
  },
  {
    name: "lets exactly one of a hundred executors claim, and spends a window once",
    run: async (desk) => {
      const approved = await desk.create({ status: "approved" });
      await desk.put("window", "w", { uses: 0 });
      const claims = Array.from({ length: 100 }, (_, n) =>
        desk.step(
          approved,
          { status: "claimed", lane: `executor ${n}` },
          { rows: [{ kind: "window", key: "w", expect: 1, next: { uses: 1 } }] },
        ),
      );
      assert.equal(count(await Promise.all(claims.map((claim) => desk.store.commit(claim))), "ok"), 1);
      assert.equal((await desk.store.row("window", "w"))?.rev, 2);
    },
  },
  {
    name: "keeps commits of one turn apart: those that fit succeed beside those that do not, of which nothing stays",
    run: async (desk) => {
      await desk.put("window", "w", { uses: 0 });
      const good = Array.from({ length: 25 }, () => desk.creation(desk.request()));
      // Each fits until its very last part.
      const spend = { kind: "window", key: "w", expect: 7, next: { uses: 1 } } as const;
      const bad = good.map((_, n) => {
        const change = desk.creation(desk.request());
        return { ...change, rows: [...change.rows, { kind: "token", key: `t${n}`, expect: null, next: {} } as const, spend] };
      });
      const mixed = good.flatMap((change, n) => [change, bad[n] ?? change]);
      const results = await Promise.all(mixed.map((change) => desk.store.commit(change)));
      assert.deepEqual(
        outcomes(results),
        mixed.map((_, n) => (n % 2 === 0 ? "ok" : "conflict")),
      );
      const listed = (await all(desk.store.find({}))).map(({ record }) => record.id);
      assert.deepEqual(
        listed,
        good.map(({ records }) => records[0]?.id),
      );
      assert.deepEqual(await all(desk.store.rows({ kind: "token" })), []);
      for (const { entries } of bad) assert.deepEqual(await all(desk.store.journal(entries[0]?.stream ?? "")), []);
      const again = bad.map((change) => desk.store.commit({ ...change, rows: change.rows.slice(0, 2) }));
      assert.equal(count(await Promise.all(again), "ok"), 25);
    },
  },
  {
    name: "makes one effect of one key that comes many times at once",
    run: async (desk) => {
      const change = desk.creation(desk.request());
      const results = await Promise.all(Array.from({ length: 20 }, () => desk.store.commit(change)));
      assert.equal(count(results, "ok"), 20);
      assert.equal(new Set(results.map((result) => JSON.stringify(result))).size, 1);
    },
  },
];

export const GUARD_CASES: readonly StoreCase[] = [...time, ...kill, ...races];
