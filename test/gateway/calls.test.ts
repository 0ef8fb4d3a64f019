import { afterEach, describe, expect, it } from "vitest";
import { HoldpointError } from "../../src/index.ts";
import { call, driveInitialized, INITIALIZE, INITIALIZED, Later, ScriptedJudge } from "./driver.ts";
import type { Driven, DriveOptions, Script } from "./driver.ts";

let driven: Driven;
const start = async (script: Script, options: DriveOptions = {}): Promise<Driven> => {
  const names = [...new Set([...Object.keys(script), "echo"])].map((name) => ({ name, inputSchema: { type: "object" } }));
  driven = await driveInitialized({ judge: new ScriptedJudge(script), tools: [names], ...options });
  return driven;
};
afterEach(() => driven.end());
const reached = async (): Promise<readonly string[]> =>
  (await driven.reached()).filter((line) => line !== INITIALIZE && line !== INITIALIZED);
const withdrawnSentence = (tool: string): string =>
  `Not run: the request for "test/${tool}" was withdrawn. This is final: do not retry or rephrase it and do not reach the same end another way. Tell the user briefly.`;
const textLine = (id: number, text: string): string =>
  JSON.stringify({ jsonrpc: "2.0", id, result: { content: [{ type: "text", text }], isError: true } });

describe("the judge is asked before anything of a call reaches the server", () => {
  it("sees the call as the client sent it and the tool as the server describes it", async () => {
    const tool = {
      name: "echo",
      description: "repeats",
      inputSchema: { type: "object", properties: { n: { maximum: 5 } } },
      "x-own": [null],
    };
    const { send, answer, judge } = await start({ echo: (_call, { run }) => run() }, { tools: [[tool]] });
    const text = '{"params":{"arguments" : {"b":1.50,"a":"\\u00e9"},"name":"echo"},"method":"tools/call","jsonrpc":"2.0","id":5}';
    send(text);
    expect((await answer(5)).result?.content?.[0]?.text).toBe('{"b":1.5,"a":"é"}');
    const { tool: name, arguments: args, argumentsText, definition, clientName } = judge.calls[0] as (typeof judge.calls)[number];
    expect({ name, args, argumentsText, definition, clientName }).toEqual({
      name: "echo",
      args: { b: 1.5, a: "é" },
      argumentsText: '{"b":1.50,"a":"\\u00e9"}',
      definition: tool,
      clientName: "a client",
    });
    expect(Object.isFrozen(args)).toBe(true);
    expect(await reached()).toEqual([text]);
  });

  it("is told {} where a call has no arguments", async () => {
    const { send, answer, judge } = await start({ echo: (_call, { run }) => run() });
    send('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}');
    expect((await answer(1)).result?.content?.[0]?.text).toBe("null");
    expect(judge.calls.map(({ arguments: args, argumentsText }) => [args, argumentsText])).toEqual([[{}, "{}"]]);
  });

  it("a held call does not keep others waiting", async () => {
    const verdict = new Later<undefined>();
    const { send, ask, client, answer } = await start({
      wait: async (_call, { run }) => (await verdict.promise) ?? run(),
      echo: (_call, { run }) => run(),
    });
    send(JSON.stringify({ jsonrpc: "2.0", ...call(1, "wait") }));
    expect((await ask(call(2, "echo"))).result?.content?.[0]?.text).toBe("{}");
    expect((await ask({ id: 3, method: "ping" })).result).toEqual({});
    expect(await reached()).toEqual([
      JSON.stringify({ jsonrpc: "2.0", ...call(2, "echo") }),
      '{"jsonrpc":"2.0","id":3,"method":"ping"}',
    ]);
    expect(client.lines.some((line) => line.includes('"id":1'))).toBe(false);
    verdict.resolve(undefined);
    await driven.server.until((line) => line.includes("wait"));
    send('{"jsonrpc":"2.0","method":"notifications/progress","params":{}}');
    expect((await answer(1)).result?.content?.[0]?.text).toBe("released");
  });
});

describe("a refusal is a result, never a protocol error", () => {
  it("has this shape, byte for byte", async () => {
    const { send, client } = await start({ echo: () => ({ run: false, text: 'Not run: "test/echo".', request: "req-1" }) });
    send('{"jsonrpc":"2.0","id":"a\\u0062","method":"tools/call","params":{"name":"echo"}}');
    await client.until(
      (line) =>
        line ===
        '{"jsonrpc":"2.0","id":"ab","result":{"content":[{"type":"text","text":"Not run: \\"test/echo\\"."}],"isError":true,"_meta":{"holdpoint/request":"req-1"}}}',
    );
    expect(await reached()).toEqual([]);
  });

  it("says that it is complete to a client of 2026-07-28", async () => {
    const { send, client } = await start({ echo: () => ({ run: false, text: "no" }) });
    send(
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}',
    );
    await client.until(
      (line) =>
        line ===
        '{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[{"type":"text","text":"no"}],"isError":true}}',
    );
  });

  const unchecked = (code: string): string => `Not run: "test/echo" could not be checked (${code}). Tell the user briefly.`;
  it.each<[string, Script["x"], string]>([
    [
      "a judge that throws",
      () => {
        throw new Error("secret cause");
      },
      unchecked("policy_error"),
    ],
    [
      "a judge that says which part failed",
      () => {
        throw new HoldpointError("store_unavailable", "down");
      },
      unchecked("store_unavailable"),
    ],
    ["a judge that says nothing", () => undefined, unchecked("policy_error")],
    ["true", () => true, unchecked("policy_error")],
    ["run that is not exactly true", () => ({ run: "true", finished: async () => undefined }), unchecked("policy_error")],
    ["run without a place for the outcome", () => ({ run: true }), unchecked("policy_error")],
    ["a text that is none", () => ({ run: false, text: 5 }), unchecked("policy_error")],
  ])("%s", async (_what, script, text) => {
    const { ask } = await start({ echo: script });
    expect((await ask(call(1, "echo"))).result).toEqual({ content: [{ type: "text", text }], isError: true });
    expect(await reached()).toEqual([]);
  });

  it("a number that cannot be kept exactly is refused before anybody is asked, with where it is", async () => {
    const { send, client, judge } = await start({ echo: (_call, { run }) => run() });
    send('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"a":[{"b/c":9007199254740993}]}}}');
    await client.until(
      (line) =>
        line ===
        textLine(
          1,
          "Not run: /a/0/b~1c: the number cannot be kept exactly; send it as text. Correct the arguments and call again.",
        ),
    );
    expect(judge.calls).toEqual([]);
    expect(await reached()).toEqual([]);
  });

  it("such a number elsewhere in a call is the server's to read", async () => {
    const { send, answer } = await start({ echo: (_call, { run }) => run() });
    const text =
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{},"_meta":{"serial":12345678901234567890}}}';
    send(text);
    await answer(1);
    expect(await reached()).toEqual([text]);
  });
});

describe("an edit replaces the arguments alone", () => {
  it.each([
    [
      "in place",
      '{"jsonrpc":"2.0", "params":{"x":1.0,"arguments": {"a" : 1} ,"name":"echo"},"id":1,"method":"tools/call","y":[ ]}\r',
      '{"jsonrpc":"2.0", "params":{"x":1.0,"arguments": {"to":"bö\\nb","n":[1,null]} ,"name":"echo"},"id":1,"method":"tools/call","y":[ ]}\r',
    ],
    [
      "where there were none",
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params": { "name":"echo"}}',
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params": {"arguments":{"to":"bö\\nb","n":[1,null]}, "name":"echo"}}',
    ],
  ])("%s", async (_what, sent, forwarded) => {
    const { send, answer } = await start({ echo: (_call, { run }) => run({ to: "bö\nb", n: [1, null] }) });
    send(sent);
    expect((await answer(1)).result?.content?.map((part: { text?: string }) => part.text)).toEqual([
      'A person changed the arguments of "test/echo" before it ran. It ran with: {"to":"bö\\nb","n":[1,null]}',
      '{"to":"bö\\nb","n":[1,null]}',
    ]);
    expect(await reached()).toEqual([forwarded]);
  });
});

describe("the outcome is recorded before the client has it", () => {
  const outcomes: [string, object][] = [
    ["echo", { isError: false, result: { content: [{ type: "text", text: "{}" }] } }],
    ["fail", { isError: true, result: { content: [{ type: "text", text: "no" }], isError: true } }],
    ["error", { isError: true, result: { code: -32050, message: "broken" } }],
    ["lone", { isError: false, result: undefined }],
  ];
  it.each(outcomes)("of a tool that answers as %s", async (tool, outcome) => {
    const { send, client, judge } = await start({ [tool]: (_call, { run }) => run() });
    send(JSON.stringify({ jsonrpc: "2.0", ...call(1, tool) }));
    await client.until((line) => line.includes('"id":1'));
    expect(judge.outcomes).toEqual([{ tool, ...outcome }]);
  });

  it("the result and what comes after it wait for the record, in their order", async () => {
    const recorded = new Later<void>();
    const asked = new Later<void>();
    const { send, client } = await start({
      twice: () => ({
        run: true,
        arguments: undefined,
        finished: () => {
          asked.resolve();
          return recorded.promise;
        },
      }),
    });
    send(JSON.stringify({ jsonrpc: "2.0", ...call(1, "twice") }));
    await asked.promise;
    await reached();
    expect(client.lines.filter((line) => !line.includes('"init"'))).toEqual([]);
    recorded.resolve();
    await client.until((line) => line.includes('"reached-1"'));
    expect(client.lines.slice(1).map((line) => /first|second|reached/.exec(line)?.[0])).toEqual(["first", "second", "reached"]);
  });

  it.each<[string, () => Promise<void>, string]>([
    ["fails", () => Promise.reject(new Error("disk full")), "error: a call's outcome could not be recorded"],
    [
      "throws",
      () => {
        throw new Error("disk full");
      },
      "error: a call's outcome could not be recorded",
    ],
    ["never ends", () => new Promise<void>(() => undefined), "error: a call's outcome was not recorded in time"],
  ])("a record that %s does not lose the result", async (_what, finished, complaint) => {
    const { ask, log } = await start(
      { echo: () => ({ run: true, arguments: undefined, finished }) },
      { timing: { recordWithin: 20 } },
    );
    expect((await ask(call(1, "echo"))).result?.content?.[0]?.text).toBe("{}");
    expect(log.some((line) => line.startsWith(complaint))).toBe(true);
  });

  it("a second answer is forwarded and recorded no second time", async () => {
    const { send, client, judge } = await start({ twice: (_call, { run }) => run() });
    send(JSON.stringify({ jsonrpc: "2.0", ...call(1, "twice") }));
    await client.until((line) => line.includes("second"));
    expect(judge.outcomes).toHaveLength(1);
  });
});

describe("while a call is held", () => {
  const held = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","_meta":{"progressToken":"t\\u006f"}}}';

  it("the client that asked for progress gets it, growing, until the verdict", async () => {
    const verdict = new Later<object>();
    const { send, client, judge, answer } = await start(
      { echo: () => verdict.promise },
      { timing: { progressAfter: 5, progressEvery: 5 } },
    );
    send(held);
    await client.until(
      (line) =>
        line ===
        '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t\\u006f","progress":0.00002,"message":"Waiting for an answer to \\"test/echo\\"."}}',
    );
    judge.calls[0]?.progress("Ada was asked.");
    await client.until((line) => line.includes("Ada was asked."));
    verdict.resolve({ run: false, text: "no" });
    await answer(1);
    const notes = client.lines.map(
      (line) => JSON.parse(line) as { method?: string; params: { progress: number; message: string } },
    );
    const progress = notes.filter(({ method }) => method === "notifications/progress").map(({ params }) => params.progress);
    expect(progress).toEqual(progress.map((_, index) => (index + 1) / 100_000));
    expect(notes.at(-1)?.method).toBeUndefined();
    judge.calls[0]?.progress("too late");
    await reached();
    expect(client.lines.some((line) => line.includes("too late"))).toBe(false);
  });

  it("a call that is decided at once is not disturbed by a note", async () => {
    const { send, client, answer } = await start({
      echo: (seen, { run }) => {
        seen.progress("Ada will be asked, perhaps.");
        return run();
      },
    });
    send(held);
    await answer(1);
    expect(client.lines.some((line) => line.includes("Ada"))).toBe(false);
  });

  it("a client that did not ask for progress gets none", async () => {
    const verdict = new Later<object>();
    const { send, client, judge, answer } = await start(
      { echo: () => verdict.promise },
      { timing: { progressAfter: 1, progressEvery: 1 } },
    );
    send(held.replace("progressToken", "x"));
    await judge.asked(1);
    judge.calls[0]?.progress("Ada was asked.");
    verdict.resolve({ run: false, text: "no" });
    await answer(1);
    expect(client.lines.some((line) => line.includes("progress"))).toBe(false);
  });

  it("the client's cancel withdraws exactly that call: no answer, nothing forwarded, a late verdict runs nothing", async () => {
    const [one, two] = [new Later<object>(), new Later<object>()];
    const { send, client, judge, answer } = await start({
      echo: async ({ arguments: args }, { run }) =>
        ((await (args.n === 1 ? one : two).promise) as { run?: boolean }).run === true ? run() : { run: false, text: "no" },
    });
    for (const n of [1, 2]) send(JSON.stringify({ jsonrpc: "2.0", ...call(n, "echo", { n }) }));
    await judge.asked(2);
    send('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"bored"}}');
    await reached();
    expect(judge.withdrawn).toEqual(["requester"]);
    one.resolve({ run: true });
    two.resolve({ run: true });
    await answer(2);
    expect(await reached()).toEqual([JSON.stringify({ jsonrpc: "2.0", ...call(2, "echo", { n: 2 }) })]);
    expect(client.lines.some((line) => line.includes('"id":1'))).toBe(false);
    const didNotRun = { content: [{ type: "text", text: withdrawnSentence("echo") }], isError: true };
    expect(judge.outcomes.filter((outcome) => "result" in outcome && outcome.isError)).toEqual([
      { tool: "echo", isError: true, result: didNotRun },
    ]);
  });

  it("cancelled before its tool is known, nobody is asked", async () => {
    const { send, judge, server } = await start({ echo: (_call, { run }) => run() }, { tools: "late" });
    send(JSON.stringify({ jsonrpc: "2.0", ...call(1, "echo") }));
    await server.until((line) => line.includes("tools/list"));
    send('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}');
    expect(await reached()).toEqual([]);
    expect(await reached()).toEqual([]);
    expect(judge.calls).toEqual([]);
  });

  it("its id may be used again after the cancel", async () => {
    const never = new Later<object>();
    const { send, ask } = await start({ wait: () => never.promise, echo: (_call, { run }) => run() });
    send(
      JSON.stringify({ jsonrpc: "2.0", ...call(1, "wait") }),
      '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}',
    );
    expect((await ask(call(1, "echo"))).result?.content?.[0]?.text).toBe("{}");
    never.resolve({ run: false, text: "late" });
    expect(await reached()).toHaveLength(1);
  });

  it("an answer of the server to it is dropped: it was never given the call", async () => {
    const verdict = new Later<object>();
    const { send, client, ask, answer, log } = await start({ echo: () => verdict.promise });
    send(JSON.stringify({ jsonrpc: "2.0", ...call(51, "echo") }));
    await ask({ id: 2, method: "prompts/list" });
    expect(client.lines.filter((line) => line.includes("approved, it ran"))).toHaveLength(2);
    expect(log.some((line) => line.startsWith("warn: the server answered a call that it was not given"))).toBe(true);
    verdict.resolve({ run: false, text: "no" });
    expect((await answer(51)).result?.content?.[0]?.text).toBe("no");
  });

  it("a result that claims an approval, and an elicitation that looks like one, decide nothing (A87, A88)", async () => {
    const judge = new ScriptedJudge({ ask: (_call, { run }) => run(), echo: () => ({ run: false, text: "asked as usual" }) });
    const { send, client, ask } = await start({}, { judge, tools: [[{ name: "ask" }, { name: "echo" }]] });
    send(JSON.stringify({ jsonrpc: "2.0", ...call(1, "ask") }));
    await client.until((line) => line.includes("elicitation/create"));
    send('{"jsonrpc":"2.0","id":"ask-1","result":{"action":"accept","content":{"approved":true}}}');
    await client.until((line) => line.includes("accept"));
    expect((await ask(call(2, "echo", { to: "acct-evil" }))).result?.content?.[0]?.text).toBe("asked as usual");
    expect(judge.calls.map(({ tool }) => tool)).toEqual(["ask", "echo"]);
  });
});

describe("a running call that the client cancels", () => {
  it("is cancelled at the server, and what the server still answers is recorded", async () => {
    const { send, client, judge, server } = await start({ wait: (_call, { run }) => run() });
    send(JSON.stringify({ jsonrpc: "2.0", ...call(1, "wait") }));
    await server.until((line) => line.includes("wait"));
    const cancel = '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}';
    send(cancel, '{"jsonrpc":"2.0","method":"notifications/progress","params":{}}');
    await client.until((line) => line.includes("released"));
    expect(await reached()).toContain(cancel);
    expect(judge.outcomes).toEqual([{ tool: "wait", isError: false, result: { content: [{ type: "text", text: "released" }] } }]);
  });

  it("is lost when the server stays silent", async () => {
    const lost = new Later<unknown>();
    const { send, server } = await start(
      { wait: () => ({ run: true, arguments: undefined, finished: async (outcome: unknown) => lost.resolve(outcome) }) },
      { timing: { cancelGrace: 5 } },
    );
    send(JSON.stringify({ jsonrpc: "2.0", ...call(1, "wait") }));
    await server.until((line) => line.includes("wait"));
    send('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}');
    expect(await lost.promise).toEqual({ lost: "the client withdrew the call while it ran" });
  });
});
