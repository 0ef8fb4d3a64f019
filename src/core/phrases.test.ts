import { describe, expect, it } from "vitest";
import { LOCALES, localeOf, phrase, type PhraseKey } from "./phrases.ts";
import { PHRASES } from "./phrases/catalogue.ts";

const placesOf = (text: string): readonly string[] => [...new Set(text.match(/\{\w+\}/g) ?? [])].sort();

describe("phrases", () => {
  it("says the same in every language: same places, nothing empty, no control characters", () => {
    for (const locale of LOCALES) {
      for (const key of PHRASES) {
        const said = phrase(locale, key, { count: 5, amount: "{amount}" });
        expect(said, `${locale} ${key}`).not.toBe("");
        expect(placesOf(said), `${locale} ${key}`).toEqual(placesOf(phrase("en", key, { count: 5, amount: "{amount}" })));
        expect(said, `${locale} ${key}`).not.toMatch(/[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/u);
      }
    }
  });

  it("counts by the rules of the language", () => {
    expect([1, 2, 1934].map((count) => phrase("en", "terminal.waiting", { count }))).toEqual([
      "(1 more waiting)",
      "(2 more waiting)",
      "(1,934 more waiting)",
    ]);
    expect([1, 2].map((count) => phrase("de", "terminal.waiting", { count }))).toEqual([
      "(1 weitere wartet)",
      "(2 weitere warten)",
    ]);
    expect([1, 2].map((count) => phrase("tr", "terminal.waiting", { count }))).toEqual([
      "(1 soru daha bekliyor)",
      "(2 soru daha bekliyor)",
    ]);
    expect([1, 2, 3].map((count) => phrase("he", "terminal.waiting", { count }))).toEqual([
      "(עוד אחת ממתינה)",
      "(עוד שתיים ממתינות)",
      "(עוד 3 ממתינות)",
    ]);
  });

  it("fills places in one pass, from own values only", () => {
    const key: PhraseKey = "requester.agent";
    expect(phrase("en", key, { agent: "{principal}", principal: "ada" })).toBe("{principal}, for ada");
    expect(phrase("en", key, { agent: "a" })).toBe("a, for {principal}");
  });

  it("finds the language of a tag", () => {
    expect(["tr-TR", "de_AT.UTF-8", "DE", "fr", "", undefined].map(localeOf)).toEqual(["tr", "de", "de", "en", "en", "en"]);
  });
});
