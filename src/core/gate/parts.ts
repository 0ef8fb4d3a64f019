import type { LocalDesk } from "../desk/local-desk.ts";
import type { EventStream } from "../desk/events.ts";
import type { PolicySnapshot } from "../policy.ts";
import type { Desk } from "../ports/desk.ts";
import type { Runtime } from "../ports/runtime.ts";
import type { Grade, RequesterProof } from "../request.ts";
import type { JsonObject } from "../json-value.ts";
import type { AbortLike, RunContext, Tool } from "../tool-call.ts";
import type { KnownTool } from "./know.ts";

/** What the runs of one gate share. */
export interface GateParts {
  readonly runtime: Runtime;
  readonly desk: Desk;
  /** The desk where it is in this process; `undefined`: it is elsewhere. */
  readonly local: LocalDesk | undefined;
  readonly events: EventStream;
  readonly deadline: number | undefined;
  readonly windows: "on" | "off";
  /** Channels in order of preference; empty: the first that can. */
  readonly channels: readonly string[];
  /** Every channel of the desk, where it is this gate's own. */
  readonly allChannels: readonly string[];
  readonly grade: Grade;
  readonly proof: RequesterProof;
  known(tool: unknown): KnownTool | undefined;
  /** The tool that is registered now in the place of one that was; itself where it never was. */
  current(known: KnownTool): KnownTool;
  /** Runs one physical tool at a time (design, section 4.10). */
  inTurn<T>(work: () => Promise<T>): Promise<T>;
  /** Requests that this gate opened and that have not ended. */
  readonly opened: Set<string>;
}

/** Runs a tool that lives elsewhere, once the gate lets it. */
export interface Performer {
  run(args: JsonObject, context: RunContext): unknown;
  /**
   * Aborts when nobody waits for the answer any more. It may still come, and is then kept for the call's repeat: by the same
   * session, or by another one where the reason is `requester_gone`.
   */
  readonly left?: AbortLike;
  /** What is kept then; asked once it ran. `undefined`: it was lost. */
  kept?(): unknown;
  /** The tool as it is defined now, looked at just before the claim; `undefined`: it is gone. */
  current?(): Promise<Tool | undefined>;
}

/** One scope of authority around a call: the run's own, and each parent's. */
export interface Scope {
  readonly policy: PolicySnapshot;
  readonly asks: "parent" | "own" | "deny";
  readonly channels: readonly string[] | undefined;
}
