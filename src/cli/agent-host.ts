import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { basename } from "node:path";

/** A running program, as far as its name goes. */
export interface Program {
  readonly pid: number;
  readonly parent: number;
  readonly words: readonly string[];
  /** The system's own short name of it: that of a script, where a shell runs one. */
  readonly title?: string;
}

/** Command lines of programs in which an agent runs commands by itself. Names, lower case, without an ending. */
const HOSTS: ReadonlySet<string> = new Set([
  "aider",
  "amp",
  "auggie",
  "claude",
  "claude-code",
  "cline",
  "codex",
  "codex-cli",
  "copilot",
  "crush",
  "cursor-agent",
  "droid",
  "gemini",
  "gemini-cli",
  "goose",
  "kilocode",
  "kimi",
  "kiro-cli",
  "opencode",
  "openhands",
  "plandex",
  "qwen",
  "qwen-code",
]);
/** Packages of such programs, for those that are run by an interpreter. */
const PACKAGES: readonly string[] = [
  "@anthropic-ai/claude-code",
  "@augmentcode/auggie",
  "@github/copilot",
  "@google/gemini-cli",
  "@openai/codex",
  "@qwen-code/qwen-code",
  "@sourcegraph/amp",
  "opencode-ai",
];
const INTERPRETER = /^(?:node|bun|deno|python|ruby|uv|uvx|npx)[\d.]*$/u;

const nameOf = (word: string): string =>
  basename(word.replaceAll("\\", "/"))
    .toLowerCase()
    .replace(/^-/u, "")
    .replace(/\.(?:exe|js|mjs|cjs|py|ts)$/u, "");

/** The agent host that a program is; `undefined`: none that we know. @internal */
export function agentHostOf({ words, title = "" }: Pick<Program, "words" | "title">): string | undefined {
  const [program = "", ...rest] = words;
  const name = nameOf(program);
  if (HOSTS.has(name)) return name;
  if (HOSTS.has(nameOf(title))) return nameOf(title);
  if (!INTERPRETER.test(name)) return undefined;
  const script = rest.find((word) => !word.startsWith("-"));
  if (script === undefined) return undefined;
  const path = script.replaceAll("\\", "/");
  return PACKAGES.find((known) => path.includes(`${known}/`)) ?? (HOSTS.has(nameOf(script)) ? nameOf(script) : undefined);
}

/** A process by its number, from /proc; the name in `stat` may hold anything, so count from its closing bracket. */
function fromProc(pid: number): Program | undefined {
  try {
    const parent = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ")[1];
    const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").filter(Boolean);
    const title = readFileSync(`/proc/${pid}/comm`, "utf8").trim();
    // A program that set a title of its own has that in place of its command line.
    return { pid, parent: Number(parent), title, words: words.length === 0 ? [title] : words.flatMap(onlyTitle) };
  } catch {
    return undefined;
  }
}

/** A title is one word with blanks in it. */
const onlyTitle = (word: string, at: number, all: readonly string[]): readonly string[] =>
  all.length === 1 && at === 0 && word.includes(" ") ? word.split(" ") : [word];

function fromPs(): ReadonlyMap<number, Program> {
  const listed = new Map<number, Program>();
  try {
    const text = execFileSync("ps", ["-Ao", "pid=,ppid=,command="], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    for (const line of text.split("\n")) {
      const [pid, parent, ...words] = line.trim().split(/\s+/u);
      if (pid !== undefined && parent !== undefined) listed.set(Number(pid), { pid: Number(pid), parent: Number(parent), words });
    }
  } catch {
    // No `ps` (Windows): nothing is known of who started us. What this leaves open is said in SECURITY.md.
    return listed;
  }
  return listed;
}

/** Far more than any tree of processes; a circle cannot hold us up. */
const MOST_ANCESTORS = 64;

/** The programs that started us, nearest first, without ourselves. */
function* ancestors(): Generator<Program> {
  const listed = process.platform === "linux" ? undefined : fromPs();
  let next = process.ppid;
  for (let count = 0; next > 0 && count < MOST_ANCESTORS; count += 1) {
    const found = listed === undefined ? fromProc(next) : listed.get(next);
    if (found === undefined) return;
    yield found;
    next = found.parent;
  }
}

/**
 * The agent host that we run below, if there is one that we know. It stops the plain way only: on one account an agent
 * can start a process that nobody is the parent of (design, section 11).
 */
export function agentHostAbove(): string | undefined {
  for (const program of ancestors()) {
    const host = agentHostOf(program);
    if (host !== undefined) return host;
  }
  return undefined;
}
