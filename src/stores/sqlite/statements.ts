import type { SqliteClient, SqliteStatement } from "./client.ts";

/** One request, in both its parts: {@link StoredRequest}. */
export const REQUEST_COLUMNS = "s.id, s.rev, s.status, s.head, r.frozen, s.changing";

const MOVED = "rev = ?1, head = ?2, entries = entries + ?3, log = log || ?11, status = ?4, lane = ?5, changing = ?6";
const AS_EXPECTED = "id = ?7 AND rev = ?8 AND head = ?9 AND entries = coalesce(?10, entries)";
const PAYLOAD_OF = "place = (SELECT place FROM states WHERE id = ?1)";
const FREE = "(l.until IS NULL OR l.until <= ?1 OR l.owner = ?2)";

export type StatementName =
  | "begin"
  | "commit"
  | "savepoint"
  | "release"
  | "undo"
  | "head"
  | "first"
  | "remember"
  | "since"
  | "forgotten"
  | "forgettable"
  | "forget"
  | "drop"
  | "forgot"
  | "read"
  | "insert"
  | "insertState"
  | "move"
  | "end"
  | "payload"
  | "payloads"
  | "insertPayload"
  | "updatePayload"
  | "deletePayload"
  | "row"
  | "rows"
  | "insertRow"
  | "updateRow"
  | "deleteRow"
  | "journal"
  | "lastOfNode"
  | "appendToNode"
  | "nodeJournal"
  | "dueDeliveries"
  | "dueLanes"
  | "dueOne"
  | "nextFence"
  | "fence"
  | "take"
  | "endLease";

const SQL: Readonly<Record<StatementName, string>> = {
  begin: "BEGIN IMMEDIATE",
  commit: "COMMIT",
  savepoint: "SAVEPOINT one",
  release: "RELEASE one",
  undo: "ROLLBACK TO one",

  head: "SELECT coalesce(max(seq), 0) AS seq FROM commits",
  first: "SELECT seq FROM commits WHERE key = ?",
  remember: "INSERT OR IGNORE INTO commits (key, at, ids, entries) VALUES (?, ?, ?, ?)",
  since: "SELECT seq, ids FROM commits WHERE seq > ? ORDER BY seq LIMIT ?",
  forgotten: "SELECT value FROM counters WHERE name = 'forgotten'",
  forgettable: "SELECT max(seq) AS seq FROM commits WHERE seq > ?1 AND seq <= ?1 + ?2 AND at < ?3 AND seq < ?4",
  forget: "UPDATE commits SET key = NULL WHERE seq > ? AND seq <= ?",
  drop: "DELETE FROM commits WHERE seq > ? AND seq <= ? AND entries = '[]'",
  forgot: "UPDATE counters SET value = ? WHERE name = 'forgotten'",

  read: `SELECT ${REQUEST_COLUMNS}, r.payload FROM states s JOIN requests r ON r.place = s.place WHERE s.id = ?`,
  insert: `INSERT INTO requests (place, id, kind, tenant, thread, root, frozen, payload_rev, payload)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, CASE WHEN ?8 IS NULL THEN NULL ELSE 1 END, ?8)`,
  insertState: `INSERT OR IGNORE INTO states (id, place, rev, head, entries, log, status, open, lane, changing)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  move: `UPDATE states SET ${MOVED} WHERE ${AS_EXPECTED}`,
  end: `UPDATE states SET ${MOVED}, open = NULL WHERE ${AS_EXPECTED}`,

  payload: `SELECT payload_rev AS rev, payload AS value FROM requests WHERE ${PAYLOAD_OF} AND payload IS NOT NULL`,
  payloads: `SELECT s.id AS key, r.payload_rev AS rev, r.payload AS value FROM states s JOIN requests r ON r.place = s.place
    WHERE s.id > ? AND r.payload IS NOT NULL ORDER BY s.id LIMIT ?`,
  insertPayload: `UPDATE requests SET payload = ?2, payload_rev = 1 WHERE ${PAYLOAD_OF} AND payload IS NULL`,
  updatePayload: `UPDATE requests SET payload = ?2, payload_rev = payload_rev + 1 WHERE ${PAYLOAD_OF} AND payload_rev = ?3`,
  deletePayload: `UPDATE requests SET payload = NULL, payload_rev = NULL WHERE ${PAYLOAD_OF} AND payload_rev = ?2`,

  row: "SELECT rev, value FROM rows WHERE kind = ? AND key = ?",
  rows: "SELECT key, rev, value FROM rows WHERE kind = ? AND key > ? ORDER BY key LIMIT ?",
  insertRow: "INSERT OR IGNORE INTO rows (kind, key, rev, due, value) VALUES (?, ?, 1, ?, ?)",
  updateRow: "UPDATE rows SET rev = rev + 1, due = ?, value = ? WHERE kind = ? AND key = ? AND rev = ?",
  deleteRow: "DELETE FROM rows WHERE kind = ? AND key = ? AND rev = ?",

  journal: `SELECT c.entries FROM states s JOIN json_each('[' || s.log || ']') l JOIN commits c ON c.seq = l.value
    WHERE s.id = ? ORDER BY c.seq`,
  lastOfNode: "SELECT coalesce(max(n), -1) AS n FROM node_entries WHERE stream = ?",
  appendToNode: "INSERT INTO node_entries (stream, n, seq) VALUES (?, ?, ?)",
  nodeJournal: `SELECT e.n, c.entries FROM node_entries e JOIN commits c ON c.seq = e.seq
    WHERE e.stream = ? AND e.n > ? ORDER BY e.n LIMIT ?`,

  dueDeliveries: `SELECT r.key FROM rows r LEFT JOIN leases l ON l.kind = 'delivery' AND l.key = r.key
    WHERE r.due <= ?4 AND ${FREE} ORDER BY r.due LIMIT ?3`,
  dueLanes: `SELECT s.lane AS key FROM states s LEFT JOIN leases l ON l.kind = 'lane' AND l.key = s.lane
    WHERE s.open = 1 AND s.lane IS NOT NULL AND s.status = 'approved' AND ${FREE} GROUP BY s.lane ORDER BY min(s.place) LIMIT ?3`,
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

  get(name: StatementName): SqliteStatement {
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
