import { afterEach, describe, expect, it } from "vitest";
import { call, drive, driveInitialized, INITIALIZE, ScriptedJudge } from "./driver.ts";
import type { Driven, DriveOptions } from "./driver.ts";

let driven: Driven;
const judge = (): ScriptedJudge =>
  new ScriptedJudge({
    echo: () => ({ run: false, text: "seen" }),
    other: () => ({ run: false, text: "seen" }),
    change: (_call, { run }) => run(),
  });
const start = async (options: DriveOptions): Promise<Driven> => {
  driven = await driveInitialized({ judge: judge(), ...options });
  return driven;
};
afterEach(() => driven.end());

const tool = (name: string, description = "d"): object => ({ name, description, inputSchema: { type: "object" } });
const ownLists = async (): Promise<readonly string[]> => {
  await driven.reached();
  return driven.server.lines.map((line) => JSON.parse(line) as string).filter((line) => line.includes('"holdpoint:'));
};
const definitions = (): readonly unknown[] => driven.judge.calls.map(({ definition }) => definition);

describe("what the judge is told of a tool", () => {
  it("comes from the client's own list, over its pages, without a question of ours", async () => {
    const { ask } = await start({ tools: [[tool("echo")], [tool("other", "second page")]] });
    await ask({ id: 1, method: "tools/list" });
    await ask({ id: 2, method: "tools/list", params: { cursor: "1" } });
    await ask(call(3, "echo"));
    await ask(call(4, "other"));
    expect(definitions()).toEqual([tool("echo"), tool("other", "second page")]);
    expect(await ownLists()).toEqual([]);
  });

  it("is asked for where the client never listed, over all pages, and the client sees nothing of it", async () => {
    const { ask, client } = await start({ tools: [[tool("x")], [tool("echo")]] });
    await Promise.all([ask(call(3, "echo")), ask(call(4, "echo"))]);
    expect(definitions()).toEqual([tool("echo"), tool("echo")]);
    expect((await ownLists()).map((line) => line.replace(/holdpoint:[0-9a-f-]{36}:/, "holdpoint:"))).toEqual([
      '{"jsonrpc":"2.0","id":"holdpoint:1","method":"tools/list","params":{}}',
      '{"jsonrpc":"2.0","id":"holdpoint:2","method":"tools/list","params":{"cursor":"1"}}',
    ]);
    expect(client.lines.some((line) => line.includes("holdpoint:"))).toBe(false);
  });

  it("is nothing for a tool that the server does not list", async () => {
    const { ask } = await start({ tools: [[tool("x")]] });
    await ask(call(1, "echo"));
    expect(definitions()).toEqual([undefined]);
  });

  it.each([
    ["twice with a difference in one page", [[tool("echo", "a"), tool("echo", "b")]], undefined],
    ["twice with a difference on two pages", [[tool("echo", "a")], [tool("echo", "b")]], undefined],
    ["twice, alike", [[tool("echo"), tool("echo")]], tool("echo")],
  ])("for a tool that is listed %s (A36)", async (_what, tools, definition) => {
    const { ask } = await start({ tools });
    await ask(call(1, "echo"));
    await ask({ id: 2, method: "tools/list" });
    if (tools.length > 1) await ask({ id: 3, method: "tools/list", params: { cursor: "1" } });
    await ask(call(4, "echo"));
    expect(definitions()).toEqual([definition, definition]);
  });

  it("is asked for again after the server said that its tools changed (A83)", async () => {
    const { ask } = await start({ tools: [[tool("echo", "A"), tool("change")]], changed: [[tool("echo", "B"), tool("change")]] });
    await ask({ id: 1, method: "tools/list" });
    await ask(call(2, "echo"));
    await ask(call(3, "change"));
    await ask(call(4, "echo"));
    expect(definitions()).toEqual([tool("echo", "A"), tool("change"), tool("echo", "B")]);
    expect(await ownLists()).toHaveLength(1);
  });

  it("can be looked at again while the call is held", async () => {
    const changed = { tools: [[tool("echo", "A"), tool("change")]], changed: [[tool("echo", "B"), tool("change")]] };
    const current: unknown[] = [];
    const held = new ScriptedJudge({
      echo: async (seen) => {
        current.push(await seen.current());
        await driven.ask(call(2, "change"));
        current.push(await seen.current());
        return { run: false, text: "seen" };
      },
      change: (_call, { run }) => run(),
    });
    const { ask } = await start({ ...changed, judge: held });
    await ask(call(1, "echo"));
    expect(current).toEqual([tool("echo", "A"), tool("echo", "B")]);
  });

  it("keeps a number that JavaScript cannot hold as its text", async () => {
    driven = await driveInitialized({
      judge: new ScriptedJudge({ count: () => ({ run: false, text: "seen" }) }),
      command: strange(),
    });
    await driven.ask(call(1, "count"));
    expect(definitions()).toEqual([
      {
        name: "count",
        inputSchema: { type: "object", properties: { n: { type: "integer", maximum: "18446744073709551615" } } },
        "x-cost": 0.1,
      },
    ]);
  });

  it("is not asked for before the client has finished initialize", async () => {
    driven = drive({ judge: judge(), tools: [[tool("echo")]] });
    await driven.ask(call(1, "echo"));
    driven.send(INITIALIZE);
    await driven.answer("init");
    await driven.ask(call(2, "echo"));
    expect(definitions()).toEqual([undefined, undefined]);
    expect(await ownLists()).toEqual([]);
  });

  it("is asked for in the words of a request of 2026-07-28, which has no initialize", async () => {
    driven = drive({ judge: judge(), tools: [[tool("echo")]] });
    const meta =
      '"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"n\\u00e9w","version":"1"},"io.modelcontextprotocol/clientCapabilities":{ }';
    driven.send(
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","_meta":{"progressToken":1,"other":2,${meta}}}}`,
    );
    await driven.answer(1);
    expect((await ownLists()).map((line) => line.slice(line.indexOf('"method"')))).toEqual([
      `"method":"tools/list","params":{"_meta":{${meta}}}}`,
    ]);
    expect(definitions()).toEqual([tool("echo")]);
    expect(driven.judge.calls[0]?.clientName).toBe("néw");
  });

  it("is nothing when the server does not answer in time", async () => {
    driven = await driveInitialized({ judge: judge(), tools: "late", timing: { listWithin: 5 } });
    await driven.ask(call(1, "echo"));
    expect(definitions()).toEqual([undefined]);
    expect(driven.log).toContain("warn: the server did not list its tools when asked {}");
    await driven.reached();
    expect(driven.client.lines.some((line) => line.includes("holdpoint:"))).toBe(false);
  });

  it("is waited for aloud, and a cancel ends that wait", async () => {
    driven = await driveInitialized({ judge: judge(), tools: "late", timing: { listWithin: 60_000, listNoteAfter: 5 } });
    driven.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}`);
    await until(() => driven.log.some((line) => line.startsWith("warn: a call waits for the server to list its tools")));
    driven.send('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}');
    expect((await driven.reached()).filter((line) => line.includes("tools/call"))).toEqual([]);
    expect(definitions()).toEqual([]);
  });
});

async function until(look: () => boolean): Promise<void> {
  while (!look()) await new Promise((resolve) => setTimeout(resolve, 5));
}

function strange(): { file: string; args: string[] } {
  return { file: process.execPath, args: [new URL("fixtures/strange-server.mjs", import.meta.url).pathname] };
}
