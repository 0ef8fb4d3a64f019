import type { Decided } from "../../../src/core/approving.ts";
import type { JsonObject, Outcome } from "../../../src/core/index.ts";

/** One call of a case, from its first try on; `again` are the tries of a host that took it up again. */
export interface Call {
  readonly label: string;
  readonly spec: CallSpec;
  process: string;
  readonly abort: AbortController;
  /** Requests that were opened for it, the newest last. */
  readonly requests: string[];
  outcome: Outcome | undefined;
  /** How often the host got a result. */
  results: number;
}

export interface CallSpec {
  readonly label: string;
  readonly tool: string;
  readonly args: unknown;
  /** The caller's own name of the call; `undefined`: the gate makes one. */
  readonly id?: string | undefined;
  readonly session?: string | undefined;
  readonly agent?: string | undefined;
  readonly run?: string | undefined;
  readonly principal?: string | undefined;
  readonly path?: readonly string[] | undefined;
  readonly statement?: string | undefined;
  /** The process that makes it. Default: the one that lives. */
  readonly process?: string | undefined;
}

/** What a person did and what the desk made of it. */
export interface Answered {
  readonly label: string;
  readonly by: string;
  readonly decided: Decided | undefined;
}

/** What a person does with a request. */
export interface Answering {
  readonly verdict: "approve" | "reject";
  readonly by: string;
  readonly via: string;
  readonly reason?: string;
  readonly arguments?: JsonObject;
  readonly process?: string;
  /** Without the view that came with the card. */
  readonly unseen?: boolean;
}
