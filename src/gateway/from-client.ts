import { refusalSentence } from "../core/index.ts";
import { errorLine, refusalLine } from "./answers.ts";
import { readCall } from "./call-request.ts";
import { GatedCall } from "./gated-call.ts";
import { idOf, INVALID_REQUEST, isModern, memberOf, METHOD_NOT_FOUND, readClientLine } from "./message.ts";
import { isKnownNotification, isKnownRequest } from "./methods.ts";
import { brief } from "./parts.ts";
import type { CallRequest } from "./call-request.ts";
import type { LineSink } from "./lines.ts";
import type { ClientNotification, ClientRequest, Id, Unreadable } from "./message.ts";
import type { Parts } from "./parts.ts";

/** The client's direction: nothing passes but what is known, and no call before its verdict. */
export class FromClient implements LineSink {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  line(bytes: Buffer): void {
    if (isBlank(bytes)) return;
    const message = readClientLine(bytes);
    if (message.type === "response") this.#parts.toServer.send(bytes);
    else if (message.type === "notification") this.#notification(message, bytes);
    else if (message.type === "request") this.#request(message, bytes);
    else this.#unreadable(message);
  }

  piece(_bytes: Buffer, last: boolean): void {
    if (last) this.#unreadable({ id: undefined, code: INVALID_REQUEST, problem: "the message is too long" });
  }

  #unreadable({ id, code, problem, inArguments }: Omit<Unreadable, "type">): void {
    this.#parts.log.warn("a message of the client was refused", { problem: brief(problem) });
    // An answer to a request that is still open would be taken for that one's.
    const answered = id !== undefined && this.#parts.calls.has(id) ? undefined : id;
    if (answered === undefined || inArguments === undefined) this.#parts.toClient.send(errorLine(answered, code, problem));
    else this.#inexact(answered, inArguments);
  }

  #notification(message: ClientNotification, bytes: Buffer): void {
    if (!isKnownNotification(message.method)) {
      // A tools/call without an id is one of these: nobody could be told how it ended, so it does not begin.
      this.#parts.log.warn("a notification that MCP does not know was not forwarded", { method: brief(message.method) });
      return;
    }
    if (message.method === "notifications/cancelled" && this.#cancelled(message)) return;
    if (message.method === "notifications/initialized") this.#parts.client.initialized = true;
    this.#parts.toServer.send(bytes);
  }

  /** True when the server never saw what is cancelled. */
  #cancelled(message: ClientNotification): boolean {
    const id = idOf(memberOf(message.object.params, "requestId"));
    const pending = id === undefined ? undefined : this.#parts.calls.get(id);
    if (pending === undefined) return false;
    if (pending.type !== "call") {
      this.#parts.calls.delete(pending.id);
      return false;
    }
    if (!pending.call.held) {
      pending.call.giveUp();
      return false;
    }
    pending.call.withdraw("requester");
    return true;
  }

  #request(message: ClientRequest, bytes: Buffer): void {
    if (!isKnownRequest(message.method)) this.#error(message, METHOD_NOT_FOUND, "the gateway does not know this method");
    else if (this.#parts.calls.has(message.id)) this.#error(message, INVALID_REQUEST, "a request with this id is still open");
    else if (message.method === "tools/call") this.#call(message, bytes);
    else this.#forward(message, bytes);
  }

  #forward(message: ClientRequest, bytes: Buffer): void {
    const { calls, definitions, toServer } = this.#parts;
    const { id, method, object } = message;
    if (method === "tools/list") {
      const first = memberOf(object.params, "cursor") === undefined;
      calls.add({ type: "list", id, asked: definitions.changes, first });
    } else calls.add({ type: "other", id });
    this.#learn(message);
    toServer.send(bytes);
  }

  #call(message: ClientRequest, bytes: Buffer): void {
    const request = readCall(message, bytes);
    this.#learn(message);
    if (!("type" in request)) this.#begin(request);
    else if (request.type === "malformed") this.#error(message, request.code, request.problem);
    else this.#inexact(message.id, { pointer: request.pointer, problem: request.problem, modern: isModern(message) });
  }

  #begin(request: CallRequest): void {
    const call = new GatedCall(request, this.#parts);
    this.#parts.calls.add({ type: "call", id: call.id, call });
    this.#parts.open.add(call.judge());
  }

  /** The model reads what to correct; it would not see a protocol error. */
  #inexact(id: Id, { pointer, problem, modern }: NonNullable<Unreadable["inArguments"]>): void {
    const text = refusalSentence(this.#parts.server, { code: "invalid_arguments", pointer, problem });
    this.#parts.toClient.send(refusalLine(id, { text, modern }));
  }

  /** What the client calls itself, at `initialize` or, since 2026-07-28, with each request. */
  #learn({ method, object }: ClientRequest): void {
    const meta = memberOf(object.params, "_meta");
    const about =
      method === "initialize" ? memberOf(object.params, "clientInfo") : memberOf(meta, "io.modelcontextprotocol/clientInfo");
    const name = memberOf(about, "name");
    if (typeof name === "string") this.#parts.client.name = name;
  }

  #error(message: ClientRequest, code: number, problem: string): void {
    this.#parts.log.warn("a request of the client was refused", { method: brief(message.method), code, problem });
    this.#parts.toClient.send(errorLine(message.id, code, problem));
  }
}

/** A line of white space is no message. */
const isBlank = (bytes: Buffer): boolean => bytes.length < 64 && bytes.toString("latin1").trim() === "";
