import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterEach, describe, expect, it } from "vitest";
import { call, drive, driveInitialized, fixture, INITIALIZE, INITIALIZED, Later, ScriptedJudge, Seen } from "./driver.ts";
import type { DriveOptions } from "./driver.ts";
import type { ChildProcessWithoutNullStreams } from "node:child_process";

const node = (name: string, ...args: string[]): NonNullable<DriveOptions["command"]> => ({
  file: process.execPath,
  args: [fixture(name), ...args],
});
const never = new Later<never>().promise;
const tools = (...names: string[]): readonly (readonly object[])[] => [names.map((name) => ({ name }))];
const withdrawn = (tool: string): string =>
  `Not run: the request for "test/${tool}" was withdrawn. This is final: do not retry or rephrase it and do not reach the same end another way. Tell the user briefly.`;
const unknown = (tool: string): string => `"test/${tool}" may or may not have run; do not repeat it. Tell the user briefly.`;
const request = (id: number, name: string): string => JSON.stringify({ jsonrpc: "2.0", ...call(id, name) });

/** True while a process runs. One that has ended and waits for its parent to notice does not. */
function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !existsSync("/proc/self/stat") || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return false;
  }
}
async function gone(pid: number): Promise<void> {
  while (lives(pid)) await new Promise((resolve) => setTimeout(resolve, 5));
}

describe("a server that does not start", () => {
  const missing =
    'could not start "no-such-program-here": there is no such program on the PATH, or no such working folder; check the spelling, or give the full path';

  it("is named with cause and fix, and each request of the client is answered", async () => {
    const driven = drive({ command: { file: "no-such-program-here", args: [] } });
    expect((await driven.ask({ id: 1, method: "initialize", params: {} })).error).toEqual({ code: -32603, message: missing });
    expect(await driven.ended).toEqual({ by: "start", code: 1, problem: missing });
  });

  it("does not keep a client waiting that says nothing and leaves", async () => {
    const driven = drive({ command: { file: "no-such-program-here", args: [] } });
    expect(await driven.end()).toMatchObject({ by: "start", code: 1 });
  });

  it("may be a file that is not executable", async () => {
    const folder = await mkdtemp(join(tmpdir(), "gateway-"));
    const file = join(folder, "server.txt");
    await writeFile(file, "no program", { mode: 0o600 });
    const driven = drive({ command: { file, args: [] } });
    driven.input.end();
    expect((await driven.ended).problem).toBe(
      `could not start "${file}": the file may not be executed; make it executable, or name the program that runs it (node, python, npx …) first`,
    );
    await rm(folder, { recursive: true });
  });

  it("may exit at once: its own words pass, and the client is told", async () => {
    const driven = drive({ command: node("exits-at-once") });
    const problem = 'the server "test" ended (exit code 7) before it said anything; run its command by itself to see why';
    driven.send(INITIALIZE);
    expect((await driven.answer("init")).error).toEqual({ code: -32603, message: problem });
    expect(await driven.ended).toEqual({ by: "server", code: 1, problem });
    expect(driven.server.lines).toEqual(["a setting is missing"]);
  });
});

describe("when the client leaves", () => {
  it("held calls are withdrawn and the server is ended", async () => {
    const judge = new ScriptedJudge({ echo: () => never });
    const driven = await driveInitialized({ judge, tools: tools("echo"), timing: { settleWithin: 10 } });
    driven.send(request(1, "echo"));
    await judge.asked(1);
    expect(await driven.end()).toEqual({ by: "client", code: 0 });
    expect(judge.withdrawn).toEqual(["requester_gone"]);
    expect(driven.server.lines.at(-1)).toBe('"<end>"');
    expect(driven.client.lines.filter((line) => !line.includes(`"reached-`))).toHaveLength(1);
    expect(driven.log).toContain("warn: the relay ends with work that has not settled {}");
  });

  it("what the judge still has to record is waited for", async () => {
    let recorded = false;
    const judge = new ScriptedJudge({
      echo: async (_call, { signal }) => {
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        await new Promise((resolve) => setTimeout(resolve, 20));
        recorded = true;
        return { run: false, text: "late" };
      },
    });
    const driven = await driveInitialized({ judge, tools: tools("echo") });
    driven.send(request(1, "echo"));
    await judge.asked(1);
    await driven.end();
    expect(recorded).toBe(true);
  });

  it("a call that comes with the end is not judged", async () => {
    const judge = new ScriptedJudge({ echo: (_call, { run }) => run() });
    const driven = await driveInitialized({ judge, tools: tools("echo") });
    driven.input.end(request(1, "echo"));
    await driven.ended;
    expect(judge.calls).toEqual([]);
    expect(driven.server.lines.some((line) => line.includes("tools/call"))).toBe(false);
  });

  it("a running call may finish within the grace; it is answered and recorded", async () => {
    const judge = new ScriptedJudge({ wait: (_call, { run }) => run() });
    const driven = await driveInitialized({ judge, tools: tools("wait") });
    driven.send(request(1, "wait"));
    await driven.server.until((line) => line.includes("wait"));
    expect(await driven.end()).toEqual({ by: "client", code: 0 });
    expect((await driven.answer(1)).result?.content?.[0]?.text).toBe("released");
    expect(judge.outcomes).toEqual([{ tool: "wait", isError: false, result: { content: [{ type: "text", text: "released" }] } }]);
  });

  it("a client that no longer reads is one that left", async () => {
    const driven = await driveInitialized({});
    driven.output.destroy(new Error("EPIPE"));
    expect(await driven.ended).toEqual({ by: "client", code: 0 });
  });

  it("a stubborn server is ended with what it started, by SIGTERM and then SIGKILL", async () => {
    const driven = drive({ command: node("stubborn-server"), timing: { exitGrace: 50, killGrace: 50 } });
    const line = await driven.client.until((text) => text.includes("pids"));
    const { pids } = (JSON.parse(line) as { params: { pids: [number, number] } }).params;
    expect(pids.map(lives)).toEqual([true, true]);
    await driven.end();
    await Promise.all(pids.map(gone));
    expect(driven.server.lines).toEqual(['"<end>"', '"SIGTERM"']);
  });
});

describe("when the server leaves", () => {
  it("running calls are told the truth, held ones are withdrawn, other requests get an error", async () => {
    const lost: unknown[] = [];
    const judge = new ScriptedJudge({
      wait: () => ({ run: true, arguments: undefined, finished: async (outcome: unknown) => lost.push(outcome) }),
      echo: () => never,
      die: (_call, { run }) => run(),
    });
    const driven = await driveInitialized({ judge, tools: tools("wait", "echo", "die"), timing: { settleWithin: 10 } });
    driven.send(request(1, "wait"), request(2, "echo"), '{"jsonrpc":"2.0","id":4,"method":"prompts/get"}');
    await driven.server.until((line) => line.includes("wait"));
    await judge.asked(2);
    driven.send(request(3, "die"));
    const problem = 'the server "test" ended (exit code 3)';
    expect(await driven.ended).toEqual({ by: "server", code: 1, problem });
    const texts = await Promise.all([1, 2, 3].map(async (id) => (await driven.answer(id)).result));
    expect(texts).toEqual(
      [unknown("wait"), withdrawn("echo"), unknown("die")].map((text) => ({ content: [{ type: "text", text }], isError: true })),
    );
    expect((await driven.answer(4)).error).toEqual({ code: -32603, message: problem });
    expect(judge.withdrawn).toEqual(["abort"]);
    expect(lost).toEqual([{ lost: problem }]);
  });

  it("closing its output is leaving", async () => {
    const driven = drive({ command: node("closes-output"), timing: { exitGrace: 10, killGrace: 10 } });
    driven.send(INITIALIZE);
    expect((await driven.answer("init")).error?.code).toBe(-32603);
    expect(await driven.ended).toMatchObject({ by: "server", code: 1 });
  });
});

describe("a relay that is told to stop", () => {
  it("withdraws, answers and ends without waiting for the client", async () => {
    const judge = new ScriptedJudge({ echo: () => never });
    const driven = await driveInitialized({ judge, tools: tools("echo"), timing: { settleWithin: 10 } });
    driven.send(request(1, "echo"));
    await judge.asked(1);
    driven.stop.abort();
    expect(await driven.ended).toEqual({ by: "stop", code: 0 });
    expect((await driven.answer(1)).result?.content?.[0]?.text).toBe(withdrawn("echo"));
    expect(judge.withdrawn).toEqual(["abort"]);
  });
});

describe("the server's surroundings", () => {
  it("hold nothing of ours", async () => {
    const judge = new ScriptedJudge({ environment: (_call, { run }) => run() });
    const environment = { PATH: process.env.PATH, HOLDPOINT_TOKEN: "secret", holdpoint_data: "x", HOLDPOINT_: "y", OTHER: "1" };
    const driven = await driveInitialized({ judge, tools: tools("environment"), environment });
    expect((await driven.ask(call(1, "environment"))).result?.content?.[0]?.text).toBe('["OTHER","PATH"]');
    await driven.end();
  });

  it("on a terminal, its error output cannot draw: each line bears its name", async () => {
    const errors = Object.assign(new PassThrough(), { isTTY: true });
    const shown = new Seen(errors);
    const driven = drive({
      command: { file: process.execPath, args: ["-e", 'process.stderr.write("\\x1b[2JApprove?\\u202e [y/n] \\r\\n\\n")'] },
      errors,
    });
    await driven.ended;
    expect(shown.lines).toEqual(["[test] \\u001b[2JApprove?\\u202e [y/n]"]);
  });
});

describe("back pressure", () => {
  it("a server that does not read stops us from reading the client", async () => {
    const driven = drive({ command: node("deaf-server"), timing: { exitGrace: 0, killGrace: 10 } });
    await driven.client.until((line) => line.includes("up"));
    const line = `{"jsonrpc":"2.0","method":"notifications/progress","params":{"x":"${"x".repeat(65_536)}"}}\n`;
    for (let count = 0; count < 20; count++) driven.input.write(line);
    while (!driven.input.isPaused()) await new Promise((resolve) => setImmediate(resolve));
    for (let count = 0; count < 20; count++) driven.input.write(line);
    await new Promise((resolve) => setImmediate(resolve));
    expect(driven.input.isPaused()).toBe(true);
    expect(driven.input.readableLength + driven.input.writableLength).toBeGreaterThanOrEqual(20 * line.length);
    driven.stop.abort();
    await driven.ended;
  });

  it("a client that does not read stops us from reading the server, and then gets every byte", async () => {
    const judge = new ScriptedJudge({ large: (_call, { run }) => run() });
    const driven = await driveInitialized({ judge, tools: tools("large") });
    driven.output.removeAllListeners("data");
    driven.output.pause();
    for (let id = 1; id <= 8; id++) driven.send(request(id, "large"));
    while (driven.output.writableLength + driven.output.readableLength < 262_144)
      await new Promise((resolve) => setImmediate(resolve));
    const again = new Seen(driven.output);
    driven.output.resume();
    const expected = "äß€😀".repeat(200_000);
    for (let id = 1; id <= 8; id++) {
      const line = await again.until((text) => text.endsWith(`"id":${id}}`));
      expect(line.includes(expected)).toBe(true);
    }
    await driven.end();
  });
});

describe("as a process", () => {
  let process_: ChildProcessWithoutNullStreams | undefined;
  afterEach(() => {
    process_?.kill("SIGKILL");
  });
  const gateway = (
    script: object,
    ...command: string[]
  ): { child: ChildProcessWithoutNullStreams; out: Seen; err: Seen; exit: Promise<[number | null, NodeJS.Signals | null]> } => {
    const child = spawn(process.execPath, [
      "--disable-warning=ExperimentalWarning",
      fixture("gateway"),
      JSON.stringify(script),
      ...command,
    ]);
    process_ = child;
    const exit = new Promise<[number | null, NodeJS.Signals | null]>((resolve) => {
      child.once("close", (code, signal) => resolve([code, signal]));
    });
    return { child, out: new Seen(child.stdout), err: new Seen(child.stderr), exit };
  };
  const echo = (...names: string[]): string[] => [process.execPath, fixture("echo-server"), JSON.stringify(tools(...names))];
  const begin = async (child: ChildProcessWithoutNullStreams, out: Seen): Promise<void> => {
    child.stdin.write(`${INITIALIZE}\n`);
    await out.until((line) => line.includes('"init"'));
    child.stdin.write(`${INITIALIZED}\n`);
  };

  it("a server that cannot start is a line on standard error and exit code 1", async () => {
    const { child, err, exit } = gateway({}, "no-such-program-here");
    child.stdin.end();
    expect(await exit).toEqual([1, null]);
    expect(err.lines.filter((line) => line.startsWith("holdpoint: "))).toEqual([
      'holdpoint: could not start "no-such-program-here": there is no such program on the PATH, or no such working folder; check the spelling, or give the full path',
    ]);
  });

  it.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)("%s ends it in order, with its server", async (signal) => {
    const { child, out, err, exit } = gateway({ echo: "wait", pid: "run" }, ...echo("echo", "pid"));
    await begin(child, out);
    child.stdin.write(`${request(1, "pid")}\n${request(2, "echo")}\n`);
    const answer = JSON.parse(await out.until((line) => line.includes('"id":1'))) as { result: { content: [{ text: string }] } };
    await err.until((line) => line === "judge: holding echo");
    child.kill(signal);
    expect(await exit).toEqual([0, null]);
    expect(err.lines).toContain("judge: withdrawn echo abort");
    expect(lives(Number(answer.result.content[0].text))).toBe(false);
  });

  it("killed outright, its server ends as well", async () => {
    const { child, out } = gateway({ pid: "run" }, ...echo("pid"));
    await begin(child, out);
    child.stdin.write(`${request(1, "pid")}\n`);
    const answer = JSON.parse(await out.until((line) => line.includes('"id":1'))) as { result: { content: [{ text: string }] } };
    child.kill("SIGKILL");
    await gone(Number(answer.result.content[0].text));
  });

  it("a client that goes away without a word withdraws what it had asked, and nothing has run", async () => {
    const folder = await mkdtemp(join(tmpdir(), "gateway-"));
    const mark = join(folder, "mark");
    const child = spawn(
      process.execPath,
      ["--disable-warning=ExperimentalWarning", fixture("gateway"), JSON.stringify({ echo: "wait" }), ...echo("echo")],
      {
        env: { ...process.env, HOLDPOINT_TEST_MARK: mark },
      },
    );
    process_ = child;
    const [out, err] = [new Seen(child.stdout), new Seen(child.stderr)];
    await begin(child, out);
    child.stdin.write(`${request(1, "echo")}\n`);
    await err.until((line) => line === "judge: holding echo");
    // As after a kill -9 of the client: all pipes are gone at once.
    const exit = new Promise((resolve) => child.once("exit", resolve));
    child.stdout.destroy();
    child.stderr.destroy();
    child.stdin.destroy();
    expect(await exit).toBe(0);
    expect(await readFile(mark, "utf8")).toBe("requester_gone");
    await rm(folder, { recursive: true });
  });
});
