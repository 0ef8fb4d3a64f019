import { describe, expect, test } from "vitest";
import { canonicalize, readJson, sameJson } from "./json.ts";
import type { JsonValue } from "./json-value.ts";

const double = (hex: string): number => Buffer.from(hex, "hex").readDoubleBE(0);

describe("RFC 8785", () => {
  test("section 3.2.3: keys are sorted by their UTF-16 units", () => {
    const input = {
      "\u20ac": "Euro Sign",
      "\r": "Carriage Return",
      "\ufb33": "Hebrew Letter Dalet With Dagesh",
      "1": "One",
      "\ud83d\ude00": "Emoji: Grinning Face",
      "\u0080": "Control",
      "\u00f6": "Latin Small Letter O With Diaeresis",
    };
    expect(canonicalize(input)).toBe(
      '{"\\r":"Carriage Return","1":"One","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis",' +
        '"\u20ac":"Euro Sign","\ud83d\ude00":"Emoji: Grinning Face","\ufb33":"Hebrew Letter Dalet With Dagesh"}',
    );
  });

  test("section 3.2.2: the example, without its 1E30", () => {
    const raw =
      '{"numbers":[333333333.33333329,4.50,2e-3,0.000000000000000000000000001],"string":"\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/","literals":[null,true,false]}';
    const form = canonicalize(readJson(raw));
    expect(form).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,4.5,0.002,1e-27],"string":"\u20ac$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    );
    expect(Buffer.from(form, "utf8").toString("hex")).toContain("22e282ac245c75303030665c6e412742");
  });

  test("minimal escapes: nothing above U+001F but the quote and the backslash", () => {
    const all = Array.from({ length: 0x80 }, (_, unit) => String.fromCharCode(unit)).join("");
    expect(canonicalize(all)).toBe(
      '"\\u0000\\u0001\\u0002\\u0003\\u0004\\u0005\\u0006\\u0007\\b\\t\\n\\u000b\\f\\r\\u000e\\u000f' +
        "\\u0010\\u0011\\u0012\\u0013\\u0014\\u0015\\u0016\\u0017\\u0018\\u0019\\u001a\\u001b\\u001c\\u001d\\u001e\\u001f" +
        ' !\\"#$%&\'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\\\]^_`abcdefghijklmnopqrstuvwxyz{|}~\u007f"',
    );
    expect(canonicalize("\u2028\u2029\ufeff\uffff😀é")).toBe('"\u2028\u2029\ufeff\uffff😀é"');
  });

  test.each([
    ["0000000000000000", "0"],
    ["8000000000000000", "0"],
    ["0000000000000001", "5e-324"],
    ["8000000000000001", "-5e-324"],
    ["3eb0c6f7a0b5ed8c", "9.999999999999997e-7"],
    ["3eb0c6f7a0b5ed8d", "0.000001"],
    ["41b3de4355555553", "333333333.3333332"],
    ["41b3de4355555554", "333333333.33333325"],
    ["41b3de4355555555", "333333333.3333333"],
    ["41b3de4355555556", "333333333.3333334"],
    ["41b3de4355555557", "333333333.33333343"],
    ["becbf647612f3696", "-0.0000033333333333333333"],
    ["43143ff3c1cb0959", "1424953923781206.2"],
  ])("appendix B: %s is %s", (hex, form) => {
    expect(canonicalize(double(hex))).toBe(form);
    expect(canonicalize({ n: [double(hex)] })).toBe(`{"n":[${form}]}`);
  });

  test.each([
    ["7fefffffffffffff", "number_not_exact"],
    ["ffefffffffffffff", "number_not_exact"],
    ["4340000000000000", "number_not_exact"],
    ["c340000000000000", "number_not_exact"],
    ["4430000000000000", "number_not_exact"],
    ["44b52d02c7e14af5", "number_not_exact"],
    ["44b52d02c7e14af6", "number_not_exact"],
    ["44b52d02c7e14af7", "number_not_exact"],
    ["444b1ae4d6e2ef4e", "number_not_exact"],
    ["444b1ae4d6e2ef4f", "number_not_exact"],
    ["444b1ae4d6e2ef50", "number_not_exact"],
    ["7fffffffffffffff", "number_not_finite"],
    ["7ff0000000000000", "number_not_finite"],
  ])("appendix B: %s is refused: an integer beyond 2^53-1 may be another one than was meant (A29)", (hex, code) => {
    expect(() => canonicalize(double(hex))).toThrow(expect.objectContaining({ name: "JsonFault", code }));
  });
});

describe("canonicalize", () => {
  test.each<[unknown, string]>([
    [[], "[]"],
    [{}, "{}"],
    [[[], {}, [null]], "[[],{},[null]]"],
    [{ b: { d: 1, c: [true, false] }, a: "x" }, '{"a":"x","b":{"c":[true,false],"d":1}}'],
    [{ 10: 1, 9: 2, "": 3, aa: 4, a: 5 }, '{"":3,"10":1,"9":2,"a":5,"aa":4}'],
  ])("%j", (value, form) => {
    expect(canonicalize(value)).toBe(form);
  });

  test("many keys are sorted as few are", () => {
    const keys = Array.from({ length: 200 }, (_, index) => `k${(index * 7919) % 200}\u{1f600}`);
    for (const count of [2, 15, 16, 17, 200]) {
      const some = keys.slice(0, count);
      const form = canonicalize(Object.fromEntries(some.map((key) => [key, 0])));
      expect(form).toBe(
        `{${[...some]
          .sort()
          .map((key) => `"${key}":0`)
          .join(",")}}`,
      );
    }
  });

  test("a full-depth value still hashes inside our own envelope; deeper than that is refused", () => {
    const nested = (depth: number): unknown => (depth === 0 ? 1 : { a: nested(depth - 1) });
    expect(canonicalize({ type: "holdpoint/request/v1", call: { arguments: nested(64) } })).toContain('"a":1');
    expect(canonicalize(nested(80))).toContain('"a":1');
    expect(() => canonicalize(nested(81))).toThrow(expect.objectContaining({ code: "too_deep", pointer: "/a".repeat(80) }));
  });
});

describe("sameJson", () => {
  test.each<[JsonValue, JsonValue, boolean]>([
    [1, 1, true],
    [0, -0, true],
    [1, "1", false],
    [null, null, true],
    [null, {}, false],
    [{}, null, false],
    [{}, "x", false],
    [[], {}, false],
    [{}, [], false],
    [[1, [2]], [1, [2]], true],
    [[1, 2], [2, 1], false],
    [[1], [1, 1], false],
    [{ a: 1, b: { c: 2 } }, { b: { c: 2 }, a: 1 }, true],
    [{ a: 1 }, { a: 1, b: 1 }, false],
    [{ a: 1 }, { b: 1 }, false],
    [{ toString: 1 }, { a: 1 }, false],
    [{ a: [1] }, { a: [2] }, false],
  ])("%j and %j: %s", (a, b, same) => {
    expect(sameJson(a, b)).toBe(same);
  });
});
