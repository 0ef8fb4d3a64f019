import { refusalSentence } from "../../core/index.ts";
import { CommandFault } from "../exit-codes.ts";
import { withDesk } from "../host.ts";
import { type CallResult, DemoClient } from "./client.ts";
import { changes, filesystemServer, makeSandbox, type Sandbox, type Tree, treeOf } from "./sandbox.ts";
import { playPerson } from "./scripted-person.ts";
import { type Script, type Step, stepsIn, treesOfScript } from "./story.ts";

/** What became of one step. */
export interface Played {
  readonly step: Step;
  readonly result: CallResult;
  /** What is different on the disk. */
  readonly changes: readonly string[];
}

/** This program, as it was started. */
const ourselves = (): readonly [string, ...string[]] => [process.execPath, ...process.execArgv, process.argv[1] ?? ""];

/** The real relay in front of the real server, as an MCP client's configuration would start it. */
async function startRelay(sandbox: Sandbox, options: readonly string[]): Promise<DemoClient> {
  const { command } = filesystemServer();
  const [file, ...args] = ourselves();
  const relay = ["mcp", "--name", "files", "--policy", sandbox.policy, "--data", sandbox.data, ...options, "--"];
  const client = new DemoClient([file, ...args, ...relay, ...command, sandbox.files], process.env);
  try {
    await client.start();
  } catch (thrown) {
    sandbox.remove();
    const problem = thrown instanceof Error ? thrown.message : "unknown";
    throw new CommandFault(`the demonstration could not start its server: ${problem}`, undefined, { cause: thrown });
  }
  return client;
}

async function playStep(client: DemoClient, sandbox: Sandbox, step: Step): Promise<Played> {
  const before = treeOf(sandbox.files);
  const result = await client.call(step.tool, step.arguments);
  return { step, result, changes: changes(before, treeOf(sandbox.files)) };
}

export interface Telling {
  begins(sandbox: Sandbox): void;
  step(step: Step, number: number, of: number): void;
  played(played: Played): void;
  ends(sandbox: Sandbox): void;
}

/** The agent has its answer before the relay has taken its question off the terminal; nothing of ours belongs in between. */
const TERMINAL_GIVEN_BACK_MS = 500;

/** The person at the terminal decides; the relay asks there by itself. */
export async function playWithPerson(telling: Telling): Promise<void> {
  const sandbox = makeSandbox();
  const client = await startRelay(sandbox, []);
  try {
    telling.begins(sandbox);
    const steps = stepsIn(sandbox);
    for (const [at, step] of steps.entries()) {
      telling.step(step, at + 1, steps.length);
      const played = await playStep(client, sandbox, step);
      if (step.script !== undefined) await new Promise((resolve) => setTimeout(resolve, TERMINAL_GIVEN_BACK_MS));
      telling.played(played);
    }
    telling.ends(sandbox);
  } finally {
    await client.end();
  }
}

export interface Checked extends Played {
  readonly decided: string;
  /** What is not as it was decided; empty: all is. */
  readonly faults: readonly string[];
}

const DECIDED: Readonly<Record<Script["does"], string>> = {
  approve: "approved",
  reject: "rejected",
  edit: "edited and approved",
  wait: "nobody answered",
};

/** The exact sentence that the model reads where the script refuses. */
function sentenceOf({ tool, script }: Step): string | undefined {
  if (script?.does === "reject") return refusalSentence(`files/${tool}`, { code: "rejected", reason: script.reason });
  return script?.does === "wait" ? refusalSentence(`files/${tool}`, { code: "expired" }) : undefined;
}

const isSame = (a: Tree, b: Tree): boolean => a.size === b.size && [...a].every(([path, content]) => b.get(path) === content);

function faultsOf({ step, result }: Played, disk: { now: Tree; expected: Tree | undefined }): readonly string[] {
  const sentence = sentenceOf(step);
  const faults: string[] = [];
  if (disk.expected === undefined || !isSame(disk.now, disk.expected)) faults.push("the disk is not as it was decided");
  if (result.isError !== (sentence !== undefined)) faults.push(result.isError ? "it did not run" : "it ran");
  if (sentence !== undefined && result.text !== sentence) faults.push(`the model read: ${result.text}`);
  return faults;
}

/** A scripted person answers, and every effect on the disk is compared with what was decided. */
export async function playByScript(): Promise<readonly Checked[]> {
  const sandbox = makeSandbox("2s");
  const client = await startRelay(sandbox, ["--no-terminal", "--quiet"]);
  try {
    return await withDesk({ data: sandbox.data, make: true }, async (host) => {
      const checked: Checked[] = [];
      for (const [at, step] of stepsIn(sandbox).entries()) {
        const { script, tool } = step;
        const person = script === undefined ? undefined : playPerson(host, `files/${tool}`, script);
        const [played] = await Promise.all([playStep(client, sandbox, step), person]);
        const faults = faultsOf(played, { now: treeOf(sandbox.files), expected: treesOfScript()[at] });
        checked.push({ ...played, decided: script === undefined ? "allowed by policy" : DECIDED[script.does], faults });
      }
      return checked;
    });
  } finally {
    await client.end();
    sandbox.remove();
  }
}
