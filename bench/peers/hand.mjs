/**
 * What a careful person writes without a library: a random id, the SHA-256 of the canonical arguments when it is asked
 * and again when it runs, and a change of state that only one can win.
 */
import { createHash, randomUUID } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import canonicalize from "canonicalize";
import { ARGS, ran, tool } from "./call.mjs";

const digestOf = (args) => createHash("sha256").update(canonicalize(args)).digest("base64url");

/** A map, a promise, and somebody who approves at once. */
export function handInMemory() {
  const waiting = new Map();
  const ask = (id, asked) => new Promise((resolve) => waiting.set(id, { ...asked, resolve }));
  const approve = (id) => {
    const asked = waiting.get(id);
    waiting.delete(id);
    asked.resolve({ verdict: "approve", digest: asked.digest });
  };
  return async () => {
    const id = randomUUID();
    const answer = ask(id, { digest: digestOf(ARGS), args: ARGS });
    approve(id);
    const { verdict, digest } = await answer;
    if (verdict !== "approve" || digestOf(ARGS) !== digest) throw new Error("not approved");
    ran(await tool(ARGS));
  };
}

/** One row: inserted, decided, used, each a transaction of its own that is on the disk before the next step. */
export function handOnSqlite(path, synchronous) {
  const db = new DatabaseSync(path);
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}`);
  db.exec(
    "CREATE TABLE calls (id TEXT PRIMARY KEY, tool TEXT, args TEXT, digest TEXT, status TEXT, created INT, decided INT, by TEXT)",
  );
  db.exec("CREATE INDEX pending ON calls (created) WHERE status = 'pending'");
  const insert = db.prepare("INSERT INTO calls VALUES (?, ?, ?, ?, 'pending', ?, NULL, NULL)");
  const decide = db.prepare("UPDATE calls SET status = 'approved', decided = ?, by = ? WHERE id = ? AND status = 'pending'");
  const use = db.prepare("UPDATE calls SET status = 'used' WHERE id = ? AND status = 'approved' AND digest = ?");
  return async () => {
    const id = randomUUID();
    insert.run(id, "send", JSON.stringify(ARGS), digestOf(ARGS), Date.now());
    if (decide.run(Date.now(), "ada", id).changes !== 1) throw new Error("not decided");
    if (use.run(id, digestOf(ARGS)).changes !== 1) throw new Error("not used");
    ran(await tool(ARGS));
  };
}

/** What a careful person writes: a walk that refuses what is not I-JSON without running it, then a frozen copy. */
export function strictWalk(value) {
  if (typeof value === "string" ? value.isWellFormed() : typeof value === "boolean" || value === null) return;
  if (typeof value === "number" && Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))) return;
  if (typeof value !== "object") throw new TypeError("not JSON");
  const array = Array.isArray(value);
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== (array ? Array.prototype : Object.prototype) && prototype !== null) throw new TypeError("not plain");
  for (const key of Reflect.ownKeys(value)) {
    if (array && key === "length") continue;
    const property = Object.getOwnPropertyDescriptor(value, key);
    if (typeof key === "symbol" || !key.isWellFormed() || !property.enumerable || property.get || property.set)
      throw new TypeError("not plain");
    strictWalk(property.value);
  }
}
export function frozenCopy(value) {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return Object.freeze(value.map(frozenCopy));
  const copy = {};
  for (const key of Object.keys(value)) copy[key] = frozenCopy(value[key]);
  return Object.freeze(copy);
}
