import type { CancelReason, JsonObject } from "../core/index.ts";

/** What the relay asks of the gate. The relay moves bytes and decides nothing. */
export interface Judge {
  /**
   * Called for each tools/call before anything of it reaches the server.
   * @param signal aborts when the call is withdrawn; its reason is a {@link Withdrawal}. A verdict that comes later is
   *   not acted upon: one that lets the call run is told by `finished` that it did not.
   */
  judge(call: GatewayCall, signal: AbortSignal): Promise<GatewayVerdict>;
}

/** Why a held call is withdrawn: the client's cancel, the end of the client, or the end of the server or of the relay. */
export type Withdrawal = Extract<CancelReason, "requester" | "requester_gone" | "abort">;

export interface GatewayCall {
  /** As the client named it. */
  readonly tool: string;
  /** Frozen; every number in it is exact. Size and depth are the gate's to limit. */
  readonly arguments: JsonObject;
  /** The text that `arguments` was read from; `{}` where the client sent none. */
  readonly argumentsText: string;
  /**
   * The tool object as the server sent it, in which a number that JavaScript cannot hold is its own text; `undefined` for a
   * tool that the server does not list, lists twice with a difference, or that could not be asked for.
   */
  readonly definition: unknown;
  /** The definition as it is at this moment: asks the server again where it said that its tools changed. */
  current(): Promise<unknown>;
  /**
   * What the client is told of why its call waits, once it has waited for a second and then every few seconds; a later note
   * at once. Only where the client asked for progress.
   */
  progress(note: string): void;
  /** The client asked for progress, which can keep it waiting. */
  readonly progresses: boolean;
  /** Milliseconds since the call came. */
  waited(): number;
  /** Aborts when the client waits no longer for a call that runs: it cancelled it, or left. */
  readonly left: AbortSignal;
  /** What the server answered, for a client that asks again: `undefined` where it did not, or not in JSON. */
  given(): Given | undefined;
  /** Members of the request beside name, arguments and `_meta`: the server gets them too. */
  readonly beside: readonly string[];
  /** What the client calls itself. */
  readonly clientName: string | undefined;
}

export type GatewayVerdict =
  | {
      readonly run: true;
      /** `undefined`: the message's own text is forwarded. Else an edit: the arguments alone are replaced in that text. */
      readonly arguments: JsonObject | undefined;
      /** Called once. A fault here is logged and the result is forwarded all the same. */
      finished(outcome: CallOutcome): Promise<void>;
    }
  | {
      readonly run: false;
      /** What the model reads, as a result with `isError`. */
      readonly text: string;
      /** Travels as `_meta["holdpoint/request"]`. */
      readonly request?: string | undefined;
    }
  | {
      readonly run: false;
      /** It ran before, while its client was gone: what the server answered then. */
      readonly given: Given;
      /** The arguments that a person had put in place of the client's. */
      readonly edited?: JsonObject | undefined;
    };

/** What a server answers a request with. */
export type Given = { readonly result: unknown } | { readonly error: unknown };

/** How a call that ran ended; `result` is `undefined` where the server's answer was not I-JSON. `lost`: nobody knows. */
export type CallOutcome = { readonly isError: boolean; readonly result: unknown } | { readonly lost: string };

/** How long the relay waits for things, in milliseconds. */
export interface Timing {
  /** Before the first progress note of a held call: most calls are decided sooner and are not disturbed. */
  readonly progressAfter: number;
  /** Between two progress notes of a held call. */
  readonly progressEvery: number;
  /** For the server to list its tools when we ask. */
  readonly listWithin: number;
  /** Before the log says that a call waits for that list. */
  readonly listNoteAfter: number;
  /** For an outcome to be recorded before the result is forwarded without it. */
  readonly recordWithin: number;
  /** For the server to answer a running call that the client withdrew, as one does whose time-out is shorter than the tool. */
  readonly cancelGrace: number;
  /** For the server to leave by itself after its input ended; SIGTERM follows. */
  readonly exitGrace: number;
  /** Between SIGTERM and SIGKILL. */
  readonly killGrace: number;
  /** For judges, records and the last bytes once everything has ended. */
  readonly settleWithin: number;
}

/** Clients of the official SDKs end us 2 s after they close our input: exitGrace and killGrace together stay below that. */
export const TIMING: Timing = {
  progressAfter: 1000,
  progressEvery: 5000,
  listWithin: 10_000,
  listNoteAfter: 1000,
  recordWithin: 5000,
  cancelGrace: 300_000,
  exitGrace: 1400,
  killGrace: 400,
  settleWithin: 1000,
};
