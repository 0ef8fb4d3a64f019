import { formatPointer, parsePointer } from "../../core/index.ts";
import type { SchemaFault } from "../../core/index.ts";

/**
 * The validator's errors in words that a model can act on. Its own quote the value; ours quote only the schema (P-19), by
 * taking the schema's part out of the text and nothing else.
 */

/** As much of the validator's error as is used here. */
export interface Unit {
  readonly instanceLocation: string;
  readonly keyword: string;
  readonly keywordLocation: string;
  readonly error: string;
}

type Words = (quoted: string) => string;
/** Longer lists of allowed values would bury the sentence that they stand in. */
const MOST_QUOTED = 200;
const quote = (prefix: string, text: string, otherwise: string): string =>
  text.length > MOST_QUOTED ? otherwise : `${prefix} ${text}`;

const typesOf = (quoted: string): string[] => quoted.split('", "');
const article = (type: string): string => (type === "null" ? type : `${/^[aio]/.test(type) ? "an" : "a"} ${type}`);
const mustBe = (types: readonly string[]): string => `must be ${[...new Set(types)].map(article).join(" or ")}`;

/** How to find the schema's part of an error, and what to say with it. */
const SAID: ReadonlyMap<string, readonly [RegExp, Words]> = new Map<string, readonly [RegExp, Words]>([
  ["type", [/Expected "(.+)"\.$/, (types) => mustBe(typesOf(types))]],
  ["const", [/^Instance does not match (.*)\.$/s, (text) => quote("must be", text, "must be the one allowed value")]],
  [
    "enum",
    [
      /^Instance does not match any of \[(.*)\]\.$/s,
      (text) => quote("must be one of", text, "must be one of the allowed values"),
    ],
  ],
  ["not", [/()/, () => "is ruled out"]],
  ["anyOf", [/()/, () => "fits none of the allowed forms"]],
  [
    "oneOf",
    [
      /\((\d+) matches\)/,
      (count) => (count === "0" ? "fits none of the allowed forms" : "fits more than one of the allowed forms"),
    ],
  ],
  ["minimum", [/ is less than (\S+)\.$/, (bound) => `must be at least ${bound}`]],
  ["maximum", [/ is greater than (\S+)\.$/, (bound) => `must be at most ${bound}`]],
  ["exclusiveMinimum", [/ is less than (\S+)\.$/, (bound) => `must be more than ${bound}`]],
  ["exclusiveMaximum", [/ or equal to (\S+)\.$/, (bound) => `must be less than ${bound}`]],
  ["multipleOf", [/ is not a multiple of (\S+)\.$/, (step) => `must be a multiple of ${step}`]],
  ["minLength", [/ < (\d+)\)/, (least) => `must have at least ${least} characters`]],
  ["maxLength", [/ > (\d+)\)/, (most) => `must have at most ${most} characters`]],
  ["pattern", [/()/, () => "does not match the pattern that is asked for"]],
  [
    "format",
    [/ match format "(.+)"\.$/s, (name) => quote("must be of the format", name, "is not of the format that is asked for")],
  ],
  ["minItems", [/ < (\d+)\)/, (least) => `must have at least ${least} items`]],
  ["maxItems", [/ > (\d+)\)/, (most) => `must have at most ${most} items`]],
  ["uniqueItems", [/()/, () => "must not have the same item twice"]],
  ["contains", [/()/, () => "lacks an item that is asked for"]],
  ["minContains", [/()/, () => "has too few items of a kind that is asked for"]],
  ["maxContains", [/()/, () => "has too many items of a kind that is limited"]],
  ["minProperties", [/at least (\d+) /, (least) => `must have at least ${least} properties`]],
  ["maxProperties", [/at least (\d+) /, (most) => `must have at most ${most} properties`]],
]);

/** Errors about a named member of the value: the name is in the text, and belongs to the pointer. */
const NAMED: ReadonlyMap<string, readonly [RegExp, string]> = new Map<string, readonly [RegExp, string]>([
  ["required", [/^Instance does not have required property "(.*)"\.$/s, "missing property"]],
  ["dependentRequired", [/ but does not have "(.*)"\.$/s, "missing property"]],
  ["dependencies", [/ but does not have "(.*)"\.$/s, "missing property"]],
  ["propertyNames", [/^Property name "(.*)" does not match schema\.$/s, "the name of this property is not allowed"]],
]);

/** What a `false` schema means depends on who holds it. */
const UNWANTED: ReadonlyMap<string, string> = new Map([
  ["additionalProperties", "unknown property"],
  ["unevaluatedProperties", "unknown property"],
  ["items", "unexpected item"],
  ["additionalItems", "unexpected item"],
  ["unevaluatedItems", "unexpected item"],
]);

/** Errors below these tell why one way of fitting failed, while another may have been meant. */
const ALTERNATIVES = new Set(["anyOf", "oneOf", "contains", "minContains", "maxContains", "propertyNames"]);

/** Faults in the order of the validator, without repetition; never empty. */
export function faultsOf(units: readonly Unit[]): readonly SchemaFault[] {
  const faults = new Map<string, SchemaFault>();
  const branches = units.filter((unit) => ALTERNATIVES.has(unit.keyword)).map((unit) => `${holderOf(unit)}/`);
  let dropped = false;
  for (const [index, unit] of units.entries()) {
    const holder = units[index - 1]?.keyword ?? "";
    // A `false` schema has no location of its own: it goes with the error before it.
    dropped = unit.keyword === "false" ? dropped : branches.some((branch) => unit.keywordLocation.startsWith(branch));
    const fault = dropped ? undefined : faultOf(unit, { units, holder });
    if (fault !== undefined) faults.set(JSON.stringify([fault.pointer, fault.problem]), fault);
  }
  return faults.size > 0 ? [...faults.values()] : [{ pointer: "", problem: "does not fit the schema" }];
}

const holderOf = (unit: Unit): string => unit.keywordLocation.replace(/\/(?:min|max)Contains$/, "/contains");

interface Around {
  readonly units: readonly Unit[];
  readonly holder: string;
}

function faultOf(unit: Unit, { units, holder }: Around): SchemaFault | undefined {
  const pointer = decodeURIComponent(unit.instanceLocation.slice(1));
  if (unit.keyword === "false") return { pointer, problem: UNWANTED.get(holder) ?? "not allowed" };
  const [nameIn, problem] = NAMED.get(unit.keyword) ?? [];
  const name = nameIn?.exec(unit.error)?.[1];
  if (name !== undefined && problem !== undefined) return { pointer: formatPointer([...parsePointer(pointer), name]), problem };
  const [pattern, words] = SAID.get(unit.keyword) ?? [];
  if (pattern === undefined || words === undefined) return undefined;
  const types = unit.keyword === "anyOf" ? typesBelow(unit, units) : undefined;
  const quoted = pattern.exec(unit.error)?.[1];
  return { pointer, problem: types ?? (quoted === undefined ? "does not fit the schema" : words(quoted)) };
}

/** "must be a string or null", when a choice failed only because none of its types fits. */
function typesBelow(choice: Unit, units: readonly Unit[]): string | undefined {
  const below = units.filter((unit) => unit.keywordLocation.startsWith(`${choice.keywordLocation}/`));
  if (below.length === 0 || below.some((unit) => unit.keyword !== "type" || unit.instanceLocation !== choice.instanceLocation))
    return undefined;
  return mustBe(below.flatMap((unit) => typesOf(/Expected "(.+)"\.$/.exec(unit.error)?.[1] ?? "")));
}
