import type { Hash } from "../hash.ts";
import { plus } from "../instant.ts";
import type { JsonObject } from "../json-value.ts";
import type { Row, RowChange, Stored } from "../ports/store.ts";
import type { ApprovalRequest } from "../request.ts";
import { lookThrough } from "./look.ts";
import { type DeskParts, TIMES } from "./parts.ts";

/** A resume token: `hp1.<id>.<256 random bits>`, stored hashed with principal, request root and expiry (formats, section 7). */
const VERSION = "hp1";

const rowKey = (root: string): string => `resume/${root}`;

const hashOfToken = (parts: DeskParts, token: string): Hash => `sha256:${parts.runtime.crypto.sha256(token)}`;

/** A new token for a request that is about to be stored, with the row that goes into the same commit. */
export function mintResume(parts: DeskParts, record: ApprovalRequest): { readonly token: string; readonly row: RowChange } {
  const token = `${VERSION}.${record.id}.${parts.runtime.ids.token()}`;
  const next: JsonObject = {
    use: "resume",
    hash: hashOfToken(parts, token),
    principal: record.requester.principal,
    root: record.root,
    until: plus(record.decideBy, record.terms.runWithin + TIMES.resumeAfter),
    spent: null,
  };
  return { token, row: { kind: "token", key: rowKey(record.root), expect: null, next } };
}

/** The token's row, where it is this token, this principal's, and not over. One answer for everything else. */
export async function resumeRow(parts: DeskParts, token: unknown, principal: string): Promise<Row | undefined> {
  if (typeof token !== "string") return undefined;
  const [version, root, secret, ...rest] = token.split(".");
  if (version !== VERSION || root === undefined || secret === undefined || rest.length > 0) return undefined;
  const row = await parts.store.row("token", rowKey(root));
  if (row === undefined || !parts.runtime.crypto.equal(String(row.value.hash), hashOfToken(parts, token))) return undefined;
  const now = await parts.store.now();
  return row.value.principal === principal && now < String(row.value.until) ? row : undefined;
}

/** The claim spends it: what it still tells afterwards is how the call ended. */
export const spendResume = ({ key, rev, value }: Row, at: string): RowChange => ({
  kind: "token",
  key,
  expect: rev,
  next: { ...value, spent: at },
});

/** The request of a token, or what edits made of it. */
export async function resumed(parts: DeskParts, token: string, principal: string): Promise<Stored | undefined> {
  const row = await resumeRow(parts, token, principal);
  return row === undefined ? undefined : lookThrough(parts, String(row.value.root));
}
