import type { Duration } from "./duration.ts";
import type { Hash } from "./hash.ts";
import type { JsonObject, JsonValue } from "./json-value.ts";
import type { Alternative, Assurance, Selector } from "./requirement.ts";

/** One requested execution. */
export interface ToolCall {
  /** Unique within (tenant, principal, agent's session, run). */
  readonly id: string;
  readonly tool: string;
  readonly arguments: JsonObject;
}

/** Who asks, and for whom. */
export interface Requester {
  /** The person or service the agent acts for; never empty. */
  readonly principal: string;
  readonly agent?: string;
  readonly session?: string;
  readonly run?: string;
  readonly thread?: string;
  /** The chain of agents from the root to the one that asks. */
  readonly path?: readonly string[];
  /** A service identity that many share: never windows, exemptions or grants, and nobody of its own to ask. */
  readonly shared?: boolean;
}

export const TIERS = ["read", "write", "physical"] as const;
/** What a tool can do. `physical` acts on the world or runs code that the agent wrote. */
export type Tier = (typeof TIERS)[number];

export const IMPACTS = ["default", "destructive", "irreversible"] as const;
/** How bad a wrong call would be. Changes the card and the deliberate act it asks for, never the verdict. */
export type Impact = (typeof IMPACTS)[number];

/** A tool wherever it is named: in hashes, records, cards. */
export interface ToolIdentity {
  readonly name: string;
  /** `code`, `exec`, `mcp:<server>`, `plugin:<x>`, `host:<x>`. */
  readonly origin: string;
  readonly definition: Hash;
}

/** Standard Schema v1, as much of it as we use (https://standardschema.dev). */
export interface StandardSchema<Output = unknown> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string; readonly path?: readonly unknown[] | undefined }[] };

/** A JSON Schema 2020-12 object. */
export type JsonSchema = { readonly [keyword: string]: unknown };
export type InputSchema = StandardSchema | JsonSchema;

/** `{name}` placeholders filled from the arguments, or a function of them. A missing value or a throw gives the listing. */
export type Message = string | ((args: JsonObject) => string);

/** Only exactly `false` frees; a throw, a promise, anything else asks. */
export type When = (args: JsonObject, call: { readonly tool: string; readonly requester: Requester }) => unknown;

/** What a tool demands for itself (its floor), or a rule demands of a call. */
export interface Confirmation {
  readonly message?: Message;
  readonly when?: When;
  /** How long one approval answers the same call again. Default 0: asks each time. */
  readonly window?: Duration;
  /** A coded exemption may answer it. Default: true for a floor in code, false for a rule. */
  readonly exemptible?: boolean;
  /** `false`: nothing may be edited. Default true, within `editable`. */
  readonly edit?: boolean;
  readonly wait?: "block" | "suspend" | "defer";
  readonly approvers?: readonly Selector[];
  /** Default 1. */
  readonly quorum?: number;
  readonly any?: readonly Alternative[];
  readonly self?: "allow" | "deny";
  readonly assurance?: Assurance;
  readonly deadline?: Duration;
}

/** `"<scope>"` or `{ scope, length? = "15m" }`; `true` is the scope `tool:<name>`. */
export type Requires = true | string | { readonly scope: string; readonly length?: Duration };

/** What is resolved when asked and again at the claim; a difference refuses (`context_changed`). */
export interface Binds {
  /** Pointers of arguments that are paths: bound to what they resolve to. */
  readonly paths?: readonly string[];
  /** Pointers of arguments that name files: bound to the file's bytes. */
  readonly files?: readonly string[];
  /** Names of environment variables. */
  readonly env?: readonly string[];
  /** `true`, or the pointer of the argument that is the working folder. */
  readonly cwd?: true | string;
}

/** What we know of a tool. Tier, impact and confirmation come from our code or our policy, never from a server's claim. */
export interface ToolDescriptor {
  readonly name: string;
  readonly description?: string;
  readonly input?: InputSchema;
  readonly tier?: Tier;
  readonly impact?: Impact;
  /** One line: what a call will do to the world. */
  readonly effect?: Message;
  readonly confirm?: true | string | Confirmation;
  readonly requires?: Requires;
  readonly binds?: Binds;
  /** Pointers whose values travel as commitments only (P-19). */
  readonly secrets?: readonly string[];
  /** Pointers an approver may change. Default: all. */
  readonly editable?: readonly string[];
  /** Freed by mode `accept-edits`. */
  readonly edits?: boolean;
  /** Pointers left out of the call key, so that a retry with another time-out is the same act. */
  readonly ignore?: readonly string[];
  readonly version?: string;
  /** Default `code`. */
  readonly origin?: string;
  /** Where the tool is somebody else's: how its server is started or found, and the tool exactly as that server sent it. */
  readonly definition?: { readonly server: JsonObject; readonly tool: JsonValue };
}

/** What a running tool is given beside its arguments. */
export interface RunContext {
  /** Aborts when the run ends, the caller aborts, or the tool's own time-out is over. */
  readonly signal: Signal;
  readonly requester: Requester;
  /** The request that released the call; `undefined` where policy allowed it. */
  readonly request?: string;
}

/** The platform's own AbortSignal where it has one, so that a tool can hand it on; else as much of it as the core uses. */
export type Signal = typeof globalThis extends { AbortSignal: { prototype: infer S } } ? S : AbortLike;

/** As much of an AbortSignal as the core uses. */
export interface AbortLike {
  readonly aborted: boolean;
  readonly reason?: unknown;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/** A tool that the gate can run. */
export interface Tool<Args = never, Value = unknown> extends ToolDescriptor {
  /** The tool's own time limit, counted from when it starts, never from when it was asked (P-12). Default: none. */
  readonly timeout?: Duration;
  readonly run: (args: Args, context: RunContext) => Value | Promise<Value>;
}
