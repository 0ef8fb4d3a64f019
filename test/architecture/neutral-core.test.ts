import { spawnSync } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";

/** Compiles each text as a file of the core and resolves with the names that the compiler did not know, by file. */
const unknownNames = (texts: Readonly<Record<string, string>>): Record<string, string[]> => {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-neutral-"));
  for (const [name, text] of Object.entries(texts)) writeFileSync(join(folder, `${name}.ts`), text);
  const configuration = { extends: resolve("tsconfig.core.json"), include: [join(folder, "*.ts")], exclude: [] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(configuration));
  const ran = spawnSync(process.execPath, [resolve("node_modules/typescript/bin/tsc"), "-p", folder], {
    cwd: folder,
    encoding: "utf8",
  });
  rmSync(folder, { recursive: true, force: true });
  const found: Record<string, string[]> = Object.fromEntries(Object.keys(texts).map((name) => [name, []]));
  for (const line of ran.stdout.split("\n")) {
    const [, file, name] = /([\w-]+)\.ts\(.*(?:Cannot find (?:name|module)|does not exist on type).*?'([\w:]+)'/.exec(line) ?? [];
    if (file !== undefined && name !== undefined) found[file]?.push(name);
  }
  return found;
};

describe("the core knows no runtime", () => {
  const GLOBALS = [
    "setTimeout",
    "setInterval",
    "queueMicrotask",
    "process",
    "crypto",
    "fetch",
    "console",
    "Buffer",
    "performance",
    "AbortController",
    "URL",
    "TextEncoder",
  ];

  it("has no timer, environment, hash, network or stream to name", () => {
    const texts = Object.fromEntries(GLOBALS.map((name) => [`uses-${name}`, `export const taken: unknown = ${name};`]));
    const expected = Object.fromEntries(GLOBALS.map((name) => [`uses-${name}`, [name]]));
    expect(unknownNames({ ...texts, module: 'import "node:crypto";' })).toEqual({ ...expected, module: ["node:crypto"] });
  }, 60_000);

  it("compiles what it may use", () => {
    expect(unknownNames({ plain: "export const taken: Map<string, bigint> = new Map();" })).toEqual({ plain: [] });
  }, 60_000);

  it("reads no clock and no chance, which its library still has", () => {
    const files = globSync("src/core/**/*.ts").filter((file) => !/\.test(-kit)?\.ts$/.test(file));
    expect(files.length).toBeGreaterThan(30);
    const code = (file: string): string => readFileSync(file, "utf8").replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, "");
    expect(
      files.filter((file) =>
        /\bMath\.random\b|(?<!typeof )\bglobalThis\b|\bnew Date\b|\bDate\.|\bAtomics\b|\bimport\(/.test(code(file)),
      ),
    ).toEqual([]);
  });
});
