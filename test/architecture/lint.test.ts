import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const times = (count: number, line: string): string => `${line}\n`.repeat(count);

/** One planted violation a line: the rule, the file, what it holds. */
const PLANTED: readonly (readonly [rule: string, file: string, text: string])[] = [
  [
    "noExcessiveLinesPerFunction",
    "src/a/long.ts",
    `export function long(): number {\n  let n = 0;\n${times(60, "  n += 1;")}  return n;\n}\n`,
  ],
  ["noExcessiveLinesPerFile", "src/a/tall.ts", times(401, "export const n = 1;")],
  ["useMaxParams", "src/a/wide.ts", "export const wide = (a: number, b: number, c: number, d: number): number => a + b + c + d;"],
  ["useFilenamingConvention", "src/a/camelCase.ts", "export const n = 1;"],
  ["noExplicitAny", "src/a/any.ts", "export const n = (a: any): unknown => a;"],
  ["noNonNullAssertion", "src/a/bang.ts", "export const n = (a?: { b: number }): number => a!.b;"],
  ["noEnum", "src/a/enum.ts", "export enum E { A }"],
  ["noParameterProperties", "src/a/property.ts", "export class P { constructor(readonly a: number) {} }"],
  ["noConsole", "src/a/print.ts", 'console.error("x");'],
  ["noReExportAll", "src/a/star.ts", 'export * from "./any.ts";'],
  ["noImportCycles", "src/a/round.ts", 'import { b } from "./trip.ts";\nexport const a = (): unknown => b;'],
  ["noImportCycles", "src/a/trip.ts", 'import { a } from "./round.ts";\nexport const b = (): unknown => a;'],
  ["noFloatingPromises", "src/a/float.ts", "const f = async (): Promise<void> => {};\nexport const g = (): void => { f(); };"],
  [
    "noMisusedPromises",
    "src/a/misuse.ts",
    "const f = async (): Promise<boolean> => true;\nexport const g = (): number => (f() ? 1 : 2);",
  ],
  [
    "useExhaustiveSwitchCases",
    "src/a/switch.ts",
    'export const f = (a: "x" | "y"): number => {\n  switch (a) {\n    case "x":\n      return 1;\n  }\n  return 2;\n};',
  ],
  ["noEmptyBlockStatements", "src/a/swallow.ts", "export const f = (g: () => void): void => { try { g(); } catch {} };"],
  ["noTsIgnore", "src/a/ignore.ts", "// @ts-ignore\nexport const n: number = 'a';"],
  ["noDefaultExport", "src/a/default.ts", "export default 1;"],
  ["noSkippedTests", "src/a/skip.test.ts", 'import { it } from "vitest";\nit.skip("x", () => 1);'],
  ["noFocusedTests", "src/a/only.test.ts", 'import { it } from "vitest";\nit.only("x", () => 1);'],
  ["useImportExtensions", "src/a/bare.ts", 'import { n } from "./any";\nexport const m = n;'],
  ["noRestrictedGlobals", "src/core/clock.ts", "export const now = (): number => Date.now();"],
  ["noRestrictedGlobals", "src/core/environment.ts", "export const all = (): unknown => process.env;"],
];

/** Nothing may be reported of these. */
const ALLOWED: readonly (readonly [file: string, text: string])[] = [
  ["src/a/clock.ts", "export const now = (): number => Date.now();"],
  ["src/core/clock.test.ts", 'import { it } from "vitest";\nit("x", () => { Date.now(); });'],
  ["src/core/short.ts", `export function short(): number {\n  let n = 0;\n${times(57, "  n += 1;")}  return n;\n}\n`],
  ["scripts/print.ts", 'console.log("x");'],
];

interface Report {
  readonly diagnostics: readonly {
    readonly category: string;
    readonly severity: string;
    readonly location: { readonly path: unknown };
  }[];
}
const pathOf = (path: unknown): string => (typeof path === "string" ? path : (path as { readonly file: string }).file);

describe("the linter", () => {
  let folder: string;
  let found: readonly { readonly rule: string; readonly file: string }[];
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "holdpoint-lint-"));
    for (const file of ["biome.json", "tsconfig.json"]) cpSync(file, join(folder, file));
    for (const [file, text] of [...PLANTED.map(([, ...rest]) => rest), ...ALLOWED]) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), text);
    }
    const args = ["lint", "--reporter=json", "--max-diagnostics=none", "--diagnostic-level=error", "."];
    const ran = spawnSync(process.execPath, [resolve("node_modules/@biomejs/biome/bin/biome"), ...args], {
      cwd: folder,
      encoding: "utf8",
    });
    const report = JSON.parse(ran.stdout) as Report;
    found = report.diagnostics.map(({ category, location }) => ({
      rule: category.split("/").at(-1) ?? "",
      file: pathOf(location.path).replace(/^\.\//, ""),
    }));
  }, 60_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each(PLANTED)("has %s reject %s", (rule, file) => {
    expect(found).toContainEqual({ rule, file });
  });

  it("rejects nothing that is allowed", () => {
    expect(found.filter(({ file }) => ALLOWED.some(([allowed]) => allowed === file))).toEqual([]);
  });
});

describe("the checker of promises", () => {
  it("rejects one that floats, one that is a condition, and a wait for none", () => {
    const folder = mkdtempSync(join(tmpdir(), "holdpoint-async-"));
    const text =
      "const f = async (): Promise<boolean> => true;\nexport const g = async (): Promise<void> => {\n  f();\n  if (f()) await 3;\n};\n";
    writeFileSync(join(folder, "a.ts"), text);
    cpSync("tsconfig.json", join(folder, "tsconfig.json"));
    const args = [resolve("node_modules/oxlint/bin/oxlint"), "--type-aware", "-c", resolve(".oxlintrc.json"), "a.ts"];
    const path = `${resolve("node_modules/.bin")}:${process.env.PATH ?? ""}`;
    const ran = spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8", env: { ...process.env, PATH: path } });
    rmSync(folder, { recursive: true, force: true });
    const rules = [...ran.stdout.matchAll(/typescript\(([\w-]+)\)/g)].map(([, rule]) => rule).toSorted();
    expect(rules).toEqual(["await-thenable", "no-floating-promises", "no-misused-promises"]);
    expect(ran.status).toBe(1);
  }, 60_000);
});
