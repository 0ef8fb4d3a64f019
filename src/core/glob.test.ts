import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DeclarationError } from "./errors.ts";
import { glob } from "./glob.ts";

/** The same rule as a regular expression, which is fast enough for short texts. */
const slow = (source: string): RegExp =>
  new RegExp(`^${source.replace(/[.+?^${}|[\]\\]/g, "\\$&").replace(/\*\*?/g, (stars) => (stars === "**" ? "[^]*" : "[^/]*"))}$`);

describe("glob", () => {
  it("lets * stop at a slash and ** go on", () => {
    const hits = (source: string, ...names: string[]) => names.filter((name) => glob(source).matches(name));
    expect(hits("fs/*", "fs/read", "fs/", "fs/a/b", "fs", "xfs/a")).toEqual(["fs/read", "fs/"]);
    expect(hits("fs/**", "fs/read", "fs/a/b", "fs")).toEqual(["fs/read", "fs/a/b"]);
    expect(hits("**", "a", "a/b")).toEqual(["a", "a/b"]);
    expect(hits("*_file", "read_file", "fs/read_file")).toEqual(["read_file"]);
    expect(hits("a.b", "a.b", "axb")).toEqual(["a.b"]);
    expect(hits("**x**", "x", "axa/x", "aaa")).toEqual(["x", "axa/x"]);
  });

  it("says what a regular expression says", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "b", "/", "."), maxLength: 9 });
    const source = fc.string({ unit: fc.constantFrom("a", "b", "/", ".", "*", "**"), minLength: 1, maxLength: 9 });
    fc.assert(
      fc.property(source, text, (pattern, name) => {
        expect(glob(pattern).matches(name)).toBe(slow(pattern).test(name));
      }),
      { numRuns: 5000 },
    );
  });

  it("takes no time that grows faster than pattern times name", () => {
    const name = "a".repeat(5000);
    expect(glob(`${"*a".repeat(50)}b`).matches(name)).toBe(false);
  });

  it.each([
    ["", /not empty/],
    ["tüte", /ASCII/],
    ["bash(rm *)", /looks at arguments/],
  ])("refuses %j, which would silently match nothing", (source, words) => {
    expect(() => glob(source)).toThrow(DeclarationError);
    expect(() => glob(source)).toThrow(words);
  });

  it("keeps its source for lists", () => {
    expect([glob("a").source, glob("a*").source]).toEqual(["a", "a*"]);
  });
});
