import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { nodeRuntime } from "../runtime/node/index.ts";
import { copyJson } from "./json.ts";
import type { JsonObject } from "./json-value.ts";
import { secretsIn, withCommitments, withoutSecrets } from "./secret.ts";

const { crypto } = nodeRuntime();
const args = copyJson({ token: "hunter2", deep: { key: 1, list: ["a", "b"] }, path: "/x" }) as JsonObject;
const json = (value: object): JsonObject => copyJson(value) as JsonObject;
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

describe("withoutSecrets", () => {
  it("P-19 takes secret values out of what the agent says of its call", () => {
    const said = (words: string, secrets: readonly string[]): string => withoutSecrets(words, args, secrets);
    expect(said("the token is hunter2, path /x", ["/token"])).toBe("the token is [secret], path /x");
    expect(said("hunter2", [])).toBe("hunter2");
    expect(said("hunter2", ["/none"])).toBe("hunter2");
    const nested = json({ keys: [{ a: "long-key-1", n: 123456, ok: true, none: null }, "long-key-12"] });
    expect(withoutSecrets("long-key-12 and long-key-1 and 123456 and true", nested, ["/keys"])).toBe(
      "[secret] and [secret] and [secret] and true",
    );
    expect(withoutSecrets("a is short", json({ key: "a" }), ["/key"])).toBe("a is short");
  });
});
