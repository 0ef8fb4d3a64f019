import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CommandFault } from "./exit-codes.ts";
import { readPolicy } from "./policy-file.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "holdpoint-policy-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

function read(text: string, name = "policy.json") {
  const path = join(folder, name);
  writeFileSync(path, text);
  return readPolicy(path);
}
function faultOf(policy: unknown): string {
  try {
    read(typeof policy === "string" ? policy : JSON.stringify(policy));
  } catch (thrown) {
    if (!(thrown instanceof CommandFault)) throw thrown;
    expect(thrown.exit).toBe(2);
    return thrown.message;
  }
  throw new Error("it was read");
}

describe("a policy as JSON", () => {
  it("is taken as it is, without its format word", () => {
    const policy = {
      mode: "default",
      unmatched: "by-tier",
      record: "calls",
      tools: [
        { match: "fs/read_*", tier: "read" },
        {
          match: "fs/write_file",
          tier: "write",
          impact: "destructive",
          effect: "writes {path}",
          edits: true,
          editable: ["/content"],
          secrets: [],
          ignore: ["/timeout"],
          requires: { scope: "disk", length: "5m" },
          confirm: { message: "Write {path}?", window: "10m", quorum: 2, approvers: ["ada", "group:ops"] },
        },
        { match: "bash", confirm: true },
        { match: "sh", confirm: "Really?", requires: true },
      ],
      rules: [
        { name: "never", deny: ["fs/delete", "fs/format"], reason: "never" },
        {
          ask: "fs/**",
          tiers: ["write"],
          any: [{ of: ["@operator"], count: 1 }],
          self: "allow",
          assurance: "local",
          deadline: "15m",
        },
        { allow: "fs/list_*", requires: "listing" },
      ],
      approvers: { "group:ops": ["ada", "slack:U1"] },
    };
    expect(read(JSON.stringify({ version: 1, ...policy }))).toEqual(policy);
    expect(read("{}")).toEqual({});
  });

  it.each<[string, unknown, string]>([
    ["a text that is not JSON", "{", "not usable"],
    ["two equal keys", '{"mode":"plan","mode":"bypass"}', "mode"],
    ["a list", [], "the policy: must be an object"],
    ["another format", { version: 2 }, "/version: is a format that this version does not read; it reads 1"],
    ["an unknown key", { modes: "plan" }, "/modes: is not a key of this place; known are version, mode"],
    ["an unknown mode", { mode: "yolo" }, "/mode: must be one of default, plan, accept-edits, bypass, no-ask"],
    ["tools that are no list", { tools: {} }, "/tools: must be a list"],
    ["a tier that is none", { tools: [{ match: "a", tier: "low" }] }, "/tools/0/tier: must be one of read, write, physical"],
    ["a match that is empty", { tools: [{ match: "" }] }, "/tools/0/match: must be a text that is not empty"],
    ["a flag as a text", { tools: [{ match: "a", edits: "yes" }] }, "/tools/0/edits: must be true or false"],
    [
      "a name in the place of a pointer",
      { tools: [{ match: "a", editable: ["content"] }] },
      "/tools/0/editable/0: must be a JSON pointer",
    ],
    [
      "a bare number as a time",
      { rules: [{ ask: "a", deadline: 900 }] },
      '/rules/0/deadline: must be a duration with its unit, as "15m"',
    ],
    ["a time without sense", { rules: [{ ask: "a", deadline: "soon" }] }, '/rules/0/deadline: "soon" is not a duration'],
    ["approvers that name nobody", { rules: [{ ask: "a", approvers: [] }] }, "/rules/0/approvers: is an empty list"],
    ["a group of nobody", { approvers: { "group:x": [] } }, "/approvers/group:x: is an empty list"],
    ["a group that is none", { approvers: { ops: ["ada"] } }, '/approvers/ops: is no group; write "group:…"'],
    ["groups as a list", { approvers: [] }, "/approvers: must be an object of groups"],
    ["a quorum of 0", { rules: [{ ask: "a", quorum: 0 }] }, "/rules/0/quorum: must be a whole number of 1 or more"],
    [
      "an alternative without a count",
      { rules: [{ ask: "a", any: [{ of: ["ada"] }] }] },
      '/rules/0/any/0: needs "of" and "count"',
    ],
    [
      "both forms at once",
      { rules: [{ ask: "a", quorum: 2, any: [{ of: ["ada"], count: 1 }] }] },
      '/rules/0: "any" is the long form',
    ],
    [
      "a confirm that is false",
      { tools: [{ match: "a", confirm: false }] },
      "/tools/0/confirm: must be true, a message or an object",
    ],
    [
      "a condition",
      { rules: [{ ask: "a", when: "args.amount > 1" }] },
      "/rules/0/when: is not read by this version (conditions come with the policy file",
    ],
    ["an exception", { rules: [{ ask: "a", except: ["a"] }] }, "/rules/0/except: is not read by this version"],
    ["a shell argument", { tools: [{ match: "bash", shell: "command" }] }, "/tools/0/shell: is not read by this version"],
    ["operations", { operations: [] }, "/operations: is not read by this version (it comes with the policy file); take it out"],
    [
      "a floor's words outside confirm",
      { tools: [{ match: "a", window: "5m" }] },
      '/tools/0/window: is not read by this version (write it inside "confirm")',
    ],
  ])("%s is refused with its place", (_what, policy, says) => {
    expect(faultOf(policy)).toContain(says);
  });

  it("says what a YAML file, a missing one and a folder are", () => {
    expect(() => read("mode: plan", "policy.yaml")).toThrow(
      "is YAML, which this version does not read; write the same keys as JSON",
    );
    expect(() => readPolicy(join(folder, "none.json"))).toThrow("cannot be read (ENOENT)");
    expect(() => readPolicy(folder)).toThrow("cannot be read (EISDIR)");
  });
});
