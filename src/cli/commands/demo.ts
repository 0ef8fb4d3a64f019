import { agentHostAbove } from "../agent-host.ts";
import { hasTerminal } from "../ask.ts";
import { type Checked, type Played, playByScript, playWithPerson, type Telling } from "../demo/play.ts";
import { filesystemServer } from "../demo/sandbox.ts";
import { CommandFault, EXIT, usage } from "../exit-codes.ts";
import { oneLine, output, type Output, table, wrapped } from "../output.ts";
import { quoted } from "../place.ts";
import { type Common, GROUPS, type Verb, verb } from "../verb.ts";

interface Options extends Common {
  readonly auto?: boolean;
}

const indented = (text: string): string =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => wrapped(oneLine(line), "    "))
    .join("\n");

function playedText({ result, changes }: Played): string {
  const disk = changes.length === 0 ? "    nothing changed" : changes.map((line) => `    ${oneLine(line)}`).join("\n");
  return `  The agent reads:\n${indented(result.text)}\n  On the disk:\n${disk}\n`;
}

const say = (text: string): void => void process.stdout.write(`${text}\n`);

const TELLING: Telling = {
  begins: ({ files, data }) =>
    say(
      [
        `A scripted agent works in ${files}.`,
        wrapped("Between it and its file server stands holdpoint mcp, as it would stand in your own client's configuration."),
        wrapped("What waits is asked here, at your terminal. From another one you could answer too:"),
        `  holdpoint pending --data ${quoted(data)}`,
        "",
      ].join("\n"),
    ),
  step: ({ says, hint }, number, of) =>
    say(wrapped(`${number} of ${of}. ${says}`) + (hint === undefined ? "" : `\n${wrapped(hint, "  ")}`)),
  played: (played) => say(playedText(played)),
  ends: ({ folder, data }) =>
    say(
      [
        "That was all. Every question and answer is on record:",
        `  holdpoint show <id> --data ${quoted(data)}`,
        wrapped(`What is left of this demonstration is in ${folder}; remove it when you have seen enough.`),
      ].join("\n"),
    ),
};

function rowOf({ step, decided, result, changes, faults }: Checked): readonly string[] {
  const model = result.isError ? (result.text.split(". ")[0] ?? "") : "the result";
  return [faults.length === 0 ? "ok" : "NOT OK", step.tool, decided, oneLine(model), changes.join("; ") || "nothing changed"];
}

/** Exit code 0 only where every effect is as it was decided. */
function reportChecked(out: Output, checked: readonly Checked[]): number {
  const heading = ["", "the agent calls", "the person", "the model reads", "on the disk"];
  const rows = checked.map(({ step, decided, result, changes, faults }) => ({
    tool: step.tool,
    decided,
    read: result.text,
    isError: result.isError,
    changes,
    faults,
  }));
  out.result(rows, table([heading, ...checked.map(rowOf)]));
  const faults = checked.flatMap((one) => one.faults.map((fault) => `${one.step.tool}: ${fault}`));
  for (const fault of faults) out.note(fault);
  if (faults.length > 0) return EXIT.failed;
  out.note(`${checked.length} calls, each as it was decided and nothing else`);
  return EXIT.done;
}

export const demo: Verb = (program, does) => {
  verb(program, {
    name: "demo",
    says: "the first two minutes: a scripted agent, a real file server in a sandbox, and you decide",
    group: GROUPS.start,
    example: ["holdpoint demo", "holdpoint demo --auto"],
  })
    .option("--auto", "a scripted person answers, and every effect on the disk is checked")
    .action(
      does(async (options: Options) => {
        const out = output(options);
        if (filesystemServer().fetched) out.note("fetching the file server with npx; this takes a moment the first time");
        if (options.auto === true) return reportChecked(out, await playByScript());
        if (out.json) throw usage("--json goes with --auto: without it the demonstration speaks to a person");
        if (!hasTerminal() || agentHostAbove() !== undefined) {
          throw new CommandFault(
            "the demonstration asks you at your terminal, and there is none here. Run it in a terminal, or let a scripted person answer: holdpoint demo --auto",
            EXIT.noApprover,
          );
        }
        await playWithPerson(TELLING);
        return EXIT.done;
      }),
    );
};
