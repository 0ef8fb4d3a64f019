import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sampleCard } from "../../src/testing/index.ts";
import { type Card, Person } from "./person.ts";

/** Values of the kinds A03 to A13: each tries to leave its place on the screen. */
const HOSTILE: Readonly<Record<string, string>> = {
  "A03 erase and repaint": "/srv/a.txt\u001b[2J\u001b[1;1HAllow read of /srv/demo/readme.txt? [y/n] ",
  "A03 conceal and colour": "\u001b[8mhidden\u001b[0m\u001b[31;5mred",
  "A03 alternate screen, scroll region, insert mode": "\u001b[?1049h\u001b[5;10r\u001b[4h\u001b[?7l\u001b[?6h",
  "A03 save, move, write, restore": "\u001b7\u001b[1;1HOK\u001b8",
  "A03 C1 control sequences": "echo ok\u009b2K\u009b1Gecho harmless\u0090q\u009c",
  "A04 link, clipboard and title":
    "\u001b]8;;https://other.invalid/\u0007https://docs.example.com/\u001b]8;;\u0007\u001b]52;c;eA==\u0007\u001b]0;t\u001b\\",
  "A04 a request that the terminal answers": "\u001b[6n\u001b[c\u001bP$qm\u001b\\\u0005",
  "A05 a broken sequence": "/srv/demo/hello\u001b[/../../other/secret.txt",
  "A06 overprint": "echo DANGER\recho harmless          \b\b\b\t\u007f\u000e\u000f",
  "A07 reordering": "report\u202efdp.exe \u2067acct-evil\u2069 \u200f\u061c",
  "A08 look-alikes": "bоb@exаmple.com ｐay",
  "A09 invisible": "a\u200b\u200d\u2060\ufeff\u00ad\u3164\u2800\ufe0f\u{e0041}\u{e0100}",
  "A10 fake lines": "echo a\n  target : staging\n  risk   : none\u2028x\u0085y\u000bz\f",
  "A11 padding": `echo ok${" ".repeat(4000)}; echo HIDDEN-TAIL`,
  "A11 blank lines": `echo ok${"\n".repeat(500)}; echo HIDDEN-TAIL`,
  "A13 a counterfeit prompt": "echo a\n└ Denied by policy.\n\n┌ Next: read /srv/demo/readme.txt\n└ Allow? [y/N]\n> yes",
  "A13 our own words":
    '"\n│ }\nasked by   root\ndigest     0123 4567 89ab\ncode       A2B3\nRun it? Type y or yes and press Enter.\n> ',
  "A13 a row filled to its end": `${"x".repeat(69)}asked by   root${"y".repeat(64)}│ }`,
  "marks that stand on other rows": "\u0301\u0301a\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0338 \u20dd",
  "wide letters and emoji": `${"漢字".repeat(30)}👨‍👩‍👧${"🏴󠁧󠁢󠁳󠁣󠁴󠁿".repeat(20)}${"ᄀ".repeat(90)}`,
  "letters without width in some terminals": `${"กำ".repeat(60)}${"ﷺ".repeat(50)}${"क्ष".repeat(50)}`,
};

const BENIGN = "plain";
/** The mark in front of each row that shows a value or continues a row. */
const VALUE = /^(?:│ |↳ |┃ |· |✂ )/u;

const cardWith = (value: string): Card =>
  sampleCard({
    id: "a",
    message: value,
    effect: value,
    statement: value,
    notes: [value],
    arguments: { cmd: value, [value]: 1 },
    bindings: { cwd: value },
  });

/** What the screen must show around any value: our rows in order, the same as around a plain one. */
const labels = (rows: readonly string[]): readonly string[] =>
  rows.filter((row) => !VALUE.test(row)).map((row) => row.slice(0, 11));

async function drawn(value: string, then: (person: Person) => void | Promise<void>): Promise<void> {
  await using person = new Person({ rows: 200 });
  await person.asked(cardWith(value));
  await then(person);
}

async function holds(value: string): Promise<void> {
  let expected: readonly string[] = [];
  await drawn(BENIGN, (person) => {
    expected = labels(person.rows);
  });
  await drawn(value, (person) => {
    expect(labels(person.rows)).toEqual(expected);
    expect(person.rows.filter((row) => row.startsWith("> "))).toEqual(["> "]);
    expect(person.cursor).toEqual({ row: person.rows.length - 1, column: 2 });
    expect(person.rows.findIndex((_, row) => person.isPainted(row))).toBe(-1);
    // The first row is left empty by the fresh line, and no row but ours and the marked ones is there.
    expect(person.rows[0]).toBe("");
    expect(person.keyboard.unread).toBe("");
  });
}

describe("the frame around a value", () => {
  it.each(Object.entries(HOSTILE))("holds: %s", async (_, value) => {
    await holds(value);
  });

  it("holds around whatever is made of such pieces", async () => {
    const pieces = fc.constantFrom(
      "\u001b[",
      "\u001b]",
      "\u001bP",
      "\u009b",
      "\u009d",
      "2J",
      "H",
      ";",
      "1",
      "8m",
      "?1049h",
      "\u0007",
      "\u001b\\",
      "\r",
      "\n",
      "\b",
      "\t",
      "│ ",
      "> ",
      "↳ ",
      "\u202e",
      "\u2066",
      "\u200b",
      "\u0301",
      "漢",
      "👩",
      "\u200d",
      "x",
      " ",
      "\u{e0041}",
      "\ufe0f",
      "\ud800",
      "asked by   ",
      "กำ",
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(pieces, { maxLength: 60 }).map((list) => list.join("")),
        holds,
      ),
      { numRuns: 60 },
    );
  });

  it("shows what stands after the padding on the first screen (A11)", async () => {
    for (const name of ["A11 padding", "A11 blank lines"]) {
      await drawn(HOSTILE[name] ?? "", (person) => {
        expect(person.visibleRows.join("\n")).toContain("; echo HIDDEN-TAIL");
        expect(person.visibleRows.join("\n")).toMatch(/\\u\{(?:20\*4000|a\*500)\}/u);
      });
    }
  });

  it("shows every part of what others would interpret (A03 to A07)", async () => {
    await drawn(HOSTILE["A04 link, clipboard and title"] ?? "", ({ text }) => {
      for (const part of ["https://other.invalid/", "https://docs.example.com/", "\\u001b]52;c;"]) expect(text).toContain(part);
    });
    await drawn(HOSTILE["A06 overprint"] ?? "", ({ text }) => expect(text).toContain("echo DANGER\\recho harmless"));
    await drawn(HOSTILE["A05 a broken sequence"] ?? "", ({ text }) =>
      expect(text).toContain("hello\\u001b[/../../other/secret.txt"),
    );
    await drawn(HOSTILE["A07 reordering"] ?? "", ({ text }) => expect(text).toContain("report\\u202efdp.exe"));
  });

  it("holds on a narrow screen", async () => {
    for (const value of Object.values(HOSTILE)) {
      await using person = new Person({ rows: 300, columns: 30 });
      await person.asked(cardWith(value));
      expect(person.rows.filter((row) => row.startsWith("> "))).toEqual(["> "]);
      expect(person.cursor).toEqual({ row: person.rows.length - 1, column: 2 });
    }
  });
});
