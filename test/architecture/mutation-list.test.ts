import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { countsOf, type FileResult, faultsOf, rowsOf, survivorsOf } from "../../scripts/mutation.ts";

const page = readFileSync("docs/reference/mutation-survivors.md", "utf8");

describe("the list of mutants that live", () => {
  const rows = rowsOf(page);

  it("names files that exist, and a reason for each", () => {
    expect(rows.filter(({ file }) => !existsSync(file))).toEqual([]);
    expect(faultsOf(rows, [], [])).toEqual([]);
  });

  it("names each mutant once", () => {
    const ids = rows.flatMap((row) => row.ids);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("tells a score of at least 90, and the command", () => {
    const [, score] = /^Score: (\d+\.\d+) \(\d+ of \d+\), measured by `npm run mutation`$/m.exec(page) ?? [];
    expect(Number(score)).toBeGreaterThanOrEqual(90);
  });
});

describe("the count of mutants", () => {
  const at = (
    line: number,
    from: number,
    to: number,
  ): { start: { line: number; column: number }; end: { line: number; column: number } } => ({
    start: { line, column: from },
    end: { line, column: to },
  });
  const mutant = (status: string, location: ReturnType<typeof at>): FileResult["mutants"][number] => ({
    mutatorName: "BooleanLiteral",
    replacement: "false",
    status,
    location,
  });
  const result: FileResult = {
    source: "a = true;\nb = true;\nc = x | y;",
    mutants: [
      mutant("Killed", at(1, 5, 9)),
      mutant("Survived", at(2, 5, 9)),
      mutant("NoCoverage", at(3, 5, 10)),
      mutant("RuntimeError", at(3, 1, 2)),
    ],
  };
  const [second, third] = survivorsOf("src/core/a.ts", result);

  it("counts what was noticed, leaves out what could not run", () => {
    expect(countsOf([result, { source: "", mutants: [mutant("Timeout", at(1, 1, 1))] }])).toEqual({ killed: 2, all: 4 });
  });

  it("keeps an id when lines move, and tells equal mutants apart", () => {
    const moved: FileResult = {
      source: `\n${result.source}`,
      mutants: result.mutants.map((one) =>
        mutant(one.status, at(one.location.start.line + 1, one.location.start.column, one.location.end.column)),
      ),
    };
    expect(survivorsOf("src/core/a.ts", moved).map(({ id }) => id)).toEqual([second?.id, third?.id]);
    const firstAlive = survivorsOf("src/core/a.ts", { ...result, mutants: [mutant("Survived", at(1, 5, 9))] });
    expect(firstAlive[0]?.id).not.toBe(second?.id);
    expect(third?.what).toBe("BooleanLiteral `x ¦ y` → `false`");
  });

  it("finds what is missing, what lives no more, and what has no reason", () => {
    const survivors = survivorsOf("src/core/a.ts", result);
    const row = (ids: string, reason: string): string => `| ${ids} | src/core/a.ts | what | ${reason} |`;
    const good = rowsOf(row(`${second?.id} ${third?.id}`, "both spell the same value"));
    expect(faultsOf(good, survivors, ["src/core/a.ts"])).toEqual([]);
    expect(faultsOf([], survivors, ["src/core/a.ts"])).toHaveLength(2);
    expect(faultsOf([...good, ...rowsOf(row("00000000", "it was alive once"))], survivors, ["src/core/a.ts"])).toEqual([
      "listed but no longer alive: 00000000",
    ]);
    expect(faultsOf([...good, ...rowsOf(row("00000000", "it was alive once"))], survivors, [])).toEqual([]);
    expect(faultsOf(rowsOf(row(`${second?.id} ${third?.id}`, "")), survivors, [])).toEqual([
      `no reason given: ${second?.id} ${third?.id}`,
    ]);
  });
});
