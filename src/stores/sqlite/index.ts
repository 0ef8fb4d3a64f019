export { sqliteStore } from "./store.ts";
export type { SqliteStoreOptions } from "./store.ts";
export type { OpenSqlite, SqliteChanges, SqliteClient, SqliteStatement, SqliteValue } from "./client.ts";
