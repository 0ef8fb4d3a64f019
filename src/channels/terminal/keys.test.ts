import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Key, KeyReader } from "./keys.ts";
import { edited, EMPTY_LINE, textOf } from "./line.ts";

const read = (...chunks: readonly string[]): readonly Key[] => {
  const reader = new KeyReader();
  return [...chunks.flatMap((chunk) => reader.push(chunk)), ...reader.flush()];
};
const names = (...chunks: readonly string[]): readonly string[] =>
  read(...chunks).map((key) => (key.key === "text" ? key.text : key.key));

describe("KeyReader", () => {
  it.each([
    ["a line", ["yes\r"], ["yes", "enter"]],
    ["both ends of a line as one", ["y\r\nn\n"], ["y", "enter", "n", "enter"]],
    [
      "keys that edit",
      ["\u007f\b\u001b[3~\u001b[D\u001b[C\u001b[H\u001b[F\u001bOH\u0001\u0005\u0015\u0017\f"],
      ["backspace", "backspace", "delete", "left", "right", "home", "end", "home", "home", "end", "clear", "word", "redraw"],
    ],
    [
      "keys that do nothing",
      ["\t\u001b[A\u001b[1;5C\u001b[15~\u001bOP\u001a"],
      ["other", "other", "other", "other", "other", "other"],
    ],
    ["the ends", ["\u0003\u0004"], ["interrupt", "eof"]],
    ["a lone Escape", ["\u001b"], ["escape"]],
    ["Escape and a letter (Alt)", ["\u001by\r"], ["escape", "y", "enter"]],
    ["an arrow in two chunks", ["\u001b", "[D"], ["left"]],
    ["a paste, also over chunks, with an Enter in it", ["\u001b[200~y\r", "\nyes\u001b[20", "1~n"], ["paste", "n"]],
    ["an unfinished paste", ["\u001b[200~yes\r"], ["paste"]],
    ["answers of the terminal that hold text", ["\u001b]0;yes\u0007\u001bP1$r0m\u001b\\y"], ["other", "other", "y"]],
    ["Enter in a string of the terminal", ["\u001bPyes\r"], ["escape", "enter"]],
    ["Ctrl-C in a string of the terminal", ["\u001b]x\u0003"], ["escape", "interrupt"]],
    ["an unfinished sequence", ["\u001b[12"], ["escape", "[12"]],
    ["a C1 control as text, so that its line is no yes", ["\u009by"], ["\u009by"]],
  ] as const)("reads %s", (_, chunks, keys) => {
    expect(names(...chunks)).toEqual(keys);
  });

  it("reads where the cursor is", () => {
    expect(read("\u001b[12;34R")).toEqual([{ key: "position", row: 12, column: 34 }]);
    expect(names("\u001b[R\u001b[1R")).toEqual(["other", "other"]);
  });

  it("reads the same keys however the bytes are cut, and never waits for ever", () => {
    const parts = fc.constantFrom(
      "\u001b",
      "[",
      "]",
      "O",
      "P",
      "200~",
      "201~",
      "\u0007",
      "\\",
      "y",
      "\r",
      "\n",
      "3",
      ";",
      "R",
      "~",
      "D",
    );
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 20 }), (chunks) => {
        const reader = new KeyReader();
        for (const chunk of chunks) reader.push(chunk);
        for (let round = 0; reader.unfinished; round += 1) {
          reader.flush();
          expect(round).toBeLessThan(chunks.length + 2);
        }
        expect(textsOf(read(chunks.join("")))).toBe(textsOf(read(...chunks)));
      }),
      { numRuns: 1000 },
    );
  });
});

const textsOf = (keys: readonly Key[]): string => keys.map((key) => (key.key === "text" ? key.text : `<${key.key}>`)).join("");

describe("edited", () => {
  const typed = (...chunks: readonly string[]): string => textOf(read(...chunks).reduce(edited, EMPTY_LINE));
  it("edits in the middle, by whole characters (BR-219)", () => {
    expect(typed("ab\u001b[D\u001b[3~\u007f\u007f")).toBe("");
    expect(typed("ac\u001b[Db")).toBe("abc");
    expect(typed("x👍\u007f")).toBe("x");
    expect(typed("b\u0001a\u0005c")).toBe("abc");
    expect(typed("no way\u0017")).toBe("no ");
    expect(typed("no\u0015yes")).toBe("yes");
  });
  it("keeps an Escape in the line, and takes no Tab or arrow for text", () => {
    expect(typed("\u001b", "y")).toBe("\u001by");
    expect(typed("\ty\u001b[A")).toBe("y");
  });
  it("stops growing", () => {
    expect([...typed(...Array.from({ length: 1200 }, () => "x"))].length).toBe(1000);
  });
});
