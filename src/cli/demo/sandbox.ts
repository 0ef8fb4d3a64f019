import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

/** Where the demonstration plays: nothing outside this folder is touched. */
export interface Sandbox {
  readonly folder: string;
  /** What the server serves. */
  readonly files: string;
  readonly data: string;
  readonly policy: string;
  remove(): void;
}

export const NOTES = "Buy milk\nPay rent\n";

/** Reads are free; what changes something waits; moving a file away takes a deliberate act. */
const policyFor = (deadline: string | undefined): object => ({
  version: 1,
  tools: [
    { match: "files/read_*", tier: "read" },
    { match: "files/write_file", tier: "write", impact: "default", effect: "{path} is written" },
    { match: "files/edit_file", tier: "write", impact: "default", effect: "{path} is changed" },
    { match: "files/move_file", tier: "write", impact: "destructive", effect: "{source} is gone from its place" },
  ],
  rules: [
    {
      name: "moving files",
      ask: "files/move_file",
      message: "Move {source} to {destination}",
      ...(deadline === undefined ? {} : { deadline }),
    },
  ],
});

/** @param moveWithin how long a person may take over the move. Default: as long as over any other call */
export function makeSandbox(moveWithin?: string): Sandbox {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "holdpoint-demo-")));
  const [files, data, policy] = [join(folder, "files"), join(folder, "data"), join(folder, "policy.json")];
  mkdirSync(join(files, "attic"), { recursive: true });
  writeFileSync(join(files, "notes.txt"), NOTES);
  writeFileSync(policy, `${JSON.stringify(policyFor(moveWithin), null, 2)}\n`);
  return { folder, files, data, policy, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Each file by its path in the folder. */
export type Tree = ReadonlyMap<string, string>;

export function treeOf(folder: string): Tree {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map((entry) => join(entry.parentPath, entry.name)).sort();
  return new Map(paths.map((path) => [relative(folder, path), readFileSync(path, "utf8")]));
}

/** What is different, a line each; empty: nothing. */
export function changes(before: Tree, after: Tree): readonly string[] {
  const size = (content: string): string => `${Buffer.byteLength(content)} bytes`;
  const lines: string[] = [];
  for (const [path, content] of after) {
    const was = before.get(path);
    if (was === undefined) lines.push(`new: ${path} (${size(content)})`);
    else if (was !== content) lines.push(`changed: ${path} (${size(was)}, now ${size(content)})`);
  }
  for (const path of before.keys()) if (!after.has(path)) lines.push(`gone: ${path}`);
  return lines;
}

const PACKAGE = "@modelcontextprotocol/server-filesystem";
const VERSION = "2026.8.31";

/** The server's command: from the packages beside us, or fetched. */
export function filesystemServer(): { readonly command: readonly string[]; readonly fetched: boolean } {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    const entry = join(folder, "node_modules", PACKAGE, "dist", "index.js");
    if (existsSync(entry)) return { command: [process.execPath, entry], fetched: false };
    if (dirname(folder) === folder) return { command: ["npx", "-y", `${PACKAGE}@${VERSION}`], fetched: true };
  }
}
