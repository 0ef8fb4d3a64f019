import { createRequire } from "node:module";
import { Command, CommanderError } from "commander";
import { isHoldpointError } from "../core/index.ts";
import { VERBS } from "./commands/index.ts";
import { codeOf, CommandFault, EXIT, usage } from "./exit-codes.ts";
import { tolerateClosedPipes, wrapped } from "./output.ts";
import type { Does } from "./verb.ts";

const { version } = createRequire(import.meta.url)("../../package.json") as { version: string };

/** Says what went wrong in one line; a fault that we did not foresee keeps its stack, for whoever mends it. */
function explain(thrown: unknown, json: "result" | "lines" | undefined): number {
  if (json !== undefined) return explainAsData(thrown, json);
  if (thrown instanceof CommandFault) {
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

/**
 * The same for a program: one JSON value where the result would be, or on standard error where standard output belongs
 * to what the command runs.
 */
function explainAsData(thrown: unknown, json: "result" | "lines"): number {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const exit = thrown instanceof CommandFault ? thrown.exit : EXIT.failed;
  const result = thrown instanceof CommandFault ? thrown.result : undefined;
  const stream = json === "result" ? process.stdout : process.stderr;
  stream.write(`${JSON.stringify({ ...result, error: { code: codeOf(thrown), message } })}\n`);
  if (json === "result") process.stderr.write(`holdpoint: ${message}\n`);
  return exit;
}

/** Commands in front of a program: their standard output is that program's. */
const PASSING: ReadonlySet<string> = new Set(["mcp", "exec"]);

/** How a command speaks; `undefined`: to people. */
const speech = (command: string, json: boolean): "result" | "lines" | undefined =>
  json ? (PASSING.has(command) ? "lines" : "result") : undefined;

/** The same before the words were understood, for a fault in the words themselves. What comes after -- is not ours. */
function speechOf(args: readonly string[]): "result" | "lines" | undefined {
  const end = args.indexOf("--");
  return speech(args[0] ?? "", (end < 0 ? args : args.slice(0, end)).includes("--json"));
}

function newProgram(does: Does, forPeople: boolean): Command {
  const program = new Command("holdpoint")
    .description(
      "Holds an AI agent's tool call until a person or your policy releases it, and proves that what was released is what ran.",
    )
    .version(version)
    .enablePositionalOptions()
    .exitOverride()
    .showSuggestionAfterError(true)
    .configureOutput({
      outputError: (text, write) => {
        if (forPeople) write(`holdpoint: ${text.replace(/^error: /u, "")}`);
      },
    })
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
        wrapped("Exit codes: 0 done, 1 failed, 2 usage, 3 refused, 4 expired, 5 no approver reachable."),
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
  let json = speechOf(args);
  const does: Does =
    (work) =>
    async (...given) => {
      const command = given.at(-1);
      if (command instanceof Command) json = speech(command.name(), command.opts().json === true);
      exit = await work(...given);
    };
  try {
    await newProgram(does, json === undefined).parseAsync([...args], { from: "user" });
    return exit;
  } catch (thrown) {
    if (thrown instanceof CommanderError) {
      if (thrown.exitCode === 0) return EXIT.done;
      // Without --json the parser itself has said what is wrong.
      return json === undefined ? EXIT.usage : explain(usage(thrown.message.replace(/^error: /u, ""), thrown), json);
    }
    return explain(thrown, json);
  } finally {
    clearInterval(awake);
  }
}
