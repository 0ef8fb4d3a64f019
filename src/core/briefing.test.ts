import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { amount, cardCode, CODE, formSchema, headAndTail, headline, listing, messageFault, renderMessage } from "./briefing.ts";

const call = (args: Parameters<typeof listing>[1], tool = "files/move") => ({ tool, args });

describe("listing", () => {
  it("names the tool and each argument in order (AP-012)", () => {
    expect(listing("transfer", { to: "acct-1", amount: 5, note: null, tags: ["a", "b"], o: { x: 1 } })).toBe(
      'transfer with: amount=5, note=null, o={"x":1}, tags=a,b, to=acct-1',
    );
    expect(listing("noop", {})).toBe("noop without arguments");
  });
});

describe("renderMessage", () => {
  it.each([
    ["own arguments (AP-011)", "Delete {path} on {disk}?", { path: "/a", disk: "x" }, "Delete /a on x?"],
    ["the tool and the listing", "{tool}: {params}", { a: 1 }, "files/move: files/move with: a=1"],
    ["a shadowed name", "{tool} {args.tool}", { tool: "hammer" }, "files/move hammer"],
    ["braces", "{{path}} is {path} {{}}", { path: "p" }, "{path} is p {}"],
    ["arrays", "To {to}", { to: ["a", "b"] }, "To a,b"],
    ["other JSON", "{n} {b} {z} {o}", { n: 1, b: false, z: null, o: { y: 2, x: 1 } }, '1 false null {"x":1,"y":2}'],
    ["a value that looks like a template (A19)", "Delete {name}?", { name: "{other}", other: "X" }, "Delete {other}?"],
    ["a value with replacement patterns (A19.3)", "Pay {to} now", { to: "$& $` $' $1" }, "Pay $& $` $' $1 now"],
    ["an argument that is called so", "{args.x}", { "args.x": "own" }, "own"],
  ])("fills in %s", (...[, template, args, message]) => {
    expect(renderMessage(template, call(args))).toBe(message);
  });

  it.each([
    "{missing}",
    "{0}",
    "{path!r}",
    "{path:>9}",
    "{ path }",
    "{}",
    "{path",
    "path}",
    "{constructor}",
    "{__proto__}",
    "{args.missing}",
    "{path.length}",
  ])("gives the listing for %s (AP-013, AP-015)", (template) => {
    expect(renderMessage(template, call({ path: "p" }))).toBe("files/move with: path=p");
  });

  it("never reads a value as a template and never throws", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (template, value) => {
        expect(typeof renderMessage(template, call({ path: value }))).toBe("string");
        expect(renderMessage("<{path}>", call({ path: value }))).toBe(`<${value}>`);
      }),
    );
  });
});

describe("messageFault", () => {
  const schema = { type: "object", properties: { path: {}, tool: {} } };
  it("accepts what the schema lists", () => {
    for (const template of ["plain", "{path}", "{tool} {params} {args.tool} {{x}}"])
      expect(messageFault(template, schema)).toBeUndefined();
  });
  it("names what the schema does not know, and what it does", () => {
    expect(messageFault("{pth}", schema)).toBe("{pth} is no argument of the tool; it has {path}, {tool}");
    expect(messageFault("{x}", { properties: {} })).toBe("{x} is no argument of the tool; it has none");
    expect(messageFault("{args.x}", schema)).toMatch(/no argument/);
  });
  it("cannot say where the schema lists no names, or not all", () => {
    for (const open of [
      undefined,
      null,
      true,
      {},
      { properties: {}, additionalProperties: true },
      { properties: {}, allOf: [] },
    ]) {
      expect(messageFault("{x}", open)).toBeUndefined();
    }
  });
  it("refuses braces that do not pair, schema or not", () => {
    for (const template of ["{", "}", "{}", "{a", "{ a}"]) expect(messageFault(template, undefined)).toMatch(/braces/);
  });
});

describe("headline", () => {
  it("shows the whole call where it fits, not the beginning of it (BR-053, BR-054)", () => {
    expect(headline("bash", { command: "git status && git log" })).toBe('bash command="git status && git log"');
    expect(headline("noop", {})).toBe("noop");
  });
  it("shows both ends of a long one and counts the rest", () => {
    const long = headline("bash", { command: `${"a".repeat(400)}; rm -rf x` });
    expect(long).toMatch(/^bash .*…\(\d+ more\)… .*; rm -rf x"$/);
    expect(long.length).toBeLessThanOrEqual(160);
  });
  it("does not split a character", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.integer({ min: 40, max: 80 }), (text, limit) => {
        const cut = headAndTail(text, limit);
        expect(cut).not.toMatch(/\p{Cs}/u);
        expect(cut.length).toBeLessThanOrEqual(Math.max(limit, 0));
      }),
    );
  });
  it("writes counts with groups", () => {
    expect([0, 999, 1934, 1234567].map(amount)).toEqual(["0", "999", "1,934", "1,234,567"]);
  });
});

describe("cardCode", () => {
  it("is letter, digit, letter, digit, from characters that nobody confuses", () => {
    expect(cardCode("Q2fPz0aB")).toBe("A9T3");
    expect(cardCode("")).toBe("A2A2");
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
        const code = cardCode(Buffer.from(bytes).toString("base64url"));
        expect(code).toMatch(CODE);
        expect(code).not.toMatch(/[01ILOU]/);
      }),
    );
  });
});

describe("formSchema", () => {
  it("shows the fields of the schema with their present values (AP-016)", () => {
    const schema = {
      type: "object",
      properties: { path: { type: "string", maxLength: 9 }, force: { type: "boolean" } },
      required: ["path"],
    };
    expect(formSchema(schema, { path: "/a", extra: 1 })).toEqual({
      type: "object",
      properties: {
        path: { type: "string", maxLength: 9, default: "/a" },
        force: { type: "boolean" },
        extra: { type: "number", default: 1 },
      },
      required: ["path"],
    });
  });
  it("takes the types of the arguments without a schema (AP-017)", () => {
    expect(formSchema(null, { a: "x", b: [1], c: null, d: true })).toEqual({
      type: "object",
      properties: {
        a: { type: "string", default: "x" },
        b: { type: "array", default: [1] },
        c: { type: "null", default: null },
        d: { type: "boolean", default: true },
      },
    });
  });
  it("takes a field that the schema leaves open for any value", () => {
    expect(formSchema({ properties: { any: true } }, {})).toEqual({ type: "object", properties: { any: {} } });
  });
  it("is never empty (AP-018)", () => {
    expect(formSchema(null, {})).toEqual({
      type: "object",
      properties: { arguments: { type: "object", title: "arguments", default: {} } },
    });
  });
});
