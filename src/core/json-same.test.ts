import fc from "fast-check";
import { expect, test } from "vitest";
import { copyJson, isCopyOf, sameJson } from "./json.ts";
import type { JsonValue } from "./json-value.ts";

const number = fc.oneof(
  fc.integer({ min: -100, max: 100 }),
  fc.double({ noNaN: true, noDefaultInfinity: true, max: 1e6, min: -1e6 }),
);
const { json } = fc.letrec<{ json: JsonValue }>((tie) => ({
  json: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom(null, true, false),
    number,
    fc.string(),
    fc.array(tie("json")),
    fc.dictionary(fc.string(), tie("json")),
  ),
}));

test("a copy stands for what it was made of, and for an equal value with its keys in another order", () => {
  fc.assert(fc.property(json, (value) => isCopyOf(copyJson(value), value)));
  expect(isCopyOf(copyJson({ a: 1, b: [{ c: null }] }), { b: [{ c: null }], a: 1 })).toBe(true);
  expect(isCopyOf(copyJson({ a: 0 }), { a: -0 })).toBe(true);
});

test("it stands for nothing else that is JSON", () => {
  const sameOrNot = (one: JsonValue, other: JsonValue): boolean =>
    isCopyOf(copyJson(one), other) === sameJson(copyJson(one), copyJson(other));
  fc.assert(fc.property(json, json, sameOrNot));
  for (const other of [{}, { a: 1, b: 2 }, { a: "1" }, { a: [1] }, { b: 1 }, [1], null, 1, "1", { a: undefined }])
    expect(isCopyOf({ a: 1 }, other)).toBe(false);
  for (const other of [[], [1, 2], { 0: 1 }, [2], ["1"], [undefined]]) expect(isCopyOf([1], other)).toBe(false);
});

class Holder {
  readonly a = 1;
}
const hidden = Object.defineProperty({ a: 1 }, "b", { value: 2 });
const marked = { a: 1, [Symbol("mark")]: 2 };
const named = Object.assign([1], { name: 2 });
const sparse = new Array(1);

test.each([
  ["an object of a class", { a: 1 }, new Holder()],
  ["a hidden member", { a: 1 }, hidden],
  ["a symbol as a key", { a: 1 }, marked],
  ["a member that only the prototype has", { a: 1 }, Object.create({ a: 1 })],
  ["an own __proto__ that is no prototype", { a: 1 }, JSON.parse('{"a":1,"__proto__":{}}')],
  ["an array with a name", [1], named],
  ["a hole", [null], sparse],
  ["an array of a class", [1], Object.setPrototypeOf([1], class extends Array {}.prototype)],
] as const)("%s is no copy's original", (_, copy, value) => {
  expect(isCopyOf(copy as JsonValue, value)).toBe(false);
});
