import { isUtf8 } from "node:buffer";
import { JsonFault, RawNumber, readMessage } from "../core/index.ts";
import type { JsonLimits, MessageObject, MessageValue, Span } from "../core/index.ts";

/**
 * What we keep in memory of one message. Far above what any server answers with, far below what ends a process.
 * The limit of a held call's arguments is the gate's and much lower.
 */
export const LINE_LIMIT = 67_108_864;
const MESSAGE_LIMITS: JsonLimits = { length: LINE_LIMIT, depth: 1000 };

const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
export const INTERNAL_ERROR = -32603;

/** The id of a request. `text` is its own spelling; `key` is equal for equal ids only: `1` and `"1"` are two. */
export interface Id {
  readonly key: string;
  readonly text: string;
}

/** A message that was read. `text` is its own text without the line's end. */
export interface Readable {
  readonly text: string;
  readonly object: MessageObject;
  span(pointer: string): Span | undefined;
}

export interface Unreadable {
  readonly type: "unreadable";
  readonly code: number;
  readonly problem: string;
  /** Of the request that was not understood, where that much could be read. */
  readonly id: Id | undefined;
  /** It is a tools/call, and this is what is wrong within its arguments: the model can correct it. */
  readonly inArguments?: { readonly pointer: string; readonly problem: string; readonly modern: boolean };
}
export interface ClientRequest extends Readable {
  readonly type: "request";
  readonly id: Id;
  readonly method: string;
}
export interface ClientNotification extends Readable {
  readonly type: "notification";
  readonly method: string;
}
export interface ClientResponse extends Readable {
  readonly type: "response";
}
export type ClientMessage = ClientRequest | ClientNotification | ClientResponse | Unreadable;

export const isObject = (value: MessageValue | undefined): value is MessageObject =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof RawNumber);

/** A member that the message has itself; `undefined` for anything inherited or of a value that has no members. */
export const memberOf = (value: MessageValue | undefined, key: string): MessageValue | undefined =>
  isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;

/** `undefined`: neither text nor a number, so not an id. */
export function idOf(value: MessageValue | undefined): Id | undefined {
  if (typeof value === "string") return { key: `s${value}`, text: JSON.stringify(value) };
  if (typeof value === "number") return { key: `n${value}`, text: String(value) };
  return value instanceof RawNumber ? { key: `n${value.text}`, text: value.text } : undefined;
}

/** The text of a line without its end (LF or CRLF); `undefined` when it is not UTF-8. */
function textOf(line: Buffer): string | undefined {
  if (!isUtf8(line)) return undefined;
  const text = line.toString("utf8");
  if (!text.endsWith("\n")) return text;
  return text.slice(0, text.endsWith("\r\n") ? -2 : -1);
}

const ENVELOPE: ReadonlySet<string> = new Set(["jsonrpc", "id", "method", "params", "result", "error"]);
const CALL: ReadonlySet<string> = new Set(["name", "arguments"]);
const fold = (key: string): string => key.toUpperCase().toLowerCase();

/**
 * True when a key differs from one of `names` in its letters' case only. Readers in Go and .NET match member names without
 * regard to case, so `"Method"` beside `"method"` is two different messages to the two of us.
 */
const hasVariant = (object: MessageObject, names: ReadonlySet<string>): boolean =>
  Object.keys(object).some((key) => !names.has(key) && names.has(fold(key)));

/** True for a request of 2026-07-28 or later, each of which names its protocol version. */
export const isModern = ({ object }: Pick<Readable, "object">): boolean =>
  memberOf(memberOf(object.params, "_meta"), "io.modelcontextprotocol/protocolVersion") !== undefined;

/** True when the members of a tools/call that we judge could be read otherwise by the server. */
export const isAmbiguousCall = (params: MessageObject): boolean => hasVariant(params, CALL);

const unreadable = (code: number, problem: string, id?: Id): Unreadable => ({ type: "unreadable", code, problem, id });

/** Reads one line that a client sent. Whatever could be understood in two ways is unreadable. */
export function readClientLine(line: Buffer): ClientMessage {
  const text = textOf(line);
  if (text === undefined) return unreadable(PARSE_ERROR, "the message is not UTF-8");
  // To a reader with universal newlines a lone CR ends a line: what we take for a member would be a message of its own.
  if (text.includes("\r")) return unreadable(PARSE_ERROR, "the message holds a carriage return");
  try {
    const { value, span } = readMessage(text, MESSAGE_LIMITS);
    return isObject(value) ? classified({ text, object: value, span }) : notAnObject(value);
  } catch (thrown) {
    if (!(thrown instanceof JsonFault)) throw thrown;
    return faulty(text, thrown);
  }
}

const ARGUMENTS = "/params/arguments";
const isWithin = (pointer: string, place: string): boolean => pointer === place || pointer.startsWith(`${place}/`);

/**
 * JSON, but not I-JSON. Where the fault is in the parameters the request can be told by its id, so that its caller does
 * not wait for ever; nothing of it is believed beyond that, and nothing of it goes on. A second id further on could make
 * that another request's: who reads the answer took the last one too.
 */
function faulty(text: string, fault: JsonFault): Unreadable {
  if (!isWithin(fault.pointer, "/params")) return unreadable(PARSE_ERROR, fault.message);
  const envelope = envelopeOf(text);
  const given = envelope?.id;
  // A number that JavaScript rounds would be the id of another request.
  const id = typeof given === "string" || Number.isSafeInteger(given) ? idOf(given as string | number) : undefined;
  if (envelope === undefined || id === undefined) return unreadable(PARSE_ERROR, fault.message);
  if (envelope.method !== "tools/call" || !isWithin(fault.pointer, ARGUMENTS))
    return unreadable(INVALID_PARAMS, fault.message, id);
  const modern = isModern({ object: envelope });
  const inArguments = { pointer: fault.pointer.slice(ARGUMENTS.length), problem: fault.problem, modern };
  return { ...unreadable(INVALID_PARAMS, fault.message, id), inArguments };
}

function envelopeOf(text: string): MessageObject | undefined {
  try {
    const value = JSON.parse(text) as MessageValue;
    return isObject(value) ? value : undefined;
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return undefined;
    throw thrown;
  }
}

const notAnObject = (value: MessageValue): Unreadable =>
  unreadable(
    INVALID_REQUEST,
    Array.isArray(value) ? "batches are not taken: send each message by itself" : "a message is an object",
  );

function classified(message: Readable): ClientMessage {
  const { object } = message;
  const id = idOf(object.id);
  const has = (key: string): boolean => Object.hasOwn(object, key);
  const bad = (problem: string): Unreadable => unreadable(INVALID_REQUEST, problem, id);
  if (hasVariant(object, ENVELOPE)) return bad("a member's name differs from one of JSON-RPC in case only");
  if (object.jsonrpc !== "2.0") return bad('"jsonrpc" must be "2.0"');
  if (!has("method")) return has("id") && has("result") !== has("error") ? { type: "response", ...message } : bad("no method");
  const method = object.method;
  if (typeof method !== "string") return bad('"method" must be text');
  if (has("result") || has("error")) return bad("a message is a request or a response, not both");
  if (!has("id")) return { type: "notification", method, ...message };
  return id === undefined ? bad('"id" must be text or a number') : { type: "request", id, method, ...message };
}

/** One message of a server, as far as we need to know it. Everything it sends is forwarded, whatever this says. */
export interface ServerMessage {
  /** The request that it answers; `undefined`: it answers none. */
  readonly answers: Id | undefined;
  readonly method: string | undefined;
  /** `undefined` also where the message is not I-JSON: then nothing in it is looked at. */
  readonly result: MessageValue | undefined;
  readonly error: MessageValue | undefined;
  /** It says that something went wrong, as a protocol error or in its result. */
  readonly isError: boolean;
}

/** Reads one line that a server sent: no message, one, or those of a batch. */
export function readServerLine(line: Buffer): readonly ServerMessage[] {
  const text = textOf(line);
  if (text === undefined) return [];
  try {
    const { value } = readMessage(text, MESSAGE_LIMITS);
    return (Array.isArray(value) ? value : [value]).filter(isObject).map(described);
  } catch (thrown) {
    if (!(thrown instanceof JsonFault)) throw thrown;
    return loosely(text);
  }
}

/** As a reader in Go or .NET would find it. */
function loose(object: MessageObject, name: string): MessageValue | undefined {
  if (Object.hasOwn(object, name)) return object[name];
  const key = Object.keys(object).find((candidate) => fold(candidate) === name);
  return key === undefined ? undefined : object[key];
}

function described(object: MessageObject): ServerMessage {
  const result = loose(object, "result");
  const error = loose(object, "error");
  const method = memberOf(object, "method");
  return {
    answers: result === undefined && error === undefined ? undefined : idOf(loose(object, "id")),
    method: typeof method === "string" ? method : undefined,
    result,
    error,
    isError: error !== undefined || memberOf(result, "isError") === true,
  };
}

/**
 * A client's reader may take what ours refuses (a lone surrogate in a result is common), so the call it answers has ended.
 * Only the id is believed.
 */
function loosely(text: string): readonly ServerMessage[] {
  const value = envelopeOf(text);
  return value === undefined ? [] : [{ ...described(value), result: undefined }];
}
