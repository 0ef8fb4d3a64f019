import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { callbackChannel } from "../../src/channels/callback/index.ts";
import { createGate, fileKeys, nodeRuntime } from "../../src/index.ts";
import { sqliteStore } from "../../src/stores/sqlite/index.ts";
import { Bench, type Card } from "./bench.ts";

let bench: Bench;
beforeEach(() => {
  bench = new Bench();
});
afterEach(() => bench[Symbol.asyncDispose]());

const store = (): string => bench.path("data/holdpoint.db");
const touch = ["mcp", "--", "touch", "started"];

/** A request on record, made by a gate in code whose clock is off by so many milliseconds. @returns its id */
async function onRecord(offset: number, run: () => unknown = () => "done"): Promise<string> {
  mkdirSync(bench.data, { mode: 0o700 });
  const clock = { ...nodeRuntime().clock, now: () => Date.now() + offset };
  const runtime = nodeRuntime({ keys: fileKeys(bench.path("data/installation.key")), clock });
  let id = "";
  const person = callbackChannel(
    async (card) => {
      id = card.id;
      return { verdict: "approve" };
    },
    { name: "person", as: "ada" },
  );
  const gate = createGate({ runtime, store: sqliteStore({ path: store(), clock }), channels: [person] });
  let begun = (): void => undefined;
  const started = new Promise<void>((resolve) => {
    begun = resolve;
  });
  gate.tool({
    name: "act",
    confirm: { approvers: ["ada"] },
    run: () => {
      begun();
      return run();
    },
  });
  const outcome = gate.run({ principal: "somebody" }).try("act", {});
  await Promise.race([started, outcome]);
  // The process that held the claim is gone, as far as anybody can tell.
  return id;
}

/** Each of the commands that a person would try next. */
async function expectFailure(says: string, code = 1): Promise<void> {
  for (const args of [["pending"], ["kill", "on"], touch]) {
    const { status, out, err } = await bench.run(args);
    expect([args[0], status, out]).toEqual([args[0], code, ""]);
    expect(err).toContain(says);
    expect(err.trim().split("\n")).toHaveLength(1);
  }
  expect(bench.read("started")).toBeUndefined();
}

describe("a data folder that cannot be used is said with cause and fix, and nothing is lost", { timeout: 90_000 }, () => {
  it("a store of a newer version", async () => {
    await bench.run(["kill", "on"]);
    const database = new DatabaseSync(store());
    database.exec("PRAGMA user_version = 99");
    database.close();
    const before = readFileSync(store());
    await expectFailure("has schema version 99 and this holdpoint reads up to");
    const { status, out } = await bench.run(["doctor"]);
    expect([status, out]).toEqual([1, expect.stringContaining("install the newer holdpoint that wrote it")]);
    expect(readFileSync(store()).equals(before)).toBe(true);
  });

  it("a store that is damaged", async () => {
    await bench.run(["kill", "on"]);
    const bytes = readFileSync(store());
    bytes.fill(0xff, 100, 2000);
    writeFileSync(store(), bytes);
    await expectFailure("it is damaged; nothing in it counts as approved");
    expect((await bench.run(["doctor"])).status).toBe(1);
  });

  it("a file that is no store, or another program's", async () => {
    mkdirSync(bench.data, { mode: 0o700 });
    writeFileSync(store(), "not a database, but long enough to be taken for one by its size alone".repeat(40));
    await expectFailure("the file is not an SQLite database");
    expect(readFileSync(store(), "utf8")).toContain("not a database");
  });

  it("a store that another process holds", async () => {
    await bench.run(["kill", "on"]);
    const database = new DatabaseSync(store());
    database.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
    const { status, err } = await bench.run(["kill", "on", "agent:x"]);
    expect([status, err]).toEqual([1, expect.stringContaining("stayed locked for 5000 ms; end the process that holds it")]);
    database.exec("ROLLBACK");
    database.close();
    expect((await bench.run(["kill", "on", "agent:x"])).status).toBe(0);
  });

  it("a folder or a key that others can read", async () => {
    await bench.run(["kill", "on"]);
    chmodSync(bench.data, 0o755);
    await expectFailure(`is open to other accounts (mode 0755); run: chmod 700 ${bench.data}`);
    expect((await bench.run(["doctor"])).out).toContain(`-> chmod 700 ${bench.data}`);
    chmodSync(bench.data, 0o700);
    writeFileSync(bench.path("data/installation.key"), "short\n");
    await expectFailure("holds no key of ours");
    expect((await bench.run(["doctor"])).status).toBe(1);
    expect(bench.read("data/installation.key")).toBe("short\n");
  });

  it("a folder that cannot be written", async () => {
    const uid = process.getuid?.() === 0 ? 65_534 : undefined;
    chmodSync(bench.folder, 0o777);
    const made = await bench.run(["kill", "on"], uid === undefined ? {} : { uid });
    expect(made.status).toBe(0);
    const paths = [store(), `${store()}-wal`, `${store()}-shm`].filter((path) => existsSync(path));
    for (const path of paths) chmodSync(path, 0o400);
    chmodSync(bench.data, 0o500);
    const { status, out, err } = await bench.run(["kill", "on", "agent:x"], uid === undefined ? {} : { uid });
    expect([status, out, err]).toEqual([
      1,
      "",
      expect.stringMatching(/make the file and its folder writable|may read and write it/u),
    ]);
    const doctor = () => bench.run(["doctor"], uid === undefined ? {} : { uid });
    expect(await doctor()).toMatchObject({
      status: 1,
      out: expect.stringMatching(/WRONG {2}data folder: .* cannot be written, so no call can be held/u),
    });
    chmodSync(bench.data, 0o700);
    expect(await doctor()).toMatchObject({
      status: 1,
      out: expect.stringMatching(/WRONG {2}store: .* cannot be written, so no call can be held/u),
    });
    for (const path of paths) chmodSync(path, 0o600);
    expect((await doctor()).out).toContain("kill switch: on, so calls are stopped: all");
    expect(await bench.run(["kill", "--json"], uid === undefined ? {} : { uid })).toMatchObject({
      status: 0,
      out: expect.stringContaining('"all"'),
    });
  });

  it("a folder of another account", async () => {
    if (process.getuid?.() !== 0) return expect(process.getuid?.()).not.toBe(0);
    mkdirSync(bench.data, { mode: 0o700 });
    chownSync(bench.data, 65_534, 65_534);
    const { status, err } = await bench.run(["kill", "on"]);
    expect([status, err]).toEqual([1, expect.stringContaining("belongs to another account")]);
    expect((await bench.run(["doctor"])).status).toBe(1);
    expect(statSync(bench.data).uid).toBe(65_534);
  });

  it("a place that is a file", async () => {
    writeFileSync(bench.data, "");
    const { status, err } = await bench.run(["kill", "on"]);
    expect([status, err]).toEqual([1, expect.stringContaining("cannot be used (EEXIST)")]);
    expect((await bench.run(["doctor"])).out).toContain("is no folder");
  });

  it("a clock that went back is found by the doctor", async () => {
    await onRecord(3_600_000);
    const { status, out } = await bench.run(["doctor"]);
    expect([status, out]).toEqual([
      1,
      expect.stringMatching(/WRONG {2}clock: this machine's clock is 59 min \d+ s behind the newest record/u),
    ]);
    expect((await bench.run(["pending"])).status).toBe(0);
  });
});

describe("a call whose end nobody saw", { timeout: 60_000 }, () => {
  it("is found out, never run again, and reconciled once", async () => {
    const id = await onRecord(-120_000, () => new Promise(() => undefined));
    const found = await bench.run(["reconcile", id, "--did-not-run"]);
    expect([found.status, found.out]).toEqual([0, expect.stringContaining("counted")]);
    const card = await bench.json<Card>("show", id);
    expect(card).toMatchObject({
      status: "indeterminate",
      ending: expect.stringContaining("it was found out that it did not run"),
    });
    expect((await bench.run(["reconcile", id, "--ran"])).status).toBe(1);
    expect((await bench.run(["reconcile", id])).status).toBe(2);
  });
});

describe("a database whose key is gone", () => {
  it("gets no new key: every command says what is missing, and doctor calls it wrong", async () => {
    await onRecord(0);
    const key = bench.path("data/installation.key");
    rmSync(key);
    await expectFailure("put the key back");
    const { status, out } = await bench.run(["doctor"]);
    expect(status).toBe(1);
    expect(out).toContain("is missing beside a database that knows one");
    expect(existsSync(key)).toBe(false);
  });
});
