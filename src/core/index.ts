/** The core's door. The deciding side has a door of its own, `approving.ts`, which gateway and adapters may not open. */
export type { Ask, Card, Flag, Presented } from "./card.ts";
export { CODE, cardCode, listing, renderMessage, formSchema } from "./briefing.ts";
export { cardText, type CardText, type CardTextOptions, GUTTER, inCommand, unrenderArguments } from "./card-text.ts";
export type { HoldpointEvent, Listener } from "./desk/events.ts";
export { thaw } from "./desk/events.ts";
export {
  confirm,
  type Confirming,
  type Mark,
  marksOf,
  type MarkWords,
  type Toolkit,
  toolkit,
  type ToolkitOptions,
} from "./declare.ts";
export { groupDirectory } from "./directory.ts";
export { type Duration, milliseconds } from "./duration.ts";
export { commonPart, differences, EVERYTHING } from "./editable.ts";
export {
  ANSWER_CODES,
  type AnswerCode,
  bug,
  type Code,
  DeclarationError,
  HoldpointError,
  isHoldpointError,
  REFUSAL_CODES,
  type RefusalCode,
} from "./errors.ts";
export type { ExemptionTest, ExemptionWords } from "./exemption.ts";
export { flagsOf } from "./flags.ts";
export { type Gate, type GateHost, type GateOptions, makeGate } from "./gate/gate.ts";
export type { Performer } from "./gate/parts.ts";
export type { RunOptions } from "./gate/run.ts";
export type { CallOptions, ChildOptions, Guarded, GuardWords, Run, Submitted } from "./gate/run-port.ts";
export type { Check } from "./gate/check-call.ts";
export type { Declared, GatedTool, InputOf, OutputOf } from "./gate/tool.ts";
export { type Hash, hashOf, isHash, shortHash } from "./hash.ts";
export { type Instant, instant, msOf, parseInstant, plus } from "./instant.ts";
export { type Actor, type Break, type Entry, entryHash, EVENTS, type JournalEvent, verifyStream } from "./journal.ts";
export {
  canonicalize,
  copyJson,
  type Message as JsonMessage,
  type MessageObject,
  type MessageValue,
  RawNumber,
  readJson,
  readMessage,
  sameJson,
  type Span,
} from "./json.ts";
export {
  JSON_LIMITS,
  type JsonArray,
  JsonFault,
  type JsonLimits,
  type JsonObject,
  type JsonProblem,
  type JsonValue,
} from "./json-value.ts";
export { maskSecrets } from "./mask.ts";
export {
  type Edited,
  type How,
  isRefused,
  isSuspended,
  isUnknown,
  type Outcome,
  Refused,
  Suspended,
  Unknown,
} from "./outcome.ts";
export { type Locale, localeOf, phrase, type PhraseKey } from "./phrases.ts";
export { at, formatPointer, isWithin, parsePointer, replaceAt } from "./pointer.ts";
export type {
  CallFacts,
  Condition,
  Mode,
  Opinion,
  OpinionAnswer,
  Policy,
  PolicySnapshot,
  RecordKeeping,
  Rule,
  ToolEntry,
  Unmatched,
} from "./policy.ts";
export type {
  AbortSignalLike,
  Channel,
  ChannelCapabilities,
  ChannelDecision,
  ChannelDesk,
  Delivered,
  Delivery,
} from "./ports/channel.ts";
export type { Claimed, ClaimEvidence, Completion, Desk, Hold, Refusal, Ruling, Standing, Submission } from "./ports/desk.ts";
export type { Directory } from "./ports/directory.ts";
export type {
  Aborter,
  Clock,
  Crypto,
  Ids,
  Keys,
  Log,
  LogFields,
  LogLevel,
  Runtime,
  SchemaFault,
  Schemas,
  Surroundings,
} from "./ports/runtime.ts";
export {
  type Commit,
  type Committed,
  type Cursor,
  type Hint,
  type KillScope,
  type Leased,
  type LeaseKind,
  MAX_SKEW,
  type RecordChange,
  type RecordQuery,
  type Row,
  type RowChange,
  type RowKind,
  type RowQuery,
  type Store,
  type StoreCapabilities,
  type Stored,
  type Summary,
  type WatchSignal,
} from "./ports/store.ts";
export { deferredSentence, pendingSentence, refusalSentence, unknownSentence } from "./refusal.ts";
export {
  type ApprovalRequest,
  CANCEL_REASONS,
  type CancelReason,
  type Decision,
  type Grade,
  hasEnded,
  type Payload,
  type RequesterProof,
  type RequesterRecord,
  type RequestKind,
  type Status,
  STATUSES,
} from "./request.ts";
export { type DigestParts, digestOf, partsOf, termsHash } from "./request-hash.ts";
export { type Alternative, type Assurance, ASSURANCES, type Clause, type Selector, suffices, type Terms } from "./requirement.ts";
export {
  type AbortLike,
  type Binds,
  type Confirmation,
  type Impact,
  IMPACTS,
  type InputSchema,
  type JsonSchema,
  type Message,
  type Requester,
  type Requires,
  type RunContext,
  type StandardSchema,
  type Tier,
  TIERS,
  type Tool,
  type ToolCall,
  type ToolDescriptor,
  type ToolIdentity,
  type When,
} from "./tool-call.ts";
export { unescapeVisible, visible } from "./visible.ts";
export { terminalLine, type TerminalLine } from "./words.ts";
