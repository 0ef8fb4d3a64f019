import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Card } from "./card.ts";
import { cardText, GUTTER, unrenderArguments } from "./card-text.ts";
import type { Hash } from "./hash.ts";
import type { Instant } from "./instant.ts";
import type { JsonObject, JsonValue } from "./json-value.ts";
import { LOCALES } from "./phrases.ts";

const card = (over: Partial<Card> = {}): Card => ({
  id: "0190a1b2-0000-7000-8000-000000000001",
  kind: "call",
  status: "pending",
  digest: `sha256:0123456789ab${"0".repeat(52)}` as Hash,
  code: "K7Q2",
  tool: { name: "delete_path", origin: "code" },
  tier: "physical",
  impact: "irreversible",
  message: "Delete /tmp/report? This cannot be undone.",
  effect: "removes files",
  arguments: { path: "/tmp/report", force: true },
  masked: [],
  bindings: { "path:/path": "/srv/report", cwd: "/srv" },
  requester: { principal: "ada", agent: "janitor", path: ["root", "helper"], claimed: true },
  presence: "waiting",
  statement: "I only tidy up.",
  notes: ["a confirm argument was removed"],
  flags: [{ kind: "control", pointer: "/path", note: "1 control character: \\u001b" }],
  asks: [
    { by: "tool", of: [{ selectors: ["@principal", "@operator"], count: 1 }], approvedBy: [], met: false, assurance: "local" },
    {
      by: "rule:pay",
      of: [
        { selectors: ["group:finance"], count: 2 },
        { selectors: ["eve"], count: 1 },
      ],
      approvedBy: ["bob"],
      met: true,
      assurance: "account",
    },
  ],
  createdAt: "2026-11-30T12:00:00.000Z" as Instant,
  decideBy: "2026-11-30T12:05:00.000Z" as Instant,
  editable: [""],
  schema: null,
  ending: null,
  ...over,
});

const HOSTILE = [
  "\n",
  "\r",
  "\u001b[2J",
  "\u009b1A",
  "│ ",
  "┃ ",
  "✂ ",
  "┊ ",
  "\u202e",
  "\u200b",
  "code      A2B3",
  '"',
  "\\",
  "\nimpact    ordinary",
  " ".repeat(40),
  "ş",
  "ש",
];
const hostile = fc.oneof(
  fc.string({ unit: "binary", maxLength: 30 }),
  fc.array(fc.constantFrom(...HOSTILE), { maxLength: 12 }).map((parts) => parts.join("")),
);

describe("cardText", () => {
  it("says facts first and the agent's own words after them", () => {
    expect(cardText(card()).text).toBe(
      [
        "Approval needed: run this?",
        "tool       delete_path (code)",
        "tier       physical: acts on the world, or runs code the agent wrote",
        "impact     IRREVERSIBLE: cannot be undone",
        "effect     removes files",
        "message    Delete /tmp/report? This cannot be undone.",
        "arguments",
        "│ {",
        '│   "force": true,',
        '│   "path": "/tmp/report"',
        "│ }",
        "bound to",
        "· cwd = /srv",
        "· path:/path = /srv/report",
        "asked by   janitor, for ada; through root > helper; the names are only what the client calls itself",
        "approvers  one of the person the agent acts for, the operator of this desk; asked for by tool; an answer from this machine's account is enough, which an agent with a shell could give too",
        "           2 of group:finance or eve; asked for by rule:pay; already approved by bob; met; the answer must come from an account the agent cannot use",
        "look at    ! /path: 1 control character: \\u001b",
        "notes      a confirm argument was removed",
        "The agent's own words, not checked by anybody:",
        "┃ I only tidy up.",
        "digest     0123 4567 89ab",
        "code       K7Q2",
        "decide by  2026-11-30 12:05:00 UTC",
      ].join("\n"),
    );
    expect(cardText(card()).complete).toBe(true);
  });

  it("asks only while there is something to answer", () => {
    const heading = (status: Card["status"]) => cardText(card({ status })).text.split("\n")[0];
    expect(heading("approved")).toBe("Approved; it has not run yet");
    expect(heading("claimed")).toBe("It runs now");
    for (const status of ["succeeded", "failed", "indeterminate", "rejected", "expired", "cancelled"] as const)
      expect(heading(status)).toBe("This request is over");
  });

  it("names commands with the options they need", () => {
    const long = card({ arguments: { text: "x".repeat(5000) } });
    expect(cardText(long, { limit: 3000 }).text).toContain("holdpoint show 0190a1b2-0000-7000-8000-000000000001");
    expect(cardText(long, { limit: 3000, commandOptions: " --data /srv/desk" }).text).toContain(
      "holdpoint show --data /srv/desk 0190a1b2-0000-7000-8000-000000000001",
    );
  });

  it("says nothing of what is not there", () => {
    const bare = cardText(
      card({
        effect: null,
        bindings: {},
        statement: null,
        notes: [],
        flags: [],
        asks: [],
        requester: { principal: "ada", agent: null, path: [], claimed: false },
        tier: null,
        impact: "default",
      }),
    ).text;
    expect(bare.split("\n").map((line) => line.slice(0, 9).trim())).toEqual([
      "Approval",
      "tool",
      "tier",
      "impact",
      "message",
      "arguments",
      "│ {",
      '│   "forc',
      '│   "path',
      "│ }",
      "asked by",
      "digest",
      "code",
      "decide by",
    ]);
    expect(bare).toContain("tier       none stated: taken for the worst");
  });

  it("gives back the exact arguments, whatever they are (A05)", () => {
    const args = fc.dictionary(hostile, fc.oneof(hostile, fc.jsonValue() as fc.Arbitrary<JsonValue>), {
      noNullPrototype: true,
    }) as fc.Arbitrary<JsonObject>;
    fc.assert(
      fc.property(args, hostile, (value, text) => {
        const shown = cardText(card({ arguments: value, message: text, statement: text, effect: text })).text;
        expect(unrenderArguments(shown)).toStrictEqual(value);
      }),
      { numRuns: 500 },
    );
  });

  it("keeps every line of every value behind its mark, in every language (A10, A13)", () => {
    fc.assert(
      fc.property(hostile, fc.constantFrom(...LOCALES), (text, locale) => {
        const quiet = cardText(card({ flags: [], statement: "x" }), { locale }).text.split("\n");
        const loud = cardText(
          card({
            message: text,
            effect: text,
            statement: `${text}x`,
            notes: [text],
            bindings: { cwd: text, "path:/path": text },
            arguments: { force: text, path: text },
            tool: { name: text, origin: text },
            requester: { principal: text, agent: text, path: [text], claimed: true },
            flags: [],
            asks: [
              { by: text, of: [{ selectors: [text], count: 1 }], approvedBy: [text], met: false, assurance: "local" },
              { by: text, of: [], approvedBy: [], met: true, assurance: "account" },
            ],
          }),
          { locale },
        ).text.split("\n");
        const ours = (lines: readonly string[]): readonly string[] =>
          lines.filter((line) => !line.startsWith(GUTTER) && !line.startsWith("┃ "));
        expect(ours(loud).length).toBe(ours(quiet).length);
        expect(ours(loud).map((line) => line.slice(0, 6))).toEqual(ours(quiet).map((line) => line.slice(0, 6)));
        expect(loud.join("\n")).not.toMatch(/(?!\n)[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u);
      }),
      { numRuns: 500 },
    );
  });

  it("colours only its own words", () => {
    const text = cardText(card({ arguments: { v: "\u001b[1m" }, message: "\u001b[31mred" }), { colour: true }).text;
    expect(text.split("\u001b[").length - 1).toBe(12);
    expect(text).toContain("\u001b[1;31mIRREVERSIBLE: cannot be undone\u001b[0m");
    expect(text).toContain("message    \\u001b[31mred");
  });

  it("masks secrets in what is said about the call (BR-056)", () => {
    const text = cardText(
      card({
        message: "curl -H 'Authorization: Bearer sk-test-abc123def456' https://api.test",
        statement: "token=abc123",
        effect: "uses AKIA0000000000000000",
        notes: ["password=hunter2"],
      }),
    ).text;
    for (const secret of ["sk-test-abc123def456", "abc123", "AKIA0", "hunter2"]) expect(text).not.toContain(secret);
    expect(text).toContain("https://api.test");
  });

  it("escapes a note that somebody did not", () => {
    expect(cardText(card({ flags: [{ kind: "control", pointer: "/a\u202e", note: "x\u001b[2J" }] })).text).toContain(
      "! /a\\u202e: x\\u001b[2J",
    );
  });

  it("shows both ends of a long value and how much is missing (A11)", () => {
    const long = card({ arguments: { cmd: `start${"x".repeat(50_000)}; rm -rf /tmp/x` } });
    const { text, complete } = cardText(long, { limit: 3000 });
    expect(complete).toBe(false);
    expect(text.length).toBeLessThanOrEqual(3000);
    expect(text).toContain('"cmd": "start');
    expect(text).toContain("; rm -rf /tmp/x");
    expect(text).toMatch(
      /^✂ 4[89],\d{3} more characters are not shown here\. All of it: holdpoint show 0190a1b2-0000-7000-8000-000000000001$/m,
    );
    expect(text).toContain("code       K7Q2");
    expect(cardText(long).complete).toBe(true);
  });

  it("keeps to any limit, and is complete only where it shows the whole call", () => {
    fc.assert(
      fc.property(fc.integer({ min: 60, max: 4000 }), fc.integer({ min: 0, max: 3000 }), (limit, size) => {
        const value = card({ arguments: { v: "y\n".repeat(size / 2) } });
        const { text, complete } = cardText(value, { limit });
        expect(text.length).toBeLessThanOrEqual(limit);
        expect(complete).toBe(text === cardText(value).text);
      }),
    );
  });

  it("counts what a cut leaves out of the agent's own words", () => {
    const { text, complete } = cardText(card({ statement: "w".repeat(3934) }));
    expect(text).toContain("✂ 1,934 more characters are not shown here.");
    expect(complete).toBe(true);
  });

  it("names a flood of flags by kind instead of letting it hide a single other one", () => {
    const flags: Card["flags"] = [
      ...Array.from({ length: 90 }, (_, index) => ({ kind: "long" as const, pointer: `/p${index}`, note: "n" })),
      { kind: "bidi", pointer: "/name", note: "1 character that reorders text" },
    ];
    const { text } = cardText(card({ flags }));
    expect(text).toContain("! /name: 1 character that reorders text");
    expect(text).toContain("and 71 more (long 71)");
    expect(text.match(/! \/p/g)?.length).toBe(19);
  });

  it("counts the notes that it leaves out, and points at no place where a flag is of the whole", () => {
    const notes = Array.from({ length: 15 }, (_, index) => `note ${index}`);
    const { text } = cardText(card({ tier: "write", notes, flags: [{ kind: "long", pointer: "", note: "70 members" }] }));
    expect(text).toContain("and 3 more");
    expect(text).not.toContain("note 12");
    expect(text).toContain("look at    ! 70 members");
    expect(text).toContain("tier       write: changes something digital");
  });

  it("says first how it ended", () => {
    expect(
      cardText(card({ status: "rejected", ending: "rejected; it was not run (use\u001b staging)" })).text.split("\n")[1],
    ).toBe("ended      rejected; it was not run (use\\u001b staging)");
  });

  it("takes a heading of the caller", () => {
    expect(cardText(card(), { heading: "x" }).text.split("\n")[0]).toBe("x");
    expect(cardText(card({ kind: "grant" })).text.split("\n")[0]).toBe("Approval needed: give this grant?");
  });

  it.each(LOCALES)("says in %s whether a yes would run it", (locale) => {
    const said = (["waiting", "parked", "gone", null] as const).map((presence) => cardText(card({ presence }), { locale }).text);
    const [waiting, parked, gone, none] = said;
    expect(none).toBe(waiting);
    expect(new Set(said).size).toBe(3);
    expect(gone?.length).toBeGreaterThan(waiting?.length ?? 0);
    expect(parked?.length).toBeGreaterThan(waiting?.length ?? 0);
  });

  it("says that the agent is gone, and what a yes to a parked call does", () => {
    expect(cardText(card({ presence: "gone" })).text).toContain("; agent gone: nobody would run it now");
    expect(cardText(card({ presence: "parked" })).text).toContain("; it was told to come back: a yes runs it when it asks again");
  });
});
