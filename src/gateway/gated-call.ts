import { isHoldpointError, REFUSAL_CODES, refusalSentence, unknownSentence } from "../core/index.ts";
import { editNote, givenLine, listLine, progressLine, refusalLine, withArguments } from "./answers.ts";
import { isModern } from "./message.ts";
import { brief, within } from "./parts.ts";
import type { JsonObject, RefusalCode } from "../core/index.ts";
import type { CallRequest } from "./call-request.ts";
import type { ListPage } from "./definitions.ts";
import type { Id, ServerMessage } from "./message.ts";
import type { Parts } from "./parts.ts";
import type { CallOutcome, GatewayCall, GatewayVerdict, Given, Withdrawal } from "./port.ts";

type Permitted = Extract<GatewayVerdict, { run: true }>;
type Repeated = Extract<GatewayVerdict, { given: Given }>;

/** One tools/call from its arrival to its answer: held, then running or refused. */
export class GatedCall {
  readonly #request: CallRequest;
  readonly #parts: Parts;
  readonly #abort = new AbortController();
  readonly #tool: string;
  #state: "held" | "running" | "ended" = "held";
  #finished: Permitted["finished"] | undefined;
  readonly #arrived = performance.now();
  readonly #left = new AbortController();
  #given: Given | undefined;
  #giveUp: NodeJS.Timeout | undefined;
  #note: string;
  #notes = 0;
  #next: NodeJS.Timeout | undefined;
  #edit: string | undefined;

  constructor(request: CallRequest, parts: Parts) {
    this.#request = request;
    this.#parts = parts;
    this.#tool = `${parts.server}/${request.name}`;
    this.#note = `Waiting for an answer to "${this.#tool}".`;
  }

  get id(): Id {
    return this.#request.message.id;
  }

  /** What the model is told beside the result, where a person changed what it asked for. */
  get editNote(): string | undefined {
    return this.#edit;
  }

  /** True until the server may see it. */
  get held(): boolean {
    return this.#state === "held";
  }

  /** Asks the judge and acts on what it says. Never rejects. */
  async judge(): Promise<void> {
    this.#tellLater(this.#parts.timing.progressAfter);
    try {
      const verdict = await this.#verdict();
      if (this.#state !== "held") await this.#tooLate(verdict);
      else if (isPermission(verdict)) this.#run(verdict);
      else if (isGiven(verdict)) this.#repeat(verdict);
      else this.#refuse(verdict);
    } finally {
      clearTimeout(this.#next);
    }
  }

  /** Takes a held call back: nothing reaches the server. A client that cancelled or left is owed no answer. */
  withdraw(why: Withdrawal): void {
    if (this.#state !== "held") return;
    if (why === "abort") this.#answer(this.#sentence("cancelled"));
    else this.#end();
    this.#abort.abort(why);
  }

  /** The client is gone: what a running call gives now is for whoever asks again. */
  leave(why: Extract<Withdrawal, "requester" | "requester_gone">): void {
    if (this.#state === "running") this.#left.abort(why);
  }

  /** The client no longer wants the answer of a running call: it may still come, and is then recorded. */
  giveUp(): void {
    this.leave("requester");
    this.#giveUp ??= setTimeout(() => {
      this.#parts.open.add(this.#record({ lost: "the client withdrew the call while it ran" }));
    }, this.#parts.timing.cancelGrace);
  }

  /** The server answered. Resolves when that is recorded, or could not be. */
  settle({ isError, result, error }: ServerMessage): Promise<void> {
    this.#given = result === undefined ? (error === undefined ? undefined : { error }) : { result };
    return this.#record({ isError, result: result ?? error });
  }

  /** Nobody will say how the running call ended, and the client is told that much. */
  async lose(why: string): Promise<void> {
    if (this.#state !== "running") return;
    await this.#record({ lost: why });
    this.#parts.toClient.send(this.#line(unknownSentence(this.#tool)));
  }

  async #verdict(): Promise<unknown> {
    try {
      const definition = await this.#definition();
      if (!this.held) return undefined;
      return await this.#parts.judge.judge(this.#described(definition), this.#abort.signal);
    } catch (thrown) {
      if (this.held)
        this.#parts.log.error("a call could not be judged and is refused", { tool: brief(this.#tool), cause: String(thrown) });
      return { run: false, text: this.#sentence(codeIn(thrown)) };
    }
  }

  #described(definition: unknown): GatewayCall {
    const { name, arguments: args, argumentsText } = this.#request;
    return {
      tool: name,
      arguments: args,
      argumentsText,
      definition,
      current: () => this.#definition(),
      progress: (note) => {
        this.#note = note;
        // A call that is soon decided is not disturbed, so that its transcript is as without us.
        if (this.#notes > 0) this.#tell();
      },
      progresses: this.#request.progressToken !== undefined,
      waited: () => performance.now() - this.#arrived,
      left: this.#left.signal,
      given: () => this.#given,
      clientName: this.#parts.client.name,
      beside: this.#request.beside,
    };
  }

  #definition(): Promise<unknown> {
    const { definitions, own, toServer, timing, client, log } = this.#parts;
    const { name, meta } = this.#request;
    const page: ListPage = async (cursor) => {
      // A server that never lists its tools must not look like a gate that hangs.
      const slow = setTimeout(() => {
        log.warn("a call waits for the server to list its tools", { tool: brief(this.#tool), seconds: timing.listWithin / 1000 });
      }, timing.listNoteAfter);
      try {
        return (await own.ask((id) => toServer.send(listLine(id, meta, cursor)), timing.listWithin))?.result;
      } finally {
        clearTimeout(slow);
      }
    };
    // Before the client has finished `initialize` the server expects nothing but that; requests of 2026-07-28 need none.
    return definitions.find(name, client.initialized || meta !== "" ? page : undefined);
  }

  #run(verdict: Permitted): void {
    this.#state = "running";
    this.#finished = verdict.finished;
    if (verdict.arguments !== undefined) this.#edit = editNote(this.#tool, verdict.arguments);
    this.#parts.toServer.send(verdict.arguments === undefined ? this.#request.line : this.#edited(verdict.arguments));
  }

  #edited(args: JsonObject): string {
    const { message, line, spans } = this.#request;
    const lineEnd = line.subarray(Buffer.byteLength(message.text)).toString("latin1");
    return withArguments(message.text, spans, args) + lineEnd;
  }

  /** Released, and withdrawn before it was forwarded: known not to have run. */
  async #tooLate(verdict: unknown): Promise<void> {
    if (!isPermission(verdict)) return;
    this.#finished = verdict.finished;
    await this.#keep({
      isError: true,
      result: { content: [{ type: "text", text: this.#sentence("cancelled") }], isError: true },
    });
  }

  #refuse(verdict: unknown): void {
    const { text, request } = (verdict ?? {}) as { text?: unknown; request?: unknown };
    this.#answer(
      typeof text === "string" ? text : this.#sentence("policy_error"),
      typeof request === "string" ? request : undefined,
    );
  }

  #repeat({ given, edited }: Repeated): void {
    this.#end();
    const note = edited === undefined ? undefined : editNote(this.#tool, edited);
    this.#parts.toClient.send(givenLine(this.id, given, note));
  }

  #answer(text: string, request?: string): void {
    this.#end();
    this.#parts.toClient.send(this.#line(text, request));
  }

  #line(text: string, request?: string): string {
    return refusalLine(this.id, { text, request, modern: isModern(this.#request.message) });
  }

  #end(): void {
    this.#state = "ended";
    clearTimeout(this.#giveUp);
    clearTimeout(this.#next);
    this.#parts.calls.delete(this.id);
  }

  async #record(outcome: CallOutcome): Promise<void> {
    if (this.#state !== "running") return;
    this.#end();
    await this.#keep(outcome);
  }

  /** A result is never kept from the client because it could not be recorded. */
  async #keep(outcome: CallOutcome): Promise<void> {
    try {
      const kept = this.#finished?.(outcome);
      if (kept === undefined || (await within(kept, this.#parts.timing.recordWithin))) return;
      this.#parts.log.error("a call's outcome was not recorded in time", { tool: brief(this.#tool) });
    } catch (thrown) {
      this.#parts.log.error("a call's outcome could not be recorded", { tool: brief(this.#tool), cause: String(thrown) });
    }
  }

  #tellLater(ms: number): void {
    if (this.#request.progressToken === undefined) return;
    this.#next = setTimeout(() => {
      this.#tell();
      this.#tellLater(this.#parts.timing.progressEvery);
    }, ms);
  }

  #tell(): void {
    const { progressToken } = this.#request;
    if (progressToken === undefined || !this.held || this.#parts.toClient.pressed) return;
    this.#notes += 1;
    this.#parts.toClient.send(progressLine(progressToken, this.#notes, this.#note));
  }

  #sentence(code: RefusalCode): string {
    return refusalSentence(this.#tool, { code });
  }
}

/** Exactly `true` and a place for the outcome; anything else is a refusal. */
const isPermission = (verdict: unknown): verdict is Permitted =>
  typeof verdict === "object" &&
  verdict !== null &&
  (verdict as Permitted).run === true &&
  typeof (verdict as Permitted).finished === "function";

const isGiven = (verdict: unknown): verdict is Repeated => {
  const { given } = (verdict ?? {}) as { given?: unknown };
  return typeof given === "object" && given !== null && ("result" in given || "error" in given);
};

const codeIn = (thrown: unknown): RefusalCode =>
  isHoldpointError(thrown) ? (REFUSAL_CODES.find((code) => code === thrown.code) ?? "policy_error") : "policy_error";
