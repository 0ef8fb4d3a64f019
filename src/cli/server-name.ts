import { basename, dirname } from "node:path";

/**
 * What an MCP server is called where nobody says: its tools are `<name>/<tool>`. The first word of its command that says
 * which server it is, without the package's scope and version and without what every server is called:
 * `npx -y @modelcontextprotocol/server-filesystem@2026.8.31 /srv` is `filesystem`, `uvx mcp-server-git` is `git`,
 * `node dist/index.js` in a folder `my-notes` is `my-notes`. `--name` says another.
 */

/** Programs that only start others; each may have words of its own before the server's. */
const RUNNERS: ReadonlyMap<string, readonly string[]> = new Map([
  ["npx", []],
  ["npm", ["exec", "x"]],
  ["pnpm", ["dlx", "exec"]],
  ["yarn", ["dlx", "exec"]],
  ["bun", ["x", "run"]],
  ["bunx", []],
  ["uv", ["tool", "run"]],
  ["uvx", []],
  ["pipx", ["run"]],
  ["node", []],
  ["deno", ["run"]],
  ["python", []],
  ["python3", []],
  ["docker", ["run"]],
  ["podman", ["run"]],
  ["env", []],
  ["sudo", []],
]);
/** Options of those whose value is a word of its own. */
const WITH_VALUE: ReadonlySet<string> = new Set(
  "-e --env -v --volume --mount --name --network -p --publish -u --user -w --workdir --entrypoint --env-file --with --python --from --import --require -r --loader".split(
    " ",
  ),
);
/** Files, folders and packages that many servers have: what they are in says more. */
const ANONYMOUS: ReadonlySet<string> = new Set(
  "index main server mcp mcp-server app cli run start dist build lib src bin out esm cjs __main__".split(" "),
);
const AFFIXES = /^(?:mcp[-_]server[-_]|server[-_]|mcp[-_])|(?:[-_]mcp[-_]server|[-_]mcp|[-_]server)$/giu;

const isAssignment = (word: string): boolean => /^[A-Za-z_]\w*=/u.test(word);

/** The words of the command that are no runner, no option of one, and no variable. */
function* serverWords(command: readonly string[]): Generator<string> {
  let starters: readonly string[] = [];
  for (let at = 0; at < command.length; at += 1) {
    const word = command[at] as string;
    const runner = RUNNERS.get(basename(word).replace(/\.(?:exe|cmd)$/iu, ""));
    if (runner !== undefined) starters = runner;
    else if (WITH_VALUE.has(word)) at += 1;
    else if (!(word.startsWith("-") || isAssignment(word) || starters.includes(word))) yield word;
  }
}

function plain(word: string): string {
  const file = basename(word)
    .replace(/(?<=.)(?:@|==|:).*$/u, "")
    .replace(/\.(?:[cm]?js|ts|py|jar|sh|exe)$/iu, "");
  const parent = dirname(word);
  if (ANONYMOUS.has(file.toLowerCase()) && parent !== "." && parent !== "/") return plain(parent);
  const stripped = file.replace(AFFIXES, "");
  return (stripped === "" ? file : stripped).replace(/[^A-Za-z0-9_.-]+/gu, "-").replace(/^[-.]+|[-.]+$/gu, "");
}

export function serverName(command: readonly string[]): string {
  const [word] = serverWords(command);
  const name = plain(word ?? command[0] ?? "");
  return name === "" ? "server" : name;
}
