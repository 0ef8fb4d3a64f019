import { createHash } from "node:crypto";
import npmCanonicalize from "canonicalize";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { JsonFault } from "./json-value.ts";
import { canonicalize, copyJson, readJson, readMessage, sameJson } from "./json.ts";
import type { JsonValue } from "./json-value.ts";

/** What holds across the reader, the copier and the canonical form. */

const sha256 = (text: string): string => createHash("sha256").update(text, "utf8").digest("hex");

/** Any I-JSON value, as a plain mutable one. `-0` is left out: it is `0` by RFC 8785. */
const text = fc.string({ unit: "grapheme", maxLength: 12 });
const awkwardText = fc.constantFrom(
  "",
  "__proto__",
  "constructor",
  "toString",
  "10",
  "9",
  "é",
  "e\u0301",
  "\u0000",
  '"\\/',
  "€",
  "😀",
);
const number = fc.oneof(
  fc.maxSafeInteger(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).filter((n) => !Number.isInteger(n) || Number.isSafeInteger(n)),
);
const leaf = fc.oneof(fc.constant(null), fc.boolean(), number, text, awkwardText).map((v) => (v === 0 ? 0 : v));
const { value: iJson } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    leaf,
    fc.array(tie("value"), { maxLength: 5 }),
    fc.dictionary(fc.oneof(text, awkwardText), tie("value"), { maxKeys: 6 }).map((o) => ({ ...o })),
  ),
}));

/** JSON text of a value with keys in another order, spaces between and every character escaped: nothing that changes it. */
function respelled(value: unknown): string {
  if (typeof value === "string")
    return `"${[...value]
      .flatMap((c) => c.split(""))
      .map(escaped)
      .join("")}"`;
  if (typeof value !== "object" || value === null) return ` ${JSON.stringify(value)}\t`;
  if (Array.isArray(value)) return `[ ${value.map(respelled).join("\n,")} ]`;
  const members = Object.entries(value).reverse();
  return `{\r${members.map(([key, inner]) => `${respelled(key)} : ${respelled(inner)}`).join(" , ")}}`;
}
const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;

describe("P-02: one value, one canonical form", () => {
  test("the same bytes as the canonicalize package", () => {
    fc.assert(
      fc.property(iJson, (value) => canonicalize(value) === npmCanonicalize(value)),
      { numRuns: 500 },
    );
  });

  test("order, spaces and escape spelling do not count", () => {
    fc.assert(
      fc.property(iJson, (value) => {
        expect(canonicalize(readJson(respelled(value)))).toBe(canonicalize(value));
      }),
      { numRuns: 300 },
    );
  });

  test("reading the canonical form gives the value, and its form again (I16)", () => {
    fc.assert(
      fc.property(iJson, (value) => {
        const form = canonicalize(value);
        const read = readJson(form);
        expect(sameJson(read, value as JsonValue)).toBe(true);
        expect(canonicalize(read)).toBe(form);
      }),
    );
  });

  test("two values have one form exactly when they are the same value", () => {
    fc.assert(
      fc.property(iJson, iJson, (a, b) => (canonicalize(a) === canonicalize(b)) === sameJson(a as JsonValue, b as JsonValue)),
      { numRuns: 300 },
    );
  });

  test("a change of any one value, key or type makes another form", () => {
    const change = (value: unknown): unknown[] => {
      if (typeof value === "string") return [`${value} `, value === "" ? null : [...value].slice(1).join("")];
      if (typeof value === "number") return [String(value), value === 1 ? 2 : 1];
      if (typeof value === "boolean") return [!value, String(value)];
      if (value === null) return ["null", false, 0, {}];
      if (Array.isArray(value)) {
        const longer = [...value, null];
        return [longer, { ...value }, ...value.flatMap((v, i) => change(v).map((c) => value.with(i, c)))];
      }
      const object = value as Record<string, unknown>;
      const inner = Object.keys(object).flatMap((k) =>
        change(object[k]).map((c) => Object.fromEntries([...Object.entries(object), [k, c]])),
      );
      const renamed = Object.keys(object).map((k) =>
        Object.fromEntries(Object.entries(object).map(([n, v]) => [n === k ? `${n}\u200b` : n, v])),
      );
      return [
        Object.values(object),
        Object.fromEntries([...Object.entries(object), ["new\u0001key", null]]),
        ...inner,
        ...renamed,
      ];
    };
    fc.assert(
      fc.property(iJson, (value) => {
        const form = canonicalize(value);
        for (const other of change(value)) expect(canonicalize(other)).not.toBe(form);
      }),
    );
  });

  test("reader, copier and canonical form take and refuse the same values", () => {
    fc.assert(
      fc.property(
        fc.anything({ withBigInt: true, withDate: true, withMap: true, withSet: true, withSparseArray: true }),
        (value) => {
          const outcome = (work: () => unknown): string => {
            try {
              return canonicalize(work());
            } catch (thrown) {
              if (!(thrown instanceof JsonFault)) throw thrown;
              // Which fault comes first depends on the order of the walk.
              return "refused";
            }
          };
          expect(outcome(() => copyJson(value))).toBe(outcome(() => value));
        },
      ),
      { numRuns: 1000 },
    );
  });
});

describe("no input makes anything but a JsonFault", () => {
  const tokens = [
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    '"a"',
    '"',
    "\\u00",
    "\\",
    "1",
    "-",
    "0",
    ".5",
    "e9",
    "true",
    "nul",
    " ",
    "\n",
    "\ufeff",
    "\ud800",
  ];
  const garbage = fc.oneof(
    fc.string({ unit: "binary", maxLength: 40 }),
    fc.array(fc.constantFrom(...tokens), { maxLength: 30 }).map((parts) => parts.join("")),
    fc.tuple(iJson, fc.nat(), fc.constantFrom(...tokens)).map(([value, at, token]) => {
      const whole = JSON.stringify(value);
      const place = at % (whole.length + 1);
      return whole.slice(0, place) + token + whole.slice(place + 1);
    }),
  );

  test("text", () => {
    fc.assert(
      fc.property(garbage, (input) => {
        for (const read of [readJson, readMessage]) {
          try {
            read(input);
            // A text that we take is one that every reader takes.
            JSON.parse(input);
          } catch (thrown) {
            expect(thrown).toBeInstanceOf(JsonFault);
          }
        }
      }),
      { numRuns: 2000 },
    );
  });

  test("values", () => {
    fc.assert(
      fc.property(
        fc.anything({ withBigInt: true, withBoxedValues: true, withTypedArray: true, withNullPrototype: true }),
        (value) => {
          try {
            copyJson(value);
          } catch (thrown) {
            expect(thrown).toBeInstanceOf(JsonFault);
          }
        },
      ),
      { numRuns: 1000 },
    );
  });
});

describe("the hostile inputs of the case file", () => {
  test("A20 text against number", () => {
    expect(canonicalize({ n: "1000" })).toBe('{"n":"1000"}');
    expect(canonicalize({ n: 1000 })).toBe('{"n":1000}');
  });

  test("A25 a change after the copy does not reach the copy", () => {
    const flat = { path: "/srv/demo/a" };
    const nested = { ids: [1] };
    const copies = [copyJson(flat), copyJson(nested)];
    flat.path = "/srv/demo/b";
    nested.ids.push(2);
    expect(copies).toEqual([{ path: "/srv/demo/a" }, { ids: [1] }]);
  });

  test("A26 a getter is refused and never run; toJSON is a function", () => {
    let runs = 0;
    const counter = {
      get to() {
        runs += 1;
        return "acct-ok";
      },
    };
    for (const take of [copyJson, canonicalize]) {
      expect(() => take(counter)).toThrow("/to: an accessor property is not JSON");
      expect(() => take({ to: "acct-evil", toJSON: () => ({ to: "acct-ok" }) })).toThrow("/toJSON: a function is not JSON");
    }
    expect(runs).toBe(0);
  });

  test.each([
    ["A27", { a: 1, b: undefined }, "/b"],
    ["A27.3", { n: 10n }, "/n"],
    // biome-ignore lint/suspicious/noSparseArray: the hole is the case
    ["A27.5", { a: [1, , 3] }, "/a/1"],
  ])("%s", (_, value, pointer) => {
    for (const take of [copyJson, canonicalize]) {
      expect(() => take(value)).toThrow(expect.objectContaining({ name: "JsonFault", code: "not_json", pointer }));
    }
  });

  test.each([
    ["A28", '{"tool":"pay","args":{"to":"acct-ok","to":"acct-evil"}}', "duplicate_key", "/args/to"],
    ["A28 after unescaping", '{"args":{"to":1,"\\u0074o":2}}', "duplicate_key", "/args/to"],
    [
      "A28.3",
      '{"jsonrpc":"2.0","id":1,"method":"tools/list","method":"tools/call","params":{"name":"pay"}}',
      "duplicate_key",
      "/method",
    ],
    ["A29", '{"tool":"del","args":{"id":9007199254740993}}', "number_not_exact", "/args/id"],
    ["A30", '{"x":1E400}', "number_not_finite", "/x"],
    ["A31", '{"tool":"t","args":{"s":"\\ud800"}}', "invalid_string", "/args/s"],
    ["A31.2 a", '{"s":"\\ud800"}', "invalid_string", "/s"],
    ["A31.2 b", '{"s":"\\udfff"}', "invalid_string", "/s"],
  ])("%s", (_, ...[raw, code, pointer]) => {
    expect(() => readJson(raw)).toThrow(expect.objectContaining({ name: "JsonFault", code, pointer }));
  });

  test("A29.3 the largest safe integer", () => {
    expect(canonicalize(readJson('{"tool":"del","args":{"id":9007199254740991}}'))).toBe(
      '{"args":{"id":9007199254740991},"tool":"del"}',
    );
  });

  test("A30 equal numbers are one value; A30.2 NaN has a path", () => {
    expect(["-0", "0", "0e7", "-0.0"].map((raw) => canonicalize(readJson(raw)))).toEqual(["0", "0", "0", "0"]);
    expect(["1", "1.0", "10e-1", "1E0"].map((raw) => canonicalize(readJson(raw)))).toEqual(["1", "1", "1", "1"]);
    expect(["100", "1e2", "100.00"].map((raw) => canonicalize(readJson(raw)))).toEqual(["100", "100", "100"]);
    expect(() => copyJson({ x: Number.NaN })).toThrow(expect.objectContaining({ code: "number_not_finite", pointer: "/x" }));
  });

  test("A31.4, A32, A33: pinned hashes", () => {
    const hash = (raw: string): string => sha256(canonicalize(readJson(raw)));
    expect(hash('{"s":"\\ud83d\\ude00"}')).toBe("f9949e1006d1ca22bc0b60ea94f09779f11a8f0a29bae250fc7ab313d879f5e7");
    expect(hash('{"to":"Jos\u00e9"}')).toBe("e5388b6ad27ac1dd84848b2d42dc7132828b402bbcb41d32c01568450f875e48");
    expect(hash('{"to":"Jose\u0301"}')).toBe("f7d2af1d66482fd4d494b2e9bbb9a1918f6025344d15c81bd0ab486a83e69ec9");
    for (const raw of ['{"b":2,"a":"\\u0041\\/"}', '{ "a" : "A/" , "b" : 2 }']) {
      expect(canonicalize(readJson(raw))).toBe('{"a":"A/","b":2}');
      expect(hash(raw)).toBe("02aee8f897c8e5239322c67941b1585356c9e3ecb3b73d4b4c59f8479333aa5c");
    }
  });

  test("A34 magic keys are data of their own", () => {
    const raw = '{"args":{"__proto__":{"approved":true,"mode":"allow"}}}';
    const read = readJson(raw);
    for (const value of [read, copyJson(read), copyJson(JSON.parse(raw))]) {
      const args = (value as unknown as { args: object }).args;
      expect(Object.getPrototypeOf(args)).toBe(Object.prototype);
      expect(Object.keys(args)).toEqual(["__proto__"]);
      expect(canonicalize(value)).toBe(raw);
    }
    expect(({} as { approved?: unknown }).approved).toBeUndefined();
    expect(canonicalize(readJson('{"constructor":{"prototype":{"mode":"allow"}},"toString":1}'))).toBe(
      '{"constructor":{"prototype":{"mode":"allow"}},"toString":1}',
    );
  });

  test("A35 a part cannot move from one member to another", () => {
    const forms = [
      { tool: "file", args: { op: "read:all" } },
      { tool: "file:read", args: { op: "all" } },
    ].map(canonicalize);
    expect(forms[0]).not.toBe(forms[1]);
  });
});

test("a fault never quotes a value (P-19)", () => {
  const secret = "hunter2";
  const faulty = [
    `{"k":"${secret}`,
    `{"k":"${secret}\\x"}`,
    `{"k":"${secret}\\ud800"}`,
    `{"k":"${secret}","k":1}`,
    `{"k":"${secret}"]`,
  ];
  for (const raw of faulty)
    expect(() => readJson(raw)).toThrow(expect.objectContaining({ message: expect.not.stringContaining(secret) }));
  const thrower = new Proxy(
    {},
    {
      ownKeys: () => {
        throw new Error(secret);
      },
    },
  );
  for (const take of [copyJson, canonicalize]) {
    expect(() => take({ k: thrower })).toThrow(
      expect.objectContaining({ pointer: "/k", message: expect.not.stringContaining(secret) }),
    );
  }
});
