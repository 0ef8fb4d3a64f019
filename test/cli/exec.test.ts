import { chmodSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Bench, type Card, type Ended, HOLDPOINT } from "./bench.ts";

let bench: Bench;
beforeEach(() => {
  bench = new Bench();
});
afterEach(() => bench[Symbol.asyncDispose]());

const FINAL = "This is final: do not retry or rephrase it and do not reach the same end another way. Tell the user briefly.";

async function asked(...args: string[]): Promise<{ readonly ended: Promise<Ended>; readonly card: Card }> {
  const ended = bench.run(["exec", ...args]);
  const [card] = await bench.pending();
  if (card === undefined) throw new Error("nothing is pending");
  return { ended, card };
}
const approved = async ({ card }: { card: Card }): Promise<Ended> =>
  bench.run(["approve", card.id, "--json", "--digest", card.digest]);

describe("exec", { timeout: 60_000 }, () => {
  it("shows exactly what would run, runs it once released with its input, and passes output and status on", async () => {
    const ended = bench.run(
      ["exec", "--as", "deploy-bot", "--reason", "the cache is full", "--", "sh", "-c", "cat; echo out; echo err >&2; exit 7"],
      {
        stdin: "from standard input\n",
      },
    );
    const [card] = await bench.pending();
    expect(card).toMatchObject({
      tool: { name: "exec/sh", origin: "exec" },
      tier: "physical",
      arguments: { argv: ["sh", "-c", "cat; echo out; echo err >&2; exit 7"], cwd: bench.folder, env: {} },
      bindings: { cwd: bench.folder },
      statement: "the cache is full",
      requester: { agent: "deploy-bot", claimed: true },
      editable: [],
    });
    expect(Object.keys(card?.bindings ?? {}).filter((name) => name.startsWith("file:"))).toHaveLength(1);
    await approved({ card: card as Card });
    const { status, out, err } = await ended;
    expect([status, out]).toEqual([7, "from standard input\nout\n"]);
    expect(err).toMatch(
      /^holdpoint: exec\/sh waits for a person\. In another terminal: holdpoint approve --data \S+ \S+\nerr\n$/,
    );
    expect(await bench.json<Card>("show", card?.id ?? "")).toMatchObject({ status: "failed", ending: "it ran and failed" });
  });

  it("is done with 0, and a program that a signal ended with 128 and its number", async () => {
    const first = await asked("--", "true");
    await approved(first);
    expect((await first.ended).status).toBe(0);
    expect((await bench.json<Card>("show", first.card.id)).status).toBe("succeeded");
    const second = await asked("--", "sh", "-c", "kill -TERM $$");
    await approved(second);
    expect((await second.ended).status).toBe(143);
  });

  it("refused: exits 125 with the code and the sentence on standard error, and nothing ran", async () => {
    const { ended, card } = await asked("--", "touch", "made");
    await bench.run(["reject", card.id, "--reason", "not now"]);
    const { status, out, err } = await ended;
    expect([status, out]).toEqual([125, ""]);
    expect(err).toContain(`holdpoint: rejected: Not run: a person rejected "exec/touch". Reason given: "not now". ${FINAL}\n`);
    expect(bench.read("made")).toBeUndefined();
  });

  it("a start that fails exits 125 with a code on standard error too", async () => {
    writeFileSync(bench.path("policy.json"), "{");
    const args = ["exec", "--policy", bench.path("policy.json"), "--", "touch", "made"];
    const { status, out, err } = await bench.run(args);
    expect([status, out, err]).toEqual([125, "", expect.stringMatching(/ \[usage\]\n$/u)]);
    expect(bench.read("made")).toBeUndefined();
  });

  it("nobody answers: expired, 125; and --json says it as data", async () => {
    const { status, err } = await bench.run(["exec", "--deadline", "1s", "--json", "--", "touch", "made"]);
    expect(status).toBe(125);
    const lines = err
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, string>);
    const [held, refused] = [lines[0], lines.at(-1)];
    expect(held).toMatchObject({ tool: "exec/touch" });
    expect(refused).toMatchObject({ code: "expired", request: held?.held });
    expect(bench.read("made")).toBeUndefined();
  });

  it("a script that changed while a person read does not run", async () => {
    writeFileSync(bench.path("deploy.sh"), "echo harmless > made\n");
    const { ended, card } = await asked("--", "sh", "deploy.sh");
    writeFileSync(bench.path("deploy.sh"), "echo other > made\n");
    await approved({ card });
    const { status, err } = await ended;
    expect([status, err]).toEqual([125, expect.stringContaining("context_changed: ")]);
    expect(bench.read("made")).toBeUndefined();
  });

  it("a policy lets a program through by the name it has on the PATH, and no other file of that name", async () => {
    writeFileSync(
      bench.path("policy.json"),
      JSON.stringify({ rules: [{ allow: "exec/true" }, { deny: "exec/rm", reason: "never" }] }),
    );
    const free = await bench.run(["exec", "--policy", "policy.json", "--", "true"]);
    expect([free.status, free.err]).toEqual([0, ""]);
    const denied = await bench.run(["exec", "--policy", "policy.json", "--", "rm", "x"]);
    expect([denied.status, denied.err]).toEqual([
      125,
      `holdpoint: denied: Not run: policy does not allow "exec/rm" with these arguments. Reason: "never". ${FINAL}\n`,
    ]);
    writeFileSync(bench.path("true"), "#!/bin/sh\ntouch made\n");
    chmodSync(bench.path("true"), 0o755);
    const { ended, card } = await asked("--policy", "policy.json", "--", "./true");
    expect(card.tool.name).toBe(`exec/path${bench.folder}/true`);
    await bench.run(["reject", card.id]);
    expect((await ended).status).toBe(125);
    expect(bench.read("made")).toBeUndefined();
  });

  it("says 127 of a program that is not there and 126 of a file that is none, and asks nobody", async () => {
    writeFileSync(bench.path("plain"), "text");
    expect((await bench.run(["exec", "--", "no-such-program"])).status).toBe(127);
    expect((await bench.run(["exec", "--", "./plain"])).status).toBe(126);
    expect((await bench.run(["exec", "--policy", "none.json", "--", "true"])).status).toBe(125);
    expect((await bench.run(["pending", "--json"])).out).toBe("[]\n");
  });

  it("the program gets none of our own variables", async () => {
    writeFileSync(bench.path("policy.json"), JSON.stringify({ rules: [{ allow: "exec/**" }] }));
    const { out } = await bench.run(["exec", "--policy", "policy.json", "--", "sh", "-c", "env | grep -c HOLDPOINT || true"]);
    expect(out).toBe("0\n");
  });

  it("asks at the terminal, where a yes runs it there", async () => {
    const terminal = bench.terminal([...HOLDPOINT, "exec", "--", "sh", "-c", "test -t 0 && echo it ran at a terminal"]);
    await terminal.shows("Run it? Type y or yes");
    terminal.type("y\r");
    expect(await terminal.ended()).toBe(0);
    await terminal.shows("it ran at a terminal");
  });

  it("Ctrl-C at the question withdraws it", async () => {
    const terminal = bench.terminal([...HOLDPOINT, "exec", "--", "touch", "made"]);
    await terminal.shows("Run it? Type y or yes");
    terminal.type("\u0003");
    expect(await terminal.ended()).toBe(125);
    await terminal.shows("holdpoint: cancelled: ");
    expect(bench.read("made")).toBeUndefined();
    expect((await bench.run(["pending", "--json"])).out).toBe("[]\n");
  });
});
