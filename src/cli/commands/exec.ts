import type { GatedTool, Outcome, Policy } from "../../core/index.ts";
import { codePointers, requireProgram, surroundingsOf, tellingVariables, toolName } from "../exec/program.ts";
import { ProgramFailed, runProgram } from "../exec/run.ts";
import { checkDeadline } from "../deadline.ts";
import { CommandFault, EXIT, withCode } from "../exit-codes.ts";
import { tellOfHeld } from "../held.ts";
import { hostGate, operator } from "../host.ts";
import { stderrLog } from "../log.ts";
import { output } from "../output.ts";
import { placeOf } from "../place.ts";
import { readPolicy } from "../policy-file.ts";
import { type Common, GROUPS, type Verb, verb } from "../verb.ts";

interface Options extends Common {
  readonly as?: string;
  readonly reason?: string;
  readonly policy?: string;
  readonly deadline: string;
  readonly terminal: boolean;
  readonly quiet?: boolean;
}

/** A script waits in place for its person (design, section 14). */
const DEADLINE = "5m";

/** Signals that withdraw a question that still waits. */
const ENDING = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

interface Wanted {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly path: string;
}

/** The program as a tool: physical, since it runs code, and bound to its folder and to the code that would run. */
function toolOf({ argv, cwd, path }: Wanted, file: string, waiting: () => void) {
  const [word = ""] = argv;
  return {
    name: toolName(word, { cwd, path }),
    origin: "exec",
    tier: "physical" as const,
    binds: { cwd: "/cwd", files: codePointers(argv, cwd) },
    editable: [],
    run: () => {
      waiting();
      return runProgram({ file, argv, cwd });
    },
  };
}

/** The exit status of the program, or 125 with the code of the refusal on standard error. */
function exitOf(outcome: Outcome, options: Options): number {
  if (outcome.status === "ran") return EXIT.done;
  if (outcome.status === "failed") {
    if (!(outcome.error instanceof ProgramFailed)) throw outcome.error;
    if (outcome.error.status === EXIT.notExecutable) output().note(outcome.error.message);
    return outcome.error.status;
  }
  const code = outcome.status === "refused" ? outcome.code : outcome.status;
  const sentence = "sentence" in outcome ? outcome.sentence : "";
  const request = outcome.request === undefined ? {} : { request: outcome.request };
  process.stderr.write(
    options.json === true ? `${JSON.stringify({ code, sentence, ...request })}\n` : `holdpoint: ${code}: ${sentence}\n`,
  );
  return EXIT.notRun;
}

async function ask(wanted: Wanted, options: Options, policy: Policy | undefined): Promise<number> {
  const [word = ""] = wanted.argv;
  const file = requireProgram(word, wanted);
  const place = placeOf(options.data);
  const { gate, asksHere } = await hostGate({
    place,
    log: stderrLog(options),
    policy,
    deadline: options.deadline,
    terminal: options.terminal,
    listing: true,
    surroundings: (plain) => surroundingsOf(plain, { word, path: wanted.path }),
  });
  if (!asksHere) tellOfHeld(gate, { place, log: options });
  const withdrawn = new AbortController();
  const withdraw = (): void => withdrawn.abort("requester");
  for (const signal of ENDING) process.on(signal, withdraw);
  const started = (): void => {
    for (const signal of ENDING) process.removeListener(signal, withdraw);
  };
  const { argv, cwd } = wanted;
  const tool = gate.tool(toolOf(wanted, file, started)) as GatedTool<unknown>;
  const run = gate.run({ principal: operator(), run: null, ...(options.as === undefined ? {} : { agent: options.as }) });
  try {
    const outcome = await run.try(
      tool,
      { argv, cwd, env: tellingVariables(process.env) },
      { signal: withdrawn.signal, notes: [UNBOUND], ...(options.reason === undefined ? {} : { statement: options.reason }) },
    );
    return exitOf(outcome, options);
  } finally {
    started();
    await run[Symbol.asyncDispose]();
    await gate[Symbol.asyncDispose]();
  }
}

/** Only the program itself is bound by its bytes: a card that does not say so would promise more than it holds. */
const UNBOUND =
  "the program and a script it is started with are bound; what it loads or starts by itself is not, and may change until it runs";

/** A caller must be able to tell our own failure from its program's: as `env` and `timeout` do, 125. */
async function withOwnStatus(work: () => Promise<number>): Promise<number> {
  try {
    return await work();
  } catch (thrown) {
    if (thrown instanceof CommandFault && thrown.exit >= EXIT.notRun) throw thrown;
    throw new CommandFault(withCode(thrown), EXIT.notRun, { cause: thrown });
  }
}

export const exec: Verb = (program, does) => {
  verb(program, {
    name: "exec",
    says: "runs a command only if your policy or a person says so; then it is as if it ran by itself",
    group: GROUPS.gate,
    json: "what is said on standard error, as JSON, a line each",
    example: ['holdpoint exec --reason "disk is full" -- rm -r /var/cache/app', "holdpoint exec -- make deploy"],
    more: [
      "The tool is exec/<program>; the call is {argv, cwd, env}, where env has the variables that change what runs.",
      "Bound to the answer, and looked at again before it runs: the folder, the program's file, an interpreter's script.",
      "Exit code: the command's own; 125 where it was not run, with the code of the refusal on standard error.",
    ].join("\n"),
  })
    .argument("<command...>", "the command, after --")
    .option("--as <label>", "what the agent is called on the card; a label, not an identity")
    .option("--reason <text>", "the agent's own words, shown as its claim")
    .option("--policy <file>", "a policy as JSON; without one, each command asks")
    .option("--deadline <duration>", "how long a person may take", DEADLINE)
    .option("--no-terminal", "do not ask at this terminal")
    .option("--quiet", "no warnings and errors of the desk on standard error")
    .passThroughOptions()
    .action(
      does(async (argv: string[], options: Options) => {
        checkDeadline(options.deadline);
        return withOwnStatus(async () => {
          const policy = options.policy === undefined ? undefined : readPolicy(options.policy);
          return ask({ argv, cwd: process.cwd(), path: process.env.PATH ?? "" }, options, policy);
        });
      }),
    );
};
