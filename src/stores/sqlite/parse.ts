import type { ApprovalRequest, Entry, JsonObject, Payload, Row, RowKind } from "../../core/index.ts";
import { HoldpointError, STATUSES } from "../../core/index.ts";
import { frozen } from "../freeze.ts";
import { joined } from "./parts.ts";

/**
 * What comes back from a file is somebody's text until it has been looked at: torn, edited by hand or written by a
 * later release, it is an error that names the request, and never a record that a claim could read as approved (A103).
 */

export interface StoredRequest {
  readonly id: string;
  readonly rev: number;
  readonly status: string;
  readonly head: string;
  readonly frozen: string;
  readonly changing: string;
}

/** @throws HoldpointError store_unavailable for a record of another version, or one that is not whole */
export function parseRequest(stored: StoredRequest): ApprovalRequest {
  const what = `the request ${stored.id}`;
  const asked = parseObject(stored.frozen, what);
  if (asked.v !== 1) {
    const version = JSON.stringify(asked.v) ?? "none";
    throw unreadable(
      `${what} has record version ${version} and this holdpoint reads version 1; install the newer holdpoint that wrote it`,
    );
  }
  const record = joined(asked, parseObject(stored.changing, what), stored.head) as ApprovalRequest | undefined;
  if (record === undefined) throw corrupt(`${what} is mixed up`);
  for (const name in MEMBERS) {
    const member = name as keyof ApprovalRequest;
    if (!MEMBERS[member](record[member])) throw corrupt(`${what} has no usable "${name}"`);
  }
  if (record.id !== stored.id || record.rev !== stored.rev || record.status !== stored.status) {
    throw corrupt(`${what} contradicts its own row`);
  }
  return frozen(record);
}

export function parsePayload(id: string, text: string | null): Payload | null {
  if (text === null) return null;
  const payload = parseObject(text, `the payload of request ${id}`);
  if (payload.request !== id || !isObject(payload.arguments)) throw corrupt(`the payload of request ${id} is not whole`);
  return frozen(payload as unknown as Payload);
}

export function parseRow(kind: RowKind, stored: { key: string; rev: number; value: string }): Row {
  const { key, rev } = stored;
  return frozen({ kind, key, rev, value: parseObject(stored.value, `a ${kind} row`) });
}

/** Entries of one stream among those of a commit. */
export function parseEntries(stream: string, text: string): readonly Entry[] {
  const what = `the journal of ${stream}`;
  const entries = parseJson(text, what);
  if (!Array.isArray(entries)) throw corrupt(`${what} is not a list`);
  for (const entry of entries) {
    if (!isObject(entry) || entry.type !== "holdpoint/entry/v1" || !Number.isSafeInteger(entry.n))
      throw corrupt(`${what} is not whole`);
  }
  return frozen((entries as Entry[]).filter((entry) => entry.stream === stream));
}

export const missingEntry = (stream: string, n: number): HoldpointError => corrupt(`the journal of ${stream} lacks entry ${n}`);

function parseObject(text: string, what: string): JsonObject {
  const value = parseJson(text, what);
  if (!isObject(value)) throw corrupt(`${what} is not an object`);
  return value;
}

function parseJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's message quotes the text, which may hold an argument (P-19).
    throw corrupt(`${what} is not JSON`);
  }
}

type Check = (value: unknown) => boolean;
const isObject = (value: unknown): value is JsonObject => typeof value === "object" && value !== null && !Array.isArray(value);
const isText: Check = (value) => typeof value === "string";
const isList: Check = (value) => Array.isArray(value);
const isBoolean: Check = (value) => typeof value === "boolean";
const oneOf =
  (...values: readonly unknown[]): Check =>
  (value) =>
    values.includes(value);
const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);

const MEMBERS: { readonly [Name in keyof ApprovalRequest]-?: Check } = {
  v: oneOf(1),
  id: isText,
  tenant: isText,
  root: isText,
  rev: Number.isSafeInteger,
  head: isText,
  kind: oneOf("call", "grant", "change"),
  status: oneOf(...STATUSES),
  call: isObject,
  callKey: isText,
  masked: isList,
  bindings: isObject,
  requester: isObject,
  requesterProof: isText,
  grade: oneOf("structural", "in-process", "host"),
  terms: isObject,
  termsHash: isText,
  nonce: isText,
  digest: isText,
  createdAt: isText,
  decideBy: isText,
  runBy: optional(isText),
  lease: optional(isObject),
  parked: isBoolean,
  lane: optional(isText),
  decisions: isList,
  claim: optional(isObject),
  outcome: optional(isObject),
  finding: optional(isObject),
  resolution: optional(isObject),
  supersedes: optional(isText),
  supersededBy: optional(isText),
  impact: oneOf("default", "destructive", "irreversible"),
  tier: oneOf("read", "write", "physical", null),
};

const unreadable = (message: string): HoldpointError => new HoldpointError("store_unavailable", message);
const corrupt = (problem: string): HoldpointError =>
  unreadable(
    `${problem}: the store was damaged or edited by hand. It counts as not approved; restore a backup, or remove that row`,
  );
