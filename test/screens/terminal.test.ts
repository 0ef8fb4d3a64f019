import { describe, expect, it } from "vitest";
import { terminalChannel, type TerminalOptions } from "../../src/channels/terminal/index.ts";
import { DeclarationError } from "../../src/index.ts";
import { channelSuite, sampleCard } from "../../src/testing/index.ts";
import { Person } from "./person.ts";

const A = sampleCard({ id: "a", code: "A2B3" });
const B = sampleCard({ id: "b", code: "C4D5", tool: { name: "send_mail", origin: "code" } });

describe("the terminal", () => {
  it("draws the card, then the question, and takes a typed yes for this request", async () => {
    await using person = new Person();
    expect(await person.shown(A)).toEqual({ state: "seen" });
    expect(person.keyboard.raw).toBe(true);
    expect(person.text).toContain("delete_path");
    expect(person.text).not.toContain("Run it?");
    await person.opened();
    expect(person.rows.slice(-3)).toEqual([
      "Run it? Type y or yes and press Enter. Any other line refuses, with the ",
      "↳ line as your reason.",
      "> ",
    ]);
    await person.types("yes");
    expect(person.desk.decisions).toEqual([]);
    await person.types("\r");
    expect(person.desk.heard).toMatchObject([
      {
        what: "decide",
        id: "a",
        answer: { verdict: "approve", digest: A.digest, view: "view of a" },
        as: { principal: "ada", as: "terminal:ada", via: "terminal", assurance: "local" },
      },
    ]);
    expect(person.rows.at(-1)).toBe("You approved it.");
    expect(person.keyboard.raw).toBe(false);
    expect(person.written).toContain("\u001b[?2004l\u001b[0mYou approved it.\r\n");
  });

  it.each([
    ["y", "a approve"],
    [" EVET ", "a approve"],
    ["yes A2B3", "a approve"],
    ["", "a reject"],
    ["n", "a reject"],
    ["ok", "a reject ok"],
    ["yess", "a reject yess"],
    ["no, use staging", "a reject use staging"],
  ])("takes the line %j as %j", async (line, decision) => {
    await using person = new Person();
    await person.asked(A);
    await person.types(`${line}\r`);
    expect(person.desk.decisions).toEqual([decision]);
  });

  it("decides by no single key (A60)", async () => {
    await using person = new Person();
    await person.asked(A);
    for (const key of ["y", "\u001b[A", "\t", " ", "\u007f", "\u001b[3~"]) await person.types(key);
    expect(person.desk.decisions).toEqual([]);
  });

  it("throws away what was typed before the question, and says so (A60)", async () => {
    await using person = new Person();
    person.keyboard.press("y\r");
    await person.asked(A);
    await person.opened();
    expect(person.desk.decisions).toEqual([]);
    expect(person.text).toContain("What was typed before the question was thrown away.");
    await person.types("y\r");
    expect(person.desk.decisions).toEqual(["a approve"]);
  });

  it("does not ask somebody who is in the middle of a sentence", async () => {
    await using person = new Person();
    await person.shown(A);
    for (const key of "yes\r") {
      await person.clock.advance(300);
      await person.types(key);
    }
    expect(person.text).not.toContain("Run it?");
    await person.opened();
    expect(person.text).toContain("Run it?");
    expect(person.desk.decisions).toEqual([]);
  });

  it("takes no paste for an answer", async () => {
    await using person = new Person();
    await person.asked(A);
    expect(person.written).toContain("\u001b[?2004h");
    await person.types("\u001b[200~y\r\u001b[201~");
    expect(person.desk.decisions).toEqual([]);
    expect(person.text).toContain("A paste never answers. Type the answer.");
    await person.types("\r");
    expect(person.desk.decisions).toEqual(["a reject"]);
  });

  it("takes a typed Escape for part of the line, never for half a yes (BR-222)", async () => {
    await using person = new Person();
    await person.asked(A);
    await person.types("\u001b");
    await person.clock.advance(100);
    await person.types("y\r");
    expect(person.desk.decisions).toEqual(["a reject y"]);
  });

  it("edits the line like a line", async () => {
    await using person = new Person();
    await person.asked(A);
    await person.types("yex\u007fs\u001b[D\u001b[D\u001b[D\u001b[3~y\u001b[F");
    expect(person.rows.at(-1)).toBe("> yes");
    expect(person.cursor.column).toBe(5);
    await person.types("\r");
    expect(person.desk.decisions).toEqual(["a approve"]);
  });

  it("rejects by Ctrl-D", async () => {
    await using person = new Person();
    await person.asked(A);
    await person.types("y\u0004");
    expect(person.desk.decisions).toEqual(["a reject"]);
  });

  it("gives the terminal back and interrupts by Ctrl-C, without an answer, at any moment", async () => {
    for (const open of [true, false]) {
      await using person = new Person();
      await (open ? person.asked(A) : person.shown(A));
      await person.types("y\u0003\r");
      await person.clock.advance(150);
      expect([person.interrupts, person.keyboard.raw, person.desk.decisions]).toEqual([1, false, []]);
      expect(person.text).toContain("Left open and undecided. Later: holdpoint show a");
    }
  });

  it("asks again after Ctrl-C when it reminds, and goes on with what waits", async () => {
    await using person = new Person();
    await person.asked(A);
    await person.shown(B);
    await person.types("\u0003");
    await person.clock.advance(1200);
    await person.opened();
    expect(person.text).toContain("send_mail");
    await person.channel.remind("a", A);
    await person.types("n\r");
    await person.opened();
    await person.types("y\r");
    expect(person.desk.decisions).toEqual(["b reject", "a approve"]);
  });

  it.each(["destructive", "irreversible"] as const)("wants the code for a %s call", async (impact) => {
    await using person = new Person();
    await person.asked({ ...A, impact });
    expect(person.text).toContain("To run it, type yes A2B3 and press Enter.");
    await person.types("yes\r");
    expect(person.desk.decisions).toEqual([]);
    expect(person.text).toContain("Nothing was decided: this call needs its code.");
    await person.types("yes C4D5\r");
    expect(person.desk.decisions).toEqual([]);
    expect(person.text).toContain("Nothing was decided: that is the code of another question. This one is A2B3.");
    await person.types("yes a2b3\r");
    expect(person.desk.decisions).toEqual(["a approve"]);
  });

  it("speaks the language it is told", async () => {
    await using person = new Person({ locale: "tr-TR" });
    await person.asked(A);
    expect(person.text).toContain("Çalıştırılsın mı?");
    await person.types("HAYIR\r");
    expect(person.desk.decisions).toEqual(["a reject"]);
    expect(person.text).toContain("Reddettiniz.");
  });

  it("colours its own words on request", async () => {
    await using person = new Person({ colour: true });
    await person.asked({ ...A, impact: "irreversible" });
    expect(person.written).toContain("\u001b[1;31mIRREVERSIBLE: cannot be undone\u001b[0m");
  });

  it("leaves the terminal as it was when it is disposed of", async () => {
    const person = new Person();
    await person.asked(A);
    await person.shown(B);
    await person[Symbol.asyncDispose]();
    expect([person.keyboard.raw, person.desk.decisions]).toEqual([false, []]);
    expect(person.written).toContain("This question is closed: it was withdrawn.");
  });

  it.each<[string, TerminalOptions]>([
    ["an empty principal", { as: " " }],
    ["a guard that is no duration", { guard: "soon" }],
    ["half a terminal", { output: { write: () => undefined } }],
  ])("refuses %s where it is declared", (_, options) => {
    expect(() => terminalChannel(options)).toThrow(DeclarationError);
  });

  channelSuite({
    describe,
    it,
    makeChannel: (clock) => {
      const person = new Person();
      return {
        channel: person.channel,
        answer: async (_card, verdict, reason) => {
          await clock.advance(400);
          await person.settle();
          await person.types(`${verdict === "approve" ? "yes" : (reason ?? "no")}\r`);
        },
        dispose: () => person[Symbol.asyncDispose](),
      };
    },
  });
});
