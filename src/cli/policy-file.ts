import { readFileSync } from "node:fs";
import {
  ASSURANCES,
  IMPACTS,
  JsonFault,
  type JsonObject,
  type JsonValue,
  milliseconds,
  type Policy,
  readJson,
  TIERS,
} from "../core/index.ts";
import { snapshotOf } from "../core/approving.ts";
import { nodeRuntime } from "../runtime/node/index.ts";
import { usage } from "./exit-codes.ts";

/**
 * A policy as a JSON file: as much of the policy file of design, section 7, as is plain data. Everything is refused that
 * this version would not do exactly as written, because a rule that is skipped is a hole.
 */

/** What is wrong at one place of the file. */
class Wrong extends Error {
  constructor(where: string, problem: string) {
    super(`${where === "" ? "the policy" : where}: ${problem}`);
  }
}

type Check = (value: JsonValue, where: string) => void;

const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const text: Check = (value, where) => {
  if (typeof value !== "string" || value === "") throw new Wrong(where, "must be a text that is not empty");
};
const flag: Check = (value, where) => {
  if (typeof value !== "boolean") throw new Wrong(where, "must be true or false");
};
const count: Check = (value, where) => {
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 1)
    throw new Wrong(where, "must be a whole number of 1 or more");
};
const duration: Check = (value, where) => {
  if (typeof value !== "string") throw new Wrong(where, 'must be a duration with its unit, as "15m"');
  try {
    milliseconds(value);
  } catch (thrown) {
    throw new Wrong(where, thrown instanceof Error ? thrown.message : "is not a duration");
  }
};
const oneOf =
  (allowed: readonly string[]): Check =>
  (value, where) => {
    if (typeof value !== "string" || !allowed.includes(value)) throw new Wrong(where, `must be one of ${allowed.join(", ")}`);
  };
const list =
  (each: Check, { empty }: { empty?: "allowed" } = {}): Check =>
  (value, where) => {
    if (!Array.isArray(value)) throw new Wrong(where, "must be a list");
    if (value.length === 0 && empty !== "allowed") throw new Wrong(where, "is an empty list and names nobody and nothing");
    for (const [at, inner] of value.entries()) each(inner as JsonValue, `${where}/${at}`);
  };
const either =
  (isFirst: (value: JsonValue) => boolean, checks: { readonly first: Check; readonly second: Check }): Check =>
  (value, where) =>
    (isFirst(value) ? checks.first : checks.second)(value, where);

const pointer: Check = (value, where) => {
  if (typeof value !== "string" || (value !== "" && !value.startsWith("/")))
    throw new Wrong(where, 'must be a JSON pointer, as "/path"');
};

/** Keys that the format has and this version does not read yet, with what to do meanwhile. */
type Later = Readonly<Record<string, string>>;
const CODE = "a rule in code (createGate) has it";
const FILE = "it comes with the policy file";

interface Shape {
  readonly keys: Readonly<Record<string, Check>>;
  readonly later?: Later;
}

const shaped =
  ({ keys, later = {} }: Shape): Check =>
  (value, where) => {
    if (!isObject(value)) throw new Wrong(where, "must be an object");
    for (const [key, inner] of Object.entries(value)) {
      const at = `${where}/${key}`;
      const check = Object.hasOwn(keys, key) ? keys[key] : undefined;
      if (check !== undefined) check(inner, at);
      else if (Object.hasOwn(later, key)) throw new Wrong(at, `is not read by this version (${later[key]}); take it out`);
      else throw new Wrong(at, `is not a key of this place; known are ${Object.keys(keys).join(", ")}`);
    }
  };

const alternative = shaped({ keys: { of: list(text), count } });
/** What both a floor and a rule may demand. */
const DEMANDS: Shape["keys"] = {
  window: duration,
  exemptible: flag,
  edit: flag,
  approvers: list(text),
  quorum: count,
  any: list(alternative),
  self: oneOf(["allow", "deny"]),
  assurance: oneOf(ASSURANCES),
  deadline: duration,
  message: text,
};
const wait: Later = { wait: "this version always waits in place" };

const confirmation = shaped({ keys: DEMANDS, later: { ...wait, when: CODE } });
const confirm = either(isObject, {
  first: confirmation,
  second: either((value) => typeof value === "string", {
    first: text,
    second: (value, where) => {
      if (value !== true) throw new Wrong(where, "must be true, a message or an object");
    },
  }),
});
const requires = either(isObject, {
  first: shaped({ keys: { scope: text, length: duration } }),
  second: either((value) => value === true, { first: flag, second: text }),
});

const toolEntry = shaped({
  keys: {
    match: text,
    tier: oneOf(TIERS),
    impact: oneOf(IMPACTS),
    effect: text,
    edits: flag,
    editable: list(pointer, { empty: "allowed" }),
    secrets: list(pointer, { empty: "allowed" }),
    ignore: list(pointer, { empty: "allowed" }),
    requires,
    confirm,
  },
  later: {
    message: 'write it as "confirm": { "message": … }, or in a rule',
    binds: FILE,
    shell: FILE,
    cwd: FILE,
    ...wait,
    ...Object.fromEntries(
      Object.keys(DEMANDS)
        .filter((key) => key !== "message")
        .map((key) => [key, `write it inside "confirm"`]),
    ),
  },
});

const patterns = either((value) => Array.isArray(value), { first: list(text), second: text });
const rule = shaped({
  keys: {
    ...DEMANDS,
    deny: patterns,
    ask: patterns,
    allow: patterns,
    name: text,
    tiers: list(oneOf(TIERS)),
    reason: text,
    requires,
    editable: list(pointer, { empty: "allowed" }),
    remind: duration,
    channels: list(text),
    offer: oneOf(["enough"]),
  },
  later: { when: `conditions come with the policy file; ${CODE}`, except: FILE, escalate: FILE, examples: FILE, ...wait },
});

const approvers: Check = (value, where) => {
  if (!isObject(value)) throw new Wrong(where, "must be an object of groups");
  for (const [group, members] of Object.entries(value)) {
    if (!/^(?:group|role):./u.test(group)) throw new Wrong(`${where}/${group}`, 'is no group; write "group:…" or "role:…"');
    list(text)(members, `${where}/${group}`);
  }
};

const version: Check = (value, where) => {
  if (value !== 1) throw new Wrong(where, "is a format that this version does not read; it reads 1");
};

const wholePolicy = shaped({
  keys: {
    version,
    mode: oneOf(["default", "plan", "accept-edits", "bypass", "no-ask"]),
    unmatched: oneOf(["by-tier", "ask", "deny", "allow"]),
    record: oneOf(["calls", "counts", "none"]),
    tools: list(toolEntry, { empty: "allowed" }),
    rules: list(rule, { empty: "allowed" }),
    approvers,
  },
  later: {
    operations: FILE,
    unasked: FILE,
    windows: FILE,
    channels: FILE,
    opinions: "opinions are code",
  },
});

/** Alternatives want both members; the core would count without them. */
function checkAlternatives(value: JsonValue, where: string): void {
  if (Array.isArray(value)) for (const [at, inner] of value.entries()) checkAlternatives(inner as JsonValue, `${where}/${at}`);
  if (!isObject(value)) return;
  for (const [key, inner] of Object.entries(value)) {
    if (key === "any" && Array.isArray(inner))
      for (const [at, one] of inner.entries())
        if (!isObject(one as JsonValue) || (one as JsonObject).of === undefined || (one as JsonObject).count === undefined)
          throw new Wrong(`${where}/any/${at}`, 'needs "of" and "count"');
    checkAlternatives(inner, `${where}/${key}`);
  }
  if (value.any !== undefined && (value.approvers !== undefined || value.quorum !== undefined))
    throw new Wrong(where, '"any" is the long form of "approvers" and "quorum"; say one of them');
}

/** The policy in a JSON text. @throws JsonFault, Wrong */
function policyIn(source: string): Policy {
  const read = readJson(source);
  wholePolicy(read, "");
  checkAlternatives(read, "");
  const { version: _version, ...rest } = read as JsonObject;
  return rest as Policy;
}

const isDeclaration = (thrown: unknown): thrown is Error => thrown instanceof Error && thrown.name === "DeclarationError";

const YAML = /\.ya?ml$/iu;

/**
 * Reads a policy file, strictly and whole.
 * @throws CommandFault naming the file, the place in it and what to do: nothing starts with a policy that was not read
 */
export function readPolicy(path: string): Policy {
  if (YAML.test(path)) {
    throw usage(`the policy file ${path} is YAML, which this version does not read; write the same keys as JSON`);
  }
  let source: string;
  try {
    source = readFileSync(path, "utf8");
  } catch (thrown) {
    const code = (thrown as NodeJS.ErrnoException).code ?? "unknown";
    throw usage(`the policy file ${path} cannot be read (${code}); check its path and its mode`, thrown);
  }
  try {
    const policy = policyIn(source);
    // What the core would object to is said now, and not at the first call.
    snapshotOf(policy, { runtime: nodeRuntime(), record: "calls" });
    return policy;
  } catch (thrown) {
    if (thrown instanceof Wrong || thrown instanceof JsonFault || isDeclaration(thrown))
      throw usage(`the policy file ${path} is not usable: ${thrown.message}. Nothing was started`, thrown);
    throw thrown;
  }
}
