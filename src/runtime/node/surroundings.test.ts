import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { nothingThere } from "./nothing-there.ts";
import { nodeSurroundings } from "./surroundings.ts";

const { userInfoFails } = vi.hoisted(() => ({ userInfoFails: { now: false } }));
vi.mock("node:os", async (original) => {
  const os = await original<typeof import("node:os")>();
  return {
    ...os,
    userInfo: () => {
      if (userInfoFails.now) throw new Error("no entry");
      return os.userInfo();
    },
  };
});

const surroundings = nodeSurroundings();
let top = "";
const at = (...steps: string[]): string => join(top, ...steps);

/** top/srv/{a,deep/dir/x}, and links beside them. */
beforeAll(() => {
  top = realpathSync(mkdtempSync(join(tmpdir(), "holdpoint-places-")));
  mkdirSync(at("srv", "deep", "dir"), { recursive: true });
  writeFileSync(at("srv", "a"), "abc");
  writeFileSync(at("srv", "deep", "dir", "x"), "x");
  writeFileSync(at("srv", "deep", "y"), "y");
  symlinkSync("a", at("srv", "link"));
  symlinkSync(at("srv", "deep", "dir"), at("srv", "jump"));
  symlinkSync("deep/new", at("srv", "dangling"));
  symlinkSync("dangling", at("srv", "twice"));
  symlinkSync("circle", at("srv", "circle"));
  symlinkSync("../srv/deep", at("srv", "up"));
});
afterAll(() => {
  rmSync(top, { recursive: true, force: true });
});
afterEach(() => {
  userInfoFails.now = false;
});

describe("realPath", () => {
  test.each([
    ["a", ["srv", "a"]],
    ["./a", ["srv", "a"]],
    ["deep//dir/./x", ["srv", "deep", "dir", "x"]],
    ["link", ["srv", "a"]],
    ["jump/x", ["srv", "deep", "dir", "x"]],
    ["up/dir", ["srv", "deep", "dir"]],
    ["deep/../a", ["srv", "a"]],
    ["../srv/a", ["srv", "a"]],
    ["", ["srv"]],
    [".", ["srv"]],
    ["new", ["srv", "new"]],
    ["new/er/file", ["srv", "new", "er", "file"]],
    ["new/../other", ["srv", "other"]],
    ["jump/new", ["srv", "deep", "dir", "new"]],
    ["dangling", ["srv", "deep", "new"]],
    ["twice", ["srv", "deep", "new"]],
    ["dangling/more", ["srv", "deep", "new", "more"]],
  ])("%j", async (path, steps) => {
    expect(await surroundings.realPath(path, at("srv"))).toBe(at(...steps));
    expect(await surroundings.realPath(`${at("srv")}/${path}`, "/nowhere")).toBe(at(...steps));
  });

  test("the working folder's own links are followed", async () => {
    expect(await surroundings.realPath("x", at("srv", "jump"))).toBe(at("srv", "deep", "dir", "x"));
    expect(await surroundings.realPath("/", at("srv"))).toBe("/");
    expect(await surroundings.realPath("/../..", at("srv"))).toBe("/");
  });

  test.each(["circle", "circle/x", "a/x", "a\0b", "x".repeat(300)])("no place: %j", async (path) => {
    expect(await surroundings.realPath(path, at("srv"))).toBeUndefined();
  });

  test("without an absolute start there is no place", async () => {
    expect(await surroundings.realPath("a", "(none)")).toBeUndefined();
    expect(await surroundings.realPath("a", "")).toBeUndefined();
  });

  test("A22: where '..' behind a link means two places, the call is refused, without naming the path", async () => {
    // The system reads srv/deep/y, a program that tidies the text first reads srv/y.
    const asked = surroundings.realPath("jump/../y", at("srv"));
    await expect(asked).rejects.toThrow(
      expect.objectContaining({ code: "policy_error", message: expect.not.stringContaining("jump") }),
    );
  });
});

describe("fileHash", () => {
  test("over the bytes, through links, of any size", async () => {
    expect(await surroundings.fileHash(at("srv", "a"))).toBe(
      "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    );
    expect(await surroundings.fileHash(at("srv", "link"))).toBe(
      "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    );
    writeFileSync(at("million"), "a".repeat(1_000_000));
    expect(await surroundings.fileHash(at("million"))).toBe(
      "sha256:cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
    );
    writeFileSync(at("empty"), "");
    expect(await surroundings.fileHash(at("empty"))).toBe(
      "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    );
  });

  test("what is no file has no hash, and a named pipe does not hang", async () => {
    execFileSync("mkfifo", [at("pipe")]);
    for (const place of [at("nothing"), at("srv"), at("pipe"), at("srv", "a", "x"), at("srv", "circle"), "a\0b"]) {
      expect(await surroundings.fileHash(place)).toBeUndefined();
    }
  });
});

test("could not look is not the same as nothing there", () => {
  expect(nothingThere(Object.assign(new Error("x"), { code: "ENOENT" }), "read")).toBeUndefined();
  for (const code of ["EACCES", "EIO", "EMFILE"]) {
    const thrown = Object.assign(new Error("EACCES: '/srv/secret'"), { code });
    expect(() => nothingThere(thrown, "read")).toThrow(
      `could not read a file that a call depends on (${code}); check this account's access to it`,
    );
  }
  expect(() => nothingThere(new Error("x"), "resolve")).toThrow(
    expect.objectContaining({ code: "policy_error", message: expect.stringContaining("(unknown)") }),
  );
});

describe("env, cwd, account", () => {
  test("only variables are variables", () => {
    vi.stubEnv("HOLDPOINT_TEST_TARGET", "staging");
    vi.stubEnv("HOLDPOINT_TEST_EMPTY", "");
    expect(surroundings.env("HOLDPOINT_TEST_TARGET")).toBe("staging");
    expect(surroundings.env("HOLDPOINT_TEST_EMPTY")).toBe("");
    for (const name of ["HOLDPOINT_TEST_NONE", "constructor", "toString", "__proto__", ""])
      expect(surroundings.env(name)).toBeUndefined();
    vi.unstubAllEnvs();
  });

  test("cwd", () => {
    expect(surroundings.cwd()).toBe(process.cwd());
  });

  test("the account is asked of the system, not of the environment", () => {
    const real = userInfo().username;
    vi.stubEnv("LOGNAME", "mallory");
    vi.stubEnv("USER", "mallory");
    expect(surroundings.account()).toBe(real);
    vi.unstubAllEnvs();
    userInfoFails.now = true;
    expect(surroundings.account()).toBe(`uid-${process.getuid?.()}`);
  });
});
