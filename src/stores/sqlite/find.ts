import { hasEnded } from "../../core/index.ts";
import type { RecordQuery } from "../../core/index.ts";
import { placeBefore } from "../cursor.ts";
import type { SqliteValue } from "./client.ts";
import { REQUEST_COLUMNS } from "./statements.ts";

/** Requests of one look at the file: a long list does not hold up writers' checkpoints. */
export const PAGE = 200;

/** A query for the next page after `place`. Texts are values, never part of the SQL. */
export function pageOf(
  query: RecordQuery,
  place: number,
  limit: number,
): { readonly sql: string; readonly values: readonly SqliteValue[] } {
  const openOnly = query.status !== undefined && !query.status.some(hasEnded);
  // With the plus SQLite cannot walk all requests in the order of creation instead of the few whose id begins so.
  const order = query.idPrefix !== undefined ? "+s.place" : openOnly ? "s.place" : "r.place";
  const where = [`${order} > ?`];
  const values: SqliteValue[] = [place];
  const add = (sql: string, ...more: readonly SqliteValue[]): void => {
    where.push(sql);
    values.push(...more);
  };
  if (openOnly) add("s.open = 1");
  if (query.status !== undefined) add(`s.status IN (${query.status.map(() => "?").join(", ")})`, ...query.status);
  for (const name of ["kind", "tenant", "thread"] as const) {
    const value = query[name];
    if (value !== undefined) add(`r.${name} = ?`, value);
  }
  if (query.idPrefix !== undefined) {
    const prefix = query.idPrefix;
    add("s.id >= ? AND s.id <= ? AND substr(s.id, 1, ?) = ?", prefix, `${prefix}\u{10ffff}`, [...prefix].length, prefix);
  }
  if (query.root !== undefined) add(`r.root = ? AND r.place IN (${CHAIN})`, query.root, query.root, query.root);
  const sql = `SELECT r.place, ${REQUEST_COLUMNS} FROM requests r JOIN states s ON s.id = r.id AND s.place = r.place
    WHERE ${where.join(" AND ")} ORDER BY ${order} LIMIT ?`;
  return { sql, values: [...values, limit] };
}

/** The root itself by its id, its successors by the small index of edited requests: no index over every request. */
const CHAIN = "SELECT place FROM states WHERE id = ? UNION ALL SELECT place FROM requests WHERE root = ? AND root <> id";

export const firstPlace = (query: RecordQuery): number => placeBefore(query.after);
