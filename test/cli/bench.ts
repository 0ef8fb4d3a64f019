import { type ChildProcessWithoutNullStreams, spawn as spawnProcess } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import xterm from "@xterm/headless";
import { type IPty, spawn as spawnPty } from "node-pty";

/** The command from its sources, as a program of its own. */
export const HOLDPOINT: readonly string[] = [
  process.execPath,
  "--disable-warning=ExperimentalWarning",
  fileURLToPath(new URL("fixtures/holdpoint.mjs", import.meta.url)),
];
export const FILESYSTEM: readonly string[] = [
  process.execPath,
  createRequire(import.meta.url).resolve("@modelcontextprotocol/server-filesystem/dist/index.js"),
];

/**
 * Runs a program that nobody is the parent of, and keeps its exit code: whoever runs these tests may be an agent's own
 * program, below which nothing may be approved.
 */
const ORPHANED = 'exec 3<&0; { "$@" <&3 3<&-; echo $? > "$STATUS"; } &';

const PATIENCE_MS = 30_000;

export async function until<T>(
  what: () => string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
): Promise<T> {
  const start = performance.now();
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (performance.now() - start > PATIENCE_MS) throw new Error(`waited in vain for ${what()}`);
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}

export interface Ended {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

interface RunOptions {
  readonly stdin?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Another account, where the tests may become one. */
  readonly uid?: number;
}

/** A scratch folder with a place for files and a data folder; everything started in it ends with it. */
export class Bench {
  readonly folder: string = realpathSync(mkdtempSync(join(tmpdir(), "holdpoint-cli-")));
  readonly data: string = join(this.folder, "data");
  readonly #ends: (() => unknown)[] = [];
  #count = 0;

  path(name: string): string {
    return join(this.folder, name);
  }

  read(name: string): string | undefined {
    return existsSync(this.path(name)) ? readFileSync(this.path(name), "utf8") : undefined;
  }

  get env(): NodeJS.ProcessEnv {
    const { PATH, HOME } = process.env;
    return { PATH, HOME, TERM: "xterm-256color", LANG: "C.UTF-8", HOLDPOINT_DATA: this.data };
  }

  atEnd(end: () => unknown): void {
    this.#ends.push(end);
  }

  #status(): string {
    this.#count += 1;
    return this.path(`status-${this.#count}`);
  }

  /** One command without a terminal, from its start to its end. */
  async run(args: readonly string[], options: RunOptions = {}): Promise<Ended> {
    const status = this.#status();
    const child = spawnProcess("/bin/sh", ["-c", ORPHANED, "sh", ...HOLDPOINT, ...args], {
      cwd: this.folder,
      env: { ...this.env, ...options.env, STATUS: status },
      // Without a controlling terminal, whatever the tests are run at.
      detached: true,
      ...(options.uid === undefined ? {} : { uid: options.uid, gid: options.uid }),
    });
    child.stdin.on("error", () => undefined);
    child.stdin.end(options.stdin ?? "");
    const [out, err] = await Promise.all([textOf(child.stdout), textOf(child.stderr)]);
    const code = await until(
      () => `the exit code of ${args.join(" ")}`,
      () => (existsSync(status) && readFileSync(status, "utf8").trim()) || undefined,
    );
    return { status: Number(code), out, err };
  }

  async json<T>(...args: readonly string[]): Promise<T> {
    const { out, err } = await this.run([...args, "--json"]);
    if (out === "") throw new Error(`${args.join(" ")} said nothing on standard output: ${err}`);
    return JSON.parse(out) as T;
  }

  /** Waits until that many requests are pending, oldest first. */
  pending(count = 1): Promise<readonly Card[]> {
    return until(
      () => `${count} pending`,
      async () => {
        const cards = await this.json<readonly Card[]>("pending");
        return cards.length >= count && cards;
      },
    );
  }

  /** A client of an MCP server behind `holdpoint mcp`. */
  client(options: readonly string[], server: readonly string[], env: NodeJS.ProcessEnv = {}): Client {
    const client = new Client([...HOLDPOINT, "mcp", ...options, "--", ...server], { ...this.env, ...env });
    this.atEnd(() => client.kill("SIGKILL"));
    return client;
  }

  /** Some command line on a terminal with a screen; `$HOLDPOINT` is the command. */
  terminal(args: readonly string[], env: NodeJS.ProcessEnv = {}): Terminal {
    const terminal = new Terminal(args, { cwd: this.folder, env: { ...this.env, ...env, STATUS: this.#status() } });
    this.atEnd(() => terminal.end());
    return terminal;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const end of this.#ends.splice(0)) await end();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

const textOf = (stream: NodeJS.ReadableStream): Promise<string> =>
  new Promise((resolve) => {
    const chunks: Buffer[] = [];
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.on("end", () => resolve(Buffer.concat(chunks).toString("utf8")));
  });

/** As much of a card's JSON as tests look at. */
export interface Card {
  readonly id: string;
  readonly status: string;
  readonly digest: string;
  readonly code: string;
  readonly tool: { readonly name: string };
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly bindings: Readonly<Record<string, string>>;
  readonly ending: string | null;
  readonly statement: string | null;
  readonly requester: { readonly principal: string; readonly agent: string | null };
}

export interface Result {
  readonly isError?: boolean;
  readonly content: readonly { readonly type: string; readonly text: string }[];
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** A JSON-RPC client over a program's standard input and output. */
export class Client {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #answers = new Map<number, (message: Record<string, unknown>) => void>();
  readonly ended: Promise<number | null>;
  errors = "";
  #next = 1;

  constructor(command: readonly string[], env: NodeJS.ProcessEnv) {
    const [file = "", ...args] = command;
    this.#child = spawnProcess(file, args, { env, detached: true });
    this.#child.stdin.on("error", () => undefined);
    this.#child.stderr.on("data", (chunk: Buffer) => {
      this.errors += chunk.toString("utf8");
    });
    createInterface({ input: this.#child.stdout }).on("line", (line) => {
      const message = JSON.parse(line) as Record<string, unknown>;
      this.#answers.get(Number(message.id))?.(message);
    });
    this.ended = new Promise((resolve) => this.#child.once("close", resolve));
  }

  send(message: object): void {
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  ask(method: string, params: object): { readonly id: number; readonly answer: Promise<Record<string, unknown>> } {
    const id = this.#next++;
    const answer = new Promise<Record<string, unknown>>((resolve) => this.#answers.set(id, resolve));
    this.send({ id, method, params });
    return { id, answer };
  }

  async start(): Promise<this> {
    const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "a-client", version: "1" } };
    await this.ask("initialize", params).answer;
    this.send({ method: "notifications/initialized" });
    return this;
  }

  async call(name: string, args: object): Promise<Result> {
    return (await this.ask("tools/call", { name, arguments: args }).answer).result as Result;
  }

  end(): Promise<number | null> {
    this.#child.stdin.end();
    return this.ended;
  }

  kill(signal: NodeJS.Signals): Promise<number | null> {
    this.#child.kill(signal);
    return this.ended;
  }
}

/** The first shell leads the terminal; what it runs is orphaned, as {@link ORPHANED} says, and keeps the terminal. */
const LEADER = `trap : INT; sh -c '${ORPHANED}' sh "$@"; while [ ! -s "$STATUS" ]; do sleep 0.05; done`;

/** A pseudo-terminal with a program at it, and a screen that answers what a terminal is asked. */
export class Terminal {
  readonly #pty: IPty;
  readonly #screen = new xterm.Terminal({ cols: 120, rows: 50, allowProposedApi: true, scrollback: 2000 });
  readonly #status: string;
  written = "";
  #over = false;

  constructor(args: readonly string[], { cwd, env }: { cwd: string; env: NodeJS.ProcessEnv }) {
    this.#status = env.STATUS ?? "";
    const plain = Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined));
    this.#pty = spawnPty("/bin/sh", ["-c", LEADER, "sh", ...args], { cols: 120, rows: 50, cwd, env: plain });
    this.#pty.onData((text) => {
      this.written += text;
      this.#screen.write(text);
    });
    this.#screen.onData((answer) => this.#over || this.#pty.write(answer));
    this.#pty.onExit(() => {
      this.#over = true;
    });
  }

  type(text: string): void {
    this.#pty.write(text);
  }

  /** What the screen shows, ends of rows trimmed. */
  get text(): string {
    const { active } = this.#screen.buffer;
    return Array.from({ length: active.length }, (_, row) => active.getLine(row)?.translateToString(true) ?? "").join("\n");
  }

  /** Waits until the screen shows this; rows that were broken are read as one. */
  shows(what: string | RegExp): Promise<true> {
    const found = (): boolean => {
      const text = this.text.replace(/\n↳ /gu, "").replace(/\s+/gu, " ");
      return typeof what === "string" ? text.includes(what) : what.test(text);
    };
    return until(
      () => `${String(what)} in:\n${this.text}`,
      () => found() as true,
    );
  }

  async ended(): Promise<number> {
    const code = await until(
      () => `the end; the screen shows:\n${this.text}`,
      () => (existsSync(this.#status) && readFileSync(this.#status, "utf8").trim()) || undefined,
    );
    return Number(code);
  }

  end(): void {
    if (!this.#over) this.#pty.kill("SIGKILL");
    this.#screen.dispose();
  }
}
