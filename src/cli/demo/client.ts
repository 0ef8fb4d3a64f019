import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { createInterface } from "node:readline";

/** What a tool call came back with, as the model would read it. */
export interface CallResult {
  readonly isError: boolean;
  readonly text: string;
}

interface Waiting {
  resolve(result: unknown): void;
  reject(problem: Error): void;
}

const ERROR_OUTPUT_KEPT = 4000;

/** As much of an MCP client over stdio as the demonstration needs: requests, their answers, and nothing else. */
export class DemoClient {
  readonly #relay: ChildProcessWithoutNullStreams;
  readonly #waiting = new Map<number, Waiting>();
  #next = 1;
  #errors = "";
  /** Resolves when the relay has ended. */
  readonly ended: Promise<void>;

  constructor(command: readonly [string, ...string[]], environment: NodeJS.ProcessEnv) {
    const [file, ...args] = command;
    this.#relay = spawn(file, args, { stdio: ["pipe", "pipe", "pipe"], env: environment });
    createInterface({ input: this.#relay.stdout }).on("line", (line) => this.#read(line));
    this.#relay.stderr.on("data", (chunk: Buffer) => {
      this.#errors = (this.#errors + chunk.toString("utf8")).slice(-ERROR_OUTPUT_KEPT);
    });
    this.#relay.stdin.on("error", () => this.#fail());
    this.ended = new Promise<void>((resolve) => {
      this.#relay.once("error", () => resolve());
      this.#relay.once("close", () => resolve());
    }).then(() => this.#fail());
  }

  #fail(): void {
    const said = this.#errors.trim();
    const problem = new Error(`the relay ended${said === "" ? "" : `; it said:\n${said}`}`);
    for (const { reject } of this.#waiting.values()) reject(problem);
    this.#waiting.clear();
  }

  #read(line: string): void {
    const { id, result, error } = JSON.parse(line) as { id?: number; result?: unknown; error?: { message?: string } };
    const waiting = id === undefined ? undefined : this.#waiting.get(id);
    if (waiting === undefined || id === undefined) return;
    this.#waiting.delete(id);
    if (error === undefined) waiting.resolve(result);
    else waiting.reject(new Error(error.message ?? "the server answered with an error"));
  }

  #send(message: object): void {
    this.#relay.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  #ask(method: string, params: object): Promise<unknown> {
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#send({ id, method, params });
    });
  }

  async start(): Promise<void> {
    await this.#ask("initialize", {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "demo-agent", version: "1.0.0" },
    });
    this.#send({ method: "notifications/initialized" });
  }

  async toolNames(): Promise<readonly string[]> {
    const { tools } = (await this.#ask("tools/list", {})) as { tools: readonly { name: string }[] };
    return tools.map(({ name }) => name);
  }

  async call(name: string, args: object): Promise<CallResult> {
    const result = (await this.#ask("tools/call", { name, arguments: args })) as {
      isError?: boolean;
      content?: readonly { text?: string }[];
    };
    return { isError: result.isError === true, text: (result.content ?? []).map(({ text = "" }) => text).join("\n") };
  }

  /** Ends the relay in order, as a client does. */
  async end(): Promise<void> {
    this.#relay.stdin.end();
    await this.ended;
  }
}
