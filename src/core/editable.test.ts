import { describe, expect, it } from "vitest";
import { commonPart, differences, EVERYTHING, firstForbidden } from "./editable.ts";

describe("commonPart", () => {
  it("is what both lists allow", () => {
    expect(commonPart(EVERYTHING, ["/a"])).toEqual(["/a"]);
    expect(commonPart(["/a"], EVERYTHING)).toEqual(["/a"]);
    expect(commonPart(EVERYTHING, EVERYTHING)).toEqual([""]);
    expect(commonPart(["/a/b", "/c"], ["/a", "/c/d", "/e"])).toEqual(["/a/b", "/c/d"]);
    expect(commonPart(["/a"], ["/b"])).toEqual([]);
    expect(commonPart([], EVERYTHING)).toEqual([]);
    expect(commonPart(["/ab"], ["/a"])).toEqual([]);
  });
});

describe("differences", () => {
  it("names each value that differs by its own pointer", () => {
    expect(differences({ a: 1, b: { c: [1], d: 2 } }, { a: 1, b: { c: [2], d: 2 } })).toEqual(["/b/c"]);
    expect(differences({ a: 1 }, { b: 1 })).toEqual(["/a", "/b"]);
    expect(differences({ a: null }, { a: {} })).toEqual(["/a"]);
    expect(differences({}, { toString: 1 })).toEqual(["/toString"]);
    expect(differences({ "a/b": 1 }, { "a/b": 2 })).toEqual(["/a~1b"]);
    expect(differences([1], [1])).toEqual([]);
    expect(differences(1, 2)).toEqual([""]);
  });
});

describe("firstForbidden", () => {
  it("P-02 is the first difference that no pointer allows", () => {
    const [before, after] = [
      { a: 1, b: { c: 1, d: 1 } },
      { a: 1, b: { c: 2, d: 2 } },
    ];
    expect(firstForbidden(before, after, EVERYTHING)).toBeUndefined();
    expect(firstForbidden(before, after, ["/b"])).toBeUndefined();
    expect(firstForbidden(before, after, ["/b/c"])).toBe("/b/d");
    expect(firstForbidden(before, after, [])).toBe("/b/c");
    expect(firstForbidden(before, before, [])).toBeUndefined();
  });
});
