/**
 * Targets 5 and 16 of the speed page, store part: an approve cycle (insert, decide, claim, each with its journal entry)
 * against the same work by hand at the same `synchronous`, what 64 at a time gain, and a wake-up across processes
 * against a hand-written Postgres LISTEN/NOTIFY.
 *
 *   node --expose-gc bench/store-sqlite.mjs            all parts; PGHOST, PGPORT, PGUSER, PGDATABASE as usual
 *   node --expose-gc bench/store-sqlite.mjs cycle      without Postgres
 */
import { fork } from "node:child_process";
import { hash, randomUUID } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { sqliteStore } from "../src/stores/sqlite/index.ts";
import { claim, creation, decision } from "./store-desk.mjs";
import { ARGS, interleave, judge, perSecond, quantile, sleep, table } from "./store-lib.mjs";

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "holdpoint-bench-"));
const targets = [];

const canonical = (value) =>
  typeof value !== "object" || value === null
    ? JSON.stringify(value)
    : Array.isArray(value)
      ? `[${value.map(canonical).join(",")}]`
      : `{${Object.keys(value)
          .sort()
          .map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`)
          .join(",")}}`;
const digestOf = (args) => `sha256:${hash("sha256", canonical(args))}`;

function handSqlite(synchronous) {
  const db = new DatabaseSync(path.join(folder, `hand-${synchronous}.db`));
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}`);
  db.exec(
    "CREATE TABLE c (id text PRIMARY KEY, tool text, args text, hash text, status text, created int, decided int, by text)",
  );
  db.exec("CREATE INDEX cp ON c (created) WHERE status = 'pending'");
  const insert = db.prepare("INSERT INTO c VALUES (?, ?, ?, ?, 'pending', ?, NULL, NULL)");
  const decide = db.prepare("UPDATE c SET status = 'approved', decided = ?, by = ? WHERE id = ? AND status = 'pending'");
  const use = db.prepare("UPDATE c SET status = 'used' WHERE id = ? AND status = 'approved' AND hash = ?");
  return async () => {
    const id = randomUUID();
    insert.run(id, "send", JSON.stringify(ARGS), digestOf(ARGS), Date.now());
    if (decide.run(Date.now(), "alice", id).changes !== 1) throw new Error("not decided");
    if (use.run(id, digestOf(ARGS)).changes !== 1) throw new Error("not used");
  };
}

function holdpointSqlite() {
  const store = sqliteStore(path.join(folder, "holdpoint.db"));
  const must = async ({ request, commit }) => {
    if (!(await store.commit(commit)).ok) throw new Error("refused");
    return request;
  };
  return async () => {
    const created = await must(creation(digestOf(ARGS)));
    const approved = await must(decision(created, "alice"));
    if (digestOf(ARGS) !== approved.digest) throw new Error("changed");
    await must(claim(approved));
  };
}

async function cycle() {
  const contenders = { "hand SQLite FULL": handSqlite("FULL"), "holdpoint SQLite store": holdpointSqlite() };
  const measured = await interleave(contenders, { rounds: 9, ms: 300 });
  const [hand, ours] = Object.values(measured);
  const line = ([name, { wall, cpu }]) => ({
    contender: name,
    "CPU µs": cpu,
    "p10 µs": quantile(wall, 0.1),
    "p50 µs": quantile(wall, 0.5),
    "p99 µs": quantile(wall, 0.99),
    "× hand (p10)": quantile(wall, 0.1) / quantile(hand.wall, 0.1),
  });
  table("An approve cycle: insert, decide, claim; three syncs", Object.entries(measured).map(line));
  targets.push({
    what: "cycle on SQLite against hand, p10",
    is: quantile(ours.wall, 0.1) / quantile(hand.wall, 0.1),
    atMost: 1.5,
  });
  await throughput(Object.values(contenders));
}

async function throughput([handCycle, ourCycle]) {
  const rates = { hand: { 1: [], 64: [] }, ours: { 1: [], 64: [] } };
  for (let turn = 0; turn < 5; turn++) {
    for (const lanes of [1, 64]) {
      rates.ours[lanes].push(await perSecond(ourCycle, lanes, 400));
      rates.hand[lanes].push(await perSecond(handCycle, lanes, 400));
    }
  }
  const rate = (who, lanes) => quantile(rates[who][lanes], 0.5);
  table(
    "Cycles per second",
    ["hand", "ours"].map((who) => ({
      who,
      "one at a time": rate(who, 1),
      "64 at a time": rate(who, 64),
      gain: rate(who, 64) / rate(who, 1),
    })),
  );
  targets.push({ what: "64 at a time against one at a time", is: rate("ours", 64) / rate("ours", 1), atLeast: 5 });
}

const WAKES = 700;
const NONE_LOST = 10_000;

/** The other process, and what it says. */
async function startDecider(file) {
  const child = fork(import.meta.filename, ["decider", file], { execArgv: ["--disable-warning=ExperimentalWarning"] });
  const said = (word) =>
    new Promise((resolve) => {
      child.on("message", function hear(message) {
        if (message.say !== word) return;
        child.off("message", hear);
        resolve(message);
      });
    });
  await said("ready");
  return { child, said };
}

/** Waits on both ways at once; `waiting` has who waits for which request. */
async function listen(store, client, waiting) {
  const woken = (id) => waiting.get(id)?.(process.hrtime.bigint());
  client.on("notification", ({ payload }) => woken(payload));
  await client.query("LISTEN holdpoint_bench");
  const stop = new AbortController();
  const heard = { named: new Set(), everything: 0 };
  const listening = (async () => {
    for await (const { ids } of store.watch("", stop.signal)) {
      if (ids.length === 0) heard.everything++;
      for (const id of ids) {
        heard.named.add(id);
        woken(id);
      }
    }
  })();
  await sleep(200);
  const end = async () => {
    stop.abort();
    await listening;
  };
  return { heard, stop: end };
}

/** Microseconds from just before the decision in the other process to the wake-up in this one. */
async function wakeOnce(way, { child, said }, waiting) {
  const id = randomUUID();
  child.send({ do: "prepare", way, id });
  await said("prepared");
  const woke = new Promise((resolve) => waiting.set(id, resolve));
  const sent = said("decided");
  child.send({ do: "decide", way, id });
  const lost = sleep(5000, undefined, { ref: false }).then(() => {
    throw new Error(`${way}: lost wake-up`);
  });
  const at = await Promise.race([woke, lost]);
  waiting.delete(id);
  return Number(at - BigInt((await sent).at)) / 1000;
}

async function wakes() {
  const { default: pg } = await import("pg");
  const client = new pg.Client(postgres());
  await client.connect();
  await client.query(
    "DROP TABLE IF EXISTS holdpoint_bench; CREATE TABLE holdpoint_bench (id text PRIMARY KEY, args text, status text)",
  );
  const file = path.join(folder, "wake.db");
  const store = sqliteStore(file);
  await store.commit(creation("sha256:first").commit);
  const decider = await startDecider(file);
  const waiting = new Map();
  const { heard, stop } = await listen(store, client, waiting);

  const latencies = { postgres: [], sqlite: [] };
  for (let n = -50; n < WAKES; n++) {
    for (const way of n % 2 === 0 ? ["postgres", "sqlite"] : ["sqlite", "postgres"]) {
      const latency = await wakeOnce(way, decider, waiting);
      if (n >= 0) latencies[way].push(latency);
    }
  }
  const base = quantile(latencies.postgres, 0.5);
  const line = (way, list) => ({
    way,
    "p10 µs": quantile(list, 0.1),
    "p50 µs": quantile(list, 0.5),
    "p99 µs": quantile(list, 0.99),
    "× hand Postgres (p50)": quantile(list, 0.5) / base,
  });
  table("Decide in one process, wake in another", [
    line("hand Postgres: UPDATE + NOTIFY, LISTEN", latencies.postgres),
    line("holdpoint SQLite store: commit, watch", latencies.sqlite),
  ]);
  targets.push({ what: "wake-up on SQLite against hand Postgres, p50", is: quantile(latencies.sqlite, 0.5) / base, atMost: 1.5 });
  await flood(decider, heard);
  await stop();
  decider.child.disconnect();
  await client.end();
  await store.close();
}

async function flood({ child, said }, heard) {
  heard.everything = 0;
  child.send({ do: "flood", count: NONE_LOST });
  const { ids } = await said("flooded");
  const limit = Date.now() + 5000;
  const missing = () => ids.filter((id) => !heard.named.has(id)).length;
  while (missing() > 0 && heard.everything === 0 && Date.now() < limit) await sleep(20);
  console.log(
    `\n${ids.length} commits of another process: ${ids.length - missing()} hinted by name, ${heard.everything} hints of "everything"`,
  );
  targets.push({ what: `lost of ${NONE_LOST} wake-ups`, is: heard.everything > 0 ? 0 : missing(), atMost: 0 });
}

const postgres = () => ({
  host: process.env.PGHOST ?? "127.0.0.1",
  port: Number(process.env.PGPORT ?? 5432),
  user: process.env.PGUSER ?? "postgres",
  database: process.env.PGDATABASE ?? "test",
});

async function decider(file) {
  const { default: pg } = await import("pg");
  const client = new pg.Client(postgres());
  await client.connect();
  const store = sqliteStore(file);
  const prepared = new Map();
  const insert = "INSERT INTO holdpoint_bench VALUES ($1, $2, 'pending')";
  const update =
    "WITH u AS (UPDATE holdpoint_bench SET status = 'approved' WHERE id = $1 AND status = 'pending' RETURNING id) SELECT pg_notify('holdpoint_bench', id) FROM u";
  const prepare = async (way, id) => {
    if (way === "postgres") return client.query({ name: "insert", text: insert, values: [id, JSON.stringify(ARGS)] });
    const { request, commit } = creation("sha256:bench");
    const named = { ...request, id, root: id };
    await store.commit({
      ...commit,
      records: [{ id, expect: null, next: named }],
      entries: [{ ...commit.entries[0], stream: `request/${id}` }],
      rows: [],
    });
    return void prepared.set(id, named);
  };
  const decide = async (way, id) => {
    const { commit } = way === "sqlite" ? decision(prepared.get(id), "alice") : {};
    const at = process.hrtime.bigint().toString();
    if (way === "sqlite") await store.commit(commit);
    else await client.query({ name: "update", text: update, values: [id] });
    process.send({ say: "decided", at });
  };
  const flood = async (count) => {
    const ids = [];
    const lane = async () => {
      while (ids.length < count) {
        const { request, commit } = creation("sha256:bench");
        ids.push(request.id);
        await store.commit(commit);
        if (Math.random() < 0.01) await sleep(Math.random() * 5);
      }
    };
    await Promise.all([lane(), lane(), lane()]);
    process.send({ say: "flooded", ids });
  };
  process.on("message", async (order) => {
    if (order.do === "prepare") {
      await prepare(order.way, order.id);
      process.send({ say: "prepared" });
    } else if (order.do === "decide") {
      // Past the wake-up that the preparation itself gave: the waiter must be asleep.
      await sleep(1 + Math.random() * 2);
      await decide(order.way, order.id);
    } else await flood(order.count);
  });
  process.on("disconnect", async () => {
    await client.end();
    await store.close();
  });
  process.send({ say: "ready" });
}

if (process.argv[2] === "decider") await decider(process.argv[3]);
else {
  try {
    await cycle();
    if (process.argv[2] !== "cycle") await wakes();
    judge(targets);
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}
