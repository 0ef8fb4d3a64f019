import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { answeringLine, reasonOf, terminalAnswer, terminalLine, textAnswer, type TextSetting } from "./words.ts";

const one: TextSetting = { open: ["K7Q2"], last: true, otherReplies: "reject" };

describe("terminalAnswer", () => {
  it.each(["y", "YES", " e ", "evet", "EVET", "Yes", "\tyes\r\n"])("takes %j for a yes (TA-025)", (line) => {
    expect(terminalAnswer(line)).toBe("approve");
    expect(terminalAnswer(line, "tr")).toBe("approve");
  });
  it.each([
    "",
    " ",
    "yess",
    "ok",
    "sure",
    "go ahead",
    "n",
    "yes please",
    "y y",
    "y\u200b",
    "\ufeffyes",
    "\u001by",
    "уes",
    "ｙ",
    "yes.",
    "ja",
    "כן",
    "ẏes",
    "evét",
  ])("takes %j for a no", (line) => {
    expect(terminalAnswer(line)).toBe("reject");
  });
  it("knows the words of each language, and the common ones in all", () => {
    expect(terminalAnswer("JA", "de")).toBe("approve");
    expect(terminalAnswer("כן", "he")).toBe("approve");
    expect(terminalAnswer("evet", "de")).toBe("approve");
  });
  it("approves nothing but the list", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (line) => {
        const yes = ["y", "yes", "e", "evet"].includes(line.replace(/^[ \t\r\n\u00a0]+|[ \t\r\n\u00a0]+$/g, "").toLowerCase());
        expect(terminalAnswer(line)).toBe(yes ? "approve" : "reject");
      }),
    );
  });
});

describe("reasonOf", () => {
  it.each([
    ["", undefined],
    ["n", undefined],
    ["No", undefined],
    ["HAYIR", undefined],
    ["hayır", undefined],
    ["use staging", "use staging"],
    ["no, use staging", "use staging"],
    ["No: not now", "not now"],
    ["nothing like that", "nothing like that"],
    ["no backups exist", "no backups exist"],
    ["no-one has tested it", "no-one has tested it"],
    ["no --force", "no --force"],
    ["no - use staging", "use staging"],
    ["no — use staging", "use staging"],
    ["n. later", "later"],
    ["No!", undefined],
    ["hayır; yarın", "yarın"],
    ["\u001b", undefined],
    ["\u001by", "y"],
    ["yes please", "yes please"],
  ])("of %j is %j", (line, reason) => {
    expect(reasonOf(line)).toBe(reason);
  });
});

describe("terminalLine", () => {
  const plain = { code: "K7Q2", needsCode: false };
  const coded = { code: "K7Q2", needsCode: true };
  it("approves by a yes, or by a yes with this question's code", () => {
    for (const line of ["y", "yes K7Q2", "YES k7q2", " evet  K7Q2 "])
      expect(terminalLine(line, plain)).toEqual({ answer: "approve" });
    expect(terminalLine("yes K7Q2", coded)).toEqual({ answer: "approve" });
  });
  it("asks again for a yes without the code that a destructive call wants", () => {
    expect(terminalLine("yes", coded)).toEqual({ answer: "unclear", why: "needs_code" });
  });
  it("decides nothing with another question's code (P-05)", () => {
    for (const line of ["yes A2B3", "no A2B3"])
      expect(terminalLine(line, plain)).toEqual({ answer: "unclear", why: "other_code" });
  });
  it("rejects by any other line, with its words as reason", () => {
    expect(terminalLine("", coded)).toEqual({ answer: "reject", reason: undefined });
    expect(terminalLine("no K7Q2", coded)).toEqual({ answer: "reject", reason: undefined });
    expect(terminalLine("yes K7Q2 now", coded)).toEqual({ answer: "reject", reason: "yes K7Q2 now" });
    expect(terminalLine("no, staging", plain)).toEqual({ answer: "reject", reason: "staging" });
    expect(terminalLine("K7Q2", coded)).toEqual({ answer: "reject", reason: "K7Q2" });
  });
});

describe("textAnswer", () => {
  it("approves by a bare yes only where it can name one prompt", () => {
    expect(textAnswer("Yes", one)).toEqual({ answer: "approve", code: "K7Q2" });
    expect(textAnswer("evet", { open: ["K7Q2", "A2B3"], replyTo: "A2B3" })).toEqual({ answer: "approve", code: "A2B3" });
    for (const setting of [{ open: ["K7Q2", "A2B3"], last: true }, { open: ["K7Q2"] }, { open: ["K7Q2"], replyTo: "A2B3" }]) {
      expect(textAnswer("yes", setting)).toEqual({ answer: "unclear", why: "needs_code" });
    }
  });
  it("approves the prompt that the code names, and only there", () => {
    expect(textAnswer("yes a2b3", { open: ["K7Q2", "A2B3"] })).toEqual({ answer: "approve", code: "A2B3" });
    expect(textAnswer("yes C4D5", one)).toEqual({ answer: "unclear", why: "other_code" });
    expect(textAnswer("yes A2B3", { open: ["K7Q2", "A2B3"], replyTo: "K7Q2" })).toEqual({ answer: "unclear", why: "other_code" });
    expect(textAnswer("yes K7Q2", { open: ["K7Q2", "K7Q2"] })).toEqual({ answer: "unclear", why: "other_code" });
    expect(textAnswer("no K7Q2", { open: ["K7Q2", "A2B3"] })).toEqual({ answer: "reject", code: "K7Q2" });
  });
  it.each([
    "yes please",
    "yes, but not now",
    "please: yes",
    "approve K7Q2 but only on staging",
    "K7Q2",
    "yes K7Q2 thanks",
    "y?",
    "no, yes",
    "evet ama yarın",
    "yes.",
  ])("is told that %j decides nothing", (text) => {
    expect(textAnswer(text, one)).toEqual({ answer: "unclear", why: "near_miss" });
    expect(textAnswer(text, { ...one, replyTo: "K7Q2" })).toEqual({ answer: "unclear", why: "near_miss" });
  });
  it("reads the cases of BR-211 and BR-216 as they are meant", () => {
    expect(textAnswer("no, don't approve", one)).toEqual({ answer: "reject", code: "K7Q2", reason: "don't approve" });
    expect(textAnswer("disapprove", one)).toEqual({ answer: "reject", code: "K7Q2" });
    for (const text of [
      "I would not allow that",
      "approved? not yet",
      "are you sure?",
      "go ahead tomorrow",
      "I do not approve r1",
    ]) {
      expect(textAnswer(text, one)).toEqual({ answer: "unclear", why: "near_miss" });
    }
  });
  it("takes other words for a no only where that is wanted and one prompt can be meant", () => {
    expect(textAnswer("use staging instead", one)).toEqual({ answer: "reject", code: "K7Q2", reason: "use staging instead" });
    expect(textAnswer("use staging instead", { open: ["K7Q2"], last: true })).toEqual({ answer: "none" });
    expect(textAnswer("use staging instead", { open: ["K7Q2", "A2B3"], last: true, otherReplies: "reject" })).toEqual({
      answer: "none",
    });
    expect(textAnswer("what is going on?", { open: ["K7Q2"], otherReplies: "reject" })).toEqual({ answer: "none" });
    expect(textAnswer("no", { open: ["K7Q2", "A2B3"] })).toEqual({ answer: "unclear", why: "needs_code" });
  });
  it("says nothing where nothing is open", () => {
    expect(textAnswer("yes", { open: [], last: true })).toEqual({ answer: "none" });
  });
  it("reads the first line that is not empty, and no quoted history", () => {
    expect(textAnswer("\r\n  yes K7Q2\r\n\r\nAda\r\n> no", one)).toEqual({ answer: "approve", code: "K7Q2" });
    expect(answeringLine("> yes K7Q2")).toBe("");
    expect(answeringLine("\nOn Monday Ada wrote:\n> x\nyes")).toBe("");
    expect(answeringLine("-----Original Message-----\nyes")).toBe("");
  });
  it("approves by nothing but a yes-word, alone or with an open code", () => {
    const parts = fc.constantFrom(
      "yes",
      "y",
      "e",
      "evet",
      "no",
      "ok",
      "K7Q2",
      "A2B3",
      "C4D5",
      " ",
      " ",
      ",",
      "\n",
      "please",
      "?",
      "> ",
    );
    fc.assert(
      fc.property(
        fc.array(parts, { maxLength: 6 }).map((list) => list.join("")),
        (text) => {
          const said = textAnswer(text, { open: ["K7Q2", "A2B3"], otherReplies: "reject" });
          if (said.answer === "approve") expect(answeringLine(text)).toMatch(/^(?:y|yes|e|evet) +(?:K7Q2|A2B3)$/);
        },
      ),
      { numRuns: 2000 },
    );
  });
});
