import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { nodeRuntime } from "../runtime/node/index.ts";
import { copyJson } from "./json.ts";
import type { JsonObject } from "./json-value.ts";
import { secretsIn, withCommitments } from "./secret.ts";

const { crypto } = nodeRuntime();
const args = copyJson({ token: "hunter2", deep: { key: 1, list: ["a", "b"] }, path: "/x" }) as JsonObject;
const committed = (text: string) => ({ $secret: `sha256:${createHash("sha256").update(text).digest("hex")}` });

describe("withCommitments", () => {
  it("P-19 puts a salted commitment in the place of each secret, and nothing else", () => {
    expect(withCommitments(crypto, args, { "/token": "s1", "/deep/list/1": "s2" })).toEqual({
      token: committed('{"salt":"s1","type":"holdpoint/secret/v1","value":"hunter2"}'),
      deep: { key: 1, list: ["a", committed('{"salt":"s2","type":"holdpoint/secret/v1","value":"b"}')] },
      path: "/x",
    });
    expect(withCommitments(crypto, args, {})).toBe(args);
    expect(withCommitments(crypto, args, { "/none": "s" })).toBe(args);
  });

  it("P-19 hides a secret within a secret, in either order", () => {
    for (const salts of [
      { "/deep": "s1", "/deep/key": "s2" },
      { "/deep/key": "s2", "/deep": "s1" },
    ]) {
      const shown = withCommitments(crypto, args, salts);
      expect(shown).toEqual({ ...args, deep: { $secret: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) } });
    }
  });

  it("makes the same commitment of the same value and salt, another one of another", () => {
    const of = (value: string, salt: string) => withCommitments(crypto, { a: value }, { "/a": salt });
    expect(of("x", "s")).toEqual(of("x", "s"));
    expect(of("x", "s")).not.toEqual(of("x", "t"));
    expect(of("x", "s")).not.toEqual(of("y", "s"));
  });
});

describe("secretsIn", () => {
  it("are those that the arguments carry", () => {
    expect(secretsIn(args, ["/token", "/none", "/deep/key"])).toEqual(["/token", "/deep/key"]);
    expect(secretsIn({ token: null }, ["/token"])).toEqual(["/token"]);
  });
});
