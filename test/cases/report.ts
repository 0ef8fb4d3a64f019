import { type Ran, type Line, runAll } from "./runner.ts";
import type { Tried } from "./sabotage/list.ts";

/** What the runner prints: a line for each case, totals for each kind, and the matrix of the sabotage run. */

const MARKS = { pass: "pass   ", fail: "FAIL   ", "not yet": "not yet" } as const;

export function lineOf({ id, kind, result }: Ran): string {
  const why =
    result.result === "fail"
      ? `: ${result.why.join("; ")}`
      : result.result === "not yet"
        ? `: ${result.work} (${result.why})`
        : "";
  return `${MARKS[result.result]}  ${id.padEnd(7)}  ${kind}${why}`;
}

export interface Totals {
  readonly passed: number;
  readonly failed: number;
  readonly later: number;
}

export function totalsOf(ran: readonly Ran[]): Totals {
  const count = (result: Ran["result"]["result"]): number => ran.filter((one) => one.result.result === result).length;
  return { passed: count("pass"), failed: count("fail"), later: count("not yet") };
}

const counts = ({ passed, failed, later }: Totals): string => `${passed} passed, ${failed} failed, ${later} not yet`;

/** Totals by kind, and of all: the last line is read by the test command. */
export function totals(ran: readonly Ran[]): readonly string[] {
  const kinds = [...new Set(ran.map((one) => one.kind))].sort();
  const width = Math.max(0, ...kinds.map((kind) => kind.length));
  const lines = kinds.map((kind) => `${kind.padEnd(width)}  ${counts(totalsOf(ran.filter((one) => one.kind === kind)))}`);
  return [...lines, counts(totalsOf(ran))];
}

/** What one sabotage came to with the cases of one kind. */
export interface Cell {
  readonly kind: string;
  readonly failed: readonly string[];
  readonly ran: number;
}

/** Cases that pass with our own parts; only those can say anything of worse ones. */
export async function passing(lines: readonly Line[]): Promise<readonly Line[]> {
  const good = new Set<string>();
  for await (const { id, result } of runAll(lines)) if (result.result === "pass") good.add(id);
  return lines.filter((line) => good.has(line.id));
}

/** Runs the cases of each kind with a worse part. `first`: until one of the kind fails. */
export async function row(tried: Tried, lines: readonly Line[], first: boolean): Promise<readonly Cell[]> {
  const cells: Cell[] = [];
  for (const kind of new Set(lines.map((line) => line.kind))) {
    const failed: string[] = [];
    let ran = 0;
    for (const line of lines.filter((one) => one.kind === kind && !one.foreign)) {
      if (first && failed.length > 0) break;
      ran += 1;
      const result = await line.run(tried.sabotage);
      if (result.result === "fail") failed.push(line.id);
    }
    cells.push({ kind, failed, ran });
  }
  return cells;
}

/** One line of the matrix: kinds that must notice, and the case that did. */
export function matrixLine(tried: Tried, cells: readonly Cell[]): string {
  const noticed = cells
    .filter((cell) => cell.failed.length > 0)
    .map((cell) => `${cell.kind} ${cell.failed.length}/${cell.ran} (${cell.failed[0]})`);
  const missed = missedBy(tried, cells);
  const missing = missed.length === 0 ? "" : `  MISSED by ${missed.join(", ")}`;
  return `${tried.sabotage.name.padEnd(18)}  ${noticed.join(" · ")}${missing}`;
}

/** Kinds that should have noticed and did not. */
export const missedBy = (tried: Tried, cells: readonly Cell[]): readonly string[] =>
  tried.kinds.filter((kind) => !cells.some((cell) => cell.kind === kind && cell.failed.length > 0));
