import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const require = createRequire(import.meta.url);

/** The Node that runs us: the system's may be older than the peers need. */
export const node: string = process.execPath;

const server = (name: string): string => join(here, "node_modules/@modelcontextprotocol", name, "dist/index.js");
export const EVERYTHING: readonly string[] = [node, server("server-everything")];
export const FILESYSTEM: readonly string[] = [node, server("server-filesystem")];
export const MEMORY: readonly string[] = [node, server("server-memory")];

/** What a scripted person says of each tool; a tool that is not named is refused. */
export type Rules = Readonly<Record<string, "run" | "wait" | { readonly text: string } | { readonly arguments: object }>>;

/** The command that puts the relay, with a scripted judge, in front of a server. */
export const gated = (rules: Rules, command: readonly string[]): readonly string[] => [
  node,
  "--disable-warning=ExperimentalWarning",
  join(here, "../gateway/fixtures/gateway.mjs"),
  JSON.stringify(rules),
  ...command,
];

export interface Inspected {
  readonly code: number | null;
  readonly stdout: string;
  /** What the inspector wrote to the server, and what it got. */
  readonly sent: string;
  readonly received: string;
}

const INSPECTOR = join(
  dirname(require.resolve("@modelcontextprotocol/inspector/package.json")),
  "clients/launcher/build/index.js",
);

/** Runs the inspector's command line once against a server command and keeps every byte between the two. */
export async function inspect(command: readonly string[], args: readonly string[]): Promise<Inspected> {
  const folder = await mkdtemp(join(tmpdir(), "inspect-"));
  const kept = join(folder, "kept");
  const config = join(folder, "config.json");
  try {
    const child = spawn(node, [INSPECTOR, "--cli", node, join(here, "tee.mjs"), kept, ...command, ...args], {
      stdio: ["ignore", "pipe", "ignore"],
      env: { ...process.env, PATH: `${dirname(node)}:${process.env.PATH}`, MCP_CATALOG_PATH: config },
    });
    const chunks: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
    const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
    const [sent, received] = await Promise.all([readFile(`${kept}.in`, "utf8"), readFile(`${kept}.out`, "utf8")]);
    return { code, stdout: Buffer.concat(chunks).toString("utf8"), sent, received };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
