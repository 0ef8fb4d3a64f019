import type { ApprovalRequest } from "../../core/index.ts";

/**
 * The two parts that a record is stored in. True: a step of the request may change it. What is false is written once
 * and cannot be changed by any later commit, as a request is frozen when it is asked (P-18, I9).
 */
const CHANGES: { readonly [Name in keyof ApprovalRequest]-?: boolean } = {
  v: false,
  id: false,
  tenant: false,
  root: false,
  kind: false,
  call: false,
  callKey: false,
  masked: false,
  bindings: false,
  requester: false,
  requesterProof: false,
  grade: false,
  terms: false,
  termsHash: false,
  nonce: false,
  digest: false,
  createdAt: false,
  decideBy: false,
  supersedes: false,
  impact: false,
  tier: false,
  rev: true,
  head: true,
  status: true,
  runBy: true,
  lease: true,
  parked: true,
  lane: true,
  decisions: true,
  claim: true,
  outcome: true,
  finding: true,
  resolution: true,
  supersededBy: true,
};

const isChanging = (name: string): boolean => Object.hasOwn(CHANGES, name) && CHANGES[name as keyof ApprovalRequest];
/** The head has a column and is compared in it: as text of 71 letters it is not worth writing twice. */
const CHANGING: readonly (keyof ApprovalRequest)[] = (Object.keys(CHANGES) as (keyof ApprovalRequest)[]).filter(
  (name) => isChanging(name) && name !== "head",
);

export const frozenText = (record: ApprovalRequest): string =>
  JSON.stringify(Object.fromEntries(Object.entries(record).filter(([name]) => !isChanging(name))));

export function changingText(record: ApprovalRequest): string {
  const part: { [name: string]: unknown } = {};
  for (const name of CHANGING) if (record[name] !== undefined) part[name] = record[name];
  return JSON.stringify(part);
}

/** The whole of both parts and the head; `undefined` where one holds what belongs to the other. */
export function joined(frozen: object, changing: object, head: string): object | undefined {
  if (Object.keys(frozen).some(isChanging) || !Object.keys(changing).every(isChanging)) return undefined;
  return { ...frozen, ...changing, head };
}
