import type { SqliteClient, SqliteStatement } from "./client.ts";

/** In the words of the partial index `requests_open`: SQLite uses it only for a query that repeats them. */
export const OPEN_STATUSES = "status IN ('pending', 'approved', 'claimed')";

const FREE = "(l.until IS NULL OR l.until <= ?1 OR l.owner = ?2)";

type Name =
  | "begin"
  | "commit"
  | "savepoint"
  | "release"
  | "undo"
  | "head"
  | "first"
  | "remember"
  | "since"
  | "forget"
  | "read"
  | "insert"
  | "update"
  | "row"
  | "rows"
  | "insertRow"
  | "updateRow"
  | "deleteRow"
  | "last"
  | "append"
  | "journal"
  | "dueDeliveries"
  | "dueLanes"
  | "dueOne"
  | "nextFence"
  | "fence"
  | "take"
  | "endLease";

const SQL: Readonly<Record<Name, string>> = {
  begin: "BEGIN IMMEDIATE",
  commit: "COMMIT",
  savepoint: "SAVEPOINT one",
  release: "RELEASE one",
  undo: "ROLLBACK TO one",

  head: "SELECT coalesce(max(seq), 0) AS seq FROM commits",
  first: "SELECT seq FROM commits WHERE key = ?",
  remember: "INSERT INTO commits (seq, key, at, ids) VALUES (?, ?, ?, ?)",
  since: "SELECT seq, ids FROM commits WHERE seq > ? ORDER BY seq LIMIT ?",
  forget: "DELETE FROM commits WHERE seq IN (SELECT seq FROM commits ORDER BY seq LIMIT ?) AND at < ? AND seq < ?",

  read: `SELECT r.id, r.rev, r.status, r.body, p.value AS payload FROM requests r
    LEFT JOIN rows p ON p.kind = 'payload' AND p.key = r.id WHERE r.id = ?`,
  insert: `INSERT OR IGNORE INTO requests (place, id, rev, head, status, kind, tenant, thread, root, lane, body)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  update: "UPDATE requests SET rev = ?, head = ?, status = ?, lane = ?, body = ? WHERE id = ? AND rev = ? AND head = ?",

  row: "SELECT rev, value FROM rows WHERE kind = ? AND key = ?",
  rows: "SELECT key, rev, value FROM rows WHERE kind = ? AND key > ? ORDER BY key LIMIT ?",
  insertRow: "INSERT OR IGNORE INTO rows (kind, key, rev, due, value) VALUES (?, ?, 1, ?, ?)",
  updateRow: "UPDATE rows SET rev = rev + 1, due = ?, value = ? WHERE kind = ? AND key = ? AND rev = ?",
  deleteRow: "DELETE FROM rows WHERE kind = ? AND key = ? AND rev = ?",

  last: "SELECT coalesce(max(n), -1) AS n FROM entries WHERE stream = ?",
  append: "INSERT INTO entries (stream, n, body) VALUES (?, ?, ?)",
  journal: "SELECT n, body FROM entries WHERE stream = ? AND n > ? ORDER BY n LIMIT ?",

  dueDeliveries: `SELECT r.key FROM rows r LEFT JOIN leases l ON l.kind = 'delivery' AND l.key = r.key
    WHERE r.due <= ?4 AND ${FREE} ORDER BY r.due LIMIT ?3`,
  dueLanes: `SELECT r.lane AS key FROM requests r LEFT JOIN leases l ON l.kind = 'lane' AND l.key = r.lane
    WHERE r.status = 'approved' AND r.lane IS NOT NULL AND ${FREE} GROUP BY r.lane ORDER BY min(r.place) LIMIT ?3`,
  dueOne: `SELECT ?4 AS key WHERE NOT EXISTS (SELECT 1 FROM leases l WHERE l.kind = ?4 AND NOT ${FREE}) LIMIT ?3`,
  nextFence: "UPDATE counters SET value = value + 1 WHERE name = 'fence'",
  fence: "SELECT value FROM counters WHERE name = 'fence'",
  /** A lease that is over gets the new fence, one that its owner still holds keeps its own. */
  take: `INSERT INTO leases (kind, key, owner, until, fence) VALUES (?1, ?2, ?3, ?4, ?5)
    ON CONFLICT (kind, key) DO UPDATE SET owner = ?3, until = ?4, fence = CASE WHEN until > ?6 THEN fence ELSE ?5 END
    RETURNING fence`,
  endLease: "DELETE FROM leases WHERE kind = ? AND key = ?",
};

/** Prepared once each, when first used: a query by other columns is text that `find` puts together. */
export class Statements {
  readonly #client: SqliteClient;
  readonly #prepared = new Map<string, SqliteStatement>();

  constructor(client: SqliteClient) {
    this.#client = client;
  }

  get(name: Name): SqliteStatement {
    return this.sql(SQL[name]);
  }

  sql(text: string): SqliteStatement {
    let statement = this.#prepared.get(text);
    if (statement === undefined) {
      statement = this.#client.prepare(text);
      this.#prepared.set(text, statement);
    }
    return statement;
  }
}
