import type { RefusalCode } from "./errors.ts";
import type { Refusal } from "./ports/desk.ts";
import type { CancelReason, Resolution } from "./request.ts";

const FINAL = "This is final: do not retry or rephrase it and do not reach the same end another way. Tell the user briefly.";

const quoted = (intro: string, reason: string | undefined): string =>
  reason === undefined || reason === "" ? "" : ` ${intro}: "${reason}".`;

type Sentence = (tool: string, refusal: Refusal) => string;

const rejected: Sentence = (tool, { reason }) =>
  `Not run: a person rejected "${tool}".${quoted("Reason given", reason)} ${FINAL}`;
const expired: Sentence = (tool) => `Not run: nobody answered for "${tool}" in time, and silence is not consent. ${FINAL}`;
const unreached: Sentence = (tool) => `Not run: "${tool}" needs a person and nobody could be reached. ${FINAL}`;
const denied: Sentence = (tool, { reason }) =>
  `Not run: policy does not allow "${tool}" with these arguments.${quoted("Reason", reason)} ${FINAL}`;
const again: Sentence = (tool) => `Not run: "${tool}" was already refused in this run. ${FINAL}`;
const withdrawn: Sentence = (tool) => `Not run: the request for "${tool}" was withdrawn. ${FINAL}`;
const unknownTool: Sentence = (tool) => `Tool "${tool}" is not registered; it was not run.`;
const invalid: Sentence = (_tool, { pointer, problem }) =>
  `Not run: ${pointer === undefined || pointer === "" ? "the arguments" : pointer}: ${problem ?? "not valid"}. Correct the arguments and call again.`;
const unchecked: Sentence = (tool, { code }) => `Not run: "${tool}" could not be checked (${code}). Tell the user briefly.`;

/** One fixed English sentence for each code: what a model reads is never composed elsewhere (P-07). */
const SENTENCES: Readonly<Record<RefusalCode, Sentence>> = {
  rejected,
  expired,
  no_approver: unreached,
  undeliverable: unreached,
  denied,
  not_granted: denied,
  killed: denied,
  already_refused: again,
  too_many_refusals: again,
  cancelled: withdrawn,
  invalid_edit: withdrawn,
  context_changed: withdrawn,
  tool_changed: withdrawn,
  unknown_tool: unknownTool,
  invalid_arguments: invalid,
  schema_not_stable: unchecked,
  duplicate_id: unchecked,
  no_gate: unchecked,
  cannot_seal: unchecked,
  policy_error: unchecked,
  channel_fault: unchecked,
  store_unavailable: unchecked,
  journal_unavailable: unchecked,
  directory_unavailable: unchecked,
  clock_skew: unchecked,
  limit: unchecked,
  invalid_token: unchecked,
};

/** What the model reads of a call that did not run. */
export const refusalSentence = (tool: string, refusal: Refusal): string => SENTENCES[refusal.code](tool, refusal);

export const pendingSentence = (tool: string, link: string): string =>
  `Not run yet: "${tool}" waits for a person (${link}). Do not assume a result; the same call made again brings the answer.`;
export const deferredSentence = (tool: string): string =>
  `Not run yet: "${tool}" is queued for approval. Go on without its result; do not retry it and do not read back its effects.`;
export const unknownSentence = (tool: string): string =>
  `"${tool}" may or may not have run; do not repeat it. Tell the user briefly.`;

const CANCEL_CODES: ReadonlyMap<string, RefusalCode> = new Map<CancelReason, RefusalCode>([
  ["undeliverable", "undeliverable"],
  ["no_approver", "no_approver"],
  ["channel_fault", "channel_fault"],
  ["invalid_edit", "invalid_edit"],
  ["context_changed", "context_changed"],
  ["tool_changed", "tool_changed"],
  ["kill_switch", "killed"],
  ["policy_changed", "denied"],
  ["revoked", "rejected"],
]);

/** The code behind a resolution: the cancel reason itself where the sentences list it, else what it amounts to. */
export function codeOf(resolution: Resolution, kind: "call" | "grant" | "change"): RefusalCode {
  if (kind === "grant") return "not_granted";
  if (resolution.status === "rejected") return "rejected";
  if (resolution.status === "expired") return "expired";
  return CANCEL_CODES.get(resolution.reason) ?? "cancelled";
}
