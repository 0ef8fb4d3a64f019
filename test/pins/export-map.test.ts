import { existsSync, globSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

interface Manifest {
  readonly exports: Readonly<Record<string, unknown>>;
  readonly bin: Readonly<Record<string, string>>;
  readonly files: readonly string[];
  readonly sideEffects: boolean;
}
const manifest = JSON.parse(readFileSync("package.json", "utf8")) as Manifest;

/** What users import. A change here is a change of the published surface: say so in CHANGELOG.md. */
const SUBPATHS = [
  ".",
  "./stores/memory",
  "./stores/sqlite",
  "./channels/terminal",
  "./channels/callback",
  "./gateway",
  "./testing",
] as const;

const folderOf = (subpath: string): string => (subpath === "." ? "src" : `src/${subpath.slice(2)}`);
const built = (subpath: string, end: string): string => `./dist/${subpath === "." ? "" : `${subpath.slice(2)}/`}index${end}`;

describe("the export map", () => {
  it("is this list, with types first and no wildcard", () => {
    const entries = SUBPATHS.map((subpath) => [subpath, { types: built(subpath, ".d.ts"), default: built(subpath, ".js") }]);
    expect(manifest.exports).toEqual({ ...Object.fromEntries(entries), "./package.json": "./package.json" });
    for (const subpath of SUBPATHS) expect(Object.keys(manifest.exports[subpath] as object)).toEqual(["types", "default"]);
  });

  it("has a folder with a door for each line", () => {
    expect(SUBPATHS.filter((subpath) => !existsSync(`${folderOf(subpath)}/index.ts`))).toEqual([]);
  });

  it("has a line for each folder with a door", () => {
    const doors = globSync([
      "src/index.ts",
      "src/{stores,channels,adapters}/*/index.ts",
      "src/{gateway,testing,policy,remote,server}/index.ts",
    ]);
    const folders = doors.map((door) => door.replaceAll("\\", "/").replace(/\/index\.ts$/, "")).sort();
    expect(folders).toEqual(SUBPATHS.map(folderOf).sort());
  });

  it("has one command and no side effect on import", () => {
    expect(manifest.bin).toEqual({ holdpoint: "bin/holdpoint.js" });
    expect(manifest.sideEffects).toBe(false);
    expect(manifest.files).toEqual(["bin", "dist", "README.md", "LICENSE", "CHANGELOG.md", "SECURITY.md"]);
  });
});
