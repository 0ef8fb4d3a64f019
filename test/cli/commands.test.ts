import { writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Bench, type Card, FILESYSTEM, HOLDPOINT, until } from "./bench.ts";

let bench: Bench;
beforeEach(() => {
  bench = new Bench();
});
afterEach(() => bench[Symbol.asyncDispose]());

const FINAL = "This is final: do not retry or rephrase it and do not reach the same end another way. Tell the user briefly.";
const connected = (...options: string[]) => bench.client(["--name", "fs", ...options], [...FILESYSTEM, bench.folder]).start();
const policy = (value: object): string => {
  writeFileSync(bench.path("policy.json"), JSON.stringify(value));
  return bench.path("policy.json");
};
const approve = (card: Card) => bench.run(["approve", card.id, "--json", "--digest", card.digest]);
const VERBS = "demo mcp exec pending show approve reject edit watch kill lift windows grants exemptions doctor reconcile".split(
  " ",
);

describe("the command line teaches", { timeout: 60_000 }, () => {
  it("every command is in the help", async () => {
    const { status, out, err } = await bench.run(["--help"]);
    expect([status, err]).toEqual([0, ""]);
    for (const verb of VERBS) expect(out).toMatch(new RegExp(`^  ${verb} `, "mu"));
  });

  it.each(VERBS)("%s has an example", async (verb) => {
    const { status, out } = await bench.run([verb, "--help"]);
    expect([status, out]).toEqual([0, expect.stringMatching(new RegExp(`Example:\n  \\$ holdpoint ${verb}`, "u"))]);
  });

  it.each<[string, string[], string]>([
    ["no command", [], "Usage: holdpoint"],
    ["an unknown command", ["aprove"], "unknown command 'aprove'\n(Did you mean approve?)"],
    ["an unknown option", ["pending", "--jso"], "unknown option '--jso'\n(Did you mean --json?)"],
    ["an argument that is missing", ["approve"], "missing required argument 'id'"],
    ["a server that is not named", ["mcp"], "missing required argument 'command'"],
    ["an option of a later version", ["mcp", "--url", "http://localhost", "--", "x"], "--url is not in this version"],
    ["another one", ["mcp", "--server", "http://localhost", "--", "x"], "--server is not in this version"],
    ["no time to answer in", ["mcp", "--deadline", "0s", "--", "x"], "--deadline 0s: nobody could answer in no time"],
    ["no time for a command", ["exec", "--deadline", "0s", "--", "true"], "--deadline 0s: nobody could answer in no time"],
    [
      "a kill scope that is a pattern",
      ["kill", "on", "tool:fs/*"],
      "it would stop nothing; say all, tool:<name>, agent:<name> or tenant:<name>",
    ],
    ["a kill scope that is none", ["kill", "on", "fs/write_file"], '"fs/write_file" is no scope'],
    ["a kill scope without a name", ["kill", "on", "tool: "], '"tool: " is no scope'],
    ["a name that is none", ["mcp", "--name", "a/b", "--", "x"], "a server's name is at most 64 ASCII letters"],
    ["a time that is none", ["mcp", "--deadline", "soon", "--", "x"], '--deadline: "soon" is not a duration'],
    ["a scope that is none", ["kill", "on", "everything"], '"everything" is no scope'],
    ["a state that is none", ["kill", "maybe"], '"maybe" is not on, off or list'],
    ["both ends of a call", ["reconcile", "0193e6a0", "--ran", "--did-not-run"], "say exactly one of --ran and --did-not-run"],
    ["nothing to revoke", ["windows", "revoke"], "say which: holdpoint windows revoke <id>"],
  ])("%s: exit 2 and what to do", async (_what, args, says) => {
    const { status, out, err } = await bench.run(args);
    expect([status, out]).toEqual([2, ""]);
    expect(err).toContain(says);
  });

  it.each<[string, string[], [number, string, string]]>([
    ["an unknown option", ["pending", "--json", "--nope"], [2, "usage", "unknown option '--nope'"]],
    ["an argument that is missing", ["approve", "--json"], [2, "usage", "missing required argument 'id'"]],
    ["a scope that is none", ["kill", "on", "everything", "--json"], [2, "usage", '"everything" is no scope']],
    ["a person who is not asked", ["demo", "--json"], [2, "usage", "--json goes with --auto"]],
    ["a place where nothing is", ["show", "0193e6a0", "--json"], [1, "failed", "there is no data folder of Holdpoint at"]],
  ])("--json: %s is one JSON value on standard output", async (_what, args, [exit, code, message]) => {
    const { status, out } = await bench.run(args);
    expect([status, JSON.parse(out)]).toEqual([exit, { error: { code, message: expect.stringContaining(message) } }]);
  });

  it("--json: before a program the fault is on standard error, and what is the program's is not read as ours", async () => {
    const missing = await bench.run(["exec", "--json"]);
    expect([missing.status, missing.out, JSON.parse(missing.err)]).toEqual([
      2,
      "",
      { error: { code: "usage", message: "missing required argument 'command'" } },
    ]);
    const theirs = await bench.run(["exec", "--nope", "--", "true", "--json"]);
    expect([theirs.status, theirs.out, theirs.err]).toEqual([
      2,
      "",
      expect.stringContaining("holdpoint: unknown option '--nope'"),
    ]);
  });

  it("the help has no option of a later version", async () => {
    const { out } = await bench.run(["mcp", "--help"]);
    expect(out).toContain("--policy");
    expect(out).not.toMatch(/--server|--url/u);
  });

  it("a look at a place where nothing was asked makes nothing there", async () => {
    expect(await bench.run(["pending", "--json"])).toMatchObject({ status: 0, out: "[]\n" });
    expect(await bench.run(["windows"])).toMatchObject({ status: 0, out: "" });
    const { status, err } = await bench.run(["show", "0193e6a0"]);
    expect([status, err]).toEqual([1, expect.stringContaining("there is no data folder of Holdpoint at")]);
    expect((await bench.run(["doctor"])).status).toBe(0);
    expect(bench.read("data/installation.key")).toBeUndefined();
  });

  it("--data stands over the environment", async () => {
    const { err } = await bench.run(["pending", "--data", bench.path("elsewhere")]);
    expect(err).toContain(bench.path("elsewhere"));
  });
});

describe("mcp", { timeout: 60_000 }, () => {
  it("asks at its own terminal, where a plain yes runs an ordinary call", async () => {
    const file = policy({ tools: [{ match: "fs/write_file", impact: "default" }] });
    const script = bench.path("client.mjs");
    writeFileSync(
      script,
      `import { spawn } from "node:child_process";
       const relay = spawn(process.argv[2], process.argv.slice(3), { stdio: ["pipe", "pipe", "ignore"] });
       const send = (message) => relay.stdin.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
       relay.stdout.on("data", (chunk) => { if (String(chunk).includes('"id":2')) relay.stdin.end(); });
       send({ id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "c", version: "1" } } });
       send({ method: "notifications/initialized" });
       send({ id: 2, method: "tools/call", params: { name: "write_file", arguments: { path: ${JSON.stringify(bench.path("a.txt"))}, content: "x" } } });`,
    );
    const relay = [...HOLDPOINT, "mcp", "--name", "fs", "--policy", file, "--", ...FILESYSTEM, bench.folder];
    const terminal = bench.terminal([process.execPath, script, ...relay]);
    await terminal.shows("Run it? Type y or yes");
    expect(bench.read("a.txt")).toBeUndefined();
    terminal.type("y\r");
    expect(await terminal.ended()).toBe(0);
    expect(bench.read("a.txt")).toBe("x");
  });

  it("--no-start asks nobody: refused at once, and nothing is stored to be answered", async () => {
    const client = await connected("--no-start");
    const { content, isError } = await client.call("write_file", { path: bench.path("a.txt"), content: "x" });
    expect([isError, content[0]?.text]).toEqual([
      true,
      `Not run: "fs/write_file" needs a person and nobody could be reached. ${FINAL}`,
    ]);
    expect((await bench.run(["pending", "--json"])).out).toBe("[]\n");
  });

  it("a policy that cannot be read stops the start, loudly (exit 2)", async () => {
    for (const [text, says] of [
      ['{"rules":[{"ask":"fs/*","when":"true"}]}', "/rules/0/when: is not read by this version"],
      ['{"rules":[{"ask":"fs/*","alow":"x"}]}', "/rules/0/alow: is not a key of this place"],
      ['{"rules":[{"ask":"fs/*","deny":"x"}]}', "say exactly one of deny, ask, allow"],
      ['{"rules":[{"ask":"bash(git:*)"}]}', "looks at arguments"],
    ]) {
      writeFileSync(bench.path("bad.json"), text ?? "");
      const { status, out, err } = await bench.run(["mcp", "--policy", "bad.json", "--", "touch", "started"]);
      expect([status, out, err]).toEqual([2, "", expect.stringContaining(says ?? "")]);
      expect(bench.read("started")).toBeUndefined();
    }
    expect((await bench.run(["mcp", "--policy", "none.json", "--", "true"])).status).toBe(2);
  });

  it("a server that does not start is said on standard error (exit 1)", async () => {
    const { status, out, err } = await bench.run(["mcp", "--", "no-such-server"]);
    expect([status, out]).toEqual([1, ""]);
    expect(err).toContain('could not start "no-such-server": there is no such program on the PATH');
  });
});

describe("edit", { timeout: 60_000 }, () => {
  const call = async () => {
    const client = await connected();
    const answer = client.call("write_file", { path: bench.path("a.txt"), content: "old" });
    const [card] = await bench.pending();
    return { answer, card: card as Card };
  };

  it("opens the editor, shows the changed call, and what was written there is on the disk", async () => {
    const { answer, card } = await call();
    const editor = bench.path("editor.sh");
    writeFileSync(editor, `sed -i 's/"old"/"new"/' "$1"\n`);
    const terminal = bench.terminal([...HOLDPOINT, "edit", card.id], { EDITOR: `sh ${editor}` });
    await terminal.shows(/You changed the call\. Run it like this\?.*"content": "new".*type yes/u);
    expect(bench.read("a.txt")).toBeUndefined();
    terminal.type(`yes ${card.code}\r`);
    expect(await terminal.ended()).toBe(0);
    expect((await answer).isError).toBeFalsy();
    expect(bench.read("a.txt")).toBe("new");
  });

  it("an edit that changes nothing is asked like an approval, and runs the call as it was", async () => {
    const { answer, card } = await call();
    const terminal = bench.terminal([...HOLDPOINT, "edit", card.id], { EDITOR: "true" });
    await terminal.shows(/You changed nothing\. Run it as it is\?.*To run it/u);
    terminal.type(`yes ${card.code}\r`);
    expect(await terminal.ended()).toBe(0);
    expect((await answer).isError).toBeFalsy();
  });

  it("a no to the changed call refuses it with that reason, and is told by exit 3", async () => {
    const { answer, card } = await call();
    const terminal = bench.terminal([...HOLDPOINT, "edit", card.id], { EDITOR: "true" });
    await terminal.shows("To run it");
    terminal.type("not at all\r");
    expect(await terminal.ended()).toBe(3);
    expect((await answer).content[0]?.text).toContain('Reason given: "not at all".');
    expect(bench.read("a.txt")).toBeUndefined();
  });

  it("a request that somebody else ends meanwhile keeps the text, and decides nothing", async () => {
    const { answer, card } = await call();
    const editor = bench.path("editor.sh");
    writeFileSync(editor, `sed -i 's/"old"/"new"/' "$1"\n`);
    const terminal = bench.terminal([...HOLDPOINT, "edit", card.id], { EDITOR: `sh ${editor}` });
    await terminal.shows("To run it");
    await bench.run(["reject", card.id]);
    expect(await terminal.ended()).toBe(1);
    await terminal.shows(/Nothing was decided here \[late\]\. Your text is kept: holdpoint edit/u);
    expect((await answer).isError).toBe(true);
  });

  it("an editor that failed decides nothing; a text that is no JSON is kept", async () => {
    const { card } = await call();
    for (const [editor, says] of [
      ["false", 'the editor "false" ended with 1'],
      ["sh -c 'echo {>$1' sh", "Your text is kept: holdpoint edit"],
    ]) {
      const terminal = bench.terminal([...HOLDPOINT, "edit", card.id], { EDITOR: editor, TMPDIR: bench.folder });
      expect(await terminal.ended()).toBe(editor?.startsWith("sh") ? 2 : 1);
      await terminal.shows(says ?? "");
    }
    expect((await bench.json<Card>("show", card.id)).status).toBe("pending");
  });

  it("by a program: with the digest, and a fault is answered and decides nothing", async () => {
    const { answer, card } = await call();
    const edit = (args: unknown, digest = card.digest) =>
      bench.run(["edit", card.id, "--json", "--digest", digest, "--arguments", JSON.stringify(args)]);
    const bad = await edit({ path: bench.path("a.txt"), content: 7 });
    expect([bad.status, JSON.parse(bad.out)]).toEqual([
      1,
      expect.objectContaining({ counted: false, code: "invalid_arguments", status: "pending" }),
    ]);
    expect((await edit({ path: bench.path("b.txt"), content: "new" }, "sha256:000000000000")).status).toBe(3);
    const good = await edit({ path: bench.path("b.txt"), content: "new" });
    expect([good.status, JSON.parse(good.out)]).toEqual([0, expect.objectContaining({ counted: true, status: "approved" })]);
    await answer;
    expect([bench.read("a.txt"), bench.read("b.txt")]).toEqual([undefined, "new"]);
    expect((await bench.json<Card>("show", card.id)).ending).toContain("superseded");
  });

  it("keeps what is masked on the card, and null refuses", async () => {
    const client = await connected();
    const secret = "password=hunter2hunter2";
    const answer = client.call("write_file", { path: bench.path("a.txt"), content: secret });
    const [card] = await bench.pending();
    const shown = card?.arguments.content;
    expect(shown).toContain("[masked");
    await bench.run([
      "edit",
      card?.id ?? "",
      "--json",
      "--digest",
      card?.digest ?? "",
      "--arguments",
      JSON.stringify({ path: bench.path("b.txt"), content: shown }),
    ]);
    await answer;
    expect(bench.read("b.txt")).toBe(secret);
    const second = client.call("write_file", { path: bench.path("c.txt"), content: "x" });
    const [open] = await bench.pending();
    expect(
      (await bench.run(["edit", open?.id ?? "", "--json", "--digest", open?.digest ?? "", "--arguments", "null"])).status,
    ).toBe(0);
    expect((await second).content[0]?.text).toContain("a person rejected");
  });
});

describe("watch", { timeout: 60_000 }, () => {
  it("asks whatever comes, one after the other, and ends with Ctrl-C", async () => {
    const terminal = bench.terminal([...HOLDPOINT, "watch"]);
    await terminal.shows("each request that waits is asked here");
    const client = await connected("--policy", policy({ tools: [{ match: "fs/write_file", impact: "default" }] }));
    const [first, second] = ["a.txt", "b.txt"].map((name) =>
      client.call("write_file", { path: bench.path(name), content: name }),
    );
    await terminal.shows("Run it? Type y or yes");
    await bench.pending(2);
    await terminal.shows("(1 more waiting)");
    terminal.type("y\r");
    await first;
    await terminal.shows("You approved it.");
    await until(
      () => terminal.text,
      () => {
        const now = terminal.text.split("You approved it.").at(-1) ?? "";
        return now.includes("Run it? Type y") && now.includes("b.txt") && !now.includes("more waiting");
      },
    );
    await terminal.shows(
      /b\.txt.*Run it\? Type y or yes and press Enter\. Any other line refuses, with the line as your reason\. >/u,
    );
    terminal.type("no\r");
    expect((await second)?.content[0]?.text).toContain("a person rejected");
    terminal.type("\u0003");
    expect([bench.read("a.txt"), bench.read("b.txt")]).toEqual(["a.txt", undefined]);
  });

  it("--json writes a line for each event", async () => {
    const terminal = bench.terminal(["/bin/sh", "-c", '"$@" > events', "sh", ...HOLDPOINT, "watch", "--json"]);
    const client = await connected();
    const answer = client.call("write_file", { path: bench.path("a.txt"), content: "x" });
    const [card] = await bench.pending();
    await bench.run(["reject", card?.id ?? ""]);
    await answer;
    const events = await until(
      () => "two events",
      () => {
        const lines = (bench.read("events") ?? "").trim().split("\n");
        return lines.length >= 2 && lines.map((line) => JSON.parse(line) as { event: string; card: Card });
      },
    );
    expect(events.map(({ event, card: { id, status } }) => [event, id, status])).toEqual([
      ["opened", card?.id, "pending"],
      ["closed", card?.id, "rejected"],
    ]);
    terminal.type("\u0003");
    expect(await terminal.ended()).toBe(0);
  });
});

describe("authority", { timeout: 60_000 }, () => {
  it("kill on stops what waits and what comes; off is asked for its code", async () => {
    const file = policy({ rules: [{ allow: "exec/true" }] });
    expect((await bench.run(["kill", "on"])).out).toBe(
      "stopped: no call runs any more; what waits stays listed and does not run either, approved or not\n",
    );
    expect(await bench.json("kill")).toEqual([{ scope: "all", at: expect.any(String), by: expect.stringMatching(/^os:/u) }]);
    const stopped = await bench.run(["exec", "--policy", file, "--", "true"]);
    expect([stopped.status, stopped.err]).toEqual([125, expect.stringContaining("killed: ")]);
    expect((await bench.run(["kill", "off"])).status).toBe(5);
    expect((await bench.run(["pending", "--json"])).out).toBe("[]\n");
    const terminal = bench.terminal([...HOLDPOINT, "kill", "off"]);
    await terminal.shows(/Switch the kill switch off for "all".*type yes [A-Z0-9]{4}/u);
    terminal.type(`yes ${/type yes ([A-Z0-9]{4})/u.exec(terminal.text)?.[1]}\r`);
    expect(await terminal.ended()).toBe(0);
    expect((await bench.run(["exec", "--policy", file, "--", "true"])).status).toBe(0);
    expect((await bench.run(["kill", "off"])).status).toBe(5);
    expect(await bench.json<unknown[]>("kill")).toEqual([]);
  });

  it("kill off by a program opens one request, however often it is said", async () => {
    await bench.run(["kill", "on", "tool:fs/write_file"]);
    const first = await bench.json<{ request: string }>("kill", "off", "tool:fs/write_file");
    expect(await bench.json("kill", "off", "tool:fs/write_file")).toEqual(first);
    const card = await bench.json<Card>("show", first.request);
    expect((await approve(card)).status).toBe(0);
    expect(await bench.json<unknown[]>("kill")).toEqual([]);
  });

  it("a window that a yes opened answers the same call until it is revoked", async () => {
    const file = policy({ rules: [{ ask: "exec/true", window: "10m" }] });
    const run = () => bench.run(["exec", "--policy", file, "--", "true"]);
    const first = run();
    const [card] = await bench.pending();
    await approve(card as Card);
    expect((await first).status).toBe(0);
    expect((await run()).status).toBe(0);
    const [window] = await bench.json<{ id: string; covers: string }[]>("windows");
    expect(window?.covers).toBe("exec/true");
    expect((await bench.run(["windows", "revoke", window?.id ?? ""])).status).toBe(0);
    expect((await bench.run(["windows", "revoke", window?.id ?? ""])).status).toBe(1);
    expect(await bench.json<unknown[]>("windows")).toEqual([]);
    const again = run();
    const [asked] = await bench.pending();
    await bench.run(["reject", asked?.id ?? ""]);
    expect((await again).status).toBe(125);
  });

  it("a refused call is not asked again until it is lifted", async () => {
    const client = await connected();
    const call = () => client.call("write_file", { path: bench.path("a.txt"), content: "x" });
    const first = call();
    const [card] = await bench.pending();
    await bench.run(["reject", card?.id ?? ""]);
    await first;
    expect((await call()).content[0]?.text).toBe(`Not run: "fs/write_file" was already refused in this run. ${FINAL}`);
    expect(await bench.json("lift", card?.id ?? "")).toEqual({ target: card?.id, ended: 1 });
    expect((await bench.run(["lift", card?.id ?? ""])).status).toBe(1);
    const third = call();
    const [again] = await bench.pending();
    await approve(again as Card);
    expect((await third).isError).toBeFalsy();
  });

  it("an ask that names approvers is not the requester's own to answer: refused at once, nobody is asked", async () => {
    const client = await connected("--policy", policy({ rules: [{ ask: "fs/write_file", approvers: ["ada"] }] }));
    const { content } = await client.call("write_file", { path: bench.path("a.txt"), content: "x" });
    expect(content[0]?.text).toBe(`Not run: "fs/write_file" needs a person and nobody could be reached. ${FINAL}`);
  });
});
