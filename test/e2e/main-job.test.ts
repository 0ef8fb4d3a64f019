/**
 * The main job, with a client and servers that nobody here wrote: the inspector calls a tool of a real server through
 * `holdpoint mcp`, and a person answers with the command line.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Bench, type Card, HOLDPOINT, type Result, until } from "../cli/bench.ts";
import { EVERYTHING, FILESYSTEM, MEMORY, node } from "./peers.ts";

const INSPECTOR = join(
  dirname(createRequire(import.meta.url).resolve("@modelcontextprotocol/inspector/package.json")),
  "clients/launcher/build/index.js",
);
const FINAL = "This is final: do not retry or rephrase it and do not reach the same end another way. Tell the user briefly.";
const CONTENT = 'grün 😀\r\n\t"quoted" \\ text';

let bench: Bench;
beforeEach(() => {
  bench = new Bench();
});
afterEach(() => bench[Symbol.asyncDispose]());

/** As a client's configuration has it; the shell in front only notes the relay's number. */
function configure(server: readonly string[], options: readonly string[]): string {
  const config = bench.path("config.json");
  const relay = [...HOLDPOINT, "mcp", "--name", "s", ...options, "--", ...server];
  const args = ["-c", `echo $$ > ${bench.path("relay.pid")}; exec "$@"`, "sh", ...relay];
  const env = { HOLDPOINT_DATA: bench.data, MEMORY_FILE_PATH: bench.path("memory.jsonl") };
  writeFileSync(config, JSON.stringify({ mcpServers: { s: { type: "stdio", command: "/bin/sh", args, env } } }));
  return config;
}

interface Called {
  readonly child: ChildProcess;
  readonly result: Promise<Result>;
}

interface Wanted {
  readonly server?: readonly string[];
  readonly options?: readonly string[];
}

/** Calls one tool with the inspector's command line. */
function call(tool: string, args: Readonly<Record<string, unknown>>, { server, options = [] }: Wanted = {}): Called {
  const config = configure(server ?? [...FILESYSTEM, bench.folder], options);
  const pairs = Object.entries(args).flatMap(([name, value]) => [
    "--tool-arg",
    `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  ]);
  const words = ["--cli", "--config", config, "--server", "s", "--method", "tools/call", "--tool-name", tool, ...pairs];
  const child = spawn(node, [INSPECTOR, ...words], {
    stdio: ["ignore", "pipe", "pipe"],
    // Without a controlling terminal, or the relay would ask at that of whoever runs the tests.
    detached: true,
    env: { ...bench.env, HOME: bench.folder, PATH: `${dirname(node)}:${process.env.PATH}` },
  });
  const chunks: { out: Buffer[]; err: Buffer[] } = { out: [], err: [] };
  child.stdout.on("data", (chunk: Buffer) => chunks.out.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => chunks.err.push(chunk));
  const result = new Promise<Result>((resolve, reject) => {
    child.once("close", () => {
      const [out, err] = [Buffer.concat(chunks.out).toString("utf8"), Buffer.concat(chunks.err).toString("utf8")];
      try {
        resolve(JSON.parse(out) as Result);
      } catch (cause) {
        reject(new Error(`the inspector printed no result: ${out}${err}`, { cause }));
      }
    });
  });
  result.catch(() => undefined);
  bench.atEnd(() => child.kill("SIGKILL"));
  return { child, result };
}

/** The one request that waits; a call that ends without one says why. */
async function only(result: Promise<Result>): Promise<Card> {
  const ended = result.then((early) => Promise.reject(new Error(`it was not held: ${JSON.stringify(early)}`)));
  const [card] = await Promise.race([bench.pending(), ended]);
  if (card === undefined) throw new Error("nothing is pending");
  return card;
}
const approve = async (card: Card) => {
  const { status, out } = await bench.run(["approve", card.id, "--json", "--digest", card.digest]);
  expect([status, JSON.parse(out)]).toEqual([0, expect.objectContaining({ counted: true })]);
};
const write = (name: string, wanted: Wanted = {}) => call("write_file", { path: bench.path(name), content: CONTENT }, wanted);
const show = (id: string) => bench.json<Card & { readonly ending: string }>("show", id);
const gone = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true;
  }
};

describe("a tool of server-filesystem, called by the inspector", () => {
  it("approved: the file is there, byte for byte", async () => {
    const { result } = write("a.txt");
    const card = await only(result);
    expect(card).toMatchObject({
      tool: { name: "s/write_file", origin: "mcp:s" },
      arguments: { path: bench.path("a.txt"), content: CONTENT },
    });
    expect(bench.read("a.txt")).toBeUndefined();
    await approve(card);
    expect((await result).isError).toBeFalsy();
    expect(readFileSync(bench.path("a.txt")).equals(Buffer.from(CONTENT))).toBe(true);
    expect((await show(card.id)).ending).toBe("it ran and succeeded");
  });

  it("rejected: it is not, and the client reads the sentence with the reason", async () => {
    const { result } = write("a.txt");
    const card = await only(result);
    await bench.run(["reject", card.id, "--reason", "not there, please"]);
    expect(await result).toEqual({
      content: [{ type: "text", text: `Not run: a person rejected "s/write_file". Reason given: "not there, please". ${FINAL}` }],
      isError: true,
      _meta: { "holdpoint/request": card.id },
    });
    expect(bench.read("a.txt")).toBeUndefined();
  });

  it("nobody could be asked, since the policy names approvers that no channel reaches: refused at once", async () => {
    writeFileSync(bench.path("policy.json"), JSON.stringify({ rules: [{ ask: "s/write_file", approvers: ["ada", "grace"] }] }));
    const { content } = await write("a.txt", { options: ["--policy", bench.path("policy.json")] }).result;
    expect(content).toEqual([
      { type: "text", text: `Not run: "s/write_file" needs a person and nobody could be reached. ${FINAL}` },
    ]);
    expect((await bench.run(["pending", "--json"])).out).toBe("[]\n");
    expect(bench.read("a.txt")).toBeUndefined();
  });

  it("silence: expired, and an answer that comes later changes nothing and is told so", async () => {
    const { result } = write("a.txt", { options: ["--deadline", "2s"] });
    const card = await only(result);
    expect((await result).content).toEqual([
      { type: "text", text: `Not run: nobody answered for "s/write_file" in time, and silence is not consent. ${FINAL}` },
    ]);
    const late = await bench.run(["approve", card.id, "--json", "--digest", card.digest]);
    expect([late.status, JSON.parse(late.out)]).toMatchObject([
      4,
      { found: false, status: "expired", counted: false, code: "late", error: { code: "late" } },
    ]);
    expect(bench.read("a.txt")).toBeUndefined();
  });

  it("edited: the edited bytes are on the disk", async () => {
    const { result } = write("a.txt");
    const card = await only(result);
    const edited = JSON.stringify({ path: bench.path("b.txt"), content: "edited 😀\n" });
    const { status } = await bench.run(["edit", card.id, "--json", "--digest", card.digest, "--arguments", edited]);
    expect(status).toBe(0);
    expect((await result).isError).toBeFalsy();
    expect([bench.read("a.txt"), bench.read("b.txt")]).toEqual([undefined, "edited 😀\n"]);
  });

  it("the client is killed: its call is withdrawn, and a yes comes too late", async () => {
    const { result } = write("a.txt");
    const card = await only(result);
    const relay = Number(bench.read("relay.pid"));
    const client = Number(readFileSync(`/proc/${relay}/stat`, "utf8").split(") ").at(-1)?.split(" ")[1]);
    process.kill(client, "SIGKILL");
    await until(
      () => "the call to be withdrawn",
      async () => (await show(card.id)).status === "cancelled",
    );
    expect((await show(card.id)).ending).toContain("requester gone");
    expect((await bench.run(["approve", card.id, "--json", "--digest", card.digest])).status).toBe(1);
    await until(
      () => "the relay to end",
      () => gone(relay),
    );
    expect(bench.read("a.txt")).toBeUndefined();
  });

  it("the relay is killed while a call waits: the request survives, and a later yes runs nothing", async () => {
    const { result } = write("a.txt");
    const card = await only(result);
    process.kill(Number(bench.read("relay.pid")), "SIGKILL");
    await expect(result).rejects.toThrow();
    expect((await bench.pending()).map(({ id }) => id)).toEqual([card.id]);
    await approve(card);
    expect((await show(card.id)).status).toBe("approved");
    // The same call again, through a new relay, is another request: the old yes is not its.
    const second = write("a.txt");
    const asked = await only(second.result);
    expect(asked.id).not.toBe(card.id);
    await bench.run(["reject", asked.id]);
    expect((await second.result).isError).toBe(true);
    expect(bench.read("a.txt")).toBeUndefined();
  });
});

it("server-everything: what was approved is what it echoes", async () => {
  const { result } = call("echo", { message: CONTENT }, { server: EVERYTHING });
  await approve(await only(result));
  expect((await result).content).toEqual([{ type: "text", text: `Echo: ${CONTENT}` }]);
});

it("server-memory: what was approved is remembered, and what policy allows needs nobody", async () => {
  writeFileSync(bench.path("policy.json"), JSON.stringify({ tools: [{ match: "s/read_graph", tier: "read" }] }));
  const options = ["--policy", bench.path("policy.json")];
  const entities = [{ name: "Holdpoint", entityType: "project", observations: ["holds"] }];
  const { result } = call("create_entities", { entities }, { server: MEMORY, options });
  await approve(await only(result));
  expect((await result).isError).toBeFalsy();
  const read = await call("read_graph", {}, { server: MEMORY, options }).result;
  expect(JSON.parse(read.content[0]?.text ?? "")).toMatchObject({ entities });
});
