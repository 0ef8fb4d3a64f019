import { errorLine } from "./answers.ts";
import { Calls } from "./calls.ts";
import { Child } from "./child.ts";
import { Definitions } from "./definitions.ts";
import { FromClient } from "./from-client.ts";
import { FromServer } from "./from-server.ts";
import { Lines } from "./lines.ts";
import { INTERNAL_ERROR, LINE_LIMIT, readClientLine } from "./message.ts";
import { Outlet } from "./outlet.ts";
import { OwnRequests } from "./own-requests.ts";
import { OpenWork, within } from "./parts.ts";
import { TIMING } from "./port.ts";
import { pumpErrors } from "./server-errors.ts";
import type { Log } from "../core/index.ts";
import type { ChildEnd, Command } from "./child.ts";
import type { LineSink } from "./lines.ts";
import type { Id } from "./message.ts";
import type { Parts } from "./parts.ts";
import type { Judge, Timing, Withdrawal } from "./port.ts";

export interface RelayOptions {
  /** Our name of the server: its tools are named `<server>/<tool>`. */
  readonly server: string;
  readonly command: Command;
  readonly client: { readonly input: NodeJS.ReadableStream; readonly output: NodeJS.WritableStream };
  /** Of this process. The server gets it without `HOLDPOINT_*`. */
  readonly environment: NodeJS.ProcessEnv;
  readonly judge: Judge;
  readonly log: Log;
  /** Where the server's own error output goes. Default: nowhere. */
  readonly errors?: NodeJS.WritableStream;
  /** Ends the relay in order, as the end of the client's input does, but without waiting for running calls. */
  readonly stop?: AbortSignal;
  readonly timing?: Partial<Timing>;
}

export interface RelayEnd {
  readonly by: "client" | "stop" | "server" | "start";
  /** Exit code: 0 done, 1 failed. */
  readonly code: number;
  /** What went wrong and what to do, for the person who set it up. */
  readonly problem?: string;
}

/**
 * Runs one server behind the gate until either side ends. Each message is forwarded as the bytes it came in; a tools/call
 * waits for the judge's verdict first. Never rejects for anything that the client or the server does.
 */
export function relay(options: RelayOptions): Promise<RelayEnd> {
  return new Relay(options).run();
}

/** For a client that starts us to send its first request, so that it reads why there is no server. */
const LINGER = 1000;

class Relay {
  readonly #options: RelayOptions;
  readonly #timing: Timing;
  readonly #child: Child;
  readonly #parts: Parts;
  readonly #fromServer: FromServer;
  #sink: LineSink;
  #by: RelayEnd["by"] | undefined;

  constructor(options: RelayOptions) {
    this.#options = options;
    this.#timing = { ...TIMING, ...options.timing };
    this.#child = new Child(options.command, options.environment, this.#timing);
    this.#parts = {
      server: options.server,
      judge: options.judge,
      log: options.log,
      timing: this.#timing,
      toClient: new Outlet(options.client.output, () => this.#end("client", "requester_gone")),
      toServer: new Outlet(this.#child.stdin, ({ message }) => options.log.debug("the server reads no more", { cause: message })),
      calls: new Calls(),
      definitions: new Definitions(options.log),
      own: new OwnRequests(),
      open: new OpenWork(),
      client: { name: undefined, initialized: false },
    };
    this.#fromServer = new FromServer(this.#parts);
    this.#sink = new FromClient(this.#parts);
  }

  async run(): Promise<RelayEnd> {
    const { client, stop, errors, server } = this.#options;
    const { toClient, toServer } = this.#parts;
    const toSink: LineSink = { line: (bytes) => this.#sink.line(bytes), piece: (bytes, last) => this.#sink.piece(bytes, last) };
    const gone = new Promise<void>((resolve) => {
      flow({ from: client.input, sink: toSink, towards: toServer }, () => {
        this.#end("client", "requester_gone");
        resolve();
      });
    });
    pumpErrors(this.#child.stderr, errors, server);
    flow({ from: this.#child.stdout, sink: this.#fromServer, towards: toClient }, () => this.#end("server", "abort"));
    const stopped = (): void => this.#end("stop", "abort");
    if (stop?.aborted === true) stopped();
    stop?.addEventListener("abort", stopped, { once: true });
    const end = await this.#child.ended;
    const result = await this.#close(end, gone);
    stop?.removeEventListener("abort", stopped);
    client.input.pause();
    return result;
  }

  /** The first to leave decides how it ends; whatever is held is withdrawn and the server is ended. */
  #end(by: RelayEnd["by"], why: Withdrawal): void {
    if (this.#by !== undefined) return;
    this.#by = by;
    this.#sink = new NoServer(this.#parts, "the gateway is ending");
    this.#parts.calls.withdrawHeld(why);
    if (by === "client") for (const call of this.#parts.calls.runningCalls) call.leave("requester_gone");
    void this.#child.end(by === "stop" ? 0 : this.#timing.exitGrace);
  }

  async #close(end: ChildEnd, gone: Promise<void>): Promise<RelayEnd> {
    const { calls, own, open, toClient, log, server } = this.#parts;
    const started = end.type === "exited";
    if (!started) this.#by = "start";
    this.#end("server", "abort");
    const by = this.#by as RelayEnd["by"];
    const problem = problemOf(end, { server, heard: this.#fromServer.heard });
    const noServer = new NoServer(this.#parts, problem);
    this.#sink = noServer;
    own.end();
    calls.withdrawHeld("abort");
    for (const call of calls.runningCalls) open.add(call.lose(problem));
    for (const id of calls.others) noServer.answer(id);
    if (by !== "client" && by !== "stop" && !this.#fromServer.heard)
      await within(Promise.race([noServer.answered, gone]), LINGER);
    if (!(await within(open.done(), this.#timing.settleWithin))) log.warn("the relay ends with work that has not settled");
    await within(toClient.flushed(), this.#timing.settleWithin);
    if (by === "client" || by === "stop") return { by, code: 0 };
    return { by, code: 1, problem };
  }
}

/** What reads the client once there is no server: each request is answered with the reason. */
class NoServer implements LineSink {
  readonly #parts: Parts;
  readonly #problem: string;
  readonly answered: Promise<void>;
  #tellAnswered: () => void = () => undefined;

  constructor(parts: Parts, problem: string) {
    this.#parts = parts;
    this.#problem = problem;
    this.answered = new Promise((resolve) => {
      this.#tellAnswered = resolve;
    });
  }

  line(bytes: Buffer): void {
    const message = readClientLine(bytes);
    if (message.type === "request") this.answer(message.id);
  }

  piece(): void {
    // Whatever it is, nobody is left to read it.
  }

  answer(id: Id): void {
    this.#parts.calls.delete(id);
    this.#parts.toClient.send(errorLine(id, INTERNAL_ERROR, this.#problem));
    this.#tellAnswered();
  }
}

function problemOf(end: ChildEnd, { server, heard }: { server: string; heard: boolean }): string {
  if (end.type === "not_started") return end.problem;
  const how = end.signal === null ? `exit code ${end.code}` : end.signal;
  if (heard) return `the server "${server}" ended (${how})`;
  return `the server "${server}" ended (${how}) before it said anything; run its command by itself to see why`;
}

interface Flow {
  readonly from: NodeJS.ReadableStream;
  readonly sink: LineSink;
  readonly towards: Outlet;
}

/** Reads a stream as fast as the other side is read. @param ended called once or more when there is no more */
function flow({ from, sink, towards }: Flow, ended: () => void): void {
  const lines = new Lines(LINE_LIMIT, sink);
  from.on("data", (chunk: Buffer | string) => {
    lines.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk);
    if (!towards.pressed) return;
    from.pause();
    towards.whenRelieved(() => from.resume());
  });
  from.once("end", () => {
    lines.end();
    ended();
  });
  from.once("close", ended);
  from.on("error", ended);
}
