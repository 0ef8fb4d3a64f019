import { withNote } from "./answers.ts";
import { readServerLine } from "./message.ts";
import type { LineSink } from "./lines.ts";
import type { ServerMessage } from "./message.ts";
import type { Place } from "./outlet.ts";
import type { Parts } from "./parts.ts";

/**
 * The server's direction: everything passes as it came, in its order, known to us or not. Only answers to our own questions
 * stay here, and answers to calls that the server was never given.
 */
export class FromServer implements LineSink {
  readonly #parts: Parts;
  #long: Place | undefined;
  #heard = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** The server has said something. */
  get heard(): boolean {
    return this.#heard;
  }

  line(bytes: Buffer): void {
    this.#heard = true;
    const messages = readServerLine(bytes);
    if (messages.some((message) => this.#isOurs(message))) return;
    const note = messages.length === 1 ? this.#editOf(messages[0]) : undefined;
    const told = note === undefined ? bytes : withNote(bytes, note);
    const records = messages.map((message) => this.#noted(message)).filter((record) => record !== undefined);
    if (records.length === 0) {
      this.#parts.toClient.send(bytes);
      return;
    }
    // Recorded first: the client must not act on a result that a crash could make unknown to the record.
    const place = this.#parts.toClient.place();
    this.#parts.open.add(Promise.all(records).then(() => place.write(told, true)));
  }

  piece(bytes: Buffer, last: boolean): void {
    this.#heard = true;
    this.#long ??= this.#parts.toClient.place();
    this.#long.write(bytes, last);
    if (!last) return;
    this.#long = undefined;
    this.#parts.log.warn("a message of the server is too long to be read and was forwarded unread");
  }

  #isOurs(message: ServerMessage): boolean {
    const id = message.answers;
    if (id === undefined) return false;
    if (this.#parts.own.isOwn(id)) {
      this.#parts.own.answered(id, message);
      return true;
    }
    const pending = this.#parts.calls.get(id);
    if (pending?.type !== "call" || !pending.call.held) return false;
    this.#parts.log.warn("the server answered a call that it was not given; the answer was dropped");
    return true;
  }

  /** The note that belongs to this answer: its call ran with arguments that a person had changed. */
  #editOf(message: ServerMessage | undefined): string | undefined {
    const pending = message?.answers === undefined ? undefined : this.#parts.calls.get(message.answers);
    return pending?.type === "call" ? pending.call.editNote : undefined;
  }

  /** @returns the record to wait for, where the message ends a gated call */
  #noted(message: ServerMessage): Promise<void> | undefined {
    const { calls, definitions } = this.#parts;
    if (message.method === "notifications/tools/list_changed") definitions.changed();
    const pending = message.answers === undefined ? undefined : calls.get(message.answers);
    if (pending === undefined) return undefined;
    if (pending.type === "call") return pending.call.settle(message);
    calls.delete(pending.id);
    if (pending.type === "list") definitions.observed(message.result, pending);
    return undefined;
  }
}
