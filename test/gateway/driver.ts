import { PassThrough } from "node:stream";
import { fileURLToPath } from "node:url";
import { relay } from "../../src/gateway/index.ts";
import type { CallOutcome, GatewayCall, GatewayVerdict, Judge, RelayEnd, RelayOptions, Timing } from "../../src/gateway/index.ts";

export const fixture = (name: string): string => fileURLToPath(new URL(`fixtures/${name}.mjs`, import.meta.url));

interface Choices {
  readonly signal: AbortSignal;
  /** A verdict that lets the call run, with an edit or as it is, and keeps its outcome. */
  run(args?: GatewayCall["arguments"]): GatewayVerdict;
}
/** What becomes of a call of each tool. Anything may be answered, also what is no verdict. */
export type Script = Readonly<Record<string, (call: GatewayCall, choices: Choices) => unknown>>;

/** Answers each call by its script and keeps what it saw. A tool without a script is refused. */
export class ScriptedJudge implements Judge {
  readonly calls: GatewayCall[] = [];
  readonly withdrawn: unknown[] = [];
  readonly outcomes: (CallOutcome & { tool: string })[] = [];
  readonly #script: Script;
  readonly #waiting = new Set<() => void>();

  constructor(script: Script) {
    this.#script = script;
  }

  async judge(call: GatewayCall, signal: AbortSignal): Promise<GatewayVerdict> {
    this.calls.push(call);
    for (const look of this.#waiting) look();
    signal.addEventListener("abort", () => this.withdrawn.push(signal.reason));
    const script = this.#script[call.tool];
    const choices: Choices = { signal, run: (args) => this.#run(call, args) };
    return (await (script === undefined ? { run: false, text: "no script" } : script(call, choices))) as GatewayVerdict;
  }

  /** Resolves once this many calls were put to it. */
  async asked(count: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const look = (): void => {
        if (this.calls.length >= count) resolve();
      };
      this.#waiting.add(look);
      look();
    });
  }

  #run(call: GatewayCall, args?: GatewayCall["arguments"]): GatewayVerdict {
    return {
      run: true,
      arguments: args,
      finished: async (outcome) => {
        this.outcomes.push({ ...outcome, tool: call.tool });
      },
    };
  }
}

/** A promise that the test settles. */
export class Later<T> {
  #resolve: (value: T) => void = () => undefined;
  #reject: (cause: unknown) => void = () => undefined;
  readonly promise: Promise<T> = new Promise((resolve, reject) => {
    this.#resolve = resolve;
    this.#reject = reject;
  });
  resolve(value: T): void {
    this.#resolve(value);
  }
  reject(cause: unknown): void {
    this.#reject(cause);
  }
}

/** Lines of a stream as they come, and waiting for one. */
export class Seen {
  readonly lines: string[] = [];
  #rest = "";
  readonly #waiting = new Set<() => void>();

  constructor(stream: NodeJS.ReadableStream) {
    stream.on("data", (chunk: Buffer) => {
      const lines = (this.#rest + chunk.toString("latin1")).split("\n");
      this.#rest = lines.pop() ?? "";
      this.lines.push(...lines.map((line) => Buffer.from(line, "latin1").toString("utf8")));
      for (const look of this.#waiting) look();
    });
  }

  /** The first line, from the `from`th on, that fits. */
  async until(fits: (line: string) => boolean, from = 0): Promise<string> {
    return new Promise((resolve) => {
      const look = (): void => {
        const found = this.lines.slice(from).find(fits);
        if (found === undefined) return;
        this.#waiting.delete(look);
        resolve(found);
      };
      this.#waiting.add(look);
      look();
    });
  }
}

export interface Driven {
  readonly judge: ScriptedJudge;
  readonly client: Seen;
  /** What reached the server, line by line, where it is the echo server. */
  readonly server: Seen;
  readonly log: string[];
  readonly input: PassThrough;
  readonly output: PassThrough;
  readonly stop: AbortController;
  readonly ended: Promise<RelayEnd>;
  send(...texts: string[]): void;
  /** Sends a request and waits for the answer with its id. */
  ask(message: { id: number | string; method: string; params?: unknown }): Promise<Answer>;
  /** The answer to a request that was sent. */
  answer(id: number | string | null): Promise<Answer>;
  /** Everything sent before has been seen by the server when this resolves: what it read, our own questions apart. */
  reached(): Promise<readonly string[]>;
  end(): Promise<RelayEnd>;
}
export interface Answer {
  readonly id: number | string | null;
  readonly result?: {
    readonly content?: readonly { readonly type: string; readonly text: string }[];
    readonly isError?: boolean;
    readonly [key: string]: unknown;
  };
  readonly error?: { readonly code: number; readonly message: string };
}

export interface DriveOptions {
  readonly judge?: ScriptedJudge;
  /** In place of the scripted one. */
  readonly realJudge?: Judge;
  readonly command?: RelayOptions["command"];
  /** Pages of tools of the echo server, now and after its tool `change` ran. */
  readonly tools?: readonly (readonly object[])[] | "late";
  readonly changed?: readonly (readonly object[])[];
  readonly timing?: Partial<Timing>;
  readonly environment?: NodeJS.ProcessEnv;
  readonly errors?: PassThrough;
}

const echoCommand = ({ tools, changed }: DriveOptions): RelayOptions["command"] => ({
  file: process.execPath,
  args: [
    fixture("echo-server"),
    ...[tools, changed].filter((pages) => pages !== undefined).map((pages) => JSON.stringify(pages)),
  ],
});

/** The relay with a real server process behind it and streams in front. */
export function drive(options: DriveOptions = {}): Driven {
  const judge = options.judge ?? new ScriptedJudge({});
  const [input, output, errors] = [new PassThrough(), new PassThrough(), options.errors ?? new PassThrough()];
  const [client, server] = [new Seen(output), new Seen(errors)];
  const log: string[] = [];
  const stop = new AbortController();
  const note =
    (level: string) =>
    (message: string, fields?: object): void => {
      log.push(`${level}: ${message} ${JSON.stringify(fields ?? {})}`);
    };
  const ended = relay({
    server: "test",
    command: options.command ?? echoCommand(options),
    client: { input, output },
    environment: options.environment ?? process.env,
    judge: options.realJudge ?? judge,
    log: { debug: note("debug"), info: note("info"), warn: note("warn"), error: note("error") },
    errors,
    stop: stop.signal,
    ...(options.timing === undefined ? {} : { timing: options.timing }),
  });
  const send = (...texts: string[]): void => {
    for (const text of texts) input.write(`${text}\n`);
  };
  const answer = async (id: number | string | null): Promise<Answer> => {
    const isIt = (line: string): boolean => {
      const message = parsed(line);
      return message?.id === id && message.method === undefined;
    };
    return JSON.parse(await client.until(isIt)) as Answer;
  };
  let pings = 0;
  return {
    judge,
    client,
    server,
    log,
    input,
    output,
    stop,
    ended,
    send,
    answer,
    ask: (message) => {
      send(JSON.stringify({ jsonrpc: "2.0", ...message }));
      return answer(message.id);
    },
    reached: async () => {
      pings += 1;
      const ping = `{"jsonrpc":"2.0","id":"reached-${pings}","method":"ping"}`;
      send(ping);
      await server.until((line) => line === JSON.stringify(ping));
      const lines = server.lines.map((line) => JSON.parse(line) as string);
      return lines.filter((line) => !line.includes('"reached-') && !line.includes('"holdpoint:'));
    },
    end: async () => {
      input.end();
      return ended;
    },
  };
}

function parsed(line: string): { id?: unknown; method?: unknown } | undefined {
  try {
    return JSON.parse(line) as { id?: unknown; method?: unknown };
  } catch {
    return undefined;
  }
}

export const INITIALIZE =
  '{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"a client","version":"1"}}}';
export const INITIALIZED = '{"jsonrpc":"2.0","method":"notifications/initialized"}';

/** The relay past `initialize`. */
export async function driveInitialized(options: DriveOptions = {}): Promise<Driven> {
  const driven = drive(options);
  driven.send(INITIALIZE);
  await driven.answer("init");
  driven.send(INITIALIZED);
  return driven;
}

export const call = (
  id: number | string,
  name: string,
  args: unknown = {},
): { id: number | string; method: string; params: object } => ({
  id,
  method: "tools/call",
  params: { name, arguments: args },
});
