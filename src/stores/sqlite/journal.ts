import type { Entry } from "../../core/index.ts";
import { parseEntries } from "./parse.ts";
import type { Statements } from "./statements.ts";

interface StoredEntries {
  readonly entries: string;
}

/**
 * The entries of a stream from a number on: all of a request's, which are few, and up to `limit` of a process's.
 * @throws HoldpointError store_unavailable where one is missing or torn
 */
export function entriesFrom(sql: Statements, stream: string, { n, limit }: { n: number; limit: number }): readonly Entry[] {
  const commits = stream.startsWith("request/")
    ? sql.get("journal").all(stream.slice(8))
    : sql.get("nodeJournal").all(stream, n - 1, limit);
  const found = new Map<number, Entry>();
  for (const { entries } of commits as StoredEntries[]) {
    for (const entry of parseEntries(stream, entries)) if (entry.n >= n) found.set(entry.n, entry);
  }
  return [...found.values()].sort((a, b) => a.n - b.n);
}
