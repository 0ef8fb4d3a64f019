import { chmodSync, copyFileSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { sqliteStore } from "../../src/stores/sqlite/index.ts";
import type { SqliteChanges, SqliteClient } from "../../src/stores/sqlite/index.ts";
import type { SuiteDesk } from "../../src/testing/index.ts";
import { deskOn, newPath, Worker } from "./crew.ts";

/** Another hand on the file: a shell, a backup, an older or newer release. */
function meddle(path: string, sql: string): void {
  const raw = new DatabaseSync(path);
  raw.exec(sql);
  raw.close();
}

/** The refusal of a store that cannot be used: its code, and a message that names the next step. */
const unavailable = (message: RegExp, code = "store_unavailable"): object =>
  expect.objectContaining({ code, message: expect.stringMatching(message) });

const all = async (desk: SuiteDesk): Promise<readonly string[]> => {
  const ids: string[] = [];
  for await (const { record } of desk.store.find({})) ids.push(record.id);
  return ids;
};

describe("a store file that cannot be used (A96, A97, A103, P-15)", () => {
  it("says which option is wrong before it opens anything", () => {
    for (const path of ["", "a\0b"]) expect(() => sqliteStore(path)).toThrow(/needs the path of a file/);
    for (const path of [":memory:", "file:x.db?mode=ro"]) expect(() => sqliteStore({ path })).toThrow(/use memoryStore\(\)/);
    expect(() => sqliteStore({ path: "x.db", lockedFor: -1 })).toThrow(/lockedFor/);
  });

  it("names a folder that is missing, and works once it is there", async () => {
    const path = join(dirname(newPath()), "later", "holdpoint.db");
    const desk = deskOn(path);
    await expect(desk.create()).rejects.toEqual(unavailable(/cannot be opened; check that the folder exists/));
    await expect(desk.store.read("x")).rejects.toEqual(unavailable(/cannot be opened/));
    mkdirSync(dirname(path));
    const request = await desk.create();
    expect(await all(desk)).toEqual([request.id]);
  });

  it("refuses in a folder and a file that this account cannot write, and loses nothing", async () => {
    const path = newPath();
    const first = deskOn(path);
    const before = await first.create();
    await first.store.close();
    const elsewhere = newPath();
    copyFileSync(path, elsewhere);
    chmodSync(elsewhere, 0o444);
    chmodSync(dirname(elsewhere), 0o555);
    // The system's first account may write anywhere: another one has to try.
    const worker = await Worker.start(process.getuid?.() === 0 ? 65_534 : undefined);
    const report = await worker.obey({ do: "create", path: elsewhere, count: 1, pauseMs: 0 });
    chmodSync(dirname(elsewhere), 0o755);
    chmodSync(elsewhere, 0o644);
    expect(report).toEqual({
      say: "failed",
      code: "store_unavailable",
      message: expect.stringMatching(/cannot be (written; make the file and its folder writable|opened; check)/),
    });
    expect(await all(deskOn(elsewhere))).toEqual([before.id]);
  });

  it("refuses a newer schema and names both versions", async () => {
    const path = newPath();
    const desk = deskOn(path);
    await desk.create();
    await desk.store.close();
    meddle(path, "PRAGMA user_version = 99");
    await expect(deskOn(path).create()).rejects.toEqual(
      unavailable(/schema version 99 and this holdpoint reads up to 1; install the newer holdpoint/),
    );
  });

  it("takes no other program's database for its own, and leaves it as it is", async () => {
    const path = newPath();
    meddle(path, "CREATE TABLE notes (text); INSERT INTO notes VALUES ('mine')");
    const before = readFileSync(path);
    await expect(deskOn(path).create()).rejects.toEqual(unavailable(/belongs to another program; choose another path/));
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it("refuses a file that is no database, and one whose pages were torn", async () => {
    const junk = newPath();
    writeFileSync(junk, "no database at all ".repeat(500));
    await expect(deskOn(junk).create()).rejects.toEqual(unavailable(/not an SQLite database; choose another path, or restore/));

    const torn = newPath();
    const desk = deskOn(torn);
    await Promise.all(Array.from({ length: 60 }, () => desk.create()));
    await desk.store.close();
    const bytes = readFileSync(torn);
    bytes.fill(0xff, 4096);
    writeFileSync(torn, bytes);
    await expect(all(deskOn(torn))).rejects.toEqual(unavailable(/damaged; nothing in it counts as approved/));
    await expect(deskOn(torn).create()).rejects.toEqual(unavailable(/damaged/));
  });

  it("makes the file its owner's alone", async () => {
    const path = newPath();
    await deskOn(path).create();
    for (const file of [path, `${path}-wal`, `${path}-bell`]) expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it("leaves nothing of an erased payload in the file", async () => {
    const path = newPath();
    const desk = deskOn(path);
    const request = desk.request();
    await desk.must(desk.creation(request, desk.payload(request.id, { arguments: { note: "word-that-must-go ".repeat(400) } })));
    await desk.store.close();
    expect(readFileSync(path).includes("word-that-must-go")).toBe(true);
    const again = deskOn(path);
    await again.must(again.row("payload", request.id, { expect: 1, next: null }));
    await again.store.close();
    expect(readFileSync(path).includes("word-that-must-go")).toBe(false);
  });
});

describe("records that were torn or edited by hand (A103)", () => {
  const cases: readonly (readonly [what: string, sql: string, message: RegExp])[] = [
    [
      "a status that is none",
      `UPDATE states SET changing = replace(changing, '"pending"', '"APPROVED "')`,
      /has no usable "status".*counts as not approved/,
    ],
    [
      "a status changed in the record alone",
      `UPDATE states SET changing = replace(changing, '"pending"', '"approved"')`,
      /contradicts its own row/,
    ],
    ["a status changed in the row alone", "UPDATE states SET status = 'approved'", /contradicts its own row/],
    ["another request's record", "UPDATE requests SET frozen = replace(frozen, id, 'another')", /contradicts its own row/],
    [
      "a later record version",
      `UPDATE requests SET frozen = replace(frozen, '"v":1', '"v":2')`,
      /record version 2 and this holdpoint reads version 1/,
    ],
    ["no record version", `UPDATE requests SET frozen = replace(frozen, '"v":1,', '')`, /record version none and/],
    [
      "a member that is missing",
      `UPDATE states SET changing = replace(changing, ',"decisions":[]', '')`,
      /has no usable "decisions"/,
    ],
    [
      "a digest that is missing",
      `UPDATE requests SET frozen = replace(frozen, '"digest"', '"fidget"')`,
      /has no usable "digest"/,
    ],
    ["terms among what may change", `UPDATE states SET changing = replace(changing, '{', '{"terms":{},')`, /is mixed up/],
    [
      "a resolution among what may not",
      `UPDATE requests SET frozen = replace(frozen, '"v":1', '"v":1,"resolution":{}')`,
      /is mixed up/,
    ],
    ["half a record", "UPDATE requests SET frozen = substr(frozen, 1, 200)", /is not JSON/],
    ["half a state", "UPDATE states SET changing = substr(changing, 1, 20)", /is not JSON/],
    ["a list for a record", "UPDATE requests SET frozen = '[]'", /is not an object/],
    [
      "a payload of another request",
      `UPDATE requests SET payload = replace(payload, '"request"', '"nobody"')`,
      /payload of request .* is not whole/,
    ],
    ["half a payload", "UPDATE requests SET payload = substr(payload, 1, 20)", /payload of request .* is not JSON/],
  ];
  for (const [what, sql, message] of cases) {
    it(`are errors that name the request, never approvals: ${what}`, async () => {
      const path = newPath();
      const desk = deskOn(path);
      const request = await desk.create();
      meddle(path, sql);
      const thrown = await desk.store.read(request.id).then(
        () => undefined,
        (error: unknown) => error,
      );
      expect(thrown).toEqual(unavailable(message));
      expect((thrown as Error).message).toContain(request.id);
      expect((thrown as Error).message).not.toContain("hello");
      if (!sql.includes("payload")) await expect(all(desk)).rejects.toEqual(unavailable(message));
    });
  }

  it("are errors in the journal", async () => {
    const path = newPath();
    const desk = deskOn(path);
    const request = await desk.create();
    await desk.must(desk.step(request, { status: "approved" }));
    const read = async (): Promise<unknown> => {
      for await (const entry of desk.store.journal(`request/${request.id}`)) if (entry.n === 1) return entry;
      return undefined;
    };
    const damage: readonly (readonly [sql: string, message: RegExp])[] = [
      ["UPDATE commits SET entries = replace(entries, '\"n\":0', '\"n\":7')", /the journal of request\/.* lacks entry 0/],
      [
        "UPDATE commits SET entries = replace(entries, 'holdpoint/entry/v1', 'holdpoint/entry/v9')",
        /the journal of .* is not whole/,
      ],
      ["UPDATE commits SET entries = substr(entries, 1, 30)", /the journal of .* is not JSON/],
      ["UPDATE commits SET entries = '{}'", /the journal of .* is not a list/],
    ];
    for (const [sql, message] of damage) {
      meddle(path, sql);
      await expect(read()).rejects.toEqual(unavailable(message));
    }
  });

  it("are errors in rows, and a torn kill row stops what it might have stopped", async () => {
    const path = newPath();
    const desk = deskOn(path);
    await desk.put("window", "w", { uses: 1 });
    meddle(path, "UPDATE rows SET value = '7' WHERE kind = 'window'");
    await expect(desk.store.row("window", "w")).rejects.toEqual(unavailable(/a window row is not an object/));
    meddle(path, "INSERT INTO rows VALUES ('kill', 'all', 1, NULL, 'half')");
    await expect(desk.must(desk.commit({ unlessKilled: ["all"] }))).rejects.toEqual(unavailable(/a kill row is not JSON/));
  });
});

describe("locks, full disks and lost answers", () => {
  it("gives up on a lock that stays, without holding up the event loop, and goes on when it is gone", async () => {
    const path = newPath();
    const desk = deskOn(path, { lockedFor: 150 });
    const before = await desk.create();
    const holder = new DatabaseSync(path);
    holder.exec("BEGIN EXCLUSIVE");
    let turns = 0;
    const ticking = setInterval(() => turns++, 5);
    const refused = [desk.create(), desk.create()].map((commit) =>
      expect(commit).rejects.toEqual(unavailable(/stayed locked for 150 ms; end the process that holds it/)),
    );
    expect((await desk.stored(before.id)).record.status).toBe("pending");
    await Promise.all(refused);
    clearInterval(ticking);
    expect(turns).toBeGreaterThan(5);
    const waiting = desk.create();
    await sleep(30);
    holder.exec("ROLLBACK");
    holder.close();
    const { id } = await waiting;
    expect(await all(desk)).toEqual([before.id, id]);
  });

  it("waits for a lock with reads too, where a lock is in their way", async () => {
    const path = newPath();
    const first = deskOn(path);
    const { id } = await first.create();
    await first.store.close();
    const holder = new DatabaseSync(path);
    holder.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; COMMIT");
    await expect(deskOn(path, { lockedFor: 100 }).store.read(id)).rejects.toEqual(unavailable(/stayed locked for 100 ms/));
    const reading = deskOn(path).store.read(id);
    await sleep(30);
    holder.close();
    expect((await reading)?.record.id).toBe(id);
  });

  it("writes nothing by halves on a full disk, and goes on when there is room again", async () => {
    const path = newPath();
    let client: SqliteClient | undefined;
    const desk = deskOn(path, { open: (file) => (client = new DatabaseSync(file)) });
    const before = await desk.create();
    client?.exec("PRAGMA max_page_count = 30");
    const wide = (): Promise<unknown> => {
      const request = desk.request();
      const payload = desk.payload(request.id, { arguments: { text: "x".repeat(30_000) } });
      return desk.store.commit(desk.creation(request, payload)).then(
        () => request.id,
        (thrown: unknown) => thrown,
      );
    };
    const results = await Promise.all([wide(), wide(), wide(), wide()]);
    const done = results.filter((result) => typeof result === "string");
    expect(results.filter((result) => typeof result !== "string").length).toBeGreaterThan(0);
    for (const result of results)
      if (typeof result !== "string") expect(result).toEqual(unavailable(/the disk is full; nothing was half written/));
    expect(await all(desk)).toEqual([before.id, ...done]);
    for (const id of await all(desk)) expect((await desk.stored(id)).payload?.request).toBe(id);
    client?.exec("PRAGMA max_page_count = 100000");
    expect(typeof (await wide())).toBe("string");
  });

  it("changes nothing where the journal cannot be written", async () => {
    const path = newPath();
    const desk = deskOn(path);
    const request = await desk.create();
    meddle(path, "CREATE TRIGGER down BEFORE INSERT ON commits BEGIN SELECT RAISE(ABORT, 'sink down'); END");
    await expect(desk.must(desk.step(request, { status: "approved" }))).rejects.toEqual(unavailable(/sink down/));
    expect((await desk.stored(request.id)).record).toEqual(request);
  });

  it("finds the first result of a commit whose answer was lost, and one that never happened not", async () => {
    const lost = { once: undefined as "before" | "after" | undefined };
    const open = (file: string): SqliteClient => losesCommits(new DatabaseSync(file), lost);
    const desk = deskOn(newPath(), { open });
    const first = await desk.create();
    lost.once = "before";
    const never = desk.creation(desk.request());
    await expect(desk.store.commit(never)).rejects.toEqual(unavailable(/the disk reported an error/));
    lost.once = "after";
    const committed = desk.creation(desk.request());
    await expect(desk.store.commit(committed)).rejects.toEqual(unavailable(/the disk reported an error/));
    expect(await all(desk)).toEqual([first.id, committed.records[0]?.id]);
    expect((await desk.store.commit(committed)).ok).toBe(true);
    expect((await desk.store.commit(never)).ok).toBe(true);
    expect(await all(desk)).toEqual([first.id, committed.records[0]?.id, never.records[0]?.id]);
  });

  it("tells every caller of a shared transaction that could not be made durable", async () => {
    const lost = { once: undefined as "before" | "after" | undefined };
    const desk = deskOn(newPath(), { open: (file) => losesCommits(new DatabaseSync(file), lost) });
    const first = await desk.create();
    lost.once = "before";
    const results = await Promise.allSettled(Array.from({ length: 5 }, () => desk.create()));
    expect(results.map(({ status }) => status)).toEqual(Array(5).fill("rejected"));
    expect(await all(desk)).toEqual([first.id]);
  });

  it("still opens what was left behind when its files were removed, as an empty store", async () => {
    const path = newPath();
    const desk = deskOn(path);
    await desk.create();
    await desk.store.close();
    rmSync(path);
    expect(await all(deskOn(path))).toEqual([]);
  });
});

/** A driver whose next COMMIT fails with a disk error: before it happened, or after. */
function losesCommits(real: DatabaseSync, lost: { once: "before" | "after" | undefined }): SqliteClient {
  return {
    exec: (sql) => real.exec(sql),
    close: () => real.close(),
    prepare: (sql) => {
      const statement = real.prepare(sql);
      if (sql !== "COMMIT") return statement;
      const run = (): SqliteChanges => {
        const when = lost.once;
        lost.once = undefined;
        if (when === "before") throw Object.assign(new Error("disk I/O error"), { errcode: 10 });
        const result = statement.run();
        if (when === "after") throw Object.assign(new Error("disk I/O error"), { errcode: 10 });
        return result;
      };
      return { get: (...values) => statement.get(...values), all: (...values) => statement.all(...values), run };
    },
  };
}
