import type { Row, RowKind } from "../../core/index.ts";
import type { SqliteChanges } from "./client.ts";
import { parseRow } from "./parse.ts";
import type { Statements } from "./statements.ts";

/** Rows beside the requests. Those of kind `payload` are kept in the request's own row, which each creation writes anyway. */

export interface StoredRow {
  readonly rev: number;
  readonly value: string;
}

export function readRow(sql: Statements, kind: RowKind, key: string): Row | undefined {
  const found = kind === "payload" ? sql.get("payload").get(key) : sql.get("row").get(kind, key);
  return found === undefined ? undefined : parseRow(kind, { key, ...(found as StoredRow) });
}

/** The next rows of a kind after a key, in the order of their keys. */
export function rowsAfter(
  sql: Statements,
  kind: RowKind,
  { key, limit }: { key: string; limit: number },
): readonly (StoredRow & { key: string })[] {
  const found = kind === "payload" ? sql.get("payloads").all(key, limit) : sql.get("rows").all(kind, key, limit);
  return found as (StoredRow & { key: string })[];
}

export interface RowText {
  readonly kind: RowKind;
  readonly key: string;
  readonly expect: number | null;
  /** `null` removes. */
  readonly text: string | null;
  /** When a delivery is due. */
  readonly due: string | null;
}

/** Compares and sets. False: the row is not as expected, or it is the payload of a request that is not there. */
export function writeRow(sql: Statements, row: RowText): boolean {
  if (row.expect === null && row.text === null) return readRow(sql, row.kind, row.key) === undefined;
  const { changes } = row.kind === "payload" ? writePayload(sql, row) : writeOther(sql, row);
  return Number(changes) === 1;
}

function writePayload(sql: Statements, { key, expect, text }: RowText): SqliteChanges {
  if (expect === null) return sql.get("insertPayload").run(key, text);
  return text === null ? sql.get("deletePayload").run(key, expect) : sql.get("updatePayload").run(key, text, expect);
}

function writeOther(sql: Statements, { kind, key, expect, text, due }: RowText): SqliteChanges {
  if (expect === null) return sql.get("insertRow").run(kind, key, due, text);
  return text === null ? sql.get("deleteRow").run(kind, key, expect) : sql.get("updateRow").run(due, text, kind, key, expect);
}
