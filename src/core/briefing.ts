import { canonicalize } from "./json.ts";
import type { JsonObject, JsonValue } from "./json-value.ts";
import { compactJson } from "./shown-json.ts";
import { visible } from "./visible.ts";

/** A call as a message speaks of it. Values are raw: whoever renders the message escapes it. */
export interface Spoken {
  readonly tool: string;
  readonly args: JsonObject;
}

/** A value within a sentence: text as it is, arrays joined by a comma, the rest as JSON. */
function inWords(value: JsonValue): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map((item: JsonValue) => inWords(item)).join(",");
  return canonicalize(value);
}

/** The message of a call that nobody wrote one for: `tool with: a=1, b=x`, names in order. */
export function listing(tool: string, args: JsonObject): string {
  const names = Object.keys(args).sort();
  if (names.length === 0) return `${tool} without arguments`;
  return `${tool} with: ${names.map((name) => `${name}=${inWords(args[name] as JsonValue)}`).join(", ")}`;
}

type Piece = { readonly text: string } | { readonly name: string };

/** One pass over the template; `undefined` where braces do not pair or a name is empty or has a format after it. */
function pieces(template: string): readonly Piece[] | undefined {
  const found: Piece[] = [];
  const token = /\{\{|\}\}|\{([^{}]*)\}|[{}]/gu;
  let from = 0;
  for (const match of template.matchAll(token)) {
    found.push({ text: template.slice(from, match.index) });
    from = match.index + match[0].length;
    const name = match[1];
    if (name !== undefined) {
      if (name === "" || name.trim() !== name) return undefined;
      found.push({ name });
    } else if (match[0].length === 2) found.push({ text: match[0].slice(1) });
    else return undefined;
  }
  found.push({ text: template.slice(from) });
  return found;
}

/** Own members only, so that `{constructor}` names nothing; `args.` reaches an argument that `tool` or `params` shadows. */
function argumentText(name: string, call: Spoken): string | undefined {
  if (name === "tool") return call.tool;
  if (name === "params") return listing(call.tool, call.args);
  if (Object.hasOwn(call.args, name)) return inWords(call.args[name] as JsonValue);
  const own = name.startsWith("args.") ? name.slice("args.".length) : undefined;
  return own !== undefined && Object.hasOwn(call.args, own) ? inWords(call.args[own] as JsonValue) : undefined;
}

/**
 * A declared message for one call: `{tool}`, `{params}` (the listing), `{name}` or `{args.name}` of an own argument,
 * `{{` and `}}` for braces. One pass: what a value contains is never read as a template (A19). A value that is missing,
 * or anything else in braces, gives the listing instead.
 */
export function renderMessage(template: string, call: Spoken): string {
  const parts = pieces(template);
  if (parts === undefined) return listing(call.tool, call.args);
  let message = "";
  for (const part of parts) {
    const text = "text" in part ? part.text : argumentText(part.name, call);
    if (text === undefined) return listing(call.tool, call.args);
    message += text;
  }
  return message;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Names that a schema lists, or `undefined` where it does not list them all. */
function knownNames(schema: unknown): ReadonlySet<string> | undefined {
  if (!isObject(schema) || !isObject(schema.properties)) return undefined;
  const open = ["patternProperties", "allOf", "anyOf", "oneOf", "$ref", "$dynamicRef", "if", "dependentSchemas"].some(
    (keyword) => keyword in schema,
  );
  const additional = schema.additionalProperties;
  return open || additional === true || isObject(additional) ? undefined : new Set(Object.keys(schema.properties));
}

/**
 * What is wrong with a message, to be said when it is declared; `undefined`: nothing.
 * @param schema the tool's JSON Schema; names are checked where it lists its properties
 */
export function messageFault(template: string, schema: unknown): string | undefined {
  const parts = pieces(template);
  if (parts === undefined) return "braces do not pair, or hold no plain name; write {name}, and {{ or }} for a brace";
  const known = knownNames(schema);
  if (known === undefined) return undefined;
  for (const part of parts) {
    if ("text" in part || part.name === "tool" || part.name === "params" || known.has(part.name)) continue;
    if (part.name.startsWith("args.") && known.has(part.name.slice("args.".length))) continue;
    const names = [...known].map((name) => `{${visible(name)}}`);
    return `{${visible(part.name)}} is no argument of the tool; it has ${names.length === 0 ? "none" : names.join(", ")}`;
  }
  return undefined;
}

/** Longer headlines show their beginning and their end, with what is left out counted. */
const HEADLINE = 160;

/** One line for lists, made from the call and never from the agent's words: the tool and its arguments, escaped. @internal */
export function headline(tool: string, args: JsonObject): string {
  const said = Object.keys(args)
    .sort()
    .map((name) => ` ${visible(name)}=${compactJson(args[name] as JsonValue)}`);
  return headAndTail(visible(tool) + said.join(""), HEADLINE);
}

/** At most `limit` characters: the beginning and the end, and between them how much is not shown. Never splits a character. */
export function headAndTail(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const room = Math.max(2, limit - 32);
  const head = whole(text.slice(0, Math.ceil(room / 2)));
  const tail = whole(text.slice(text.length - Math.floor(room / 2)));
  return `${head} …(${amount(text.length - head.length - tail.length)} more)… ${tail}`;
}

/** A count as people read it: `1,934`. */
export const amount = (count: number): string => String(count).replace(/\B(?=(?:\d{3})+$)/gu, ",");

/** A cut can leave half a character at either end. */
const whole = (text: string): string => text.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/u, "");

const LETTERS = "ABCDEFGHJKMNPQRSTVWXYZ";
const DIGITS = "23456789";
const BASE64URL = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/**
 * The code that names a request in a line of text, as `K7Q2`: letter, digit, letter, digit, none of which is taken for
 * another (no 0, 1, I, L, O, U), and never a word of any language.
 * @param hmac base64url of a keyed hash of the request's id, so that only our process knows the code beforehand
 */
export function cardCode(hmac: string): string {
  // Two base64url digits are 12 bits; the remainder of 4,096 by 22 or 8 favours no character noticeably.
  const pick = (from: string, index: number): string => {
    const high = Math.max(0, BASE64URL.indexOf(hmac[2 * index] ?? "A"));
    const low = Math.max(0, BASE64URL.indexOf(hmac[2 * index + 1] ?? "A"));
    return from[(64 * high + low) % from.length] as string;
  };
  return pick(LETTERS, 0) + pick(DIGITS, 1) + pick(LETTERS, 2) + pick(DIGITS, 3);
}

/** What {@link cardCode} can give, however a person types it. */
export const CODE: RegExp = /^[A-HJKMNP-TV-Z][2-9][A-HJKMNP-TV-Z][2-9]$/iu;

const typeOf = (value: JsonValue): string => {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value;
};

const fieldFor = (value: JsonValue): JsonObject => ({ type: typeOf(value) });

/** Fields that a schema lists, then one for each argument that it does not. */
function fields(schema: JsonObject | null, args: JsonObject): readonly (readonly [string, JsonObject])[] {
  const listed = isObject(schema?.properties) ? (schema.properties as JsonObject) : {};
  const given = Object.keys(args).filter((name) => !Object.hasOwn(listed, name));
  return [
    ...Object.entries(listed).map(([name, field]): [string, JsonObject] => [name, isObject(field) ? (field as JsonObject) : {}]),
    ...given.map((name): [string, JsonObject] => [name, fieldFor(args[name] as JsonValue)]),
  ];
}

const withCurrent = (name: string, field: JsonObject, args: JsonObject): JsonObject =>
  Object.hasOwn(args, name) ? { ...field, default: args[name] as JsonValue } : field;

/**
 * The form of an edit as a JSON Schema: every argument with its present value as default. Without a schema each
 * argument keeps its type; with neither schema nor arguments there is one field for the whole.
 */
export function formSchema(schema: JsonObject | null, args: JsonObject): JsonObject {
  const named = fields(schema, args).map(([name, field]): [string, JsonObject] => [name, withCurrent(name, field, args)]);
  const properties =
    named.length === 0 ? { arguments: { type: "object", title: "arguments", default: args } } : Object.fromEntries(named);
  return { ...(schema ?? {}), type: "object", properties };
}
