import { readFileSync } from "node:fs";
import { runAttack } from "./attacks/run.ts";
import { isAttack } from "./attacks/shape.ts";
import { runFault } from "./faults/run.ts";
import { isFault } from "./faults/shape.ts";
import { failed, type Result } from "./work.ts";
import type { Sabotage } from "./world/part.ts";

export interface Ran {
  readonly id: string;
  readonly kind: string;
  readonly result: Result;
}

export interface Line {
  readonly id: string;
  readonly kind: string;
  /** It starts processes of its own, which no worse part can be given to. */
  readonly foreign: boolean;
  readonly run: (sabotage?: Sabotage) => Promise<Result>;
}

/** Lines of a case file, as they are. */
function linesOf(text: string): readonly Line[] {
  return text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line, at): Line => {
      const one = JSON.parse(line) as unknown;
      if (isFault(one)) return { id: one.id, kind: one.kind, foreign: false, run: (sabotage) => runFault(one, sabotage) };
      if (isAttack(one))
        return {
          id: one.id,
          kind: one.where,
          foreign: one.input.processes !== undefined,
          run: (sabotage) => runAttack(one, sabotage),
        };
      return {
        id: `line ${at + 1}`,
        kind: "unknown",
        foreign: false,
        run: async () => failed(["a line of no shape that is known"]),
      };
    });
}

export const linesIn = (path: string): readonly Line[] => linesOf(readFileSync(path, "utf8"));

/** Runs every case of a file, one after the other. */
export async function* runAll(lines: readonly Line[], sabotage?: Sabotage): AsyncGenerator<Ran> {
  for (const { id, kind, run } of lines) yield { id, kind, result: await run(sabotage) };
}
