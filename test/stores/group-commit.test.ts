import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import type { SqliteChanges, SqliteClient } from "../../src/stores/sqlite/index.ts";
import { deskOn, newPath } from "./crew.ts";

/** Counts the transactions that a store commits, each of which is one sync of the disk. */
function counting(count: { commits: number }): (file: string) => SqliteClient {
  return (file) => {
    const real = new DatabaseSync(file);
    return {
      exec: (sql) => real.exec(sql),
      close: () => real.close(),
      prepare: (sql) => {
        const statement = real.prepare(sql);
        if (sql !== "COMMIT") return statement;
        const run = (): SqliteChanges => {
          count.commits++;
          return statement.run();
        };
        return { get: (...values) => statement.get(...values), all: (...values) => statement.all(...values), run };
      },
    };
  };
}

describe("group commit", () => {
  it("makes one transaction of all commits of one turn, and of each turn of 64 that go on together", async () => {
    const count = { commits: 0 };
    const desk = deskOn(newPath(), { open: counting(count) });
    await desk.create();
    count.commits = 0;
    const requests = await Promise.all(Array.from({ length: 64 }, () => desk.create()));
    expect(count.commits).toBe(1);
    await Promise.all(
      requests.map(async (request) => {
        await desk.must(desk.step(request, { status: "approved" }));
        await desk.must(desk.step((await desk.stored(request.id)).record, { status: "claimed" }));
      }),
    );
    expect(count.commits).toBe(3);
  });

  it("settles a caller only when the shared transaction is durable", async () => {
    const path = newPath();
    const desk = deskOn(path);
    await desk.create();
    const other = new DatabaseSync(path);
    const visible = other.prepare("SELECT count(*) AS n FROM requests");
    const seen = await Promise.all(
      Array.from({ length: 10 }, async () => {
        await desk.create();
        return (visible.get() as { n: number }).n;
      }),
    );
    other.close();
    expect(seen).toEqual(Array(10).fill(11));
  });

  it("splits what is too much for one lock, and commits all of it", async () => {
    const count = { commits: 0 };
    const desk = deskOn(newPath(), { open: counting(count) });
    await desk.create();
    count.commits = 0;
    await Promise.all(Array.from({ length: 600 }, (_, n) => desk.put("token", `t${n}`, {})));
    expect(count.commits).toBe(3);
  });

  it("finishes what was submitted before the store was closed", async () => {
    const path = newPath();
    const desk = deskOn(path);
    const made = [desk.create(), desk.create()];
    await desk.store.close();
    const ids = (await Promise.all(made)).map(({ id }) => id);
    for (const id of ids) expect((await deskOn(path).stored(id)).record.id).toBe(id);
  });

  it("keeps a commit's text as it was submitted, whatever its caller does before the turn ends", async () => {
    const desk = deskOn(newPath());
    const request = desk.request();
    const payload = { ...desk.payload(request.id), arguments: { to: "ada" } };
    const submitted = desk.must(desk.creation(request, payload));
    payload.arguments.to = "eve";
    await submitted;
    expect((await desk.stored(request.id)).payload?.arguments).toEqual({ to: "ada" });
  });

  it("forgets keys of commits after a day, never before, and never the newest", async () => {
    const path = newPath();
    const desk = deskOn(path);
    const old = desk.creation(desk.request());
    await desk.must(old);
    const rowsOf = async (from: number): Promise<void> => {
      await Promise.all(Array.from({ length: 1200 }, (_, n) => desk.put("token", `t${from + n}`, {})));
    };
    await rowsOf(0);
    const before = await desk.store.commit(old);
    expect(before.ok).toBe(true);
    await desk.clock.advance(86_400_000 + 1);
    await rowsOf(1200);
    const other = new DatabaseSync(path);
    const { rows, keys } = other.prepare("SELECT count(*) AS rows, count(key) AS keys FROM commits").get() as {
      rows: number;
      keys: number;
    };
    other.close();
    expect(keys).toBeLessThan(1700);
    expect(keys).toBeGreaterThanOrEqual(1000);
    // The request's own commit stays, because its entry does; the others held none.
    expect(rows).toBe(keys + 1);
    expect((await desk.stored(old.records[0]?.id ?? "")).record.status).toBe("pending");
  });
});
