import { JsonFault, RawNumber, readJson } from "../core/index.ts";
import { INVALID_PARAMS, INVALID_REQUEST, isAmbiguousCall, isModern, isObject, memberOf } from "./message.ts";
import type { JsonObject, MessageObject, MessageValue, Span } from "../core/index.ts";
import type { ClientRequest } from "./message.ts";

/** A tools/call that may be judged. */
export interface CallRequest {
  readonly message: ClientRequest;
  /** As it came. */
  readonly line: Buffer;
  readonly name: string;
  readonly arguments: JsonObject;
  /** Members of the request's params that stand beside its arguments and travel with them. */
  readonly beside: readonly string[];
  readonly argumentsText: string;
  readonly spans: { readonly params: number; readonly arguments: Span | undefined };
  /** The client's progress token as it was spelled. */
  readonly progressToken: string | undefined;
  /** Members of `_meta` that each request of 2026-07-28 or later carries, as they were spelled; empty before that. */
  readonly meta: string;
}

/** Not a request that MCP knows: a protocol error. */
export interface MalformedCall {
  readonly type: "malformed";
  readonly code: number;
  readonly problem: string;
}
/** Arguments that a person could be shown otherwise than they run. */
export interface InexactArguments {
  readonly type: "inexact";
  readonly pointer: string;
  readonly problem: string;
}
export type CallFault = MalformedCall | InexactArguments;

const malformed = (problem: string, code: number = INVALID_PARAMS): CallFault => ({ type: "malformed", code, problem });

/** What every call has; anything else beside the arguments is said on the card. */
const PLAIN: ReadonlySet<string> = new Set(["name", "arguments", "_meta"]);

export function readCall(message: ClientRequest, line: Buffer): CallRequest | CallFault {
  const params = message.object.params;
  if (!isObject(params)) return malformed('"params" must be an object');
  if (isAmbiguousCall(params)) return malformed("a member's name differs from one of tools/call in case only", INVALID_REQUEST);
  const name = memberOf(params, "name");
  if (typeof name !== "string") return malformed('"name" must be text');
  const sent = Object.hasOwn(params, "arguments") ? params.arguments : {};
  if (!isObject(sent)) return malformed('"arguments" must be an object');
  const at = message.span("/params/arguments");
  const argumentsText = at === undefined ? "{}" : message.text.slice(at.start, at.end);
  return (
    inexact(sent, argumentsText) ?? {
      message,
      line,
      name,
      arguments: sent as JsonObject,
      beside: Object.keys(params).filter((member) => !PLAIN.has(member)),
      argumentsText,
      spans: { params: message.span("/params")?.start as number, arguments: at },
      ...metaOf(message, params),
    }
  );
}

/** The reader that refuses such numbers words the fault; it reads only where one is. */
function inexact(sent: MessageObject, text: string): CallFault | undefined {
  if (!holdsRawNumber(sent)) return undefined;
  try {
    readJson(text, { length: Number.POSITIVE_INFINITY, depth: Number.POSITIVE_INFINITY });
  } catch (thrown) {
    if (thrown instanceof JsonFault) return { type: "inexact", pointer: thrown.pointer, problem: thrown.problem };
    throw thrown;
  }
  return malformed('"arguments" could not be read');
}

function holdsRawNumber(value: MessageValue): boolean {
  if (value instanceof RawNumber) return true;
  return typeof value === "object" && value !== null && Object.values(value).some(holdsRawNumber);
}

const PER_REQUEST = ["protocolVersion", "clientInfo", "clientCapabilities"].map((name) => `io.modelcontextprotocol/${name}`);

function metaOf(message: ClientRequest, params: MessageObject): Pick<CallRequest, "progressToken" | "meta"> {
  const meta = memberOf(params, "_meta");
  const spelled = (key: string): string | undefined => {
    const at = message.span(`/params/_meta/${key.replaceAll("/", "~1")}`);
    return at === undefined ? undefined : message.text.slice(at.start, at.end);
  };
  const token = memberOf(meta, "progressToken");
  const modern = isModern(message);
  const members = PER_REQUEST.filter((key) => modern && spelled(key) !== undefined).map((key) => `"${key}":${spelled(key)}`);
  return {
    progressToken:
      typeof token === "string" || typeof token === "number" || token instanceof RawNumber ? spelled("progressToken") : undefined,
    meta: members.join(","),
  };
}
