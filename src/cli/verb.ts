import type { Command } from "commander";
import { wrapped } from "./output.ts";

/** Options that every command has. */
export interface Common {
  readonly data?: string;
  readonly json?: boolean;
}

/** Runs a command's work and keeps its exit code; faults become one line on standard error. */
export type Does = <Given extends unknown[]>(work: (...given: Given) => Promise<number>) => (...given: Given) => Promise<void>;

/** Adds one command to the program. */
export type Verb = (program: Command, does: Does) => void;

interface Words {
  readonly name: string;
  readonly says: string;
  readonly group: string;
  readonly example: readonly string[];
  /** What `--json` is. Default: the result, on standard output. */
  readonly json?: string;
  /** More to know, below the options. */
  readonly more?: string;
}

/** A command with what all have: help that ends in an example, `--data`, `--json`. */
export function verb(program: Command, { name, says, group, example, more, json }: Words): Command {
  return program
    .command(name)
    .description(says)
    .summary(says.split(/[.;:(]/u)[0]?.trim() ?? says)
    .helpGroup(group)
    .option("--data <folder>", "the data folder (default: $HOLDPOINT_DATA, else the one of your account)")
    .option("--json", json ?? "the result as JSON on standard output")
    .addHelpText(
      "after",
      `${
        more === undefined
          ? ""
          : `\n${more
              .split("\n")
              .map((line) => wrapped(line))
              .join("\n")}\n`
      }\nExample:\n${example.map((line) => `  $ ${line}`).join("\n")}`,
    );
}

export const GROUPS = {
  start: "Start:",
  gate: "Put something behind the gate:",
  decide: "Decide:",
  authority: "Remembered authority:",
  look: "Look after it:",
} as const;
