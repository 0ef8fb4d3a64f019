import { DeclarationError, isHoldpointError, type RefusalCode } from "../errors.ts";
import { thaw } from "../desk/events.ts";
import type { JsonObject } from "../json-value.ts";
import { type Outcome, refusedOutcome, unknownOutcome, unwrap } from "../outcome.ts";
import type { Mode, PolicySnapshot } from "../policy.ts";
import type { Refusal, Ruling, Standing, Submission } from "../ports/desk.ts";
import type { Aborter } from "../ports/runtime.ts";
import type { AbortLike, Requester, Tool } from "../tool-call.ts";
import { bind } from "./bind.ts";
import { type Check, checkCall, unknownToolCheck } from "./check-call.ts";
import { execute, type Ran } from "./execute.ts";
import { isRefusal, outcomeOfRepeat, runApproved, waitFor, withdraw } from "./held.ts";
import { isFreeIn, isPlain, type Lane, nameOf, noted, performedBy } from "./lane.ts";
import { check, type Checked, factsOf, type Incoming, prepare } from "./judge.ts";
import { describeBelow, type KnownTool, knownTool } from "./know.ts";
import type { GateParts, Scope } from "./parts.ts";
import type { CallOptions, ChildOptions, Guarded, GuardWords, Run, Submitted } from "./run-port.ts";
import { type Joined, joined } from "./signals.ts";
import { sameJson } from "../json.ts";

const resultWords: Readonly<Record<Ran["as"], string>> = { ran: "ran", failed: "failed", lost: "unknown" };

class LocalRun implements Run {
  readonly requester: Requester;
  readonly #parts: GateParts;
  readonly #scopes: readonly [Scope, ...Scope[]];
  readonly #end: Aborter;
  readonly #lanes = new Map<unknown, Lane>();
  readonly #inFlight = new Map<string, Promise<Outcome>>();
  readonly #waits = new Set<Promise<unknown>>();
  readonly #guarded = new Map<string, unknown>();
  readonly #context: { readonly signal: Aborter["signal"]; readonly requester: Requester };

  constructor(
    parts: GateParts,
    made: {
      readonly requester: Requester;
      readonly scopes: readonly [Scope, ...Scope[]];
      readonly signal: AbortLike | undefined;
    },
  ) {
    this.#parts = parts;
    const { path, ...requester } = made.requester;
    // Tools, opinions and conditions are handed this very object: cards must not show what one of them wrote into it.
    this.requester = Object.freeze({ ...requester, ...(path === undefined ? {} : { path: Object.freeze([...path]) }) });
    this.#scopes = made.scopes;
    this.#end = parts.runtime.aborter();
    this.#context = { signal: this.#end.signal, requester: this.requester };
    const outer = made.signal;
    if (outer?.aborted === true) this.#end.abort(outer.reason);
    outer?.addEventListener("abort", () => this.#end.abort(outer.reason));
  }

  #lane(tool: unknown): Lane | undefined {
    const seen = this.#lanes.get(tool);
    // A handle means one tool for ever; a name means whichever has it now, and that one may be graver than the last.
    if (seen !== undefined && typeof tool !== "string") return seen;
    const known = this.#parts.known(tool);
    if (known === undefined) return seen;
    return known === seen?.known ? seen : this.#laneOf(tool, known);
  }

  #laneOf(tool: unknown, known: KnownTool): Lane {
    const [own, ...parents] = this.#scopes;
    const descriptor = describeBelow(known, [own.policy, ...parents.map(({ policy }) => policy)]);
    const incoming: Incoming = { known, descriptor, requester: this.requester, scopes: this.#scopes };
    const lane = {
      known,
      incoming,
      free: this.#parts.local !== undefined && this.#scopes.every((scope) => isFreeIn(known, scope.policy)),
    };
    this.#lanes.set(tool, lane);
    return lane;
  }

  call(tool: unknown, args: unknown, options?: CallOptions): Promise<never> {
    const lane = this.#lane(tool);
    if (
      lane?.free === true &&
      this.#parts.local?.clear === true &&
      !this.#end.signal.aborted &&
      !this.#parts.events.heard &&
      options === undefined
    ) {
      return this.#straight(lane.known.tool, args) as Promise<never>;
    }
    return this.try(tool as string, args, options).then(unwrap) as Promise<never>;
  }

  /** Lane (a): nothing was judged, so nothing can differ, and nothing needs copying. */
  async #straight(tool: Tool, args: unknown): Promise<unknown> {
    return tool.run(args as never, this.#context);
  }

  async try(tool: unknown, args: unknown, options: CallOptions = {}): Promise<Outcome<never>> {
    const started = this.#parts.runtime.clock.now();
    const lane = performedBy(this.#lane(tool), options.performer);
    const name = lane?.known.tool.name ?? nameOf(tool);
    const outcome = lane === undefined ? this.#unknown(name) : await this.#through(lane, args, options);
    this.#tell(name, { outcome, lane, duration: this.#parts.runtime.clock.now() - started });
    return outcome as Outcome<never>;
  }

  #unknown(name: string): Outcome {
    this.#parts.runtime.log.warn("an unknown tool was called", { tool: name });
    this.#parts.events.emit({ type: "error", where: "know", code: "unknown_tool", problem: `tool "${name}" is not registered` });
    return refusedOutcome(name, { code: "unknown_tool" });
  }

  #tell(name: string, told: { outcome: Outcome; lane: Lane | undefined; duration: number }): void {
    const { outcome, lane, duration } = told;
    const { log } = this.#parts.runtime;
    const tier = lane?.incoming.descriptor.tier ?? null;
    const how = "how" in outcome ? outcome.how : null;
    const { request = null } = outcome as { readonly request?: string };
    const summary = outcome.status === "refused" ? outcome.code : outcome.status;
    if (lane !== undefined)
      log[tier === "read" ? "debug" : "info"]("call", { tool: name, tier, status: outcome.status, how, request, duration });
    if (this.#parts.events.heard)
      this.#parts.events.emit({
        type: "call",
        tool: name,
        tier,
        status: outcome.status,
        summary,
        how,
        duration,
        who: this.requester.principal,
        request,
      });
  }

  async #through(lane: Lane, args: unknown, options: CallOptions): Promise<Outcome> {
    const { signal, release } = this.#signalFor(options.signal);
    try {
      return await this.#stations(lane, args, { options, signal });
    } catch (thrown) {
      return this.#faulty(lane.known.tool.name, thrown);
    } finally {
      release();
    }
  }

  /** A fault of a part on the way: nothing ran, since what a tool itself throws is an outcome long before (P-07, P-15). */
  #faulty(name: string, thrown: unknown): Outcome {
    const code = isHoldpointError(thrown) ? (thrown.code as RefusalCode) : "policy_error";
    // Another's words can hold an argument, as a file system's hold the path.
    const problem = isHoldpointError(thrown) ? thrown.message : thrown instanceof Error ? thrown.name : "not an error";
    this.#parts.runtime.log.error("a call could not be carried out", { tool: name, code, problem });
    this.#parts.events.emit({ type: "error", where: "gate", code, problem });
    return refusedOutcome(name, { code });
  }

  async #stations(lane: Lane, args: unknown, call: { options: CallOptions; signal: AbortLike }): Promise<Outcome> {
    const { options, signal } = call;
    if (signal.aborted) return refusedOutcome(lane.known.tool.name, { code: "cancelled" });
    if (lane.free && (await this.#parts.local?.lets(lane.known.tool.name, this.requester)) === true)
      return this.#run(lane, { arguments: args as JsonObject, signal, how: "allowed" });
    const checked = await check(this.#parts, lane.incoming, args);
    if (!checked.ok) return refusedOutcome(lane.known.tool.name, checked.refusal);
    if (this.#freed(lane, checked.arguments)) return this.#run(lane, { arguments: checked.arguments, signal, how: "allowed" });
    return this.#judged(lane, { checked, options, signal });
  }

  /** Allowed by our own desk with nothing to record: said at once, without building a submission. */
  #freed({ incoming, known }: Lane, args: JsonObject): boolean {
    const { local } = this.#parts;
    if (local === undefined || this.#scopes.length > 1 || this.#scopes[0].asks === "deny" || !isPlain(known, incoming.descriptor))
      return false;
    return local.frees({
      facts: factsOf(incoming, args),
      edits: incoming.descriptor.edits === true,
      policy: this.#scopes[0].policy,
    });
  }

  async #judged(lane: Lane, call: { checked: Checked; options: CallOptions; signal: AbortLike }): Promise<Outcome> {
    const { name } = lane.known.tool;
    const { id, statement } = call.options;
    const prepared = await prepare(this.#parts, lane.incoming, {
      ...noted(call.checked, call.options),
      options: { id, statement, signal: call.signal, wait: "block" },
    });
    if (!prepared.ok) return refusedOutcome(name, prepared.refusal);
    for (;;) {
      const ruling = await this.#parts.desk.submit(prepared.submission);
      if (ruling.ruling !== "held" || ruling.kind === "call") return this.#follow(lane, prepared.submission, ruling);
      const granted = await this.#wait(ruling.request, prepared.submission);
      if (isRefusal(granted)) return refusedOutcome(name, granted, ruling.request);
      if (granted.refusal !== undefined) return refusedOutcome(name, granted.refusal, ruling.request);
      if (granted.status === "indeterminate" || granted.status === "failed")
        return refusedOutcome(name, { code: "not_granted" }, ruling.request);
    }
  }

  async #follow(lane: Lane, submission: Submission, ruling: Ruling): Promise<Outcome> {
    const { name } = lane.known.tool;
    switch (ruling.ruling) {
      case "refused":
        return refusedOutcome(name, ruling.refusal, ruling.request);
      case "allow":
        return this.#allowed(lane, submission, ruling.how);
      case "repeated":
        return this.#repeated(lane, submission, ruling.standing);
      case "held": {
        const held = this.#held(lane, submission, ruling.request);
        return submission.idGiven ? this.#flying(ruling.request, held) : held;
      }
    }
  }

  /** The same call again: one that is live is waited for with whoever waits, one that ended is never run again (P-03). */
  async #repeated(lane: Lane, submission: Submission, standing: Standing): Promise<Outcome> {
    const { id, root } = standing.record;
    const known = this.#inFlight.get(root);
    if (known !== undefined) return known;
    const live = standing.status === "pending" || standing.status === "approved";
    return live ? this.#flying(root, this.#held(lane, submission, id)) : outcomeOfRepeat(lane.known.tool.name, standing);
  }

  /** By the request that was asked first: an edit puts others in its place. */
  #flying(root: string, outcome: Promise<Outcome>): Promise<Outcome> {
    this.#inFlight.set(root, outcome);
    return outcome;
  }

  /** What a rule read is read again just before it runs: a link moved meanwhile is another call (A22.3). */
  async #allowed(lane: Lane, submission: Submission, how: "allowed" | "window" | "exempt"): Promise<Outcome> {
    const now = await bind(this.#parts.runtime.surroundings, lane.incoming.descriptor.binds, submission.call.arguments);
    if (!sameJson(now, submission.bindings)) return refusedOutcome(lane.known.tool.name, { code: "context_changed" });
    return this.#run(lane, { arguments: submission.call.arguments, signal: submission.signal, how });
  }

  #wait(id: string, submission: Submission): Promise<Standing | Refusal> {
    return this.#keep(waitFor(this.#parts, id, submission));
  }

  /** Waited for when the run ends. */
  async #keep<T>(wait: Promise<T>): Promise<T> {
    this.#waits.add(wait);
    try {
      return await wait;
    } finally {
      this.#waits.delete(wait);
    }
  }

  async #held(lane: Lane, submission: Submission, id: string): Promise<Outcome> {
    const { name } = lane.known.tool;
    const standing = await this.#wait(id, submission);
    if (isRefusal(standing)) return refusedOutcome(name, standing, id);
    if (standing.refusal !== undefined) return refusedOutcome(name, standing.refusal, standing.record.id);
    if (standing.status !== "approved") return outcomeOfRepeat(name, standing);
    return this.#carefully(lane, () => runApproved(this.#parts, lane.incoming, { submission, standing }));
  }

  #carefully<T>(lane: Lane, work: () => Promise<T>): Promise<T> {
    return lane.incoming.descriptor.tier === "physical" ? this.#parts.inTurn(work) : work();
  }

  async #run(
    lane: Lane,
    call: { arguments: JsonObject; signal: AbortLike; how: "allowed" | "window" | "exempt" },
  ): Promise<Outcome> {
    const { tool } = lane.known;
    const ran = await this.#carefully(lane, () =>
      execute(this.#parts.runtime, {
        tool,
        arguments: call.arguments,
        requester: this.requester,
        request: undefined,
        signal: call.signal,
      }),
    );
    if (ran.as === "ran") return { status: resultWords.ran as "ran", value: ran.value, how: call.how };
    if (ran.as === "failed") return { status: "failed", error: ran.error, how: call.how };
    return unknownOutcome(tool.name);
  }

  #signalFor(given: AbortLike | undefined): Joined {
    return joined(this.#parts.runtime, this.#end.signal, given);
  }

  async check(tool: unknown, args: unknown): Promise<Check> {
    const lane = this.#lane(tool);
    return lane === undefined
      ? unknownToolCheck
      : checkCall(this.#parts, lane.incoming, { arguments: args, signal: this.#end.signal });
  }

  async #submission(tool: unknown, args: unknown, options: CallOptions): Promise<Submission | Outcome> {
    const lane = this.#lane(tool);
    if (lane === undefined) return this.#unknown(nameOf(tool));
    if (this.#end.signal.aborted) return refusedOutcome(lane.known.tool.name, { code: "cancelled" });
    const checked = await check(this.#parts, lane.incoming, args);
    if (!checked.ok) return refusedOutcome(lane.known.tool.name, checked.refusal);
    const prepared = await prepare(this.#parts, lane.incoming, {
      ...noted(checked, options),
      options: { id: options.id, statement: options.statement, signal: this.#signalFor(options.signal).signal, wait: "block" },
    });
    return prepared.ok ? prepared.submission : refusedOutcome(lane.known.tool.name, prepared.refusal);
  }

  async submit(tool: unknown, args: unknown, options: CallOptions = {}): Promise<Submitted> {
    const submission = await this.#submission(tool, args, options);
    if ("status" in submission) return unwrap(submission) as never;
    const ruling = await this.#parts.desk.submit(submission);
    if (ruling.ruling === "refused") return unwrap(refusedOutcome(submission.tool.name, ruling.refusal)) as never;
    if (ruling.ruling !== "held")
      throw new DeclarationError(`"${submission.tool.name}" is not held; call it instead of submitting it`);
    this.#parts.opened.add(ruling.request);
    const settled = this.#parts.desk.await(ruling.request, submission.signal);
    void this.#keep(this.#ended(ruling.request, submission, settled));
    return { id: ruling.request, settled };
  }

  /** What the caller wanted to run by itself waits no longer than the run does. */
  async #ended(id: string, submission: Submission, settled: Promise<Standing>): Promise<void> {
    try {
      await settled;
    } catch {
      // Whoever submitted hears of it; here only an end of the run matters.
      if (submission.signal.aborted) await withdraw(this.#parts, id, submission);
    }
  }

  async available(tool: unknown, args: unknown): Promise<boolean> {
    const submission = await this.#submission(tool, args, {});
    return !("status" in submission) && this.#parts.desk.reachable(submission);
  }

  guard<F extends (args: never) => unknown>(fn: F, declared: GuardWords): Guarded<F> {
    if (typeof fn !== "function" || fn.length > 1) {
      throw new DeclarationError(`"${declared.name}": guard a function of one argument; put several into one object`);
    }
    this.#claimName(declared.name, fn);
    const lane = this.#laneOf(fn, knownTool({ ...declared, run: fn as Tool["run"] }, this.#parts.runtime.crypto));
    const handle = Object.freeze({ name: declared.name });
    this.#lanes.set(handle, lane);
    return (args) => this.call(handle, args);
  }

  /** What a person says of a name would answer for whatever else is called so. */
  #claimName(name: string, fn: unknown): void {
    const taken = this.#guarded.get(name) ?? this.#parts.known(name);
    if (taken !== undefined && taken !== fn)
      throw new DeclarationError(
        `another tool is called "${name}" already; two tools with one name could be taken for each other`,
      );
    this.#guarded.set(name, fn);
  }

  child(options: ChildOptions): Run {
    const { path, asks, policy, channels } = options;
    if (path === "") throw new DeclarationError("a child run needs the name of its agent as path");
    const own: Scope = {
      policy: policy ?? this.#scopes[0].policy,
      asks,
      channels: asks === "own" ? channels : this.#scopes[0].channels,
    };
    const requester = { ...this.requester, path: [...(this.requester.path ?? []), path] };
    return new LocalRun(this.#parts, { requester, scopes: [own, ...this.#scopes], signal: this.#end.signal });
  }

  /** Withdraws what still waits, and resolves when that is recorded. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort(new Error("the run has ended"));
    await Promise.allSettled([...this.#waits]);
  }
}

export interface RunOptions extends Omit<Requester, "run"> {
  /** The run's own name. Default: one is made. `null`: no run, as for single commands; a rejection is then remembered for 30 minutes. */
  readonly run?: string | null;
  readonly mode?: Mode;
  readonly signal?: AbortLike;
}

/** @throws DeclarationError on an empty principal: a call that acts for nobody has nobody to answer for it */
export function startRun(parts: GateParts, options: RunOptions, policy: PolicySnapshot): Run {
  const { mode: _mode, signal, run = parts.runtime.ids.request(), ...requester } = options;
  if (typeof requester.principal !== "string" || requester.principal === "")
    throw new DeclarationError("a run acts for somebody: give it a principal that is not empty");
  return new LocalRun(parts, {
    requester: thaw({ ...requester, ...(run === null ? {} : { run }) }) as Requester,
    scopes: [{ policy, asks: "parent", channels: undefined }],
    signal,
  });
}
