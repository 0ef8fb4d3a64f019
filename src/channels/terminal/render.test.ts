import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { inputRow, rowsOf, sheetOf, widthOf } from "./render.ts";
import { sampleCard } from "../../testing/index.ts";
import { type Card, cardText } from "../../core/index.ts";

describe("rowsOf", () => {
  it("leaves a row that fits", () => {
    expect(rowsOf("tool  x", 40)).toEqual(["tool  x"]);
  });
  it("marks a row that goes on, so that a value cannot draw the next one", () => {
    expect(rowsOf('│   "cmd": "aaaaaaaaaaaaaaaa  "risk": "none"', 30)).toEqual([
      '│   "cmd": "aaaaaaaaaaaaa',
      '↳ aaa  "risk": "none"',
    ]);
  });
  it("loses nothing and fills no row to its end", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 300 }), fc.integer({ min: 12, max: 120 }), (text, columns) => {
        const rows = rowsOf(`│ ${text}`, columns);
        expect(rows.map((row, index) => (index === 0 ? row : row.slice(2))).join("")).toBe(`│ ${text}`);
        for (const row of rows) expect(widthOf(row)).toBeLessThan(columns);
      }),
    );
  });
  it("breaks up clusters that have no end", () => {
    expect(rowsOf("ᄀ".repeat(100), 20).every((row) => widthOf(row) < 20)).toBe(true);
  });
});

const drawn = (card: Card) => ({ card, ...cardText(card) });

describe("sheetOf", () => {
  const options = { columns: 80, rows: 24, colour: false, locale: "en" } as const;
  it("is one part where the values fit the screen", () => {
    const card = sampleCard();
    expect(sheetOf(drawn(card), options).parts).toEqual([
      cardText(card)
        .text.split("\n")
        .flatMap((line) => rowsOf(line, 80)),
    ]);
  });
  it("gives a first look at both ends, and then everything (A12)", () => {
    const args = Object.fromEntries([
      ...Array.from({ length: 200 }, (_, index) => [`opt${index}`, "default"]),
      ["force", true],
      ["recipient", "acct-evil"],
    ]);
    const card = sampleCard({ arguments: args });
    const { text } = cardText(card);
    const [first = [], ...rest] = sheetOf(drawn(card), options).parts;
    expect(first.join("\n")).toContain('"force": true');
    expect(first.join("\n")).toContain('"recipient": "acct-evil"');
    expect(first.join("\n")).toMatch(/✂ 19\d rows are not shown here\. The next parts show all of it\./);
    expect(first.length).toBeLessThanOrEqual(24);
    expect(rest.flat().join("\n")).toBe(
      text
        .split("\n")
        .flatMap((line) => rowsOf(line, 80))
        .join("\n"),
    );
  });
  it("takes a flood of words of the agent's own for values too", () => {
    const card = sampleCard({ statement: "a\n".repeat(300) });
    expect(sheetOf(drawn(card), options).parts.length).toBeGreaterThan(10);
  });
  it("colours the heading and the impact, never a value", () => {
    const card = sampleCard({ impact: "irreversible", message: "impact     IRREVERSIBLE: cannot be undone" });
    const [rows = []] = sheetOf(drawn(card), { ...options, colour: true }).parts;
    expect(rows.filter((row) => row.includes("\u001b"))).toEqual([
      "\u001b[1mApproval needed: run this?\u001b[0m",
      "impact     \u001b[1;31mIRREVERSIBLE: cannot be undone\u001b[0m",
    ]);
  });
});

describe("inputRow", () => {
  it("shows what is typed and where the cursor is", () => {
    expect(inputRow("yes", "", 80)).toEqual({ row: "> yes", column: 6 });
    expect(inputRow("no ", "way", 80)).toEqual({ row: "> no way", column: 6 });
    expect(inputRow("\u001b", "", 80)).toEqual({ row: "> \\u001b", column: 9 });
  });
  it("shows the end that has room", () => {
    const { row, column } = inputRow("x".repeat(200), "y".repeat(50), 40);
    expect(row.length).toBeLessThan(40);
    expect(column).toBe(37);
  });
});
