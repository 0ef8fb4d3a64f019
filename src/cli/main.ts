import { createRequire } from "node:module";
import { Command, CommanderError } from "commander";
import { isHoldpointError } from "../core/index.ts";
import { VERBS } from "./commands/index.ts";
import { CommandFault, EXIT } from "./exit-codes.ts";
import { tolerateClosedPipes } from "./output.ts";
import type { Does } from "./verb.ts";

const { version } = createRequire(import.meta.url)("../../package.json") as { version: string };

/** Says what went wrong in one line; a fault that we did not foresee keeps its stack, for whoever mends it. */
function explain(thrown: unknown, json: boolean): number {
  if (thrown instanceof CommandFault) {
    if (json && thrown.result !== undefined) process.stdout.write(`${JSON.stringify(thrown.result)}\n`);
    process.stderr.write(`holdpoint: ${thrown.message}\n`);
    return thrown.exit;
  }
  if (isHoldpointError(thrown)) {
    process.stderr.write(`holdpoint: ${thrown.message} [${thrown.code}]\n`);
    return EXIT.failed;
  }
  const isDeclaration = thrown instanceof Error && thrown.name === "DeclarationError";
  process.stderr.write(
    isDeclaration
      ? `holdpoint: ${thrown.message}\n`
      : `holdpoint: ${thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)}\n`,
  );
  return EXIT.failed;
}

function newProgram(does: Does): Command {
  const program = new Command("holdpoint")
    .description(
      "Holds an AI agent's tool call until a person or your policy releases it, and proves that what was released is what ran.",
    )
    .version(version)
    .enablePositionalOptions()
    .exitOverride()
    .showSuggestionAfterError(true)
    .configureOutput({ outputError: (text, write) => write(`holdpoint: ${text.replace(/^error: /u, "")}`) })
    .configureHelp({ sortSubcommands: false })
    .addHelpText(
      "after",
      [
        "",
        "The first two minutes:",
        "  $ holdpoint demo",
        "In front of a server of your own, in the configuration of your MCP client:",
        "  holdpoint mcp -- npx -y @modelcontextprotocol/server-filesystem /srv/notes",
        "Answer from any terminal:",
        "  $ holdpoint pending",
        "  $ holdpoint approve <id>",
        "",
        "Exit codes: 0 done, 1 failed, 2 usage, 3 refused, 4 expired, 5 no approver reachable.",
        "holdpoint <command> --help shows an example of each.",
      ].join("\n"),
    );
  for (const add of VERBS) add(program, does);
  return program;
}

/** The command line. @returns the exit code; never rejects */
export async function main(args: readonly string[]): Promise<number> {
  tolerateClosedPipes();
  // Whoever waits for a person waits on timers that alone keep no process alive.
  const awake = setInterval(() => undefined, 2 ** 30);
  let exit: number = EXIT.done;
  let json = false;
  const does: Does =
    (work) =>
    async (...given) => {
      const command = given.at(-1);
      json = command instanceof Command && command.opts().json === true;
      exit = await work(...given);
    };
  try {
    await newProgram(does).parseAsync([...args], { from: "user" });
    return exit;
  } catch (thrown) {
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? EXIT.done : EXIT.usage;
    return explain(thrown, json);
  } finally {
    clearInterval(awake);
  }
}
