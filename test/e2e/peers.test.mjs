import { access, mkdtemp, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client as ModernClient } from "@modelcontextprotocol/client";
import { StdioClientTransport as ModernTransport } from "@modelcontextprotocol/client/stdio";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FILESYSTEM, gated, MEMORY, node } from "./peers.ts";

// JavaScript, because the packages it imports exist in this folder only and the root is type-checked without them.
let folder;
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "peers-")));
});
afterEach(() => rm(folder, { recursive: true }));

const split = ([command, ...args]) => ({
  command,
  args,
  // The memory server keeps its graph beside its program otherwise, from one run to the next.
  env: { ...process.env, MEMORY_FILE_PATH: join(folder, "memory.jsonl") },
  stderr: "ignore",
});

async function withClient(command, use) {
  const client = new Client({ name: "a client", version: "1" });
  await client.connect(new StdioClientTransport(split(command)));
  try {
    await use(client);
  } finally {
    await client.close();
  }
}
const exists = (path) =>
  access(path).then(
    () => true,
    () => false,
  );

describe("server-filesystem behind the relay, called by the SDK's client", () => {
  const files = (rules) => gated(rules, [...FILESYSTEM, folder]);

  it("what is allowed is on disk, byte for byte", async () => {
    const content = "grün 😀\r\n\u0000\ttext";
    await withClient(files({ write_file: "run" }), async (client) => {
      const path = join(folder, "a.txt");
      const result = await client.callTool({ name: "write_file", arguments: { path, content } });
      expect(result.isError).toBeFalsy();
      expect(await readFile(path, "utf8")).toBe(content);
    });
  });

  it("what is refused is not, and the client reads the sentence", async () => {
    await withClient(files({ write_file: { text: "Not run." } }), async (client) => {
      const path = join(folder, "a.txt");
      expect(await client.callTool({ name: "write_file", arguments: { path, content: "x" } })).toEqual({
        content: [{ type: "text", text: "Not run." }],
        isError: true,
      });
      expect(await exists(path)).toBe(false);
    });
  });

  it("what is edited is on disk as edited", async () => {
    const path = join(folder, "a.txt");
    await withClient(files({ write_file: { arguments: { path, content: "edited" } } }), async (client) => {
      await client.callTool({ name: "write_file", arguments: { path, content: "x" } });
      expect(await readFile(path, "utf8")).toBe("edited");
    });
  });

  it("what the client gives up while it is held does not run", async () => {
    await withClient(files({ write_file: "wait", list_allowed_directories: "run" }), async (client) => {
      const path = join(folder, "a.txt");
      await expect(
        client.callTool({ name: "write_file", arguments: { path, content: "x" } }, undefined, { timeout: 200 }),
      ).rejects.toThrow("timed out");
      await client.callTool({ name: "list_allowed_directories", arguments: {} });
      expect(await exists(path)).toBe(false);
    });
  });
});

it("server-memory keeps what was allowed", async () => {
  await withClient(gated({ create_entities: "run", read_graph: "run" }, MEMORY), async (client) => {
    const entities = [{ name: "Holdpoint", entityType: "project", observations: ["holds"] }];
    await client.callTool({ name: "create_entities", arguments: { entities } });
    expect((await client.callTool({ name: "read_graph", arguments: {} })).structuredContent).toMatchObject({ entities });
    await client.callTool({ name: "delete_entities", arguments: { entityNames: ["Holdpoint"] } });
    expect((await client.callTool({ name: "read_graph", arguments: {} })).structuredContent).toMatchObject({ entities });
  });
});

describe("both generations of the SDK", () => {
  const modern = [node, new URL("modern-server.mjs", import.meta.url).pathname];

  it.each(["legacy", "auto", { pin: "2026-07-28" }])(
    "the second one's client and server agree as if nobody was between: %j",
    async (mode) => {
      const client = new ModernClient({ name: "a modern client", version: "2" }, { versionNegotiation: { mode } });
      await client.connect(new ModernTransport(split(gated({ add: "run" }, modern))));
      expect((await client.callTool({ name: "add", arguments: { a: 2, b: 40 } })).content).toEqual([
        { type: "text", text: "42" },
      ]);
      expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["add", "slow"]);
      expect(await client.callTool({ name: "slow", arguments: {} })).toMatchObject({
        content: [{ type: "text", text: "not in the script" }],
        isError: true,
      });
      await client.close();
    },
  );

  it("the first one's client and the second one's server", async () => {
    await withClient(gated({ add: "run" }, modern), async (client) => {
      expect((await client.callTool({ name: "add", arguments: { a: 2, b: 40 } })).content).toEqual([
        { type: "text", text: "42" },
      ]);
    });
  });

  it("a cancel of a running call reaches the server, and the connection goes on", async () => {
    await withClient(gated({ add: "run", slow: "run" }, modern), async (client) => {
      await expect(client.callTool({ name: "slow", arguments: {} }, undefined, { timeout: 200 })).rejects.toThrow("timed out");
      expect((await client.callTool({ name: "add", arguments: { a: 1, b: 1 } })).content).toEqual([{ type: "text", text: "2" }]);
    });
  });
});
