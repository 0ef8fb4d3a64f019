import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { nodeCrypto } from "./crypto.ts";

const crypto = nodeCrypto();
const text = fc.string({ unit: "grapheme" });
const HALF = "a\ud800";

describe("sha256 and hmac", () => {
  test("published vectors", () => {
    expect(crypto.sha256("")).toBe("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    expect(crypto.sha256("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    expect(crypto.sha256("é")).toBe("4a99557e4033c3539de2eb65472017cad5f9557f7a0625a09f1c3f6e2ba69c4c");
    // RFC 4231, test case 2.
    expect(Buffer.from(crypto.hmac("Jefe", "what do ya want for nothing?"), "base64url").toString("hex")).toBe(
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
    );
  });

  test("a text that UTF-8 cannot hold is refused: its replacement would be another text's hash (A31)", () => {
    expect(() => crypto.sha256(HALF)).toThrow(RangeError);
    expect(() => crypto.hmac("key", HALF)).toThrow(RangeError);
    expect(() => crypto.seal("key", HALF)).toThrow(RangeError);
  });
});

test("equal", () => {
  fc.assert(fc.property(text, text, (a, b) => crypto.equal(a, b) === (a === b) && crypto.equal(a, a)));
  expect(crypto.equal("", "")).toBe(true);
  expect(crypto.equal("a", "aa")).toBe(false);
  expect(crypto.equal("a\ud800", "a\udfff")).toBe(false);
});

describe("seal and open", () => {
  test("what was sealed opens, with the same key only, and never looks the same twice", () => {
    fc.assert(
      fc.property(text, text, text, (key, other, secret) => {
        const sealed = crypto.seal(key, secret);
        expect(crypto.open(key, sealed)).toBe(secret);
        if (other !== key) expect(crypto.open(other, sealed)).toBeUndefined();
        expect(crypto.seal(key, secret)).not.toBe(sealed);
      }),
    );
  });

  test("the form: hs1, 12 bytes of nonce, the text, 16 bytes of tag", () => {
    const sealed = crypto.seal("key", "hunter2");
    expect(sealed).toMatch(/^hs1\.[A-Za-z0-9_-]+$/);
    expect(Buffer.from(sealed.slice(4), "base64url")).toHaveLength(12 + 7 + 16);
    expect(sealed).not.toContain("hunter2");
    expect(crypto.open("key", `hs1.AAECAwQFBgcICQoL${SEALED}`)).toBe("pinned");
  });

  test("a change of any one character, or of the length, opens nothing", () => {
    const sealed = crypto.seal("key", "secret");
    for (let at = 0; at < sealed.length; at++) {
      const other = sealed[at] === "A" ? "B" : "A";
      expect(crypto.open("key", sealed.slice(0, at) + other + sealed.slice(at + 1))).toBeUndefined();
      expect(crypto.open("key", sealed.slice(0, at))).toBeUndefined();
    }
    for (const changed of [`${sealed}A`, `${sealed}=`, `${sealed}\n`, sealed.replace("hs1.", "hs2."), `${sealed}.${sealed}`]) {
      expect(crypto.open("key", changed)).toBeUndefined();
    }
  });

  test("garbage opens nothing and throws nothing", () => {
    fc.assert(fc.property(fc.string({ unit: "binary" }), (garbage) => crypto.open("key", garbage) === undefined));
    fc.assert(fc.property(fc.base64String(), (garbage) => crypto.open("key", `hs1.${garbage}`) === undefined));
  });
});

/** Sealed once with the key "key" and the nonce 00 01 … 0b: what is stored today must open after every update. */
const SEALED = "Q-0TPe3F1AU2vyZI4Nk9vEsTQyNPHA";
