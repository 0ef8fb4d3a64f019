import { chmodSync, symlinkSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Bench, type Card, FILESYSTEM, HOLDPOINT, until } from "./bench.ts";

let bench: Bench;
beforeEach(() => {
  bench = new Bench();
});
afterEach(() => bench[Symbol.asyncDispose]());

interface Decided {
  readonly found: boolean;
  readonly status: string | null;
  readonly counted: boolean;
  readonly code?: string;
}

const REJECTED = "This is final: do not retry or rephrase it and do not reach the same end another way. Tell the user briefly.";

async function held(name: string, content = "grün 😀\r\n\u0000") {
  const client = await bench.client(["--name", "fs"], [...FILESYSTEM, bench.folder]).start();
  const answer = client.call("write_file", { path: bench.path(name), content });
  const [card] = await bench.pending();
  if (card === undefined) throw new Error("nothing is pending");
  return { client, answer, card };
}

describe("approve at a terminal", { timeout: 60_000 }, () => {
  it("shows the card, asks for its code, and what was shown is what is written, byte for byte", async () => {
    const { answer, card } = await held("a.txt");
    const terminal = bench.terminal([...HOLDPOINT, "approve", card.id.slice(0, 30)]);
    await terminal.shows("fs/write_file");
    await terminal.shows(`type yes ${card.code}`);
    terminal.type(`yes ${card.code}\r`);
    expect(await terminal.ended()).toBe(0);
    expect((await answer).isError).toBeFalsy();
    expect(bench.read("a.txt")).toBe("grün 😀\r\n\u0000");
  });

  it("takes yes with the code, and neither a bare yes, nor the code alone, nor another code", async () => {
    const { answer, card } = await held("a.txt");
    const terminal = bench.terminal([...HOLDPOINT, "approve", card.id]);
    await terminal.shows("To run it");
    terminal.type("yes\r");
    await terminal.shows("this call needs its code");
    terminal.type(`yes ${card.code === "A2B3" ? "B2A3" : "A2B3"}\r`);
    await terminal.shows("the code of another question");
    expect((await bench.json<Card>("show", card.id)).status).toBe("pending");
    terminal.type(`${card.code.toLowerCase()}\r`);
    await terminal.shows("to run it, type yes and the code");
    expect((await bench.json<Card>("show", card.id)).status).toBe("pending");
    terminal.type(`yes ${card.code.toLowerCase()}\r`);
    expect(await terminal.ended()).toBe(0);
    await answer;
    expect(bench.read("a.txt")).toBeDefined();
  });

  it("takes any other line for a no with that reason, which the client reads word for word", async () => {
    const { answer, card } = await held("a.txt");
    const terminal = bench.terminal([...HOLDPOINT, "approve", card.id]);
    await terminal.shows("To run it");
    terminal.type("not this folder\r");
    expect(await terminal.ended()).toBe(3);
    expect((await answer).content).toEqual([
      { type: "text", text: `Not run: a person rejected "fs/write_file". Reason given: "not this folder". ${REJECTED}` },
    ]);
    expect(bench.read("a.txt")).toBeUndefined();
  });

  it("is not answered by a pipe on standard input (A60.2), and decides nothing on Ctrl-C", async () => {
    const { card } = await held("a.txt");
    const terminal = bench.terminal([
      "/bin/sh",
      "-c",
      `printf 'yes ${card.code}\\n' | "$@"`,
      "sh",
      ...HOLDPOINT,
      "approve",
      card.id,
    ]);
    await terminal.shows("To run it");
    expect((await bench.json<Card>("show", card.id)).status).toBe("pending");
    terminal.type("\u0003");
    expect(await terminal.ended()).toBe(1);
    expect(terminal.text).toContain("nothing was decided");
    expect((await bench.json<Card>("show", card.id)).status).toBe("pending");
  });

  it("is withdrawn where somebody else answers meanwhile", async () => {
    const { card, answer } = await held("a.txt");
    const terminal = bench.terminal([...HOLDPOINT, "approve", card.id]);
    await terminal.shows("To run it");
    expect((await bench.run(["reject", card.id, "--reason", "no"])).status).toBe(0);
    expect(await terminal.ended()).toBe(1);
    await terminal.shows("This question is closed: rejected; it was not run");
    await answer;
  });

  it("without a terminal decides nothing and says how to go on (exit 5)", async () => {
    const { card } = await held("a.txt");
    const { status, err } = await bench.run(["approve", card.id], { stdin: `yes ${card.code}\n` });
    expect([status, err]).toEqual([5, expect.stringContaining("there is none here")]);
    expect((await bench.json<Card>("show", card.id)).status).toBe("pending");
  });
});

describe("a card that is longer than the screen", { timeout: 60_000 }, () => {
  it("is not approved by its code before all of it was shown", async () => {
    const { answer, card } = await held("a.txt", Array.from({ length: 120 }, (_, line) => `line ${line}`).join("\n"));
    const terminal = bench.terminal([...HOLDPOINT, "approve", card.id]);
    await terminal.shows("Part 1 of");
    terminal.type(`${card.code}\r`);
    await terminal.shows("to run it, type yes and the code");
    expect((await bench.json<Card>("show", card.id)).status).toBe("pending");
    terminal.type("no\r");
    expect(await terminal.ended()).toBe(3);
    expect((await answer).isError).toBe(true);
  });
});

describe("below a program in which an agent runs commands", { timeout: 60_000 }, () => {
  const byProgram = (verb: string, digest: string): string[] =>
    verb === "lift" ? ["--json"] : ["--json", "--digest", digest, ...(verb === "edit" ? ["--arguments", "{}"] : [])];

  it.each(["approve", "edit", "lift"])("%s is refused on the plain way, to a terminal and to a program", async (verb) => {
    const { card } = await held("a.txt");
    symlinkSync("/bin/sh", bench.path("claude"));
    const terminal = bench.terminal(["./claude", "-c", '"$@"; exit $?', "sh", ...HOLDPOINT, verb, card.id]);
    expect(await terminal.ended()).toBe(3);
    await terminal.shows('was started below "claude", in which an agent runs commands: no agent approves a call.');
    const script = bench.path("codex");
    writeFileSync(script, '#!/bin/sh\n"$@"\n');
    chmodSync(script, 0o755);
    const quiet = bench.terminal([script, ...HOLDPOINT, verb, card.id, ...byProgram(verb, card.digest)]);
    expect(await quiet.ended()).toBe(3);
    expect((await bench.json<Card>("show", card.id)).status).toBe("pending");
  });
});

describe("approve by a program", { timeout: 60_000 }, () => {
  it("needs the digest, decides nothing with another, and once with its own", async () => {
    const { answer, card } = await held("a.txt");
    expect((await bench.run(["approve", card.id, "--json"])).status).toBe(2);
    const other = await bench.run(["approve", card.id, "--json", "--digest", `sha256:${"0".repeat(64)}`]);
    expect([other.status, JSON.parse(other.out)]).toEqual([
      3,
      {
        found: true,
        status: "pending",
        counted: false,
        code: "stale_view",
        error: { code: "stale_view", message: expect.any(String) },
      },
    ]);
    const done = await bench.run(["approve", card.id, "--json", "--digest", card.digest]);
    expect([done.status, (JSON.parse(done.out) as Decided).counted]).toEqual([0, true]);
    await answer;
    expect(bench.read("a.txt")).toBeDefined();
    const late = await bench.run(["approve", card.id, "--json", "--digest", card.digest]);
    expect([late.status, JSON.parse(late.out)]).toEqual([
      1,
      { found: false, status: "succeeded", counted: false, code: "late", error: { code: "late", message: expect.any(String) } },
    ]);
    expect(late.err).toContain("it ran and succeeded");
  });

  it("names one request or none: an unknown id, and a prefix that fits two", async () => {
    const { client, card } = await held("a.txt");
    void client.call("write_file", { path: bench.path("b.txt"), content: "b" });
    const [, second] = await bench.pending(2);
    const shared = [...card.id].findIndex((char, at) => char !== second?.id[at]);
    const both = await bench.run(["approve", card.id.slice(0, shared), "--json", "--digest", card.digest]);
    expect([both.status, JSON.parse(both.out)]).toEqual([
      3,
      {
        found: false,
        status: null,
        counted: false,
        code: "ambiguous_id",
        ids: [card.id, second?.id],
        error: { code: "ambiguous_id", message: expect.any(String) },
      },
    ]);
    const none = await bench.run(["approve", "00000000-0000-7000-8000-000000000000", "--json", "--digest", card.digest]);
    expect([none.status, (JSON.parse(none.out) as Decided).code]).toEqual([1, "not_found"]);
    expect((await bench.run(["show", "nonsense!"])).status).toBe(2);
    expect(await bench.pending(2)).toHaveLength(2);
  });
});

describe("what is over", { timeout: 60_000 }, () => {
  const hold = (...options: string[]) => bench.run(["exec", "--no-terminal", ...options, "--", "touch", bench.path("made")]);

  it("an answer that comes after the deadline exits 4, and the card is headed by what it is", async () => {
    const ended = hold("--deadline", "1s");
    const [card] = await bench.pending();
    expect((await ended).status).toBe(125);
    expect((await bench.run(["approve", card?.id ?? "", "--json", "--digest", card?.digest ?? ""])).status).toBe(4);
    expect((await bench.run(["reject", card?.id ?? ""])).status).toBe(4);
    const { out } = await bench.run(["show", card?.id ?? ""]);
    expect(out).toMatch(/^This request is over\n/u);
    expect(out).not.toContain("Approval needed");
  });

  it("an edited one names its successor", async () => {
    const { answer, card } = await held("a.txt");
    const args = JSON.stringify({ path: bench.path("b.txt"), content: "new" });
    const edited = await bench.json<{ id: string }>("edit", card.id, "--arguments", args, "--digest", card.digest);
    expect(edited.id).not.toBe(card.id);
    expect((await bench.run(["show", card.id])).out).toContain(`; request ${edited.id} took its place`);
    await answer;
  });

  it("approve says that the agent must take the call up, and until when; hints carry --data", async () => {
    const elsewhere = bench.path("elsewhere");
    const gone = bench.client(["--name", "fs", "--data", elsewhere], [...FILESYSTEM, bench.folder]);
    void (await gone.start()).call("write_file", { path: bench.path("a.txt"), content: "x" });
    const [card] = await until(
      () => "a request",
      async () => {
        const found = JSON.parse((await bench.run(["pending", "--json", "--data", elsewhere])).out) as Card[];
        return found.length > 0 && found;
      },
    );
    const terminal = bench.terminal([...HOLDPOINT, "approve", card?.id ?? "", "--data", elsewhere]);
    await terminal.shows(`To change it first: holdpoint edit --data ${elsewhere} ${card?.id}`);
    await gone.kill("SIGKILL");
    terminal.type(`yes ${card?.code}\r`);
    expect(await terminal.ended()).toBe(0);
    await terminal.shows(
      /it runs when the agent takes it up, and expires unless that is before \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC/u,
    );
    expect((await bench.run(["show", card?.id ?? "", "--data", elsewhere])).out).toMatch(/^Approved; it has not run yet\n/u);
  });
});

describe("reject", { timeout: 60_000 }, () => {
  it("needs no terminal, and the client reads the sentence with the reason", async () => {
    const { answer, card } = await held("a.txt");
    const { status, out } = await bench.run(["reject", card.id, "--reason", "wrong place"]);
    expect([status, out]).toEqual([0, expect.stringContaining("rejected")]);
    const result = await answer;
    expect(result).toEqual({
      content: [{ type: "text", text: `Not run: a person rejected "fs/write_file". Reason given: "wrong place". ${REJECTED}` }],
      isError: true,
      _meta: { "holdpoint/request": card.id },
    });
    expect(bench.read("a.txt")).toBeUndefined();
  });
});
