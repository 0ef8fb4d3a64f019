import { chmodSync, existsSync } from "node:fs";
import { HoldpointError } from "../../core/index.ts";
import type { OpenSqlite, SqliteClient } from "./client.ts";
import { MIGRATION_0001 } from "./migrations/0001.ts";

const MIGRATIONS: readonly string[] = [MIGRATION_0001];
/** "HDPT": a database that somebody else made is never taken for ours. */
const APPLICATION_ID = 0x48_44_50_54;

/**
 * Opens the file, brings its schema up to date and sets what durability rests on.
 * @throws HoldpointError for a file that is newer than we are or not ours; the driver's own errors as they are
 */
export async function openDatabase(path: string, open: OpenSqlite): Promise<SqliteClient> {
  const isNew = !existsSync(path);
  const client = await open(path);
  try {
    client.exec("PRAGMA busy_timeout = 0");
    const version = checkOwner(client, path);
    // Requests hold what agents were about to do: a file that we make is its owner's alone. SQLite gives the same
    // rights to the files beside it.
    if (isNew) chmodSync(path, 0o600);
    useWriteAheadLog(client, path);
    client.exec("PRAGMA synchronous = FULL; PRAGMA secure_delete = ON; PRAGMA trusted_schema = OFF");
    if (version < MIGRATIONS.length) migrate(client, path);
    return client;
  } catch (thrown) {
    client.close();
    throw thrown;
  }
}

/** The schema version of a file that is ours or empty. */
function checkOwner(client: SqliteClient, path: string): number {
  const version = pragma(client, "user_version");
  const owner = pragma(client, "application_id");
  const { tables } = client.prepare("SELECT count(*) AS tables FROM sqlite_schema").get() as { tables: number };
  if (owner !== APPLICATION_ID && (owner !== 0 || version !== 0 || tables !== 0)) {
    throw new HoldpointError("store_unavailable", `the file ${path} belongs to another program; choose another path`);
  }
  if (version > MIGRATIONS.length) {
    throw new HoldpointError(
      "store_unavailable",
      `the store ${path} has schema version ${version} and this holdpoint reads up to ${MIGRATIONS.length}; install the newer holdpoint that wrote it, or choose another path`,
    );
  }
  return version;
}

function useWriteAheadLog(client: SqliteClient, path: string): void {
  const { journal_mode: mode } = client.prepare("PRAGMA journal_mode = WAL").get() as { journal_mode: string };
  if (mode === "wal") return;
  throw new HoldpointError(
    "store_unavailable",
    `the store ${path} cannot use a write-ahead log here (it says "${mode}"); put it on a local disk, not on a network file system`,
  );
}

function migrate(client: SqliteClient, path: string): void {
  client.exec("BEGIN IMMEDIATE");
  try {
    // Looked at again under the lock: another process may have done it meanwhile.
    for (const migration of MIGRATIONS.slice(checkOwner(client, path))) client.exec(migration);
    client.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${MIGRATIONS.length}`);
    client.exec("COMMIT");
  } catch (thrown) {
    rollback(client);
    throw thrown;
  }
}

/** False where there was nothing to take back: SQLite has done so by itself. */
export function rollback(client: SqliteClient): boolean {
  try {
    client.exec("ROLLBACK");
    return true;
  } catch {
    return false;
  }
}

const pragma = (client: SqliteClient, name: "user_version" | "application_id"): number =>
  (client.prepare(`PRAGMA ${name}`).get() as Record<typeof name, number>)[name];
