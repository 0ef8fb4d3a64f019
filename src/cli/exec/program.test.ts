import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { nodeRuntime } from "../../runtime/node/index.ts";
import {
  codePointers,
  programEnvironment,
  programFile,
  requireProgram,
  surroundingsOf,
  tellingVariables,
  toolName,
} from "./program.ts";

let folder: string;
let from: { cwd: string; path: string };
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "holdpoint-program-")));
  mkdirSync(join(folder, "bin"));
  for (const name of ["bin/tool", "tool", "bin/g++"]) {
    writeFileSync(join(folder, name), "#!/bin/sh\n");
    chmodSync(join(folder, name), 0o755);
  }
  writeFileSync(join(folder, "plain"), "no program");
  symlinkSync("tool", join(folder, "bin", "alias"));
  from = { cwd: folder, path: `/nowhere:${folder}/bin` };
});
afterAll(() => rmSync(folder, { recursive: true }));

describe("the program that would be started", () => {
  it("is looked for on the PATH as the system does", () => {
    expect(programFile("tool", from)).toBe(join(folder, "bin/tool"));
    expect(programFile("alias", from)).toBe(join(folder, "bin/alias"));
    expect(programFile("./tool", from)).toBe(join(folder, "tool"));
    expect(programFile("plain", from)).toBeUndefined();
    expect(programFile("bin", { cwd: folder, path: "" })).toBeUndefined();
    expect(programFile("tool", { cwd: folder, path: "" })).toBe(join(folder, "tool"));
  });

  it("must be there before anybody is asked", () => {
    expect(() => requireProgram("nosuch", from)).toThrow(expect.objectContaining({ exit: 127 }));
    expect(() => requireProgram("./plain", from)).toThrow(expect.objectContaining({ exit: 126 }));
    expect(() => requireProgram("x".repeat(5000), from)).toThrow(expect.objectContaining({ exit: 127 }));
    expect(requireProgram("tool", from)).toBe(join(folder, "bin/tool"));
  });

  it("gives the tool its name; a file beside the PATH has not the name of the one on it", () => {
    expect(toolName("tool", from)).toBe("exec/tool");
    expect(toolName(join(folder, "bin/tool"), from)).toBe("exec/tool");
    expect(toolName("./tool", from)).toBe(`exec/path${folder}/tool`);
    expect(toolName("g++", from)).toBe("exec/g__");
  });

  it("is bound with its bytes, by the name that was typed", async () => {
    const plain = nodeRuntime().surroundings;
    const surroundings = surroundingsOf(plain, { word: "alias", path: from.path });
    expect(await surroundings.realPath("alias", folder)).toBe(join(folder, "bin/tool"));
    expect(await surroundings.realPath("tool", folder)).toBe(join(folder, "tool"));
    expect(await surroundingsOf(plain, { word: "gone", path: from.path }).realPath("gone", folder)).toBeUndefined();
  });
});

it("an interpreter's script is bound as the program is", () => {
  writeFileSync(join(folder, "deploy.sh"), "echo hi\n");
  expect(codePointers(["sh", "-e", "deploy.sh", "x"], folder)).toEqual(["/argv/0", "/argv/2"]);
  expect(codePointers(["sh", "-c", "echo hi"], folder)).toEqual(["/argv/0"]);
  expect(codePointers(["sh", "-c", "x".repeat(10_000)], folder)).toEqual(["/argv/0"]);
  expect(codePointers(["cat", "deploy.sh"], folder)).toEqual(["/argv/0"]);
  expect(codePointers(["python3.12", "deploy.sh"], folder)).toEqual(["/argv/0", "/argv/1"]);
  expect(codePointers(["bash"], folder)).toEqual(["/argv/0"]);
});

it("the call has the variables that change what runs, in order, and the program has none of ours", () => {
  const environment = {
    PATH: "/bin",
    NODE_OPTIONS: "--require x",
    LD_PRELOAD: "/x.so",
    BASH_ENV: "",
    HOLDPOINT_DATA: "/d",
    holdpoint_x: "1",
    A: "1",
  };
  expect(tellingVariables(environment)).toEqual({ LD_PRELOAD: "/x.so", NODE_OPTIONS: "--require x" });
  expect(Object.keys(tellingVariables(environment))).toEqual(["LD_PRELOAD", "NODE_OPTIONS"]);
  expect(programEnvironment(environment)).toEqual({
    PATH: "/bin",
    NODE_OPTIONS: "--require x",
    LD_PRELOAD: "/x.so",
    BASH_ENV: "",
    A: "1",
  });
});
