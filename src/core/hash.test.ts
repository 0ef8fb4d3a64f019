import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { hashOf, isHash, shortHash } from "./hash.ts";
import type { Crypto } from "./ports/runtime.ts";

const crypto: Pick<Crypto, "sha256"> = { sha256: (text) => createHash("sha256").update(text, "utf8").digest("hex") };
const hash = (value: Parameters<typeof hashOf>[1]): string => hashOf(crypto as Crypto, value);

describe("hashOf", () => {
  test("is SHA-256 over the RFC 8785 bytes", () => {
    const value = { type: "holdpoint/result/v1", value: { b: [1, "é"], a: null } } as const;
    expect(hash(value)).toBe("sha256:191a5eff84627374331df805d43628a1ffbbb07292accfcc1bbb386b0503707a");
  });

  test("one value, one hash, whatever the order; another type, another hash", () => {
    const a = { type: "holdpoint/result/v1", value: 1, more: 2 } as const;
    const b = { more: 2, value: 1, type: "holdpoint/result/v1" } as const;
    expect(hash(a)).toBe(hash(b));
    expect(hash({ ...a, type: "holdpoint/terms/v1" })).not.toBe(hash(a));
  });

  test("what is not JSON has no hash", () => {
    expect(() => hash({ type: "holdpoint/result/v1", value: undefined } as never)).toThrow("/value: undefined is not JSON");
  });
});

test("shortHash: 12 digits in groups of 4", () => {
  expect(shortHash(`sha256:${"0123456789abcdef".repeat(4)}`)).toBe("0123 4567 89ab");
});

test("isHash", () => {
  const good = `sha256:${"0123456789abcdef".repeat(4)}`;
  expect(isHash(good)).toBe(true);
  for (const bad of [`${good}0`, good.slice(0, -1), good.toUpperCase(), good.slice(7), `${good}\n`, "", null, 1, [good]])
    expect(isHash(bad)).toBe(false);
});
