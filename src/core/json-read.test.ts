import { describe, expect, test } from "vitest";
import { RawNumber, copyJson, readJson, readMessage } from "./json.ts";

const refused = (code: string, pointer: string) => expect.objectContaining({ name: "JsonFault", code, pointer });

describe("readJson", () => {
  test.each([
    ["null", null],
    [" true ", true],
    ["false", false],
    ['\t\r\n"a"\n', "a"],
    ['""', ""],
    ["[]", []],
    ["[ ]", []],
    ["{}", {}],
    ["{ }", {}],
    ["[1,[2],{}]", [1, [2], {}]],
    ['{"a":{"b":[null]},"":0}', { a: { b: [null] }, "": 0 }],
    ['"\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e9"', '"\\/\b\f\n\r\tAé'],
    ['"\u2028\u2029\ufffe\uffff\u007f"', "\u2028\u2029\ufffe\uffff\u007f"],
    ['"\ud83d\\ude00"', "😀"],
    ["0.1", 0.1],
    ["-1.5e-3", -0.0015],
    ["333333333.33333329", 333333333.3333333],
    ["0.10000000000000001", 0.1],
    ["5e-324", 5e-324],
    ["-9007199254740991", -9007199254740991],
    ["9007199254740991.000000000000000000", 9007199254740991],
    ["0.0000000000000000000000000000000000", 0],
  ])("%s", (text, value) => {
    expect(readJson(text)).toStrictEqual(value);
  });

  test("-0 is 0", () => {
    expect(Object.is(readJson("-0"), 0)).toBe(true);
    expect(Object.is(readJson("-0.0e5"), 0)).toBe(true);
  });

  test("what was read is frozen, all the way down", () => {
    const value = readJson('{"a":[{"b":[]}],"c":{}}') as { a: [{ b: [] }]; c: object };
    for (const part of [value, value.a, value.a[0], value.a[0].b, value.c]) expect(Object.isFrozen(part)).toBe(true);
  });

  test.each([
    ["", ""],
    [" ", ""],
    ["\ufeff1", ""],
    ["\u00a01", ""],
    ["1 2", ""],
    ["{}{}", ""],
    ["nul", ""],
    ["True", ""],
    ["truth", ""],
    ["fals", ""],
    ["undefined", ""],
    ["NaN", ""],
    ["01", ""],
    ["-", ""],
    ["+1", ""],
    [".5", ""],
    ["1.", ""],
    ["1e", ""],
    ["0x10", ""],
    ["'a'", ""],
    ['"a', ""],
    ['"a\\"', ""],
    ['"\t"', ""],
    ['"\\', ""],
    ['"\\x41"', ""],
    ['"\\u12g4"', ""],
    ['"\\u12', ""],
    ['"\\u 041"', ""],
    ["[", "/0"],
    ["[1", ""],
    ["[1,]", "/1"],
    ["[1 2]", ""],
    ["[1}", ""],
    ["{", ""],
    ["{1:2}", ""],
    ["{a:1}", ""],
    ['{"a"}', "/a"],
    ['{"a":}', "/a"],
    ['{"a":1', ""],
    ['{"a":1,}', ""],
    ['{"a":1]', ""],
    ['{"a/b":{"c~d":[0,tru]}}', "/a~1b/c~0d/1"],
    ["// a\n1", ""],
    ["[1,/**/2]", "/1"],
  ])("syntax: %s", (text, pointer) => {
    expect(() => readJson(text)).toThrow(refused("syntax", pointer));
    expect(() => readMessage(text)).toThrow(refused("syntax", pointer));
    expect(() => JSON.parse(text)).toThrow(SyntaxError);
  });

  test.each([
    ["9007199254740992", "number_not_exact"],
    ["-9007199254740992", "number_not_exact"],
    ["9007199254740993", "number_not_exact"],
    ["9007199254740991.5", "number_not_exact"],
    ["9007199254740990.6", "number_not_exact"],
    ["1e16", "number_not_exact"],
    ["1E30", "number_not_exact"],
    ["1.00000000000000000001", "number_not_exact"],
    ["0.99999999999999999", "number_not_exact"],
    ["0.1234567890123456789", "number_not_exact"],
    ["1e-400", "number_not_exact"],
    ["-0.00000001e-400", "number_not_exact"],
    ["1e309", "number_not_finite"],
    ["-1E400", "number_not_finite"],
    [`1${"0".repeat(400)}`, "number_not_finite"],
  ])("number: %s", (text, code) => {
    expect(() => readJson(`[0,${text}]`)).toThrow(refused(code, "/1"));
  });

  test.each([
    ['{"a":1,"a":1}', "/a"],
    ['{"":1,"":1}', "/"],
    ['{"__proto__":1,"__proto__":1}', "/__proto__"],
    ['{"a":{"b":[{"c":1,"\\u0063":2}]}}', "/a/b/0/c"],
    ['{"x~/y":0,"x~/y":0}', "/x~0~1y"],
  ])("duplicate key: %s", (text, pointer) => {
    expect(() => readJson(text)).toThrow(refused("duplicate_key", pointer));
    expect(() => readMessage(text)).toThrow(refused("duplicate_key", pointer));
  });

  test("one key may stand in two objects, and inherited names are free", () => {
    const text = '[{"a":1},{"a":{"a":2}},{"toString":3,"hasOwnProperty":4}]';
    expect(readJson(text)).toEqual(JSON.parse(text));
  });

  test.each([
    ['"\\ud800"', "", "the value: the text holds half of a surrogate pair"],
    ['["\ude00"]', "/0", "/0: the text holds half of a surrogate pair"],
    ['{"a":"\\ude00\\ud83d"}', "/a", "/a: the text holds half of a surrogate pair"],
    ['{"a":{"\\ud800":1}}', "/a", "/a: a key holds half of a surrogate pair"],
  ])("half of a pair: %s", (text, pointer, message) => {
    expect(() => readJson(text)).toThrow(refused("invalid_string", pointer));
    expect(() => readJson(text)).toThrow(message);
  });

  test("depth: 64 levels, then too_deep with the path to the level that is too much", () => {
    const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);
    expect(readJson(nested(64))).toBeDefined();
    expect(() => readJson(nested(65))).toThrow(refused("too_deep", "/0".repeat(64)));
    expect(() => readJson('{"a":'.repeat(65))).toThrow(refused("too_deep", "/a".repeat(64)));
    expect(readJson("1", { length: 9, depth: 0 })).toBe(1);
    expect(() => readJson("{}", { length: 9, depth: 0 })).toThrow(refused("too_deep", ""));
  });

  test("a limit that is too generous does not overflow the stack", () => {
    const limits = { length: 1e7, depth: Number.POSITIVE_INFINITY };
    expect(() => readJson("[".repeat(1e6), limits)).toThrow(refused("too_deep", "/0".repeat(1000)));
    expect(readJson("[".repeat(1000) + "]".repeat(1000), limits)).toBeDefined();
  });

  test("length, in UTF-16 units of the text", () => {
    expect(readJson('"abc"', { length: 5, depth: 1 })).toBe("abc");
    expect(() => readJson('"abc" ', { length: 5, depth: 1 })).toThrow(refused("too_large", ""));
    expect(readJson(`"${"a".repeat(1_048_574)}"`)).toHaveLength(1_048_574);
    expect(() => readJson(`"${"a".repeat(1_048_575)}"`)).toThrow(refused("too_large", ""));
  });

  test("long texts and numbers are read without overflow and in linear time", () => {
    const limits = { length: 1e8, depth: 4 };
    expect(readJson(`"${"\\na".repeat(1e6)}"`, limits)).toHaveLength(2e6);
    expect(() => readJson(`0.${"0".repeat(1e6)}1`, limits)).toThrow(refused("number_not_exact", ""));
  });
});

describe("readMessage", () => {
  test("keeps a number that is not exact as its own text", () => {
    const { value } = readMessage('{"id":1234567890123456789,"far":-1E400,"fine":0.12345678901234567890,"ok":1e2}');
    expect(value).toEqual({
      id: new RawNumber("1234567890123456789"),
      far: new RawNumber("-1E400"),
      fine: new RawNumber("0.12345678901234567890"),
      ok: 100,
    });
    expect(Object.isFrozen((value as { id: RawNumber }).id)).toBe(true);
  });

  test("such a number is refused in what is copied for a call", () => {
    const { value } = readMessage('{"arguments":{"id":1234567890123456789,"far":1E400}}');
    expect(() => copyJson(value)).toThrow(refused("number_not_exact", "/arguments/id"));
    expect(() => copyJson((value as { arguments: { far: unknown } }).arguments.far)).toThrow(refused("number_not_finite", ""));
    expect(() => copyJson(new RawNumber("0.12345678901234567890"))).toThrow(refused("number_not_exact", ""));
  });

  test("spans are the exact text, down to three steps", () => {
    const text =
      ' {"jsonrpc" : "2.0","id":12345678901234567890 , "params":{"name":"pay","arguments": {"b" : [1, 2 ],"a~/":"\\u0041"} },"list":[true,{"x":null}]}\n';
    const { span } = readMessage(text);
    const slice = (pointer: string): string | undefined => {
      const found = span(pointer);
      return found && text.slice(found.start, found.end);
    };
    expect(slice("")).toBe(text.trim());
    expect(slice("/id")).toBe("12345678901234567890");
    expect(slice("/jsonrpc")).toBe('"2.0"');
    expect(slice("/params/arguments")).toBe('{"b" : [1, 2 ],"a~/":"\\u0041"}');
    expect(slice("/params/arguments/b")).toBe("[1, 2 ]");
    expect(slice("/params/arguments/a~0~1")).toBe('"\\u0041"');
    expect(slice("/list/1/x")).toBe("null");
    expect(slice("/params/arguments/b/0")).toBeUndefined();
    expect(slice("/nothing")).toBeUndefined();
    expect(slice("toString")).toBeUndefined();
  });

  test("is as strict as readJson in all else", () => {
    expect(() => readMessage('{"a":"\\ud800"}')).toThrow(refused("invalid_string", "/a"));
    expect(() => readMessage("[".repeat(65))).toThrow(refused("too_deep", "/0".repeat(64)));
    expect(() => readMessage("[1]", { length: 2, depth: 2 })).toThrow(refused("too_large", ""));
  });
});
