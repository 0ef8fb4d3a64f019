import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { quoted, unescapeVisible, visible } from "./visible.ts";

const ESC = "\u001b";
/** Characters that attacks are made of, mixed with ordinary ones. */
const HOSTILE = [
  ...'aZ09\\"│ \n\t\r',
  ESC,
  "\b",
  "\u007f",
  "\u0085",
  "\u009b",
  "\u00a0",
  "\u00ad",
  "\u034f",
  "\u061c",
  "\u115f",
  "\u200b",
  "\u200d",
  "\u200e",
  "\u2028",
  "\u202e",
  "\u2060",
  "\u2066",
  "\u2069",
  "\u2800",
  "\u3000",
  "\u3164",
  "\ufe0e",
  "\ufe0f",
  "\ufeff",
  "\ufff9",
  "\uffff",
  "\ud800",
  "\udc00",
  "\ue000",
  "\u{e0001}",
  "\u{e0067}",
  "\u{e007f}",
  "\u{e0100}",
  "\u{1f3f4}",
  "\u{1f468}",
  "\u{1f469}",
  "\u{1f3fb}",
  "\u{1f1f9}",
  "\u0301",
  "\u20e3",
  "ş",
  "ш",
  "ש",
  "م",
  "漢",
  "*",
  "{",
  "u",
];
const hostile = fc.oneof(
  fc.array(fc.constantFrom(...HOSTILE), { maxLength: 60 }).map((parts) => parts.join("")),
  fc.string({ unit: "binary", maxLength: 40 }),
  fc
    .tuple(fc.constantFrom(...HOSTILE), fc.integer({ min: 1, max: 60 }), fc.constantFrom(...HOSTILE))
    .map(([a, n, b]) => b + a.repeat(n) + b),
);
const KEPT_EMOJI = /\u{1f3f4}[\u{e0061}-\u{e007a}]+\u{e007f}|(?:\p{ExtPict}(?:\ufe0f|\p{EMod})?\u200d?)+|[0-9#*]\ufe0f\u20e3/gu;

describe("visible", () => {
  it.each([
    ["an escape sequence", `/srv/a.txt${ESC}[2J${ESC}[1;1HAllow?`, "/srv/a.txt\\u001b[2J\\u001b[1;1HAllow?"],
    ["a C1 control", "ok\u009b2K", "ok\\u009b2K"],
    ["OSC 8 with BEL", `${ESC}]8;;https://x.invalid/\u0007l`, "\\u001b]8;;https://x.invalid/\\u0007l"],
    ["a carriage return", "DANGER\rharmless", "DANGER\\rharmless"],
    ["backspace, tab and delete", "a\b\t\u007f", "a\\u0008\\t\\u007f"],
    ["a right-to-left override", "report\u202efdp.exe", "report\\u202efdp.exe"],
    ["isolates", "\u2067x\u2069", "\\u2067x\\u2069"],
    ["line separators", "a\u2028b\u2029c\u0085d\u000be\u000cf", "a\\u2028b\\u2029c\\u0085d\\u000be\\u000cf"],
    ["zero width, soft hyphen and fillers", "a\u200bb\u00adc\u3164d\u2800e\ufeff", "a\\u200bb\\u00adc\\u3164d\\u2800e\\ufeff"],
    ["a tag character and a selector", "x\u{e0041}\u{e0100}", "x\\u{e0041}\\u{e0100}"],
    ["a backslash", "C:\\new\\u001b", "C:\\\\new\\\\u001b"],
    ["a lone surrogate and a noncharacter", "\ud800 \uffff", "\\ud800 \\uffff"],
    ["blanks that are not a blank", "a\u00a0b\u3000c", "a\\u00a0b\\u3000c"],
    ["a joiner outside emoji", "a\u200db", "a\\u200db"],
    ["a selector outside emoji", "a\ufe0f", "a\\ufe0f"],
    ["tags that are no flag of a region", "\u{1f3f4}\u{e0072}\u{e006d}\u{e007f}", "\u{1f3f4}\\u{e0072}\\u{e006d}\\u{e007f}"],
    ["a mark that would stand on our frame", "\u0301a", "\\u0301a"],
    ["marks on a blank", "a \u0301", "a \\u0301"],
  ])("escapes %s", (_, value, shown) => {
    expect(visible(value)).toBe(shown);
  });

  it.each(["שלום مرحبا", "Ünïcode şğıİ", "漢字かな", "हिन्दी", "👨‍👩‍👧", "🏴󠁧󠁢󠁳󠁣󠁴󠁿", "👍🏽", "❤️", "1️⃣", "🇹🇷", "e\u0301"])(
    "leaves %s readable",
    (value) => {
      expect(visible(value)).toBe(value);
    },
  );

  it("piles no more than six marks on a letter", () => {
    expect(visible(`a${"\u0301".repeat(8)}`)).toBe(`a${"\u0301".repeat(6)}\\u0301\\u0301`);
  });

  it("counts a long run instead of letting it push the rest away", () => {
    expect(visible(`echo ok${" ".repeat(4000)}; rm`)).toBe("echo ok\\u{20*4000}; rm");
    expect(visible(`${"\n".repeat(500)}rm`, "block")).toBe("\\u{a*500}rm");
    expect(visible(`${"\u{e0041}".repeat(9)}rm`)).toBe("\\u{e0041*9}rm");
    expect(visible(`a${" ".repeat(8)}b`)).toBe("a        b");
  });

  it("keeps the indentation of code in a block, and counts what is no indentation", () => {
    expect(visible(`if\n${" ".repeat(16)}x`, "block")).toBe(`if\n${" ".repeat(16)}x`);
    expect(visible(`if\n${" ".repeat(33)}x`, "block")).toBe("if\n\\u{20*33}x");
  });

  it("shows blanks at the end of a line", () => {
    expect(visible("a  ")).toBe("a \\u0020");
    expect(visible("a \nb", "block")).toBe("a\\u0020\nb");
  });

  it("starts lines only in a block", () => {
    expect(visible("a\nb")).toBe("a\\nb");
    expect(visible("a\nb", "block")).toBe("a\nb");
    expect(visible("a\r\nb", "block")).toBe("a\\r\nb");
  });

  it("is undone exactly, whatever the text (A05)", () => {
    fc.assert(
      fc.property(hostile, fc.constantFrom("line" as const, "block" as const), (value, style) => {
        expect(unescapeVisible(visible(value, style))).toBe(value);
        expect(unescapeVisible(quoted(value, style).slice(1, -1))).toBe(value);
      }),
      { numRuns: 3000 },
    );
  });

  it("lets nothing through that steers, reorders or hides", () => {
    fc.assert(
      fc.property(hostile, fc.constantFrom("line" as const, "block" as const), (value, style) => {
        const out = visible(value, style).replace(KEPT_EMOJI, "");
        expect(out).not.toMatch(style === "line" ? /[\p{C}\p{Zl}\p{Zp}\p{DI}]/u : /(?!\n)[\p{C}\p{Zl}\p{Zp}\p{DI}]/u);
        expect(out).not.toMatch(/(?! )\p{Zs}/u);
      }),
      { numRuns: 3000 },
    );
  });

  it("never ends a quotation early", () => {
    fc.assert(
      fc.property(hostile, (value) => {
        expect(quoted(value).slice(1, -1)).toMatch(/^(?:[^"\\]|\\.)*$/su);
      }),
    );
  });

  it("takes time in proportion to the text", () => {
    for (const unit of [
      " ",
      "\u{1f468}\u200d",
      "\\",
      "a\u0301",
      "\u0301",
      "\u{e0041}",
      "\ud800",
      " x",
      "\u{1f3f4}\u{e0067}\u{e0062}",
      "1\ufe0f",
    ]) {
      const value = unit.repeat(200_000 / unit.length);
      expect(unescapeVisible(visible(value))).toBe(value);
    }
  });

  it("does not read back a run that would fill the memory", () => {
    expect(() => unescapeVisible("\\u{20*99999999}")).toThrow(RangeError);
  });
});
