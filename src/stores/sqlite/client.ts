/**
 * As much of `node:sqlite` as this store uses, in a shape that `better-sqlite3` has too: an app on another driver, or
 * on a Node without a built-in one, hands it in with the option `open`.
 */
export interface SqliteClient {
  exec(sql: string): unknown;
  prepare(sql: string): SqliteStatement;
  close(): unknown;
}

export interface SqliteStatement {
  get(...values: SqliteValue[]): unknown;
  all(...values: SqliteValue[]): unknown[];
  run(...values: SqliteValue[]): SqliteChanges;
}

export interface SqliteChanges {
  readonly changes: number | bigint;
  readonly lastInsertRowid: number | bigint;
}

export type SqliteValue = string | number | null;

export type OpenSqlite = (path: string) => SqliteClient | Promise<SqliteClient>;

/** Loaded when a store is first used: Node 22 prints a warning as soon as its SQLite is loaded. */
export const openNodeSqlite: OpenSqlite = async (path) => {
  const { DatabaseSync } = await import("node:sqlite");
  return new DatabaseSync(path);
};
