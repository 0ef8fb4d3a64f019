import type { RecordQuery } from "../../core/index.ts";
import { hasEnded } from "../../core/index.ts";
import { placeBefore } from "../cursor.ts";
import type { SqliteValue } from "./client.ts";
import { OPEN_STATUSES } from "./statements.ts";

/** Requests of one look at the file: a long list does not hold up writers' checkpoints. */
export const PAGE = 200;

/** A query for the next page after `place`. Texts are values, never part of the SQL. */
export function pageOf(
  query: RecordQuery,
  place: number,
  limit: number,
): { readonly sql: string; readonly values: readonly SqliteValue[] } {
  // With the plus SQLite cannot walk all requests in order of creation instead of the few whose id begins so.
  const order = query.idPrefix === undefined ? "place" : "+place";
  const where = [`${order} > ?`];
  const values: SqliteValue[] = [place];
  const add = (sql: string, ...more: readonly SqliteValue[]): void => {
    where.push(sql);
    values.push(...more);
  };
  if (query.status !== undefined) {
    if (!query.status.some(hasEnded)) add(OPEN_STATUSES);
    add(`status IN (${query.status.map(() => "?").join(", ")})`, ...query.status);
  }
  for (const name of ["kind", "tenant", "thread"] as const) {
    const value = query[name];
    if (value !== undefined) add(`${name} = ?`, value);
  }
  if (query.idPrefix !== undefined) {
    const prefix = query.idPrefix;
    add("id >= ? AND id <= ? AND substr(id, 1, ?) = ?", prefix, `${prefix}\u{10ffff}`, [...prefix].length, prefix);
  }
  // The root itself by its id, its successors by the small index of edited ones: no index over every request.
  if (query.root !== undefined) add("(id = ? AND root = id OR root = ? AND root <> id)", query.root, query.root);
  const sql = `SELECT place, id, rev, status, body FROM requests WHERE ${where.join(" AND ")} ORDER BY ${order} LIMIT ?`;
  return { sql, values: [...values, limit] };
}

export const firstPlace = (query: RecordQuery): number => placeBefore(query.after);
