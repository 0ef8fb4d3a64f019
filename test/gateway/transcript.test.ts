import { spawn } from "node:child_process";
import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { relay } from "../../src/gateway/index.ts";
import { fixture, INITIALIZE, INITIALIZED, ScriptedJudge, Seen } from "./driver.ts";

/** A dialogue: each step is sent once the line that the step before waits for has come. */
type Step = readonly [send: string, until: string];

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

const TOOLS = ["echo", "count", "fail", "error", "large", "lone", "twice", "typed", "change"];
const ECHO_TOOLS = JSON.stringify([TOOLS.map((name) => ({ name }))]);

interface Transcript {
  readonly toClient: string;
  readonly toServer: readonly string[];
}

async function spoken(
  streams: { input: NodeJS.WritableStream; output: NodeJS.ReadableStream; errors: NodeJS.ReadableStream },
  steps: readonly Step[],
): Promise<Transcript> {
  const bytes: Buffer[] = [];
  streams.output.on("data", (chunk: Buffer) => bytes.push(chunk));
  const seen = new Seen(streams.output);
  const server = new Seen(streams.errors);
  for (const [send, until] of steps) {
    const from = seen.lines.length;
    streams.input.write(send);
    await seen.until((line) => line.includes(until), from);
  }
  const ended = new Promise((resolve) => streams.output.once("end", resolve));
  streams.input.end();
  await ended;
  return { toClient: Buffer.concat(bytes).toString("latin1"), toServer: server.lines };
}

const without = (server: string, args: readonly string[], steps: readonly Step[]): Promise<Transcript> => {
  const child = spawn(process.execPath, [fixture(server), ...args]);
  return spoken({ input: child.stdin, output: child.stdout, errors: child.stderr }, steps);
};

async function withRelay(server: string, args: readonly string[], steps: readonly Step[]): Promise<Transcript> {
  const [input, output, errors] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const judge = new ScriptedJudge(Object.fromEntries(TOOLS.map((tool) => [tool, (_call, { run }) => run()])));
  const ended = relay({
    server: "test",
    command: { file: process.execPath, args: [fixture(server), ...args] },
    client: { input, output },
    environment: process.env,
    judge,
    log: silent,
    errors,
  });
  void ended.then(() => output.end());
  const transcript = await spoken({ input, output, errors }, steps);
  await ended;
  return transcript;
}

const LIST = '{"jsonrpc":"2.0","id":"l","method":"tools/list"}\n';
const START: readonly Step[] = [
  [`${INITIALIZE}\r\n`, '"init"'],
  [`${INITIALIZED}\n${LIST}`, '"l"'],
];
const toolCall = (id: string, name: string, args = "{}"): string =>
  `{"id":${id}, "jsonrpc":"2.0","method":"tools/call","params":{"name":"${name}","arguments":${args}}}\n`;

describe("with the relay and without it, client and server read the same bytes", () => {
  it.each<[string, string, readonly string[], readonly Step[]]>([
    [
      "an ordinary server",
      "echo-server",
      [ECHO_TOOLS],
      [
        ...START,
        [toolCall("1", "echo", '{"b":1.50,"a":"\\u00e9ü😀","e":1E2}'), '"id":1'],
        [toolCall('"two"', "fail"), '"two"'],
        [toolCall("3.0", "error"), '"id":3'],
        [toolCall("4", "lone"), '"id":4'],
        [toolCall("5", "twice"), "second"],
        [toolCall("6", "typed"), "to the number"],
        [toolCall("8", "large"), '"id":8'],
        ['{"jsonrpc":"2.0","id":9,"method":"ping","params":{"_meta":{"big":12345678901234567890}}}\n', '"id":9'],
        [
          '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}\n{"jsonrpc":"2.0","id":10,"method":"ping"}\n',
          '"id":10',
        ],
        [toolCall("7", "change"), "changed"],
      ],
    ],
    [
      "a server with unknown capabilities, fields, notifications and a 19-digit number",
      "strange-server",
      [],
      [
        ...START,
        ['{"jsonrpc":"2.0","id":1,"method":"ping"}\n', '"id":1'],
        [toolCall("2", "count", '{"to":["x"]}'), '"id":2'],
        ['{"jsonrpc":"2.0","id":"q-1","result":{"at":[1.0]}}\n{"jsonrpc":"2.0","id":3,"method":"ping"}\n', '"id":3'],
      ],
    ],
  ])("%s", async (...[, server, args, steps]) => {
    const plain = await without(server, args, steps);
    const relayed = await withRelay(server, args, steps);
    expect(plain.toClient.length).toBeGreaterThan(500);
    expect(relayed.toClient).toBe(plain.toClient);
    expect(relayed.toServer).toEqual(plain.toServer);
  });
});
