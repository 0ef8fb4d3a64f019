import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

/** The entry as it is published, in a package whose `dist/cli/main.js` each test writes. */
let home: string;
const entry = (): string => join(home, "bin/holdpoint.js");

const run = (args: readonly string[], node: string = process.execPath): { status: number | null; out: string; err: string } => {
  const ran = spawnSync(node, [...args], { encoding: "utf8", timeout: 15_000 });
  return { status: ran.status, out: ran.stdout, err: ran.stderr };
};
const commandLine = (source: string): void => writeFileSync(join(home, "dist/cli/main.js"), source);

beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), "holdpoint-entry-"));
  mkdirSync(join(home, "bin"));
  mkdirSync(join(home, "dist/cli"), { recursive: true });
  writeFileSync(join(home, "package.json"), '{ "type": "module" }');
  copyFileSync("bin/holdpoint.js", entry());
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

const ONE_LINE = (version: string): string =>
  `holdpoint needs Node 22.13 or newer and this is Node ${version}: install it from https://nodejs.org, or run npx -y -p node@22 -p holdpoint holdpoint\n`;

describe("the command on an old Node", () => {
  it.each(["20.20.2", "22.12.0", "18.0.0", "9.11.2"])("says in one line what Node %s lacks", (version) => {
    commandLine('process.stdout.write("started"); export const main = () => 0;');
    const asIf = `Object.defineProperty(process.versions, "node", { value: "${version}" })`;
    expect(run(["--import", `data:text/javascript,${encodeURIComponent(asIf)}`, entry()])).toEqual({
      status: 1,
      out: "",
      err: ONE_LINE(version),
    });
  });

  it("says it on the real older Nodes of this machine", () => {
    commandLine('process.stdout.write("started"); export const main = () => 0;');
    const installed = ["/usr/bin/node", "/usr/local/bin/node"].flatMap((node) => {
      const asked = spawnSync(node, ["-p", "process.versions.node"], { encoding: "utf8" });
      return asked.status === 0 ? [{ node, version: asked.stdout.trim() }] : [];
    });
    const old = installed.filter(({ version }) => Number(version.split(".")[0]) < 22);
    for (const { node, version } of old) expect(run([entry()], node)).toEqual({ status: 1, out: "", err: ONE_LINE(version) });
  });
});

describe("the command on this Node", () => {
  it("hands over its arguments and takes the exit status", () => {
    commandLine("export const main = async (args) => { process.stdout.write(JSON.stringify(args)); return 3; };");
    expect(run([entry(), "show", "a b"])).toEqual({ status: 3, out: '["show","a b"]', err: "" });
  });

  it("keeps back what node:sqlite says of itself and no other warning", () => {
    commandLine(`import { DatabaseSync } from "node:sqlite";
      new DatabaseSync(":memory:").close();
      process.emitWarning("Something else is an experimental feature", "ExperimentalWarning");
      process.emitWarning("plain", { code: "HP_TEST" });
      export const main = () => 0;`);
    const { status, err } = run([entry()]);
    expect(status).toBe(0);
    expect(err).not.toContain("SQLite");
    expect(err).toContain("ExperimentalWarning: Something else");
    expect(err).toContain("[HP_TEST] Warning: plain");
  });

  it("ends with 1 and the fault where the command line cannot start", () => {
    commandLine('throw new Error("data folder is from a newer version");');
    const { status, err } = run([entry()]);
    expect(status).toBe(1);
    expect(err).toContain("holdpoint: Error: data folder is from a newer version");
  });

  it("is executable as published", () => {
    const mode = execFileSync("git", ["ls-files", "-s", "bin/holdpoint.js"], { encoding: "utf8" }).slice(0, 6);
    expect(["", "100755"]).toContain(mode);
  });
});
