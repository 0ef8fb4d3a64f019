import { execFile } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { DeclarationError } from "../../core/index.ts";
import { nodeRuntime } from "./index.ts";
import { fileKeys, memoryKeys } from "./keys.ts";

/** What happens between our look and our link, where other processes get in. */
const { beforeLink } = vi.hoisted(() => ({ beforeLink: { now: (): void => undefined } }));
vi.mock("node:fs", async (original) => {
  const fs = await original<typeof import("node:fs")>();
  const linkSync: typeof fs.linkSync = (...names) => {
    beforeLink.now();
    fs.linkSync(...names);
  };
  return { ...fs, linkSync };
});

let folder = "";
let path = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "holdpoint-keys-"));
  path = join(folder, "state", "key");
});
afterEach(() => {
  beforeLink.now = () => undefined;
  rmSync(folder, { recursive: true, force: true });
});

const modeOf = (place: string): number => statSync(place).mode & 0o777;
/** A whole key file, as an operator restores it. */
function given(text: string, mode = 0o600): void {
  mkdirSync(join(folder, "state"), { mode: 0o700 });
  writeFileSync(path, text, { mode });
  chmodSync(path, mode);
}
const KEY = `hk1.${"A".repeat(43)}\n`;

describe("memoryKeys", () => {
  test("four keys, each its own, new ones each time", () => {
    const [a, b] = [memoryKeys(), memoryKeys()];
    const all = [...Object.values(a), ...Object.values(b)];
    expect(Object.keys(a)).toEqual(["call", "view", "decision", "seal"]);
    expect(new Set(all).size).toBe(8);
    for (const key of all) expect(key).toMatch(/^[A-Za-z0-9_-]{43}$/);
  });
});

describe("fileKeys", () => {
  test("makes the file once, 0600 in a folder 0700, and reads it from then on", () => {
    const first = fileKeys(path);
    expect(modeOf(path)).toBe(0o600);
    expect(modeOf(join(folder, "state"))).toBe(0o700);
    expect(readFileSync(path, "utf8")).toMatch(/^hk1\.[A-Za-z0-9_-]{43}\n$/);
    expect(fileKeys(path)).toEqual(first);
    expect(readdirSync(join(folder, "state"))).toEqual(["key"]);
  });

  test("pinned: what a key file means never changes", () => {
    given(KEY);
    expect(fileKeys(path)).toEqual(PINNED);
  });

  test("two installations have nothing in common", () => {
    const all = [...Object.values(fileKeys(path)), ...Object.values(fileKeys(join(folder, "state", "other")))];
    expect(new Set(all).size).toBe(8);
  });

  test("processes that start together agree on one key", async () => {
    const script = `import { fileKeys } from ${JSON.stringify(new URL("./keys.ts", import.meta.url).href)}; console.log(fileKeys(${JSON.stringify(path)}).call);`;
    const start = (): Promise<{ stdout: string }> => promisify(execFile)(process.execPath, ["--input-type=module", "-e", script]);
    const said = await Promise.all(Array.from({ length: 6 }, start));
    expect(new Set(said.map(({ stdout }) => stdout.trim()))).toEqual(new Set([fileKeys(path).call]));
    expect(readdirSync(join(folder, "state"))).toEqual(["key"]);
  }, 60_000);

  test("a key that another process makes while we make ours is the one that counts", () => {
    beforeLink.now = () => writeFileSync(path, KEY, { mode: 0o600 });
    expect(fileKeys(path)).toEqual(PINNED);
    expect(readdirSync(join(folder, "state"))).toEqual(["key"]);
  });

  test("a key that is gone as soon as it is made is no key", () => {
    beforeLink.now = () => {
      throw Object.assign(new Error("taken"), { code: "EEXIST" });
    };
    expect(() => fileKeys(path)).toThrow(/vanished while it was made; look for what removes files there/);
  });

  test("a disk that cannot give a second name: cause and fix, and no draft is left", () => {
    beforeLink.now = () => {
      throw Object.assign(new Error("no links here"), { code: "EPERM" });
    };
    expect(() => fileKeys(path)).toThrow(/cannot be used \(EPERM\)/);
    expect(readdirSync(join(folder, "state"))).toEqual([]);
  });

  test.each([
    ["empty", ""],
    ["truncated", KEY.slice(0, -2)],
    ["too long", `${KEY}x`],
    ["another form", KEY.replace("hk1", "hk2")],
    ["not base64url", KEY.replace("AA", "==")],
    ["no end of line", KEY.slice(0, -1)],
  ])("refuses a file that is %s, and leaves it as it is", (_, text) => {
    given(text);
    expect(() => fileKeys(path)).toThrow(DeclarationError);
    expect(() => fileKeys(path)).toThrow(/key holds no key of ours; restore it from a backup/);
    expect(readFileSync(path, "utf8")).toBe(text);
  });

  test.each([0o640, 0o604, 0o660, 0o644])("refuses a file that others may read or write (mode %o)", (mode) => {
    given(KEY, mode);
    expect(() => fileKeys(path)).toThrow(`is open to other accounts (mode 0${mode.toString(8)}); run: chmod 600 ${path}`);
  });

  test.each([0o750, 0o705, 0o777])("refuses a folder that others may enter (mode %o)", (mode) => {
    given(KEY);
    chmodSync(join(folder, "state"), mode);
    expect(() => fileKeys(path)).toThrow(`run: chmod 700 ${join(folder, "state")}`);
  });

  test("refuses what belongs to another account", () => {
    given(KEY);
    const root = process.getuid?.() === 0;
    if (root) chownSync(path, 65_534, 65_534);
    expect(() => fileKeys(root ? path : "/holdpoint.key")).toThrow(
      "belongs to another account; name a path in a folder of this account",
    );
  });

  test("follows no link, and takes no folder for a file", () => {
    given(KEY);
    const link = join(folder, "state", "link");
    symlinkSync(path, link);
    expect(() => fileKeys(link)).toThrow(/link cannot be used \(ELOOP\)/);
    symlinkSync(join(folder, "state", "nothing"), join(folder, "state", "dangling"));
    expect(() => fileKeys(join(folder, "state", "dangling"))).toThrow(/cannot be used \(ELOOP\)/);
    expect(existsSync(join(folder, "state", "nothing"))).toBe(false);
    mkdirSync(join(folder, "state", "sub"), { mode: 0o700 });
    expect(() => fileKeys(join(folder, "state", "sub"))).toThrow("is not a regular file");
  });

  test("a path that cannot be: cause and fix", () => {
    writeFileSync(join(folder, "file"), "");
    const impossible = join(folder, "file", "state", "key");
    expect(() => fileKeys(impossible)).toThrow(/cannot be used \(ENOTDIR\); make it readable and writable/);
    expect(() => fileKeys(impossible)).toThrow(expect.objectContaining({ name: "DeclarationError", cause: expect.any(Error) }));
  });
});

describe("keys of one's own", () => {
  const long = (mark: string): string => mark.repeat(32);
  const own = { call: long("a"), view: long("b"), decision: long("c"), seal: long("d") };

  test("are taken as they are; an installation may have no key to seal with", () => {
    expect(nodeRuntime({ keys: own }).keys).toBe(own);
    expect(nodeRuntime({ keys: { ...own, seal: null } }).keys.seal).toBeNull();
  });

  test("are refused when short, or when one serves two purposes", () => {
    expect(() => nodeRuntime({ keys: { ...own, call: "secret" } })).toThrow(
      /option keys: each key must be a text of at least 32 characters/,
    );
    expect(() => nodeRuntime({ keys: { ...own, seal: "" } })).toThrow(DeclarationError);
    expect(() => nodeRuntime({ keys: { ...own, call: undefined as never } })).toThrow(DeclarationError);
    expect(() => nodeRuntime({ keys: { ...own, view: own.call } })).toThrow(/one key serves two purposes/);
  });
});

const PINNED = {
  call: "3n2WZ48oXTE0t41c0mctnZBB2r9v5_AVNbfyeSCYqgA",
  view: "2A9MM9cjvvLY5QdGpvbBWlyItJJURD_tPhbqV1iSKQQ",
  decision: "bdHXi-t73V2kWhVPEy7ZaJgLSNNQGKHOlip_ASEm7HM",
  seal: "wr0zN2SAJ5YH1lvVlv1hmdlzCGUcMcZ8yGOnBp_owyo",
};
