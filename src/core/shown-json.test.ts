import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compactJson, readShownJson, shownJson } from "./shown-json.ts";
import type { JsonValue } from "./json-value.ts";

const json = fc.jsonValue({ stringUnit: "binary", depthSize: "medium" }) as fc.Arbitrary<JsonValue>;
const tricky = fc.oneof(
  json,
  fc
    .array(fc.constantFrom("\n", "┊ ", "│ ", '"', "\\", " ", "}", ",", 'x\n  "y": 1'), { maxLength: 20 })
    .map((parts): JsonValue => ({ v: parts.join("") })),
);

describe("JSON as cards show it", () => {
  it("has one member a line, names in order, types to be told apart (A20)", () => {
    expect(shownJson({ b: "1000", a: 1000, e: "", n: null, t: true, o: {}, l: [], p: [1, { x: "y" }] }).join("\n")).toBe(
      [
        "{",
        '  "a": 1000,',
        '  "b": "1000",',
        '  "e": "",',
        '  "l": [],',
        '  "n": null,',
        '  "o": {},',
        '  "p": [',
        "    1,",
        "    {",
        '      "x": "y"',
        "    }",
        "  ],",
        '  "t": true',
        "}",
      ].join("\n"),
    );
  });

  it("marks the further lines of a text, so that none passes for a member (A10)", () => {
    expect(shownJson({ cmd: 'echo a\n"risk": "none"\n', z: 1 })).toEqual([
      "{",
      '  "cmd": "echo a',
      '  ┊ \\"risk\\": \\"none\\"',
      '  ┊ ",',
      '  "z": 1',
      "}",
    ]);
  });

  it("is one line where it is compact", () => {
    expect(compactJson({ cmd: "a\nb\u001b", n: [-0, 1e21, null], k: { "\u202e": false } })).toBe(
      '{"cmd":"a\\nb\\u001b","k":{"\\u202e":false},"n":[-0,1e+21,null]}',
    );
  });

  it("reads back to exactly the same value", () => {
    fc.assert(
      fc.property(tricky, (value) => {
        expect(readShownJson(shownJson(value).join("\n"))).toStrictEqual(value);
        expect(readShownJson(compactJson(value))).toStrictEqual(value);
      }),
      { numRuns: 1500 },
    );
  });

  it("keeps a member called __proto__", () => {
    const value = Object.fromEntries([["__proto__", { a: 1 }]]);
    expect(Object.keys(readShownJson(shownJson(value).join("\n")) as object)).toEqual(["__proto__"]);
  });

  it.each(["", "{", '{"a" 1}', '{"a":1,,"b":2', "[1 2]", "nul", '"x', "{} {}", "{1:2}"])("does not read %j", (text) => {
    expect(() => readShownJson(text)).toThrow(RangeError);
  });
});
