import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { ANSWER_CODES, REFUSAL_CODES, type RefusalCode } from "../../src/core/errors.ts";
import { deferredSentence, pendingSentence, refusalSentence, unknownSentence } from "../../src/core/refusal.ts";

const page = readFileSync("docs/reference/errors.md", "utf8");
const section = (title: string): string => page.split(/^## /m).find((part) => part.startsWith(title)) ?? "";
const rows = (title: string): string[][] =>
  section(title)
    .split("\n")
    .filter((line) => /^\| (`|pending|deferred|unknown)/.test(line))
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
const words = (cell: string): string[] => cell.replaceAll("`", "").split(", ");

describe("the page of codes", () => {
  it("has each code that a model may read, once, with when and what to do", () => {
    expect(rows("Codes that a model").map(([code]) => code)).toEqual(REFUSAL_CODES.map((code) => `\`${code}\``));
  });

  it("has each code that only people read", () => {
    expect(rows("Codes that only people").map(([code]) => code)).toEqual(ANSWER_CODES.map((code) => `\`${code}\``));
  });

  it("leaves no cell empty", () => {
    expect(
      [...rows("Codes that a model"), ...rows("Codes that only people")].filter((cells) => cells.some((cell) => cell.length < 4)),
    ).toEqual([]);
  });
});

const FINAL = "This is final: do not retry or rephrase it and do not reach the same end another way. Tell the user briefly.";
const sentences = rows("The sentences").flatMap(([names, text]) =>
  words(names ?? "").map((name) => [name, (text ?? "").replaceAll("`", "").replace("FINAL", FINAL)] as const),
);
const isCode = (name: string): name is RefusalCode => (REFUSAL_CODES as readonly string[]).includes(name);

describe("the page of sentences", () => {
  it("has one for each code and for what is neither yes nor no", () => {
    const names = sentences.map(([name]) => name);
    expect(names.toSorted()).toEqual([...REFUSAL_CODES, "pending", "deferred", "unknown"].toSorted());
  });

  it.each(sentences.filter(([name]) => isCode(name)))("of %s is what the model reads (P-07)", (name, text) => {
    const code = name as RefusalCode;
    const given = refusalSentence("{tool}", { code, reason: "{reason}", pointer: "{path}", problem: "{problem}" });
    const bare = refusalSentence("{tool}", { code, pointer: "{path}", problem: "{problem}" });
    const expected = text.replace("{code}", code);
    expect(given).toBe(expected.replace(/[[\]]/g, ""));
    expect(bare).toBe(expected.replace(/\[.*\]/, ""));
  });

  it("of what waits, is queued or is unknown is what the model reads", () => {
    const text = Object.fromEntries(sentences);
    expect(pendingSentence("{tool}", "{link}")).toBe(text.pending);
    expect(deferredSentence("{tool}")).toBe(text.deferred);
    expect(unknownSentence("{tool}")).toBe(text.unknown);
  });
});
