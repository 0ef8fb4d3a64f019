import { describe, expect, test } from "vitest";
import { DeclarationError, readJson } from "../../core/index.ts";
import { jsonSchemas } from "./schemas.ts";

const schemas = jsonSchemas();
const object = (properties: object, more: object = {}): object => ({ type: "object", properties, ...more });
const any = {};
/** Written out, it would make the schema look like a promise to the linter. */
const THEN = "then";

describe("faults, in words that quote the schema and never the value", () => {
  test.each<[unknown, unknown, string, string]>([
    [object({ amount: { type: "number" } }), { amount: "9" }, "/amount", "must be a number"],
    [{ type: "integer" }, 1.5, "", "must be an integer"],
    [{ type: ["array", "null"] }, 1, "", "must be an array or null"],
    [{ type: "object" }, [], "", "must be an object"],
    [object({ a: any }, { required: ["a", "b"] }), { a: 1 }, "/b", "missing property"],
    [object({ in: object({}, { required: ["x~/y"] }) }), { in: {} }, "/in/x~0~1y", "missing property"],
    [object({}, { additionalProperties: false }), { extra: 1 }, "/extra", "unknown property"],
    [object({}, { unevaluatedProperties: false }), { extra: 1 }, "/extra", "unknown property"],
    [object({ a: false }), { a: 1 }, "/a", "not allowed"],
    [false, 1, "", "not allowed"],
    [{ prefixItems: [any], items: false }, [1, 2], "/1", "unexpected item"],
    [{ items: { type: "string" } }, ["a", 2], "/1", "must be a string"],
    [{ enum: ["eur", "usd"] }, "gbp", "", 'must be one of "eur","usd"'],
    [{ enum: ["x".repeat(300)] }, "gbp", "", "must be one of the allowed values"],
    [{ const: { a: 1 } }, 2, "", 'must be {"a":1}'],
    [{ const: "x".repeat(300) }, 2, "", "must be the one allowed value"],
    [{ minimum: 3 }, 1, "", "must be at least 3"],
    [{ maximum: -0.5 }, 1, "", "must be at most -0.5"],
    [{ exclusiveMinimum: 0 }, 0, "", "must be more than 0"],
    [{ exclusiveMaximum: 10 }, 10, "", "must be less than 10"],
    [{ multipleOf: 0.5 }, 0.3, "", "must be a multiple of 0.5"],
    [{ minLength: 3 }, "ab", "", "must have at least 3 characters"],
    [{ maxLength: 3 }, "abcd", "", "must have at most 3 characters"],
    [{ pattern: "^a$" }, "b", "", "does not match the pattern that is asked for"],
    [{ format: "email" }, "x", "", "must be of the format email"],
    [{ minItems: 2 }, [1], "", "must have at least 2 items"],
    [{ maxItems: 1 }, [1, 2], "", "must have at most 1 items"],
    [{ uniqueItems: true }, [1, 2, 1], "", "must not have the same item twice"],
    [{ contains: { type: "number" } }, ["a"], "", "lacks an item that is asked for"],
    [{ contains: { type: "number" } }, [], "", "lacks an item that is asked for"],
    [{ contains: { type: "number" }, minContains: 2 }, [1, "a"], "", "has too few items of a kind that is asked for"],
    [{ contains: { type: "number" }, maxContains: 1 }, [1, 2, "a"], "", "has too many items of a kind that is limited"],
    [{ minProperties: 1 }, {}, "", "must have at least 1 properties"],
    [{ maxProperties: 1 }, { a: 1, b: 2 }, "", "must have at most 1 properties"],
    [{ propertyNames: { maxLength: 2 } }, { abc: 1 }, "/abc", "the name of this property is not allowed"],
    [{ patternProperties: { "^n": { type: "number" } } }, { nine: "9" }, "/nine", "must be a number"],
    [{ dependentRequired: { a: ["b"] } }, { a: 1 }, "/b", "missing property"],
    [{ dependencies: { a: ["b"] } }, { a: 1 }, "/b", "missing property"],
    [{ dependencies: { a: { required: ["c"] } } }, { a: 1 }, "/c", "missing property"],
    [{ dependentSchemas: { a: { required: ["c"] } } }, { a: 1 }, "/c", "missing property"],
    [{ not: { type: "null" } }, null, "", "is ruled out"],
    [{ anyOf: [{ type: "string" }, { type: ["null", "string"] }] }, 1, "", "must be a string or null"],
    [{ anyOf: [{ type: "string" }, { minimum: 9 }] }, 1, "", "fits none of the allowed forms"],
    [{ anyOf: [object({ a: { type: "string" } })] }, { a: 1 }, "", "fits none of the allowed forms"],
    [{ oneOf: [{ minimum: 5 }, { maximum: -5 }] }, 1, "", "fits none of the allowed forms"],
    [{ oneOf: [{ minimum: 0 }, { minimum: 1 }] }, 1, "", "fits more than one of the allowed forms"],
    [{ allOf: [{ minimum: 0 }, { maximum: 5 }] }, 9, "", "must be at most 5"],
    [{ if: { minimum: 5 }, [THEN]: { multipleOf: 2 }, else: { type: "string" } }, 7, "", "must be a multiple of 2"],
    [{ if: { minimum: 5 }, else: { multipleOf: 2 } }, 3, "", "must be a multiple of 2"],
    [{ $ref: "#/$defs/n", $defs: { n: { type: "number" } } }, "x", "", "must be a number"],
    [object({ "ü/%41": { type: "number" } }), { "ü/%41": "x" }, "/ü~1%41", "must be a number"],
  ])("%j on %j", async (schema, value, ...[pointer, problem]) => {
    expect((await schemas.check(schema, value))[0]).toEqual({ pointer, problem });
  });

  test("branches of a choice are not faults of their own; others keep theirs", async () => {
    const schema = object(
      { kind: { anyOf: [object({ a: any }, { additionalProperties: false }), { type: "null" }] }, n: { type: "number" } },
      { required: ["n", "m"] },
    );
    expect(await schemas.check(schema, { kind: { b: 1 } })).toEqual([
      { pointer: "/n", problem: "missing property" },
      { pointer: "/m", problem: "missing property" },
      { pointer: "/kind", problem: "fits none of the allowed forms" },
    ]);
  });

  test("one fault is said once", async () => {
    expect(await schemas.check({ allOf: [{ type: "string" }, { type: "string" }] }, 1)).toEqual([
      { pointer: "", problem: "must be a string" },
    ]);
  });

  test("P-19: no part of a fault comes from the value", async () => {
    const marked = { n: 471100, s: "hunter2", list: ["hunter2", "hunter2"], deep: { s: "hunter2" } };
    const strict = {
      enum: [0],
      const: 1,
      multipleOf: 7,
      minimum: 1e9,
      exclusiveMinimum: 1e9,
      maximum: 0,
      exclusiveMaximum: 0,
      minLength: 99,
      maxLength: 1,
      pattern: "^x$",
      format: "email",
      type: "null",
      not: {},
    };
    const schema = object(
      {
        n: strict,
        s: strict,
        list: { items: strict, uniqueItems: true, maxItems: 0, contains: false },
        deep: object({ s: strict }),
      },
      {
        propertyNames: { maxLength: 0 },
        maxProperties: 1,
        anyOf: [{ type: "string" }, { const: 1 }],
        oneOf: [false, { required: ["z"] }],
      },
    );
    const faults = await schemas.check(schema, marked);
    expect(faults.length).toBeGreaterThan(4);
    expect(JSON.stringify(faults)).not.toMatch(/hunter2|471100/);
    for (const property of Object.keys(marked)) {
      const alone = await schemas.check(
        (schema as { properties: Record<string, unknown> }).properties[property],
        marked[property as keyof typeof marked],
      );
      expect(alone.length).toBeGreaterThan(0);
      expect(JSON.stringify(alone)).not.toMatch(/hunter2|471100/);
    }
  });
});

describe("values that fit have no faults", () => {
  test.each<[unknown, unknown]>([
    [true, { anything: 1 }],
    [{}, null],
    [object({ a: { type: "string" } }), { b: 1 }],
    [{ $schema: "http://json-schema.org/draft-07/schema#", definitions: { n: { type: "number" } }, $ref: "#/definitions/n" }, 1],
    [{ $schema: "https://json-schema.org/draft/2020-12/schema", type: "number" }, 1],
    [{ $schema: "https://json-schema.org/draft/2019-09/schema", type: "number" }, 1],
    [
      {
        $id: "https://example.com/a",
        $defs: { n: { $anchor: "here", type: "number" } },
        properties: { a: { $ref: "#here" }, b: { $ref: "https://example.com/a#/$defs/n" } },
      },
      { a: 1, b: 2 },
    ],
    [{ properties: { next: { $ref: "#" } }, additionalProperties: false }, { next: { next: {} } }],
    [{ type: "object", "x-note": "unknown words are notes", title: "T", description: "D", default: {}, examples: [1] }, {}],
    [{ format: "of-our-own" }, "x"],
  ])("%j on %j", async (schema, value) => {
    expect(await schemas.check(schema, value)).toEqual([]);
  });

  test("a frozen value that was read is left as it is", async () => {
    const value = readJson('{"a":[1,{"b":null}]}');
    expect(await schemas.check(object({ a: { type: "array" } }), value)).toEqual([]);
    expect(value).toEqual({ a: [1, { b: null }] });
  });
});

describe("inherited names are not properties (A34)", () => {
  test("required and properties look at own members only", async () => {
    expect(await schemas.check({ required: ["constructor", "toString"] }, {})).toHaveLength(2);
    expect(await schemas.check(object({ toString: { type: "string" }, constructor: false }), {})).toEqual([]);
    expect(await schemas.check({ dependentRequired: { toString: ["x"] } }, {})).toEqual([]);
  });

  test("a member called __proto__ is looked at", async () => {
    const schema = readJson('{"properties":{"__proto__":{"type":"number"}},"additionalProperties":false}');
    expect(await schemas.check(schema, readJson('{"__proto__":"x"}'))).toEqual([
      { pointer: "/__proto__", problem: "must be a number" },
    ]);
    expect(await schemas.check(object({}, { additionalProperties: false }), readJson('{"__proto__":"x"}'))).toEqual([
      { pointer: "/__proto__", problem: "unknown property" },
    ]);
  });
});

describe("a schema that cannot be relied on is thrown out, not passed over", () => {
  test.each<[unknown, string]>([
    [undefined, "undefined is not JSON"],
    [null, "the whole must be a schema: an object, true or false"],
    ["object", "the whole must be a schema"],
    [[], "the whole must be a schema"],
    [{ default: () => 1 }, "/default: a function is not JSON"],
    [{ type: "strng" }, "/type must be one of string, number, integer, boolean, null, array, object, or a list of them"],
    [{ type: [] }, "/type must be one of"],
    [{ type: ["string", "any"] }, "/type must be one of"],
    [{ enum: "a" }, "/enum must be a list"],
    [{ required: "a" }, "/required must be a list of names"],
    [object({ a: { required: true } }), "/properties/a/required must be a list of names"],
    [{ dependentRequired: { a: "b" } }, "/dependentRequired must be an object of lists of names"],
    [{ uniqueItems: 1 }, "/uniqueItems must be true or false"],
    [{ multipleOf: 0 }, "/multipleOf must be a number above 0"],
    [{ minimum: "3" }, "/minimum must be a number"],
    [{ exclusiveMinimum: true }, "/exclusiveMinimum must be a number"],
    [{ maxLength: -1 }, "/maxLength must be a whole number of 0 or more"],
    [{ maxItems: 1.5 }, "/maxItems must be a whole number of 0 or more"],
    [{ pattern: "(" }, "/pattern must be a regular expression (with the flag u)"],
    [{ pattern: 1 }, "/pattern must be a regular expression"],
    [
      { patternProperties: { "(": {} } },
      "/patternProperties must be an object of schemas under regular expressions (with the flag u)",
    ],
    [{ patternProperties: [] }, "/patternProperties must be an object of schemas"],
    [{ format: 1 }, "/format must be a text"],
    [{ $ref: {} }, "/$ref must be a text"],
    [{ additionalProperties: "false" }, "/additionalProperties must be a schema: an object, true or false"],
    [{ properties: [] }, "/properties must be an object of schemas"],
    [{ properties: { a: "string" } }, "/properties/a must be a schema"],
    [{ items: 1 }, "/items must be a schema"],
    [{ items: [{ type: "x" }] }, "/items/0/type must be one of"],
    [{ allOf: [] }, "/allOf must be a list of schemas"],
    [{ anyOf: {} }, "/anyOf must be a list of schemas"],
    [{ dependencies: 1 }, "/dependencies must be an object"],
    [{ $defs: { "a/b": { not: 1 } } }, "/$defs/a~1b/not must be a schema"],
    [{ $dynamicRef: "#x" }, "/$dynamicRef must be left out: it is not followed here (use $ref)"],
    [{ $schema: "http://json-schema.org/draft-04/schema#" }, "/$schema must name draft 2020-12, 2019-09 or 07"],
    [{ $schema: 7 }, "/$schema must name draft"],
  ])("%j", async (schema, message) => {
    await expect(schemas.check(schema, {})).rejects.toThrow(DeclarationError);
    await expect(schemas.check(schema, {})).rejects.toThrow(message);
  });

  test.each([
    { $ref: "https://json-schema.org/draft/2020-12/schema" },
    { properties: { never: { $ref: "other.json" } } },
    { $defs: {}, $ref: "#/$defs/missing" },
    { $ref: "#/const", const: {} },
    { $ref: "file:///etc/passwd" },
  ])("a $ref that leads out is not fetched, even where it is never reached: %j", async (schema) => {
    await expect(schemas.check(schema, {})).rejects.toThrow(
      "a $ref leads out of it; other documents are not fetched, put what it means under $defs",
    );
  });

  test("a schema that only refers to itself throws", async () => {
    await expect(schemas.check({ $ref: "#" }, 1)).rejects.toThrow(RangeError);
  });
});

describe("a hostile value cannot hold the process", () => {
  test.each<[string, unknown, unknown]>([
    ["pattern", { pattern: "^(a+)+$" }, `${"a".repeat(60)}!`],
    ["uniqueItems", { uniqueItems: true }, Array.from({ length: 150_000 }, (_, index) => index)],
  ])("%s has a deadline, and the next check works", async (_, schema, value) => {
    await expect(schemas.check(schema, value)).rejects.toThrow(
      expect.objectContaining({ code: "policy_error", message: expect.stringContaining("more than 500 ms") }),
    );
    expect(await schemas.check({ pattern: "^a$" }, "a")).toEqual([]);
  });

  test("another error comes through as it is", async () => {
    await expect(schemas.check({ pattern: "a", $ref: "#" }, 1)).rejects.toThrow(/call stack/);
  });
});

test("a schema is kept by its identity: a later change changes nothing, and the object is not marked", async () => {
  const schema = object({ a: { type: "number" } }, { $id: "https://example.com/tool" }) as { properties: object };
  const before = JSON.stringify(schema);
  Object.freeze(schema);
  expect(await schemas.check(schema, { a: "x" })).toHaveLength(1);
  expect(Object.getOwnPropertyNames(schema)).toEqual(["type", "properties", "$id"]);
  expect(JSON.stringify(schema)).toBe(before);
  Object.assign(schema.properties, { a: {} });
  expect(await schemas.check(schema, { a: "x" })).toHaveLength(1);
});
