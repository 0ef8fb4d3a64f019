/**
 * The closed registry of codes. A code says which promise a refusal keeps; the sentence that a model reads is in
 * `refusal.ts`. `docs/reference/errors.md` lists both and a test keeps the three equal.
 */

/** Codes that a model may read (design, section 12). */
export const REFUSAL_CODES = [
  "denied",
  "not_granted",
  "rejected",
  "already_refused",
  "too_many_refusals",
  "expired",
  "cancelled",
  "no_approver",
  "undeliverable",
  "unknown_tool",
  "invalid_arguments",
  "schema_not_stable",
  "invalid_edit",
  "duplicate_id",
  "context_changed",
  "tool_changed",
  "killed",
  "no_gate",
  "cannot_seal",
  "policy_error",
  "channel_fault",
  "store_unavailable",
  "journal_unavailable",
  "clock_skew",
  "directory_unavailable",
  "limit",
  "invalid_token",
] as const;
export type RefusalCode = (typeof REFUSAL_CODES)[number];

/** Codes that only people read: why their answer was not taken. */
export const ANSWER_CODES = [
  "self_approval",
  "not_eligible",
  "assurance_too_low",
  "already_voted",
  "stale_view",
  "late",
  "not_found",
  "ambiguous_id",
] as const;
export type AnswerCode = (typeof ANSWER_CODES)[number];

export type Code = RefusalCode | AnswerCode;

/** Recognises our errors across two copies of the package, where `instanceof` would not. */
const HOLDPOINT_ERROR: symbol = Symbol.for("holdpoint/error");

/** Puts our mark on an error of ours. */
export function mark(error: Error): void {
  Object.defineProperty(error, HOLDPOINT_ERROR, { value: true });
}

/** True for any error of ours, from this copy of the package or another. */
export const isMarked = (thrown: unknown): thrown is Error =>
  typeof thrown === "object" && thrown !== null && (thrown as Record<symbol, unknown>)[HOLDPOINT_ERROR] === true;

/**
 * An error that carries one of our codes.
 * `code` says what kept the call from running; `cause` keeps the first error; the message names cause and next step.
 */
export class HoldpointError extends Error {
  readonly code: Code;
  constructor(code: Code, message: string, options?: { cause?: unknown }) {
    super(message, options);
    mark(this);
    this.name = "HoldpointError";
    this.code = code;
  }
}

/** A wrong declaration or option: thrown when it is written down, never at a call. */
export class DeclarationError extends Error {
  readonly code: "declaration" = "declaration";
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    mark(this);
    this.name = "DeclarationError";
  }
}

/** True for an error with one of our codes, from this copy of the package or another. */
export const isHoldpointError = (thrown: unknown): thrown is HoldpointError =>
  isMarked(thrown) && thrown.name === "HoldpointError";

/** What went wrong, for a log line: anybody may throw anything. */
export const problemOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : "not an error");

/** A contradiction inside Holdpoint. Loud, because a branch for it would hide it. */
export function bug(what: string): never {
  throw new Error(`${what} (this is a bug in Holdpoint)`);
}
