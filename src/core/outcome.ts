import type { JsonObject } from "./json-value.ts";
import type { Refusal } from "./ports/desk.ts";
import { refusalSentence, unknownSentence } from "./refusal.ts";
import { isMarked, mark, type RefusalCode } from "./errors.ts";

/** How a call came to run. */
export type How = "allowed" | "approved" | "window" | "exempt";

/** What became of a call, for those who switch on `status`. */
export type Outcome<Value = unknown> =
  | { readonly status: "ran"; readonly value: Value; readonly how: How; readonly request?: string; readonly edited?: Edited }
  | { readonly status: "failed"; readonly error: unknown; readonly how: How; readonly request?: string; readonly edited?: Edited }
  | {
      readonly status: "refused";
      readonly code: RefusalCode;
      readonly reason?: string;
      readonly sentence: string;
      readonly request?: string;
    }
  /** It waits without its caller. `token` is empty where the same call made again takes it up; `link`: where a person finds it. */
  | { readonly status: "suspended"; readonly request: string; readonly token: string; readonly link?: string }
  | { readonly status: "deferred"; readonly request: string }
  /** The tool may have run; it must not be repeated. */
  | { readonly status: "unknown"; readonly sentence: string; readonly request?: string };

/** Who changed the arguments, and what ran. */
export interface Edited {
  readonly by: string;
  readonly arguments: JsonObject;
}

/** A call that did not run. `message` is the sentence for the model; `reason` a person's or a rule's words. */
export class Refused extends Error {
  readonly code: RefusalCode;
  readonly reason: string | undefined;
  readonly request: string | undefined;
  constructor(outcome: Extract<Outcome, { status: "refused" }>) {
    super(outcome.sentence);
    mark(this);
    this.name = "Refused";
    this.code = outcome.code;
    this.reason = outcome.reason;
    this.request = outcome.request;
  }
}

/** A call whose effect nobody can be sure of. Never repeat it by itself. */
export class Unknown extends Error {
  readonly request: string | undefined;
  constructor(outcome: Extract<Outcome, { status: "unknown" }>) {
    super(outcome.sentence);
    mark(this);
    this.name = "Unknown";
    this.request = outcome.request;
  }
}

/** A call that waits; `token` takes it up again. */
export class Suspended extends Error {
  readonly request: string;
  readonly token: string;
  constructor(outcome: Extract<Outcome, { status: "suspended" }>) {
    super(`the call waits for a person as request ${outcome.request}`);
    mark(this);
    this.name = "Suspended";
    this.request = outcome.request;
    this.token = outcome.token;
  }
}

const marked = (thrown: unknown, name: string): boolean => isMarked(thrown) && thrown.name === name;

/** True for a refusal from this copy of the package or another. */
export const isRefused = (thrown: unknown): thrown is Refused => marked(thrown, "Refused");
export const isSuspended = (thrown: unknown): thrown is Suspended => marked(thrown, "Suspended");
export const isUnknown = (thrown: unknown): thrown is Unknown => marked(thrown, "Unknown");

export function refusedOutcome(tool: string, refusal: Refusal, request?: string): Extract<Outcome, { status: "refused" }> {
  return {
    status: "refused",
    code: refusal.code,
    sentence: refusalSentence(tool, refusal),
    ...(refusal.reason === undefined ? {} : { reason: refusal.reason }),
    ...(request === undefined ? {} : { request }),
  };
}

export const unknownOutcome = (tool: string, request?: string): Extract<Outcome, { status: "unknown" }> => ({
  status: "unknown",
  sentence: unknownSentence(tool),
  ...(request === undefined ? {} : { request }),
});

/** The tool's own value, or the error that says why there is none. */
export function unwrap<Value>(outcome: Outcome<Value>): Value {
  switch (outcome.status) {
    case "ran":
      return outcome.value;
    case "failed":
      throw outcome.error;
    case "refused":
      throw new Refused(outcome);
    case "suspended":
      throw new Suspended(outcome);
    case "deferred":
      throw new Suspended({ status: "suspended", request: outcome.request, token: "" });
    case "unknown":
      throw new Unknown(outcome);
  }
}
