/** What a tool call's arguments are made of: a JSON value under I-JSON rules (RFC 7493), deep-frozen. */
export type JsonValue = null | boolean | number | string | JsonArray | JsonObject;
export type JsonArray = readonly JsonValue[];
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/** Size and depth that any JSON from outside must keep (design, section 14). */
export interface JsonLimits {
  /** UTF-16 units of the text. Default 1 MiB. */
  readonly length: number;
  /** Nested arrays and objects. Default 64. */
  readonly depth: number;
}
export const JSON_LIMITS: JsonLimits = { length: 1_048_576, depth: 64 };

/** Why a text or a value is not I-JSON. */
export type JsonProblem =
  | "syntax"
  | "duplicate_key"
  | "number_not_exact"
  | "number_not_finite"
  | "invalid_string"
  | "too_deep"
  | "too_large"
  | "not_json";

/** A value or text that is not I-JSON. `pointer` is an RFC 6901 pointer; `problem` never contains the value (P-19). */
export class JsonFault extends Error {
  readonly code: JsonProblem;
  readonly pointer: string;
  readonly problem: string;
  constructor(code: JsonProblem, pointer: string, problem: string) {
    super(`${pointer === "" ? "the value" : pointer}: ${problem}`);
    this.name = "JsonFault";
    this.code = code;
    this.pointer = pointer;
    this.problem = problem;
  }
}
