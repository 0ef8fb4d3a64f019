import { problemOf } from "../errors.ts";
import { copyJson, isCopyOf, sameJson } from "../json.ts";
import { JsonFault, type JsonObject } from "../json-value.ts";
import { formatPointer } from "../pointer.ts";
import type { Refusal } from "../ports/desk.ts";
import type { Runtime } from "../ports/runtime.ts";
import type { InputSchema, StandardResult, StandardSchema } from "../tool-call.ts";
import { isStandardSchema } from "./know.ts";

/** The value that is digested, shown and run: with the schema's defaults and coercions in it (A37). */
export type Validated = { readonly ok: true; readonly arguments: JsonObject } | { readonly ok: false; readonly refusal: Refusal };

const no = (refusal: Refusal): Validated => ({ ok: false, refusal });

function pointerOf(path: readonly unknown[] | undefined): string {
  return formatPointer(
    (path ?? []).map((step) => String(typeof step === "object" && step !== null && "key" in step ? step.key : step)),
  );
}

async function parse(schema: StandardSchema, value: JsonObject): Promise<Validated> {
  const result: StandardResult<unknown> = await schema["~standard"].validate(value);
  const issue = result.issues?.[0];
  if (issue !== undefined) return no({ code: "invalid_arguments", pointer: pointerOf(issue.path), problem: issue.message });
  if (!("value" in result)) return no({ code: "policy_error" });
  // Most schemas give back what they got: our copy of it then stands for it, and no second one is made.
  if (isCopyOf(value, result.value)) return { ok: true, arguments: value };
  const copy = copyJson(result.value);
  return typeof copy === "object" && copy !== null && !Array.isArray(copy)
    ? { ok: true, arguments: copy as JsonObject }
    : no({ code: "schema_not_stable" });
}

/** The schema's output must be JSON and come out of the schema unchanged: else what is shown is not what would run. */
async function standard(schema: StandardSchema, value: JsonObject): Promise<Validated> {
  try {
    const once = await parse(schema, value);
    if (!once.ok || sameJson(once.arguments, value)) return once;
    const twice = await parse(schema, once.arguments);
    return twice.ok && sameJson(once.arguments, twice.arguments) ? once : no({ code: "schema_not_stable" });
  } catch (thrown) {
    return no({ code: thrown instanceof JsonFault ? "schema_not_stable" : "policy_error" });
  }
}

async function jsonSchema(runtime: Runtime, schema: unknown, value: JsonObject): Promise<Validated> {
  try {
    const first = (await runtime.schemas.check(schema, value))[0];
    return first === undefined
      ? { ok: true, arguments: value }
      : no({ code: "invalid_arguments", pointer: first.pointer, problem: first.problem });
  } catch (thrown) {
    runtime.log.error("a tool's input schema could not be used", {
      problem: problemOf(thrown),
    });
    return no({ code: "policy_error" });
  }
}

/** Station 3: a person never sees a broken call. Nothing is repaired. */
export function validate(runtime: Runtime, schema: InputSchema | undefined, value: JsonObject): Promise<Validated> | Validated {
  if (schema === undefined) return { ok: true, arguments: value };
  return isStandardSchema(schema) ? standard(schema, value) : jsonSchema(runtime, schema, value);
}
