import type { Outcome } from "../outcome.ts";
import type { PolicySnapshot } from "../policy.ts";
import type { Standing } from "../ports/desk.ts";
import type { AbortLike, Requester, Tool } from "../tool-call.ts";
import type { Check } from "./check-call.ts";
import type { Performer } from "./parts.ts";
import type { GatedTool } from "./tool.ts";

export interface CallOptions {
  /** The caller's own name for this call: the same id with the same call is the same request, never a second run. */
  readonly id?: string;
  readonly signal?: AbortLike;
  /** The agent's own words; shown as its claim, at most 2,000 characters. */
  readonly statement?: string;
  /** Lines for the card, by whoever hosts the call: what travels with it beside its arguments, what is not bound. */
  readonly notes?: readonly string[];
  /**
   * Milliseconds for which the caller can wait; then the call is parked: outcome `suspended`, and the same call made again
   * takes it up. Only a gate between client and server parks. Default: until it is decided.
   */
  readonly hold?: number;
  /** What runs in place of the tool's own `run`: for a gate in front of tools that live elsewhere. */
  readonly performer?: Performer;
}

export interface ChildOptions {
  /** The name of the agent this run is for; it is added to the path that cards show. */
  readonly path: string;
  /** Who is asked where the child's own scope asks: its parent's people, its own channels, or nobody (denied). */
  readonly asks: "parent" | "own" | "deny";
  /** The child's own policy. Default: its parent's. It can only tighten. */
  readonly policy?: PolicySnapshot;
  readonly channels?: readonly string[];
}

/** A request that is open and that the caller will run by itself. */
export interface Submitted {
  readonly id: string;
  readonly settled: Promise<Standing>;
}

/** One agent run: policy and mode frozen when it starts, refusals remembered while it lasts, everything withdrawn when it ends. */
export interface Run extends AsyncDisposable {
  readonly requester: Requester;
  /** The tool's own value. @throws Refused, Suspended, Unknown, or what the tool itself threw */
  call<Args, Value>(tool: GatedTool<Args, Value>, args: Args, options?: CallOptions): Promise<Value>;
  call(tool: string, args: unknown, options?: CallOptions): Promise<unknown>;
  /** The outcome, whatever it is; never throws for a call. */
  try<Args, Value>(tool: GatedTool<Args, Value>, args: Args, options?: CallOptions): Promise<Outcome<Value>>;
  try(tool: string, args: unknown, options?: CallOptions): Promise<Outcome>;
  /** Station by station, asking nobody and changing nothing. */
  check(tool: GatedTool | string, args: unknown): Promise<Check>;
  /** Opens the request and runs nothing. @throws Refused where nothing was opened */
  submit(tool: GatedTool | string, args: unknown, options?: CallOptions): Promise<Submitted>;
  /** Would an ask for this call reach somebody? */
  available(tool: GatedTool | string, args: unknown): Promise<boolean>;
  /**
   * A function of one argument that from now on runs only through this run; same type in, same type out.
   * @throws DeclarationError
   */
  guard<F extends (args: never) => unknown>(fn: F, declared: GuardWords): Guarded<F>;
  child(options: ChildOptions): Run;
}

/** What a guarded function is called and demands; everything of a tool but its `run`. */
export type GuardWords = Omit<Tool, "run">;
export type Guarded<F extends (args: never) => unknown> = (args: Parameters<F>[0]) => Promise<Awaited<ReturnType<F>>>;
