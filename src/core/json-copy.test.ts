import { describe, expect, test } from "vitest";
import { canonicalize, copyJson } from "./json.ts";

const refused = (code: string, pointer: string) => expect.objectContaining({ name: "JsonFault", code, pointer });
const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)]);

describe("copyJson takes", () => {
  test.each([[null], [true], [false], [0], [-1.5], ["é"], [[]], [{}], [{ a: [1, { b: null }], c: "x" }]])("%j", (value) => {
    expect(copyJson(value)).toStrictEqual(value);
  });

  test("an object without prototype, as a plain one", () => {
    const bare = Object.assign(Object.create(null), { a: 1 });
    expect(copyJson(bare)).toStrictEqual({ a: 1 });
    expect(canonicalize(bare)).toBe('{"a":1}');
  });

  test("a frozen or sealed value, and one value at two places", () => {
    const shared = Object.freeze({ x: 1 });
    const copy = copyJson(Object.seal({ a: shared, b: shared })) as { a: object; b: object };
    expect(copy).toStrictEqual({ a: { x: 1 }, b: { x: 1 } });
    expect(copy.a).not.toBe(shared);
  });

  test("-0 as 0: what is hashed is what runs", () => {
    expect(Object.is((copyJson([-0]) as number[])[0], 0)).toBe(true);
    expect(canonicalize([-0])).toBe("[0]");
  });

  test("an honest proxy, as a copy of what it said", () => {
    expect(copyJson(new Proxy({ a: [1] }, {}))).toStrictEqual({ a: [1] });
  });

  test("keys in their own order, in a copy that is frozen all the way down", () => {
    const copy = copyJson({ b: [{}], a: { c: [] } }) as { b: [object]; a: { c: [] } };
    expect(Object.keys(copy)).toEqual(["b", "a"]);
    for (const part of [copy, copy.b, copy.b[0], copy.a, copy.a.c]) expect(Object.isFrozen(part)).toBe(true);
  });
});

class Money {
  readonly amount = 1;
}
const hidden = Object.defineProperty({ shown: 1 }, "secret", { value: 2, enumerable: false });
const setter = Object.defineProperty({}, "a", { set: () => undefined, enumerable: true });
const hiddenItem = Object.defineProperty([1, 2], 1, { enumerable: false });
const itemGetter = Object.defineProperty([1], 0, { get: () => 1 });
const cycle: Record<string, unknown> = {};
cycle.self = cycle;
const throwing = (trap: string): object =>
  new Proxy([1], {
    [trap]: () => {
      throw new TypeError("acct-ok");
    },
  });
const revoked = Proxy.revocable({}, {});
revoked.revoke();
const unknownHidden = new Proxy(
  {},
  {
    ownKeys: (() => {
      let asked = 0;
      return () => (asked++ === 1 ? ["flickers"] : []);
    })(),
  },
);

describe("copyJson and canonicalize refuse", () => {
  test.each<[string, unknown, string, string]>([
    ["undefined", undefined, "", "undefined is not JSON"],
    ["undefined inside", { a: [undefined] }, "/a/0", "undefined is not JSON"],
    ["function", { f: () => 1 }, "/f", "a function is not JSON"],
    ["symbol", [Symbol("x")], "/0", "a symbol is not JSON"],
    ["bigint", { n: 1n }, "/n", "a bigint is not JSON"],
    ["symbol key", { a: { [Symbol("k")]: 1 } }, "/a", "a symbol as a key is not JSON"],
    ["class instance", { m: new Money() }, "/m", "an object of a class is not JSON"],
    ["date", [new Date(0)], "/0", "an object of a class is not JSON"],
    ["map", new Map(), "", "an object of a class is not JSON"],
    ["set", { s: new Set() }, "/s", "an object of a class is not JSON"],
    ["bytes", new Uint8Array(1), "", "an object of a class is not JSON"],
    ["boxed", [new String("a")], "/0", "an object of a class is not JSON"],
    ["error", new Error("x"), "", "an object of a class is not JSON"],
    ["inherited members", Object.create({ a: 1 }), "", "an object of a class is not JSON"],
    ["array class", new (class extends Array {})(), "", "an array of a class is not JSON"],
    ["hidden property", { o: hidden }, "/o/secret", "a hidden property is not JSON"],
    ["hidden element", { o: hiddenItem }, "/o/1", "a hidden property is not JSON"],
    [
      "getter",
      {
        get a() {
          return 1;
        },
      },
      "/a",
      "an accessor property is not JSON",
    ],
    ["setter", setter, "/a", "an accessor property is not JSON"],
    ["getter in an array", itemGetter, "/0", "an accessor property is not JSON"],
    // biome-ignore lint/suspicious/noSparseArray: the hole is the case
    ["hole", { a: [1, , 3] }, "/a/1", "a hole in an array is not JSON"],
    ["holes only", new Array(3), "/0", "a hole in an array is not JSON"],
    ["array with a name", { a: Object.assign([1], { b: 2 }) }, "/a", "an array with other properties is not JSON"],
    ["array with a symbol", Object.assign([1], { [Symbol("k")]: 2 }), "", "an array with other properties is not JSON"],
    ["proxy: own keys", { p: throwing("ownKeys") }, "/p", "the value cannot be read"],
    ["proxy: descriptor", { p: throwing("getOwnPropertyDescriptor") }, "/p/0", "the value cannot be read"],
    ["proxy: prototype", throwing("getPrototypeOf"), "", "the value cannot be read"],
    ["proxy: length", throwing("get"), "", "the value cannot be read"],
    ["revoked proxy", [revoked.proxy], "/0", "the value cannot be read"],
  ])("%s", (_, ...[value, pointer, problem]) => {
    for (const take of [copyJson, canonicalize]) {
      expect(() => take(value)).toThrow(expect.objectContaining({ name: "JsonFault", code: "not_json", pointer, problem }));
    }
  });

  test.each<[string, unknown, string, string]>([
    ["NaN", [Number.NaN], "number_not_finite", "/0"],
    ["Infinity", { a: Number.POSITIVE_INFINITY }, "number_not_finite", "/a"],
    ["-Infinity", Number.NEGATIVE_INFINITY, "number_not_finite", ""],
    ["2^53", { a: 2 ** 53 }, "number_not_exact", "/a"],
    ["-2^53", -(2 ** 53), "number_not_exact", ""],
    ["1e30", [1e30], "number_not_exact", "/0"],
    ["half a pair", { s: "a\ud800b" }, "invalid_string", "/s"],
    ["half a pair beside a pair", ["😀\ude00"], "invalid_string", "/0"],
    ["half a pair in a key", { a: { "\udc00": 1 } }, "invalid_string", "/a/\udc00"],
    ["a cycle", cycle, "too_deep", "/self"],
  ])("%s", (_, ...[value, code, pointer]) => {
    for (const take of [copyJson, canonicalize]) {
      expect(() => take(value)).toThrow(
        expect.objectContaining({ name: "JsonFault", code, pointer: expect.stringContaining(pointer) }),
      );
    }
  });

  test("a proxy that shows a key and hides it again", () => {
    expect(() => copyJson(unknownHidden)).toThrow(refused("not_json", ""));
  });
});

describe("limits", () => {
  test("depth", () => {
    expect(copyJson(nested(64))).toBeDefined();
    expect(() => copyJson(nested(65))).toThrow(refused("too_deep", "/0".repeat(64)));
    expect(copyJson(1, { length: 9, depth: 0 })).toBe(1);
    expect(() => copyJson(cycle, { length: 1e9, depth: 1e9 })).toThrow(refused("too_deep", "/self".repeat(1000)));
  });

  test.each<[unknown, number]>([
    ["abc", 5],
    [null, 4],
    [true, 4],
    [false, 5],
    [0.5, 3],
    [7, 1],
    [[1, 2], 5],
    [{ a: 1, bc: [] }, 15],
  ])("length of %j is %i", (value, length) => {
    expect(JSON.stringify(value)).toHaveLength(length);
    expect(copyJson(value, { length, depth: 4 })).toStrictEqual(value);
    expect(() => copyJson(value, { length: length - 1, depth: 4 })).toThrow(expect.objectContaining({ code: "too_large" }));
  });

  test("the fault of a value that is too long stands where the limit was passed", () => {
    expect(() => copyJson({ a: 1, body: "x".repeat(100) }, { length: 50, depth: 4 })).toThrow(refused("too_large", "/body"));
  });
});
