import { spawn as spawnProcess } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import xterm from "@xterm/headless";
import { type IPty, spawn } from "node-pty";
import { afterEach, describe, expect, it } from "vitest";

const PROCESS = fileURLToPath(new URL("asking-process.ts", import.meta.url));
const PATIENCE_MS = 15_000;

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

async function until(what: string, holds: () => boolean): Promise<void> {
  const start = performance.now();
  while (!holds()) {
    if (performance.now() - start > PATIENCE_MS) throw new Error(`waited in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 15));
  }
}

/** A real pseudo-terminal with a shell on it, and a screen that answers what a terminal is asked. */
class Desk {
  readonly folder: string = mkdtempSync(join(tmpdir(), "holdpoint-pty-"));
  readonly #pty: IPty;
  readonly #screen = new xterm.Terminal({ cols: 100, rows: 50, allowProposedApi: true });
  written = "";
  status: number | undefined;

  /** @param late milliseconds that this terminal takes to answer what it is asked */
  constructor(script: string, late = 0) {
    const env = {
      PATH: process.env.PATH ?? "",
      HOME: this.folder,
      TERM: "xterm-256color",
      NODE: process.execPath,
      ASK: PROCESS,
      OUT: join(this.folder, "out"),
      DIR: this.folder,
    };
    this.#pty = spawn("/bin/bash", ["--norc", "-c", script], { cols: 100, rows: 50, cwd: this.folder, env });
    this.#pty.onData((text) => {
      this.written += text;
      this.#screen.write(text);
    });
    this.#screen.onData((answer) => void setTimeout(() => this.status === undefined && this.type(answer), late));
    this.#pty.onExit(({ exitCode }) => {
      this.status = exitCode;
    });
    ends.push(() => {
      if (this.status === undefined) this.#pty.kill("SIGKILL");
      this.#screen.dispose();
      rmSync(this.folder, { recursive: true, force: true });
    });
  }

  type(text: string): void {
    this.#pty.write(text);
  }

  file(name = "out"): string {
    const path = join(this.folder, name);
    return existsSync(path) ? readFileSync(path, "utf8") : "";
  }

  /** What the asking process noted, without its number. */
  get notes(): readonly string[] {
    return this.file()
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("pid "));
  }

  shows(text: string): Promise<void> {
    return until(`"${text}" in:\n${this.written}`, () => this.written.includes(text));
  }

  ended(): Promise<void> {
    return until(`the end; it wrote:\n${this.written}`, () => this.status !== undefined);
  }
}

const ASK = '"$NODE" --no-warnings "$ASK" "$OUT"';
const MODES = 'stty -a > "$DIR/modes"';
const cooked = (desk: Desk): readonly boolean[] =>
  ["icanon", "echo", "isig"].map((mode) => desk.file("modes").split(/\s+/u).includes(mode));

describe("a real terminal", { timeout: 30_000 }, () => {
  it("answers by a line typed there, not by a pipe on standard input (A60.2), and is given back as it was", async () => {
    const desk = new Desk(`printf 'y\\ny\\ny\\n' | ${ASK}; ${MODES}`);
    await desk.shows("Run it?");
    expect(desk.notes).toEqual([]);
    desk.type("yes\r");
    await desk.ended();
    expect(desk.notes).toEqual(["ran", "ran"]);
    expect(cooked(desk)).toEqual([true, true, true]);
  });

  it("is not answered by what was typed before the question (A60)", async () => {
    const desk = new Desk(`sleep 0.3; ${ASK}; ${MODES}`);
    desk.type("y\ry\r");
    await desk.shows("Run it?");
    desk.type("\r");
    await desk.ended();
    expect(desk.notes).toEqual(["refused rejected"]);
  });

  it("is not answered after a child has drawn on it (A61)", async () => {
    const desk = new Desk(
      `(while [ ! -e "$DIR/go" ]; do sleep 0.05; done; printf '\\033[2J Continue? [y/n] ' > /dev/tty; touch "$DIR/drawn") & ${ASK}; ${MODES}`,
    );
    await desk.shows("Run it?");
    // The first key finds out where the cursor was, as a person's first key long after the question does.
    desk.type("x\u007f");
    writeFileSync(join(desk.folder, "go"), "");
    await until("the child", () => existsSync(join(desk.folder, "drawn")) && desk.written.includes("Continue?"));
    desk.type("y\r");
    await desk.shows("Something else wrote on this terminal.");
    expect(desk.notes).toEqual([]);
    desk.type("n\r");
    await desk.ended();
    expect(desk.notes).toEqual(["refused rejected"]);
  });

  it("belongs to the host again after an expiry", async () => {
    const desk = new Desk(`${ASK} expire; read -r line; echo "host got: $line"`);
    await desk.shows("This question is closed: expired");
    desk.type("yes\r");
    await desk.shows("host got: yes");
    expect(desk.notes).toEqual(["refused expired"]);
  });

  it("leaves nothing of a late cursor report to the shell after a refusal", async () => {
    const desk = new Desk(`${ASK}; stty -icanon -echo min 0 time 3; dd bs=100 count=1 > "$DIR/left" 2> "$DIR/dd"`, 30);
    await desk.shows("Run it?");
    desk.type("n\r");
    await desk.ended();
    expect(desk.notes).toEqual(["refused rejected"]);
    expect(desk.file("dd")).not.toBe("");
    expect(desk.file("left")).toBe("");
  });

  it("is not shared with a host that reads it too", async () => {
    const desk = new Desk(`${ASK} host; ${MODES}`);
    await desk.shows("Run it?");
    desk.type("yes\r");
    await until("the run", () => desk.notes.includes("ran"));
    await desk.shows("You approved it.");
    desk.type("hello\rbye\r");
    await desk.ended();
    expect(desk.notes).toEqual(["ran", "ran", "host: hello", "host: bye"]);
    expect(cooked(desk)).toEqual([true, true, true]);
  });

  it.each(["\u0003", "exit", "SIGTERM"])("is given back when the process ends by %j while it asks", async (how) => {
    const desk = new Desk(`${ASK} ${how === "exit" ? "exit" : "ask"}; echo $? > "$DIR/status"; ${MODES}`);
    await desk.shows("Run it?");
    if (how === "\u0003") desk.type(how);
    if (how === "SIGTERM") process.kill(Number(/pid (\d+)/.exec(desk.file())?.[1]), "SIGTERM");
    await desk.ended();
    expect(desk.notes).toEqual([]);
    expect(desk.file("status").trim()).toBe({ "\u0003": "130", exit: "3", SIGTERM: "143" }[how]);
    expect(cooked(desk)).toEqual([true, true, true]);
  });

  it("reaches nobody from the background, and stops no process there", async () => {
    const desk = new Desk(`set -m; ${ASK} & wait; ${MODES}`);
    await desk.ended();
    expect(desk.notes).toEqual(["refused no_approver"]);
  });

  it("reaches nobody where there is none (A62)", async () => {
    const folder = mkdtempSync(join(tmpdir(), "holdpoint-pty-"));
    ends.push(() => rmSync(folder, { recursive: true, force: true }));
    const child = spawnProcess(process.execPath, ["--no-warnings", PROCESS, join(folder, "out")], {
      detached: true,
      stdio: ["pipe", "ignore", "inherit"],
    });
    child.stdin?.end("y\ny\n");
    await new Promise((resolve) => child.once("exit", resolve));
    expect(readFileSync(join(folder, "out"), "utf8").split("\n")[1]).toBe("refused no_approver");
  });
});
