import { type Duration, milliseconds } from "../duration.ts";
import { DeclarationError } from "../errors.ts";
import type { Listener } from "../desk/events.ts";
import { eventStream } from "../desk/events.ts";
import { type LocalDesk, localDesk } from "../desk/local-desk.ts";
import { groupDirectory } from "../directory.ts";
import type { ExemptionTest, ExemptionWords } from "../exemption.ts";
import type { Guards } from "../guards.ts";
import { hashOf } from "../hash.ts";
import { LONGEST_DEADLINE } from "../hold.ts";
import { checkMembers, compilePolicy, type Mode, type Policy, type PolicySnapshot } from "../policy.ts";
import type { Approvals, Identity } from "../ports/approvals.ts";
import type { Channel } from "../ports/channel.ts";
import type { Desk } from "../ports/desk.ts";
import type { Directory } from "../ports/directory.ts";
import type { Runtime } from "../ports/runtime.ts";
import type { Store, Stored } from "../ports/store.ts";
import type { Grade, RequesterProof } from "../request.ts";
import type { InputSchema, Tool } from "../tool-call.ts";
import { type KnownTool, describe, knownTool } from "./know.ts";
import type { GateParts } from "./parts.ts";
import { type RunOptions, startRun } from "./run.ts";
import type { Run } from "./run-port.ts";
import type { Declared, GatedTool, InputOf } from "./tool.ts";
import { refusedOutcome, Refused } from "../outcome.ts";
import { couldAsk } from "../rule.ts";

export interface GateOptions {
  /** Default: none; tools then run or ask by tier and floor. */
  readonly policy?: Policy;
  /** Where requests, windows and refusals are kept. */
  readonly store?: Store;
  /** Without one every ask is refused `no_approver`. */
  readonly channels?: readonly Channel[];
  /** A desk elsewhere, in place of policy, store and channels. */
  readonly desk?: Desk;
  readonly directory?: Directory;
  readonly mode?: Mode;
  /** How long a person may take, where neither rule nor tool says. Default 5 minutes; at most 90 days; never off. */
  readonly deadline?: Duration;
  /** The channel to prefer, and the ones to fall over to after it. Default: the first that reaches somebody. */
  readonly defaultChannel?: string | readonly string[];
  /** How often a conversation may ask again after an edit that could not be taken. Default 1. */
  readonly editRetries?: number;
  /** `off`: no window ever answers. Default `on`. */
  readonly windows?: "on" | "off";
  /** Only `block` in this version: the call's promise stays open until it is decided. */
  readonly wait?: "block";
  /** Default `os:<account>`: whom an ask that names nobody may also be answered by. */
  readonly operator?: string;
  readonly tenant?: string;
  readonly runtime?: Runtime;
}

/** What hosts of a gate set beside its options: who can open a listing, and how the requester is known. */
export interface GateHost {
  readonly listing?: readonly Identity[];
  readonly grade?: Grade;
  readonly proof?: RequesterProof;
  readonly record?: "calls" | "counts" | "none";
  readonly guards?: Guards;
}

/** What a gate cannot be made without; a store only where the desk is its own. */
export interface Seams {
  readonly runtime: Runtime;
  readonly store: Store | undefined;
}

/** The only door to execution. It has no way to approve: approvals are on the desk, and only where the app owns the desk. */
export interface Gate extends AsyncDisposable {
  /** Registers one tool. @throws DeclarationError */
  tool<Schema extends InputSchema | undefined = undefined, Value = unknown>(
    declared: Declared<Schema, Value>,
  ): GatedTool<InputOf<Schema>, Awaited<Value>>;
  /** Registers all or none. @throws DeclarationError */
  tools(list: readonly Tool[]): readonly GatedTool[];
  /**
   * Registers a tool that lives elsewhere, or takes its new definition: a call that waits meanwhile finds `tool_changed`.
   * @throws DeclarationError
   */
  observe(tool: Tool): GatedTool;
  /** @throws DeclarationError where the desk is elsewhere and gives its policy later: then `start` */
  run(options: RunOptions): Run;
  /** As `run`, on any desk. @throws HoldpointError `store_unavailable` where the desk could not be reached */
  start(options: RunOptions): Promise<Run>;
  /** Could any call of this tool ask a person? */
  requires(tool: GatedTool | string): boolean;
  cancel(id: string): Promise<boolean>;
  /** Every request that this gate opened and that is still open; with a scope, those of that principal or run. */
  cancelAll(scope?: { readonly principal?: string; readonly run?: string }): Promise<number>;
  expire(id: string): Promise<boolean>;
  sweep(): Promise<number>;
  pending(filter?: {
    readonly principal?: string;
    readonly run?: string;
    readonly tool?: string;
  }): Promise<readonly (Stored & { readonly remainingMs: number })[]>;
  policy(): PolicySnapshot;
  /** For new runs only. */
  setPolicy(policy: Policy): Promise<void>;
  /** @returns undoes it */
  exempt(name: string, words: ExemptionWords, test: ExemptionTest): Promise<() => Promise<void>>;
  /** @returns ends the subscription */
  on(listener: Listener): () => void;
  readonly desk: Desk & { readonly approvals?: Approvals };
}

const functionName = (value: unknown): unknown => (typeof value === "function" ? { $code: value.name } : value);

/** A policy in code as data: its functions by name, for the hash that says which policy ruled. */
const asData = (policy: Policy): unknown =>
  JSON.parse(JSON.stringify(policy, (_key, value: unknown) => functionName(value))) as unknown;

export function snapshotOf(
  policy: Policy,
  made: { readonly runtime: Runtime; readonly record: "calls" | "counts" | "none"; readonly mode?: Mode },
): PolicySnapshot {
  checkMembers(policy);
  const code = [...(policy.opinions ?? []), ...(policy.rules ?? []).flatMap((rule) => [rule.when, rule.except])].flatMap((one) =>
    typeof one === "function" ? [one.name] : [],
  );
  const hash = hashOf(made.runtime.crypto, { type: "holdpoint/policy/v1", files: [asData(policy)], code });
  return compilePolicy(policy, { hash, record: made.record, ...(made.mode === undefined ? {} : { mode: made.mode }) });
}

function checkOptions(options: Omit<GateOptions, "store"> & { readonly store: Store | undefined }): void {
  const { desk, policy, store, channels, wait, deadline } = options;
  if (desk !== undefined && (policy !== undefined || store !== undefined || channels !== undefined)) {
    throw new DeclarationError("a desk elsewhere brings its own policy, store and channels; give either desk or those");
  }
  if (wait !== undefined && wait !== "block")
    throw new DeclarationError(`wait "${String(wait)}" is not offered by this version; use "block"`);
  if (options.windows !== undefined && options.windows !== "on" && options.windows !== "off")
    throw new DeclarationError('windows is "on" or "off"');
  if (deadline !== undefined) {
    const ms = milliseconds(deadline);
    if (ms < 1 || ms > LONGEST_DEADLINE)
      throw new DeclarationError("deadline is at least 1 ms and at most 90 days; it cannot be off");
  }
}

class LocalGate implements Gate {
  readonly desk: Desk & { readonly approvals?: Approvals };
  readonly #parts: GateParts;
  readonly #local: LocalDesk | undefined;
  readonly #known = new Map<string, KnownTool>();
  readonly #handles = new WeakMap<object, KnownTool>();
  /** By any tool that was ever registered: what stands under its name now. */
  readonly #places = new WeakMap<KnownTool, { now: KnownTool }>();
  readonly #record: "calls" | "counts" | "none";
  #turn: Promise<unknown> = Promise.resolve();

  constructor(options: Omit<GateOptions, "runtime" | "store"> & Seams, host: GateHost) {
    checkOptions(options);
    const { runtime } = options;
    this.#record = host.record ?? "counts";
    this.#local = options.desk === undefined ? this.#makeDesk(options, host) : undefined;
    this.desk = this.#local ?? (options.desk as Desk);
    const preferred = options.defaultChannel;
    this.#parts = {
      runtime,
      desk: this.desk,
      local: this.#local,
      events: this.#local?.events ?? eventStream(runtime.log),
      deadline: options.deadline === undefined ? undefined : milliseconds(options.deadline),
      windows: options.windows ?? "on",
      allChannels: (options.channels ?? []).map((channel) => channel.name),
      channels: preferred === undefined ? [] : typeof preferred === "string" ? [preferred] : preferred,
      grade: host.grade ?? "in-process",
      proof: host.proof ?? "process",
      known: (tool) =>
        typeof tool === "string"
          ? this.#known.get(tool)
          : typeof tool === "object" && tool !== null
            ? this.#handles.get(tool)
            : undefined,
      current: (known) => this.#places.get(known)?.now ?? known,
      inTurn: (work) => this.#inTurn(work),
      opened: new Set(),
    };
  }

  #makeDesk(options: Omit<GateOptions, "runtime" | "store"> & Seams, host: GateHost): LocalDesk {
    const { runtime, store } = options;
    if (store === undefined) throw new DeclarationError("a gate with its own desk needs a store");
    const snapshot = snapshotOf(options.policy ?? {}, {
      runtime,
      record: this.#record,
      ...(options.mode === undefined ? {} : { mode: options.mode }),
    });
    const desk: LocalDesk = localDesk({
      runtime,
      store,
      policy: snapshot,
      channels: options.channels ?? [],
      directory: options.directory ?? groupDirectory(() => desk.policy().groups),
      editRetries: options.editRetries ?? 1,
      listing: host.listing ?? [],
      ...(options.operator === undefined ? {} : { operator: options.operator }),
      ...(options.tenant === undefined ? {} : { tenant: options.tenant }),
      ...(host.guards === undefined ? {} : { guards: host.guards }),
    });
    return desk;
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#turn.then(work);
    this.#turn = mine.catch(() => undefined);
    return mine;
  }

  tool<Schema extends InputSchema | undefined = undefined, Value = unknown>(
    declared: Declared<Schema, Value>,
  ): GatedTool<InputOf<Schema>, Awaited<Value>> {
    const [handle] = this.tools([declared as unknown as Tool]);
    return handle as GatedTool<InputOf<Schema>, Awaited<Value>>;
  }

  tools(list: readonly Tool[]): readonly GatedTool[] {
    const known = list.map((tool) => knownTool(tool, this.#parts.runtime.crypto));
    const names = new Set([...this.#known.keys()]);
    for (const { tool } of known) {
      if (names.has(tool.name))
        throw new DeclarationError(
          `a tool "${tool.name}" is registered already; two tools with one name could be taken for each other`,
        );
      names.add(tool.name);
    }
    return known.map((one) => this.#register(one));
  }

  observe(tool: Tool): GatedTool {
    return this.#register(knownTool(tool, this.#parts.runtime.crypto));
  }

  /** The handle shows what the tool is and refuses to run it: outside a gate nothing was asked. */
  #register(one: KnownTool): GatedTool {
    const { run: _run, ...descriptor } = one.tool;
    const refuse = (): never => {
      throw new Refused(refusedOutcome(one.tool.name, { code: "no_gate" }));
    };
    const handle = Object.freeze({ ...descriptor, run: refuse }) as unknown as GatedTool;
    const before = this.#known.get(one.tool.name);
    const place = (before === undefined ? undefined : this.#places.get(before)) ?? { now: one };
    place.now = one;
    this.#places.set(one, place);
    this.#known.set(one.tool.name, one);
    this.#handles.set(handle, one);
    return handle;
  }

  run(options: RunOptions): Run {
    const snapshot = this.desk.snapshot(options.mode);
    if (snapshot instanceof Promise) throw new DeclarationError("this desk gives its policy later; await gate.start(options)");
    return startRun(this.#parts, options, snapshot);
  }

  async start(options: RunOptions): Promise<Run> {
    return startRun(this.#parts, options, await this.desk.snapshot(options.mode));
  }

  requires(tool: GatedTool | string): boolean {
    const known = this.#parts.known(tool);
    if (known === undefined) return false;
    const policy = this.policy();
    const { name, tier, edits, floors, requires } = describe(known, policy);
    if (floors.length > 0 || requires.length > 0 || policy.opinions.length > 0) return true;
    return couldAsk(policy, { name, tier, edits: edits === true });
  }

  cancel(id: string): Promise<boolean> {
    return this.desk.cancel(id, "requester", { principal: "gate" });
  }

  async cancelAll(scope?: { readonly principal?: string; readonly run?: string }): Promise<number> {
    let cancelled = 0;
    const ids = scope === undefined ? [...this.#parts.opened] : (await this.pending(scope)).map(({ record }) => record.id);
    for (const id of ids) if (await this.cancel(id)) cancelled += 1;
    return cancelled;
  }

  #own(): LocalDesk {
    if (this.#local === undefined) throw new DeclarationError("this gate's desk is elsewhere; ask that desk");
    return this.#local;
  }

  expire(id: string): Promise<boolean> {
    return this.#own().expire(id);
  }

  sweep(): Promise<number> {
    return this.#own().sweep();
  }

  async pending(
    filter: { readonly principal?: string; readonly run?: string; readonly tool?: string } = {},
  ): Promise<readonly (Stored & { readonly remainingMs: number })[]> {
    const { principal, run, tool } = filter;
    return (await this.#own().pending()).filter(
      ({ record }) =>
        (principal === undefined || record.requester.principal === principal) &&
        (run === undefined || record.requester.run === run) &&
        (tool === undefined || record.call.tool.name === tool),
    );
  }

  policy(): PolicySnapshot {
    return this.#own().policy();
  }

  setPolicy(policy: Policy): Promise<void> {
    return this.#own().setPolicy(snapshotOf(policy, { runtime: this.#parts.runtime, record: this.#record }));
  }

  exempt(name: string, words: ExemptionWords, test: ExemptionTest): Promise<() => Promise<void>> {
    return this.#own().exempt(name, words, test);
  }

  on(listener: Listener): () => void {
    return this.#parts.events.subscribe(listener);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.cancelAll();
    await this.#local?.close();
  }
}

export const makeGate = (options: Omit<GateOptions, "runtime" | "store"> & Seams, host: GateHost = {}): Gate =>
  new LocalGate(options, host);
