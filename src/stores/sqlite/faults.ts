import { HoldpointError, isHoldpointError } from "../../core/index.ts";

/** https://www.sqlite.org/rescode.html, the primary codes that mean something to whoever runs us. */
const BUSY = 5;
const LOCKED = 6;
const NEXT_STEP: ReadonlyMap<number, string> = new Map([
  [8, "it cannot be written; make the file and its folder writable for this account, or choose another path"],
  [10, "the disk reported an error; look at the system's log before you start again"],
  [11, "it is damaged; nothing in it counts as approved. Restore a backup, or move the file away to start empty"],
  [13, "the disk is full; nothing was half written. Make room and try again"],
  [14, "it cannot be opened; check that the folder exists and that this account may read and write it"],
  [26, "the file is not an SQLite database; choose another path, or restore a backup"],
]);
const NAMES: ReadonlyMap<string, number> = new Map([
  ["SQLITE_BUSY", BUSY],
  ["SQLITE_LOCKED", LOCKED],
  ["SQLITE_READONLY", 8],
  ["SQLITE_IOERR", 10],
  ["SQLITE_CORRUPT", 11],
  ["SQLITE_FULL", 13],
  ["SQLITE_CANTOPEN", 14],
  ["SQLITE_NOTADB", 26],
]);

/** The primary result code of a driver's error: a number from node:sqlite, a name from better-sqlite3. */
function primaryCode(thrown: unknown): number | undefined {
  const { errcode, code } = (thrown ?? {}) as { errcode?: unknown; code?: unknown };
  if (typeof errcode === "number") return errcode & 0xff;
  return typeof code === "string" ? NAMES.get(code.split("_").slice(0, 2).join("_")) : undefined;
}

/** Another connection holds a lock: trying again is the remedy. */
export function isBusy(thrown: unknown): boolean {
  const code = primaryCode(thrown);
  return code === BUSY || code === LOCKED;
}

/** Any failure as an error that says what failed, why, and what to do. What is ours already stays as it is. */
export function fault(thrown: unknown, path: string): HoldpointError {
  if (isHoldpointError(thrown)) return thrown;
  const step =
    NEXT_STEP.get(primaryCode(thrown) ?? 0) ?? `SQLite says: ${thrown instanceof Error ? thrown.message : "no reason"}`;
  return new HoldpointError("store_unavailable", `the store ${path} failed: ${step}`, { cause: thrown });
}

export const lockedTooLong = (path: string, ms: number, cause: unknown): HoldpointError =>
  new HoldpointError(
    "store_unavailable",
    `the store ${path} stayed locked for ${ms} ms; end the process that holds it (an open transaction, a backup, a shell), then try again`,
    { cause },
  );
