import { readdirSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Bench, HOLDPOINT } from "./bench.ts";

let bench: Bench;
beforeEach(() => {
  bench = new Bench();
});
afterEach(() => bench[Symbol.asyncDispose]());

const FINAL = "This is final: do not retry or rephrase it and do not reach the same end another way. Tell the user briefly.";

describe("demo", { timeout: 90_000 }, () => {
  it("--auto plays it through with a scripted person and finds every effect as it was decided", async () => {
    const { status, out, err } = await bench.run(["demo", "--auto", "--json"], { env: { TMPDIR: bench.folder } });
    expect([status, err]).toEqual([0, "holdpoint: 5 calls, each as it was decided and nothing else\n"]);
    expect((JSON.parse(out) as Record<string, unknown>[]).map((row) => [row.tool, row.decided, row.changes, row.faults])).toEqual(
      [
        ["read_text_file", "allowed by policy", [], []],
        ["write_file", "approved", ["new: report.txt (34 bytes)"], []],
        ["write_file", "rejected", [], []],
        ["edit_file", "edited and approved", ["changed: notes.txt (18 bytes, now 31 bytes)"], []],
        ["move_file", "nobody answered", [], []],
      ],
    );
    expect((JSON.parse(out) as { read: string }[])[4]?.read).toBe(
      `Not run: nobody answered for "files/move_file" in time, and silence is not consent. ${FINAL}`,
    );
    expect(readdirSync(bench.folder).filter((name) => name.startsWith("holdpoint-demo-"))).toEqual([]);
  });

  it("asks the person at the terminal, and says what the agent reads and what is on the disk", async () => {
    const terminal = bench.terminal([...HOLDPOINT, "demo"], { TMPDIR: bench.folder });
    await terminal.shows("1 of 5.");
    await terminal.shows(/2 of 5\..*Run it\? Type y or yes/u);
    terminal.type("y\r");
    await terminal.shows(/new: report\.txt \(34 bytes\).*3 of 5\..*Run it\? Type y or yes/u);
    terminal.type("no, nobody asked for it\r");
    await terminal.shows('Reason given: "nobody asked for it"');
    await terminal.shows(/nothing changed.*4 of 5\..*Run it\? Type y or yes/u);
    terminal.type("yes\r");
    await terminal.shows(/changed: notes\.txt.*5 of 5\..*To run it, type yes ([A-Z0-9]{4})/u);
    const code = /To run it, type yes ([A-Z0-9]{4})/u.exec(terminal.text)?.[1] ?? "";
    terminal.type(`yes ${code}\r`);
    expect(await terminal.ended()).toBe(0);
    await terminal.shows("new: attic/notes.txt");
    await terminal.shows("gone: notes.txt");
    await terminal.shows("That was all.");
  });

  it("without a terminal says how to go on (exit 5), and leaves nothing behind", async () => {
    const { status, out, err } = await bench.run(["demo"], { env: { TMPDIR: bench.folder } });
    expect([status, out]).toEqual([5, ""]);
    expect(err).toContain("holdpoint demo --auto");
    expect(readdirSync(bench.folder).filter((name) => name.startsWith("holdpoint-demo-"))).toEqual([]);
  });
});
