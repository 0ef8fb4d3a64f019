import { isHoldpointError, problemOf } from "../errors.ts";
import { sameJson } from "../json.ts";
import type { JsonObject } from "../json-value.ts";
import { type Edited, type Outcome, refusedOutcome, unknownOutcome } from "../outcome.ts";
import type { Claimed, Refusal, Standing, Submission } from "../ports/desk.ts";
import { digestOf, partsOf } from "../request-hash.ts";
import { TIMES } from "../desk/parts.ts";
import { bind } from "./bind.ts";
import { execute, type Ran } from "./execute.ts";
import { type Incoming, withSecrets } from "./judge.ts";
import { knownTool } from "./know.ts";
import type { GateParts } from "./parts.ts";
import type { AbortLike, ToolIdentity } from "../tool-call.ts";
import { CANCEL_REASONS, type CancelReason } from "../request.ts";

/** A caller may say why it withdraws, in a word of ours; anything else is an abort. */
const withdrawnBy = (reason: unknown): CancelReason => CANCEL_REASONS.find((known) => known === reason) ?? "abort";

/** Somebody else took the approval up, or nobody can say whether it ran. */
const ENDED: Readonly<Record<string, true>> = { succeeded: true, failed: true, indeterminate: true, claimed: true };

/** Withdraws a request whose caller went away, in the caller's word for it. */
export const withdraw = (parts: GateParts, id: string, { requester, signal }: Submission): Promise<boolean> =>
  parts.desk.cancel(id, withdrawnBy(signal.reason), requester);

/** A held request, and for how long its caller can wait. */
export interface Held {
  readonly id: string;
  readonly submission: Submission;
  readonly link: string | undefined;
  /** Milliseconds since the epoch; `undefined`: until it is decided. */
  readonly until: number | undefined;
}

/** Parks a held request when its caller can wait no longer. @returns whether it did; from then on it does not */
function parkingAt(parts: GateParts, { id, submission, until }: Held): () => Promise<boolean> {
  if (until === undefined) return async () => false;
  const { clock, log } = parts.runtime;
  let parked = Promise.resolve(false);
  const cancel = clock.after(Math.max(0, until - clock.now()), () => {
    parked = parts.desk.park(id, submission.renewer).catch((thrown: unknown) => {
      log.error("a request could not be parked; its caller waits on", { request: id, problem: problemOf(thrown) });
      return false;
    });
  });
  return () => {
    cancel();
    return parked;
  };
}

/** Waits for a held request; an abort of the caller withdraws it, so that nothing runs for nobody. */
export async function waitFor(parts: GateParts, held: Held): Promise<Standing | Refusal> {
  const { id, submission } = held;
  parts.opened.add(id);
  const parked = parkingAt(parts, held);
  try {
    const standing = await parts.desk.await(id, submission.signal);
    // Decided and parked at the same moment: what the desk has is what counts.
    return ((await parked()) ? await parts.desk.standing(id) : undefined) ?? standing;
  } catch (thrown) {
    if (submission.signal.aborted) {
      await withdraw(parts, id, submission);
      const standing = await parts.desk.standing(id);
      return standing?.refusal ?? { code: "cancelled" };
    }
    parts.runtime.log.error("waiting for a decision failed", {
      request: id,
      problem: problemOf(thrown),
    });
    return { code: isHoldpointError(thrown) ? "store_unavailable" : "policy_error" };
  } finally {
    void parked();
    parts.opened.delete(id);
  }
}

export const isRefusal = (said: Standing | Refusal): said is Refusal => !("record" in said);

/** The arguments that will run after an edit: checked again here, whoever checked them where the edit was made. */
async function editedArguments(submission: Submission, standing: Standing): Promise<JsonObject | undefined> {
  if (standing.edited === undefined || standing.arguments === null) return submission.call.arguments;
  const again = await submission.revalidate?.(standing.arguments);
  if (again?.ok !== true || again.denied !== undefined || !sameJson(again.arguments, standing.arguments)) return undefined;
  const demanded = standing.record.terms.clauses.map((clause) => ({ ...clause, by: "", assurance: "" }));
  const added = again.holds.filter(
    (hold) => !demanded.some((clause) => sameJson(clause as never, { ...hold.clause, by: "", assurance: "" } as never)),
  );
  return added.length > 0 ? undefined : withSecrets(standing.arguments, submission.call.arguments, submission.secrets);
}

/** The gate's own last look at the bytes in its hand; the desk has looked at them too. */
const isWhatWasApproved = (parts: GateParts, standing: Standing, args: JsonObject): boolean =>
  standing.record.call.secrets.length > 0 ||
  digestOf(parts.runtime.crypto, partsOf(standing.record, args)) === standing.record.digest;

/**
 * Keeps a request's lease alive while somebody waits, or a claim's while the tool runs; who dies stops renewing, and is
 * found out.
 * @param lost called when it is nobody's to renew any more
 * @returns stops
 */
export function renewing(
  parts: GateParts,
  lease: { id: string; holder: string; token?: string; every: number },
  lost: () => void = () => undefined,
): () => void {
  const { id, holder, token, every } = lease;
  let stopped = false;
  let cancel = (): void => undefined;
  const again = (): void => {
    if (!stopped) cancel = parts.runtime.clock.after(every, () => void renew());
  };
  const renew = async (): Promise<void> => {
    try {
      if (!(await parts.desk.renew(id, holder, token))) return lost();
    } catch (thrown) {
      parts.runtime.log.error("a lease could not be renewed", { request: id, problem: problemOf(thrown) });
    }
    again();
  };
  again();
  return () => {
    stopped = true;
    cancel();
  };
}

/** A held request is its caller's for as long as the work on it goes on, and until then the caller says so. */
export async function whileKept<T>(parts: GateParts, held: Held, work: () => Promise<T>): Promise<T> {
  const stop = renewing(parts, { id: held.id, holder: held.submission.renewer, every: TIMES.requesterRenewal });
  try {
    return await work();
  } finally {
    stop();
  }
}

async function record(
  parts: GateParts,
  id: string,
  ended: { token: string; ran: Ran; kept?: { readonly value: unknown } | undefined },
): Promise<void> {
  const { token, ran, kept } = ended;
  const errorCode = ran.as === "failed" ? "failed" : undefined;
  try {
    const done = await parts.desk.complete(id, token, {
      status: ran.as === "ran" ? "succeeded" : ran.as,
      observedBy: "executor",
      ...(ran.as === "ran" ? { value: ran.value } : {}),
      ...(kept === undefined ? {} : { ...kept, keep: true as const }),
      ...(errorCode === undefined ? {} : { errorCode }),
    });
    if (!done) parts.runtime.log.error("an outcome came after its claim was given up", { request: id });
  } catch (thrown) {
    parts.runtime.log.error("an outcome could not be recorded; the call did run", {
      request: id,
      problem: problemOf(thrown),
    });
  }
}

const outcomeOf = (tool: string, ran: Ran, facts: { request: string; edited: Edited | undefined }): Outcome => {
  const { request } = facts;
  const edited = facts.edited === undefined ? {} : { edited: facts.edited };
  if (ran.as === "lost") return unknownOutcome(tool, request);
  return ran.as === "ran"
    ? { status: "ran", value: ran.value, how: "approved", request, ...edited }
    : { status: "failed", error: ran.error, how: "approved", request, ...edited };
};

/** The tool as it is known now: what was approved may have been replaced while a person read (A83.2). */
async function identityNow(parts: GateParts, incoming: Incoming): Promise<ToolIdentity | undefined> {
  const { known, performer, registered = known } = incoming;
  if (performer?.current === undefined) return parts.current(registered).identity;
  const current = await performer.current();
  return current === undefined ? undefined : knownTool(current, parts.runtime.crypto).identity;
}

/** Its repeat must find that it runs: asked anew, it could run a second time. @returns ends the watch */
function parkWhenLeft(
  parts: GateParts,
  running: { id: string; holder: string; left: AbortLike | undefined },
): () => Promise<unknown> {
  const { id, holder, left } = running;
  if (left === undefined) return async () => undefined;
  let parked: Promise<unknown> = Promise.resolve();
  const gone = (): void => {
    parked = parts.desk.park(id, holder, left.reason === "requester_gone").catch((thrown: unknown) => {
      parts.runtime.log.error("that a caller went away could not be recorded", { request: id, problem: problemOf(thrown) });
    });
  };
  if (left.aborted) gone();
  left.addEventListener("abort", gone);
  return () => {
    left.removeEventListener("abort", gone);
    return parked;
  };
}

/** Stations 9 to 11 for an approved request. The one place where a person's yes lets a tool run. */
export async function runApproved(
  parts: GateParts,
  incoming: Incoming,
  approved: { submission: Submission; standing: Standing },
): Promise<Outcome> {
  const { submission, standing } = approved;
  const { id } = standing.record;
  const tool = submission.tool.name;
  if (submission.signal.aborted) {
    await withdraw(parts, id, submission);
    return refusedOutcome(tool, { code: "cancelled" }, id);
  }
  const args = await editedArguments(submission, standing);
  if (args === undefined) {
    await parts.desk.cancel(id, "invalid_edit", submission.requester);
    return refusedOutcome(tool, { code: "invalid_edit" }, id);
  }
  const bindings = await bind(parts.runtime.surroundings, incoming.descriptor.binds, args);
  const identity = await identityNow(parts, incoming);
  if (identity === undefined) {
    await parts.desk.cancel(id, "tool_changed", submission.requester);
    return refusedOutcome(tool, { code: "tool_changed" }, id);
  }
  const claimed: Claimed = await parts.desk.claim(id, {
    holder: submission.renewer,
    requester: submission.requester,
    tool: identity,
    arguments: args,
    bindings,
  });
  if (!claimed.ok)
    return claimed.status !== null && ENDED[claimed.status] === true
      ? unknownOutcome(tool, id)
      : refusedOutcome(tool, claimed.refusal, id);
  if (claimed.digest !== standing.record.digest || !isWhatWasApproved(parts, standing, args)) {
    await record(parts, id, { token: claimed.token, ran: { as: "failed", error: new Error("not what was approved") } });
    return refusedOutcome(tool, { code: "context_changed" }, id);
  }
  const stop = renewing(parts, { id, holder: submission.renewer, token: claimed.token, every: TIMES.claimRenewal });
  const { performer } = incoming;
  const parking = parkWhenLeft(parts, { id, holder: submission.renewer, left: performer?.left });
  const ran = await execute(parts.runtime, {
    tool: incoming.known.tool,
    arguments: args,
    requester: submission.requester,
    request: id,
    signal: submission.signal,
  });
  stop();
  await parking();
  const kept = performer?.left?.aborted === true ? { value: performer.kept?.() } : undefined;
  await record(parts, id, { token: claimed.token, ran, kept });
  return outcomeOf(tool, ran, { request: id, edited: standing.edited });
}

/** It ran while its caller was gone: what it gave then. */
function outcomeOfKept({ record, status, edited }: Standing, value: unknown): Outcome {
  const facts = { how: "approved" as const, request: record.id, ...(edited === undefined ? {} : { edited }) };
  return status === "failed" ? { status, error: value, ...facts } : { status: "ran", value, ...facts };
}

/** What a call that came before amounts to: its recorded outcome, never a second run (P-03). */
export function outcomeOfRepeat(tool: string, standing: Standing): Outcome {
  const { id } = standing.record;
  if (standing.refusal !== undefined) return refusedOutcome(tool, standing.refusal, id);
  if (standing.result !== undefined) return outcomeOfKept(standing, standing.result.value);
  if (ENDED[standing.status] === true) return unknownOutcome(tool, id);
  return refusedOutcome(tool, { code: "duplicate_id" }, id);
}
