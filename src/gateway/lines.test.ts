import fc from "fast-check";
import { expect, it } from "vitest";
import { Lines } from "./lines.ts";

interface Cut {
  readonly lines: string[];
  readonly pieces: [string, boolean][];
}

function cut(chunks: readonly Uint8Array[], limit: number): Cut {
  const seen: Cut = { lines: [], pieces: [] };
  const lines = new Lines(limit, {
    line: (bytes) => seen.lines.push(bytes.toString("latin1")),
    piece: (bytes, last) => seen.pieces.push([bytes.toString("latin1"), last]),
  });
  for (const chunk of chunks) lines.push(Buffer.from(chunk));
  lines.end();
  return seen;
}

const bytes = fc.array(fc.constantFrom("a", "\r", "\n", "\xc3", "\xbc"), { maxLength: 60 }).map((parts) => parts.join(""));

it("finds the same lines wherever the chunks end, and loses no byte", () => {
  fc.assert(
    fc.property(bytes, fc.array(fc.integer({ min: 0, max: 60 })), (text, cuts) => {
      const at = [0, ...cuts.filter((place) => place <= text.length).sort((a, b) => a - b), text.length];
      const chunks = at.slice(1).map((end, index) => Buffer.from(text.slice(at[index], end), "latin1"));
      expect(cut(chunks, 1000)).toEqual({ lines: text.match(/[^\n]*\n|[^\n]+$/g) ?? [], pieces: [] });
    }),
  );
});

it("passes a line beyond the limit on in pieces, which are the line, and reads the next one as usual", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom("x", "yy", "zzzzz"), { minLength: 1 }), (parts) => {
      const long = `${"l".repeat(10)}${parts.join("")}\n`;
      const chunks = ["first\n", "l".repeat(10), ...parts, "\nnext\n"];
      const { lines, pieces } = cut(
        chunks.map((chunk) => Buffer.from(chunk)),
        9,
      );
      expect(lines).toEqual(["first\n", "next\n"]);
      expect(pieces.map(([piece]) => piece).join("")).toBe(long);
      expect(pieces.map(([, last]) => last)).toEqual([...Array(pieces.length - 1).fill(false), true]);
    }),
  );
});

it("a line of exactly the limit is a line", () => {
  expect(cut([Buffer.from("12345\n123456\n")], 6)).toEqual({
    lines: ["12345\n"],
    pieces: [
      ["123456\n", false],
      ["", true],
    ],
  });
});

it("a long line that the stream cuts off ends with the stream", () => {
  expect(cut([Buffer.from("1234567")], 6)).toEqual({
    lines: [],
    pieces: [
      ["1234567", false],
      ["", true],
    ],
  });
});
