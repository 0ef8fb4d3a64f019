import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { copyJson, readJson } from "./json.ts";
import { at, formatPointer, isWithin, parsePointer, replaceAt } from "./pointer.ts";
import type { JsonValue } from "./json-value.ts";

const sample = readJson(
  '{"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"m~n":8," ":7,"list":[{"x":{"y":null}}],"__proto__":{"own":true},"undefined":3}',
);

describe("formatPointer and parsePointer", () => {
  test.each([
    ["", []],
    ["/", [""]],
    ["/foo/0", ["foo", 0]],
    ["/a~1b", ["a/b"]],
    ["/m~0n", ["m~n"]],
    ["/~01", ["~1"]],
    ["//", ["", ""]],
  ])("%j", (pointer, path) => {
    expect(formatPointer(path)).toBe(pointer);
    expect(parsePointer(pointer)).toEqual(path.map(String));
  });

  test("every path survives", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.string(), fc.constantFrom("~", "/", "~1", "~0", ""))), (path) => {
        expect(parsePointer(formatPointer(path))).toEqual(path);
      }),
    );
  });

  test.each(["foo", "#/foo", "/~", "/a~2", "/a~", "a/b"])("%j is no pointer", (text) => {
    expect(() => parsePointer(text)).toThrow(/not a JSON pointer; write/);
    expect(() => at(sample, text)).toThrow(RangeError);
    expect(() => replaceAt(sample, text, 1)).toThrow(RangeError);
  });
});

describe("at", () => {
  test.each([
    ["/foo", ["bar", "baz"]],
    ["/foo/1", "baz"],
    ["/", 0],
    ["/a~1b", 1],
    ["/c%d", 2],
    ["/m~0n", 8],
    ["/ ", 7],
    ["/list/0/x/y", null],
    ["/__proto__/own", true],
  ])("%j", (pointer, found) => {
    expect(at(sample, pointer)).toEqual(found);
  });

  test("the whole", () => {
    expect(at(sample, "")).toBe(sample);
    expect(at("x", "")).toBe("x");
  });

  test.each([
    "/foo/2",
    "/foo/-",
    "/foo/01",
    "/foo/-1",
    "/foo/1e0",
    "/foo/length",
    "/foo/map",
    "/toString",
    "/constructor",
    "/list/0/x/y/z",
    "/foo/0/0",
    "/no/such",
    "/no",
  ])("nothing at %j", (pointer) => {
    expect(at(sample, pointer)).toBeUndefined();
  });
});

test("isWithin", () => {
  expect(isWithin("/a/b", "/a")).toBe(true);
  expect(isWithin("/a", "/a")).toBe(true);
  expect(isWithin("/a", "")).toBe(true);
  expect(isWithin("", "")).toBe(true);
  expect(isWithin("/ab", "/a")).toBe(false);
  expect(isWithin("/a", "/a/b")).toBe(false);
  expect(isWithin("", "/")).toBe(false);
});

describe("replaceAt", () => {
  test("makes a new frozen value, leaves the old one and shares what is untouched", () => {
    const before = copyJson({ to: "a", list: [{ x: 1 }, { y: 2 }], keep: {} }) as { list: object[]; keep: object };
    const after = replaceAt(before as unknown as JsonValue, "/list/0/x", copyJson([9])) as { list: object[]; keep: object };
    expect(after).toStrictEqual({ to: "a", list: [{ x: [9] }, { y: 2 }], keep: {} });
    expect(before).toStrictEqual({ to: "a", list: [{ x: 1 }, { y: 2 }], keep: {} });
    expect(after.keep).toBe(before.keep);
    expect(after.list[1]).toBe(before.list[1]);
    for (const part of [after, after.list, after.list[0]]) expect(Object.isFrozen(part)).toBe(true);
    expect(Object.keys(after)).toEqual(["to", "list", "keep"]);
  });

  test("replaces the whole, and a null", () => {
    expect(replaceAt({ a: 1 }, "", "x")).toBe("x");
    expect(replaceAt({ a: null }, "/a", 1)).toEqual({ a: 1 });
  });

  test("a magic key stays a member", () => {
    const after = replaceAt(readJson('{"__proto__":{"approved":false},"a":1}'), "/__proto__/approved", true);
    expect(JSON.stringify(after)).toBe('{"__proto__":{"approved":true},"a":1}');
    expect(Object.getPrototypeOf(after)).toBe(Object.prototype);
  });

  test.each(["/b", "/a/b", "/list/1", "/list/-", "/toString", "/__proto__"])("refuses to add: %j", (pointer) => {
    expect(() => replaceAt({ a: 1, list: [0] }, pointer, 2)).toThrow("the pointer names nothing in this value");
  });
});
