import { DeclarationError, formatPointer } from "../../core/index.ts";
import type { JsonArray, JsonObject, JsonValue } from "../../core/index.ts";

/**
 * Whether a JSON Schema means what it says, before it is used. The validator takes a misspelt or misplaced keyword for an
 * annotation, so that `"additionalProperties": "false"` would let everything through. Unknown keywords stay allowed.
 */

type Test = (value: JsonValue) => boolean;
type Step = string | number;
/** The schemas that a keyword's value holds, each with the steps to it; `undefined` when the value is no such holder. */
type Held = (value: JsonValue) => readonly (readonly [readonly Step[], JsonValue])[] | undefined;

const isObject = (value: JsonValue): value is JsonObject => typeof value === "object" && value !== null && !Array.isArray(value);
const isText: Test = (value) => typeof value === "string";
const isNumber: Test = (value) => typeof value === "number";
const isCount: Test = (value) => typeof value === "number" && value >= 0 && Number.isInteger(value);
const isTexts: Test = (value) => Array.isArray(value) && value.every(isText);
const TYPES = new Set<JsonValue>(["string", "number", "integer", "boolean", "null", "array", "object"]);
const isType: Test = (value) =>
  Array.isArray(value) ? value.length > 0 && value.every((one) => TYPES.has(one)) : TYPES.has(value);

const isPattern: Test = (value) => {
  if (typeof value !== "string") return false;
  try {
    return new RegExp(value, "u") !== undefined;
  } catch {
    return false;
  }
};

/** Keywords that hold no schema: what they must be. */
const PLAIN: ReadonlyMap<string, readonly [Test, string]> = new Map<string, readonly [Test, string]>([
  ["type", [isType, "one of string, number, integer, boolean, null, array, object, or a list of them"]],
  ["enum", [(value) => Array.isArray(value), "a list"]],
  ["required", [isTexts, "a list of names"]],
  ["dependentRequired", [(value) => isObject(value) && Object.values(value).every(isTexts), "an object of lists of names"]],
  ["uniqueItems", [(value) => typeof value === "boolean", "true or false"]],
  ["multipleOf", [(value) => typeof value === "number" && value > 0, "a number above 0"]],
  ["pattern", [isPattern, "a regular expression (with the flag u)"]],
  ...["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"].map((name) => [name, [isNumber, "a number"]] as const),
  ...["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains"].map(
    (name) => [name, [isCount, "a whole number of 0 or more"]] as const,
  ),
  ...["$ref", "$id", "$anchor", "format"].map((name) => [name, [isText, "a text"]] as const),
]);

const entries = (value: JsonObject): [Step[], JsonValue][] => Object.entries(value).map(([name, inner]) => [[name], inner]);
const items = (value: JsonArray): [Step[], JsonValue][] => value.map((inner, index) => [[index], inner]);
const isList = (value: JsonValue): value is JsonArray => Array.isArray(value);

const one: Held = (value) => [[[], value]];
const list: Held = (value) => (isList(value) && value.length > 0 ? items(value) : undefined);
const named: Held = (value) => (isObject(value) ? entries(value) : undefined);
const patterned: Held = (value) => (isObject(value) && Object.keys(value).every(isPattern) ? entries(value) : undefined);
/** A list is the older spelling of `prefixItems`. */
const oneOrList: Held = (value) => (isList(value) ? items(value) : one(value));
/** The older spelling of `dependentRequired` and `dependentSchemas` in one. */
const dependencies: Held = (value) => (isObject(value) ? entries(value).filter(([, inner]) => !isTexts(inner)) : undefined);

const HOLDERS: ReadonlyMap<string, readonly [Held, string]> = new Map<string, readonly [Held, string]>([
  ...["additionalItems", "unevaluatedItems", "contains", "additionalProperties", "unevaluatedProperties"].map((name) =>
    holder(name, one),
  ),
  ...["propertyNames", "not", "if", "then", "else"].map((name) => holder(name, one)),
  ...["prefixItems", "allOf", "anyOf", "oneOf"].map((name) => holder(name, list, "a list of schemas")),
  ...["$defs", "definitions", "properties", "dependentSchemas"].map((name) => holder(name, named, "an object of schemas")),
  holder("items", oneOrList),
  holder("patternProperties", patterned, "an object of schemas under regular expressions (with the flag u)"),
  holder("dependencies", dependencies, "an object"),
]);

function holder(name: string, held: Held, must: string = "a schema"): [string, readonly [Held, string]] {
  return [name, [held, must]];
}

/** The validator would skip these, and so let through what they forbid. */
const UNSUPPORTED = new Set(["$dynamicRef", "$recursiveRef"]);
/** Formats that are checked without a pattern that can take exponential time. Unknown formats are not checked at all. */
const QUICK_FORMATS = new Set<JsonValue>(["date", "time", "date-time", "duration", "email", "uuid", "ipv4", "ipv6"]);
const SLOW = new Set(["pattern", "patternProperties", "uniqueItems"]);

export interface Shape {
  /** A hostile value could keep this schema busy: give it a deadline. */
  slow: boolean;
  /** The schemas that refer to another one. */
  readonly referring: JsonObject[];
}

/** @throws DeclarationError with the pointer of the first keyword that is not what it must be */
export function shapeOf(schema: JsonValue): Shape {
  const shape: Shape = { slow: false, referring: [] };
  look(schema, [], shape);
  return shape;
}

const wrong = (path: readonly Step[], must: string): DeclarationError =>
  new DeclarationError(`a JSON Schema cannot be used: ${formatPointer(path) || "the whole"} must be ${must}`);

function look(schema: JsonValue, path: readonly Step[], shape: Shape): void {
  if (typeof schema === "boolean") return;
  if (!isObject(schema)) throw wrong(path, "a schema: an object, true or false");
  if (schema.$ref !== undefined) shape.referring.push(schema);
  for (const [keyword, value] of Object.entries(schema)) {
    const here = [...path, keyword];
    if (UNSUPPORTED.has(keyword)) throw wrong(here, "left out: it is not followed here (use $ref)");
    const [fits, must] = PLAIN.get(keyword) ?? [];
    if (fits?.(value) === false) throw wrong(here, must as string);
    if (SLOW.has(keyword) || (keyword === "format" && !QUICK_FORMATS.has(value))) shape.slow = true;
    const [held, holds] = HOLDERS.get(keyword) ?? [];
    const inner = held?.(value);
    if (held !== undefined && inner === undefined) throw wrong(here, holds as string);
    for (const [steps, below] of inner ?? []) look(below, [...here, ...steps], shape);
  }
}
