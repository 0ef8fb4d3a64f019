import type { Schema } from "@cfworker/json-schema";
import { copyJson, DeclarationError } from "../../core/index.ts";
import type { JsonArray, JsonFault, JsonObject, JsonValue, SchemaFault, Schemas } from "../../core/index.ts";
import { withDeadline } from "./deadline.ts";
import { faultsOf } from "./schema-faults.ts";
import type { Unit } from "./schema-faults.ts";
import { shapeOf } from "./schema-shape.ts";

/** A schema ready for use: the validator's errors for a value. */
type Compiled = (value: JsonValue) => readonly Unit[];
type Draft = "2020-12" | "2019-09" | "7";

const DRAFTS: ReadonlyMap<JsonValue | undefined, Draft> = new Map<JsonValue | undefined, Draft>([
  [undefined, "2020-12"],
  ["https://json-schema.org/draft/2020-12/schema", "2020-12"],
  ["https://json-schema.org/draft/2019-09/schema", "2019-09"],
  ["http://json-schema.org/draft-07/schema", "7"],
]);

/**
 * JSON Schema without code generation. A schema is read once and kept by its identity: changing the object later changes
 * nothing. Documents elsewhere are never fetched.
 */
export function jsonSchemas(): Schemas {
  const compiled = new WeakMap<object, Promise<Compiled>>();
  const ready = (schema: unknown): Promise<Compiled> => {
    if (typeof schema !== "object" || schema === null) return compile(schema);
    const known = compiled.get(schema) ?? compile(schema);
    compiled.set(schema, known);
    return known;
  };
  return { check: async (schema, value) => checked(await ready(schema), value) };
}

function checked(errorsOf: Compiled, value: unknown): readonly SchemaFault[] {
  const units = errorsOf(bare(value as JsonValue));
  return units.length === 0 ? [] : faultsOf(units);
}

/** @throws DeclarationError on a schema that could not be relied on */
async function compile(schema: unknown): Promise<Compiled> {
  // The validator marks the schema it is given, so it gets one of its own.
  const own = bare(asJson(schema));
  const { slow, referring } = shapeOf(own);
  const draft = draftOf(own);
  const { dereference, validate } = await import("@cfworker/json-schema");
  const schemas = dereference(own as Schema);
  for (const node of referring) checkReference(node, schemas);
  const errorsOf = (value: JsonValue): readonly Unit[] => validate(value, own as Schema, draft, schemas).errors;
  return slow ? (value) => withDeadline(() => errorsOf(value)) : errorsOf;
}

function asJson(schema: unknown): JsonValue {
  try {
    return copyJson(schema);
  } catch (thrown) {
    throw new DeclarationError(`a JSON Schema cannot be used: ${(thrown as JsonFault).message}`, { cause: thrown });
  }
}

function draftOf(schema: JsonValue): Draft {
  const named = (schema as JsonObject).$schema;
  const draft = DRAFTS.get(typeof named === "string" ? named.replace(/#$/, "") : named);
  if (draft !== undefined) return draft;
  throw new DeclarationError("a JSON Schema cannot be used: /$schema must name draft 2020-12, 2019-09 or 07");
}

/** Followed only when it is reached, a missing document would let every other call through until then. */
function checkReference(node: JsonObject, lookup: Readonly<Record<string, unknown>>): void {
  const { __absolute_ref__: target } = node as { readonly __absolute_ref__?: string };
  if (target !== undefined && Object.hasOwn(lookup, target)) return;
  throw new DeclarationError(
    "a JSON Schema cannot be used: a $ref leads out of it; other documents are not fetched, put what it means under $defs",
  );
}

/**
 * A copy whose objects have no prototype: the validator asks with `in`, and an inherited `constructor` would count as a
 * property that is there.
 */
function bare(value: JsonValue): JsonValue {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return (value as JsonArray).map(bare);
  const copy = Object.create(null) as Record<string, JsonValue>;
  for (const [key, inner] of Object.entries(value)) copy[key] = bare(inner);
  return copy;
}
