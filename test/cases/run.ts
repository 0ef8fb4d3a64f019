import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { lineOf, matrixLine, missedBy, passing, row, totals, totalsOf } from "./report.ts";
import { linesIn, type Ran, runAll } from "./runner.ts";
import { SABOTAGES } from "./sabotage/list.ts";

/**
 * `npm run cases -- FILE…` runs the cases of files, one line each, and prints totals by kind.
 * `npm run cases -- --sabotage [--all] [FILE…]` runs them against gates that are built worse than ours, and prints which
 * kinds notice; `--all` goes on after the first case of a kind that did.
 */
const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const BANK = ["bank/reported-faults.jsonl", "bank/attacks.jsonl", "own.jsonl"].map(here);

async function runFiles(files: readonly string[]): Promise<boolean> {
  const all: Ran[] = [];
  for (const file of files)
    for await (const ran of runAll(linesIn(file))) {
      console.log(lineOf(ran));
      all.push(ran);
    }
  console.log("");
  for (const line of totals(all)) console.log(line);
  return totalsOf(all).failed === 0;
}

async function runSabotage(files: readonly string[], every: boolean): Promise<boolean> {
  const lines = await passing(files.flatMap((file) => [...linesIn(file)]));
  let noticed = 0;
  let missed = 0;
  for (const tried of SABOTAGES) {
    const concerned = every ? lines : lines.filter((line) => tried.kinds.includes(line.kind));
    const cells = await row(tried, concerned, !every);
    console.log(matrixLine(tried, cells));
    if (missedBy(tried, cells).length > 0 || cells.every((cell) => cell.failed.length === 0)) missed += 1;
    else noticed += 1;
  }
  console.log(`\n${noticed} passed, ${missed} failed: sabotages noticed by every kind concerned, and not`);
  return missed === 0;
}

const given = process.argv.slice(2);
const files = given.filter((word) => !word.startsWith("--"));
const options = given.filter((word) => word.startsWith("--"));
const wrong = [
  ...options.filter((word) => word !== "--sabotage" && word !== "--all"),
  ...files.filter((file) => !existsSync(file)),
];
if (wrong.length > 0 || given.length === 0) {
  console.error(`cases: ${wrong.length > 0 ? `no such option or file: ${wrong.join(" ")}` : "name a file of cases"}
usage: npm run cases -- FILE…
       npm run cases -- --sabotage [--all] [FILE…]`);
  process.exitCode = 2;
} else {
  const good = options.includes("--sabotage")
    ? await runSabotage(files.length === 0 ? BANK : files, options.includes("--all"))
    : await runFiles(files);
  process.exitCode = good ? 0 : 1;
}
