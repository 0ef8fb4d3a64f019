/**
 * What travels over HTTP: types only, so that the inbox and the remote desk agree with the server without importing it.
 * Every body is strict JSON and every object closed; every error is a {@link Problem}, `application/problem+json`.
 */
import type { Answer, Decided, EditAnswer, Remembered } from "../core/approving.ts";
import type {
  ApprovalRequest,
  Assurance,
  CancelReason,
  Card,
  ClaimEvidence,
  Claimed,
  Code,
  Completion,
  Decision,
  Grade,
  Hash,
  Hold,
  Impact,
  Instant,
  JournalEvent,
  JsonObject,
  KillScope,
  Mode,
  Presented,
  Refusal,
  Requester,
  RequestKind,
  Requires,
  Status,
  Tier,
  ToolIdentity,
} from "../core/index.ts";

export type { Answer, Decided, EditAnswer, Remembered } from "../core/approving.ts";
export type { Ask, Card, Flag, Presented } from "../core/index.ts";

/** RFC 9457. `code` is one of the registry's (`docs/reference/errors.md`); `type` is its page. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  /** The probable cause and the next step; never a value of a call. */
  readonly detail: string;
  readonly code: Code;
  /** `invalid_arguments`: where in the body, as a JSON Pointer. */
  readonly pointer?: string;
  /** `ambiguous_id`: the requests that the beginning fits. */
  readonly ids?: readonly string[];
}

export type Role = "agent" | "approver" | "admin";

// ---- login: POST /login/link, POST /login, GET /session, POST /logout ------------------------------------------------

/** `POST /login`, for a browser: the fragment of a login link, or an approver's or admin's token typed in. */
export type LoginBody = { readonly code: string } | { readonly token: string };

/** `POST /login` and `GET /session`. Without a session `GET /session` answers 401. */
export interface Session {
  /** Goes into the header `x-holdpoint-csrf` of everything that is not a GET. `""` where no cookie is in play. */
  readonly csrf: string;
  readonly principal: string;
  /** The identity that decisions are made as, such as `inbox:os:lena`. */
  readonly as: string;
  readonly via: string;
  readonly assurance: Assurance;
  readonly role: Role;
  /** `null`: as long as the connection. */
  readonly expiresAt: Instant | null;
}

/** `POST /login/link`, on the operator's socket only. The code stands in the fragment, single use, 30 s. */
export interface LoginLink {
  readonly url: string;
  readonly expiresAt: Instant;
}

// ---- what an agent may do ---------------------------------------------------------------------------------------------

/** A function cannot travel: words of the gate's code that are one are left out, and the listing takes their place. */
export interface WireHold extends Omit<Hold, "message" | "deadline" | "editable" | "channels" | "offer" | "remind"> {
  readonly message?: string;
  readonly deadline?: number;
  readonly editable?: readonly string[];
  readonly channels?: readonly string[];
  readonly remind?: number;
}

/** `POST /v1/requests`. `tool` and `arguments` are enough; what a gate adds can only tighten, or describe. */
export interface SubmitBody {
  readonly tool: string | ToolIdentity;
  readonly arguments: JsonObject;
  /** The caller's own name for the call: makes a retry the same call. Default: a new one. */
  readonly id?: string;
  /** `principal` where the token may act for several; the rest is the agent's own word. */
  readonly requester?: Partial<Requester>;
  readonly statement?: string;
  readonly wait?: "block" | "suspend" | "defer";
  /** Milliseconds. */
  readonly deadline?: number;
  readonly tier?: Tier;
  readonly impact?: Impact;
  readonly effect?: string;
  readonly holds?: readonly WireHold[];
  readonly denied?: { readonly by: string; readonly reason?: string; readonly fault?: true };
  readonly requires?: readonly Requires[];
  readonly secrets?: readonly string[];
  readonly editable?: readonly string[];
  readonly schema?: JsonObject | null;
  readonly bindings?: Readonly<Record<string, string>>;
  readonly grade?: Grade;
  readonly notes?: readonly string[];
  /** The snapshot that the run began with. */
  readonly policy?: { readonly hash: Hash; readonly mode: Mode };
  readonly windows?: "on" | "off";
  readonly channels?: readonly string[];
  /** The process that keeps the request's lease. */
  readonly renewer?: string;
}

/** Answer of `POST /v1/requests`: 202 where it is held, else 200. A refusal is a result, not an error. */
export type SubmitAnswer = Released | NotReleased | Held | Repeated;
export interface Released {
  readonly ruling: "allow";
  readonly how: "allowed" | "window" | "exempt";
}
export interface NotReleased {
  readonly ruling: "refused";
  readonly refusal: Refusal;
  /** The fixed sentence for the model. */
  readonly sentence: string;
  readonly request?: string;
}
export interface Held {
  readonly ruling: "held";
  readonly id: string;
  readonly kind: RequestKind;
  readonly status: Status;
  readonly tool: string;
  readonly message: string;
  /** JSON Schema of the arguments where one is known: the form of an edit. */
  readonly form: JsonObject | null;
  readonly decideBy: Instant;
  /** Where a person reads and decides it. Carries an id only. */
  readonly link: string;
  /** Only with `wait: "suspend"`; shown this once. */
  readonly resumeToken?: string;
}
/** This call id came before and this is what became of it. */
export interface Repeated {
  readonly ruling: "repeated";
  readonly request: RequestState;
}

/** A record without what is never exported: the call key, and the codes that authenticate decisions. */
export interface WireRecord extends Omit<ApprovalRequest, "callKey" | "decisions"> {
  readonly decisions: readonly Omit<Decision, "mac">[];
}

/** `GET /v1/requests/{id}`: what became of it. `Prefer: wait=N` answers when it is not pending any more, or after N s. */
export interface RequestState {
  readonly id: string;
  readonly kind: RequestKind;
  readonly status: Status;
  readonly tool: string;
  readonly decideBy: Instant;
  readonly parked: boolean;
  readonly refusal?: Refusal;
  /** The fixed sentence for the model, where it was refused. */
  readonly sentence?: string;
  /** Secrets as commitments; `null` after an erasure. Of the request that goes on, where an edit made another of it. */
  readonly arguments: JsonObject | null;
  readonly edited?: { readonly by: string; readonly arguments: JsonObject };
  readonly result?: JsonObject;
  readonly record: WireRecord;
}

/** `GET /v1/requests` for an agent: its own. */
export interface RequestList {
  readonly requests: readonly RequestState[];
  /** Where the next page begins; `null`: that was all. */
  readonly next: string | null;
}

/** `POST …/{id}/cancel`. An agent withdraws its own; without a body: `requester`. */
export interface CancelBody {
  readonly reason?: CancelReason;
  readonly requester?: Partial<Requester>;
}
/** `POST …/{id}/renew`: the requester's lease; with `token` a claim's. */
export interface RenewBody {
  readonly holder: string;
  readonly token?: string;
}
/** Answer of `cancel` (for an agent), `renew`, `park` and `complete`: whether it was done. */
export interface Done {
  readonly done: boolean;
}
/** `POST …/{id}/claim`: what the executor is about to run. */
export interface ClaimBody extends Omit<ClaimEvidence, "requester"> {
  readonly requester?: Partial<Requester>;
}
/** Answer of `claim`, 200 also where it was refused. `token` is shown this once. */
export type ClaimAnswer = Claimed;
/** `POST …/{id}/complete`. `opaque`: a value that is not JSON. */
export interface CompleteBody extends Omit<Completion, "value"> {
  readonly token: string;
  readonly value?: unknown;
  readonly opaque?: true;
}
/** `POST /v1/resume`. */
export interface ResumeBody {
  readonly token: string;
}

/** `GET /v1/policy`: which policy rules; an agent sees no rules, only their name. */
export interface PolicyView {
  readonly hash: Hash;
  readonly mode: Mode;
  readonly unmatched: string;
  readonly record: "calls" | "counts" | "none";
  /** For approvers and admins. */
  readonly rules?: readonly { readonly name: string; readonly verdict: "deny" | "ask" | "allow" }[];
}

/** `POST /v1/policy/explain`: what the policy says of a call, asking nobody. */
export interface ExplainBody {
  readonly tool: string;
  readonly arguments: JsonObject;
  readonly requester?: Partial<Requester>;
}
export interface Explained {
  readonly verdict: "allow" | "ask" | "deny";
  /** The rules, floors or defaults that it comes from. */
  readonly by: readonly string[];
  readonly policy: Hash;
}

// ---- what a person may do ---------------------------------------------------------------------------------------------

/** `GET /v1/requests` for an approver: cards of what they may see, oldest first. No view: a card is opened to be decided. */
export interface CardList {
  readonly cards: readonly Card[];
  /** Where the next page begins; `null`: that was all. */
  readonly next: string | null;
}

/** `GET …/{id}/card`. `view` is what a decision carries; `text` is the desk's own rendering of the whole card. */
export interface CardAnswer extends Presented {
  /** Who approved, rejected, revoked and edited so far, and when. No words of theirs. */
  readonly decisions: readonly Omit<Decision, "mac">[];
  readonly supersedes: string | null;
  readonly supersededBy: string | null;
}

/** `POST …/{id}/decisions`. */
export type DecisionBody = Omit<Answer, "window">;
/** `POST …/{id}/edit`. `arguments: null` is a rejection; equal to the original, a plain approval. */
export type EditBody = EditAnswer;
/** `POST …/{id}/revoke`. */
export interface RevokeBody {
  readonly reason?: string;
}
/** `POST …/{id}/reconcile`. */
export interface ReconcileBody {
  readonly ran: boolean;
}
/** `POST …/{id}/lift`; `{id}` is a request or a tool's name. */
export interface Lifted {
  readonly lifted: number;
}
/**
 * `POST …/{id}/seen`: the card's `view` was shown whole on a live surface. `listed`: the request stands in the list that
 * somebody looks at on a live surface, which is delivered and not seen (design, 4.6).
 */
export type SeenBody = { readonly view: string } | { readonly listed: true };

/**
 * Answer of decisions, edit, revoke, reconcile and an operator's cancel: 200 where it was counted; else a problem with
 * the answer's code (404 `not_found`, 409 `stale_view`, `late`, `already_voted`, 403 the rest, 422 for an edit's fault)
 * that has these members too.
 */
export type DecidedAnswer = Decided;
export type DecidedProblem = Problem & Decided;

/** `GET /v1/windows`, `/v1/grants`, `/v1/exemptions`. `DELETE` takes the id at the end of the path. */
export interface RememberedList {
  readonly items: readonly Remembered[];
}
/** `GET /v1/kill`. */
export interface KillState {
  readonly killed: readonly { readonly scope: KillScope; readonly at: Instant; readonly by: string }[];
}
/** `PUT /v1/kill`. `on: false` opens a request of kind `change`. */
export interface KillBody {
  readonly scope: KillScope;
  readonly on: boolean;
}
export interface KillAnswer {
  readonly changed: boolean;
  /** The request that must be approved first. */
  readonly request?: string;
}

// ---- tokens and the journal -------------------------------------------------------------------------------------------

/** `POST /v1/tokens`. */
export interface TokenBody {
  readonly role: Role;
  /** `approver`, `admin`: who it is. `agent`: whom it may act for; none: a service identity, shared. */
  readonly principals: readonly string[];
  /** `agent`: the agent's name on cards. */
  readonly agent?: string;
  readonly label?: string;
}
/** A token as lists show it; never the token. */
export interface TokenInfo {
  readonly id: string;
  readonly role: Role;
  readonly principals: readonly string[];
  readonly agent: string | null;
  readonly label: string | null;
  readonly by: string;
  readonly at: Instant;
}
/** Answer of `POST /v1/tokens`: the one time that the token is shown. */
export interface TokenMade extends TokenInfo {
  readonly token: string;
}
export interface TokenList {
  readonly tokens: readonly TokenInfo[];
}
/** `GET /v1/journal?stream=request/<id>`: entries of one stream, in order. */
export interface JournalPage {
  readonly entries: readonly JsonObject[];
}

// ---- events -----------------------------------------------------------------------------------------------------------

/**
 * `data` of one event of `GET /v1/events` (server-sent events). The SSE `event` field is {@link ServerEvent.event}, its
 * `id` is the store's cursor: a client that comes back with `Last-Event-ID` gets all since, perhaps one twice. A comment
 * comes every 15 s. `stream.open` comes first, and once more for whoever missed so much that lists must be read again.
 */
export interface ServerEvent {
  readonly event: JournalEvent | "stream.open";
  readonly request: string | null;
  /** The request's status now, which may be further on than this event. */
  readonly status: Status | null;
  readonly code: string | null;
  readonly at: Instant;
}
