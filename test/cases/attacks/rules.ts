import {
  type Condition,
  DeclarationError,
  type Duration,
  isHoldpointError,
  JsonFault,
  type Policy,
  readJson,
  type Rule,
} from "../../../src/core/index.ts";
import { argsMatcher, commandMatcher, pathMatcher } from "../faults/patterns.ts";
import { type Fields, isFields, list, text } from "../faults/shape.ts";
import type { Sabotage } from "../world/part.ts";
import { calledBy } from "./cards.ts";
import type { AttackCase } from "./shape.ts";
import { Stage } from "./stage.ts";

/** Attacks on policy: rules of the case as rules in code, and configurations that must not load. */

type Matched = (call: Parameters<Condition>[0]) => boolean;

/** `amount < 100`: a comparison of a number with a number; anything else does not compare. */
function comparison(words: string): Matched {
  const parsed = /^(\w+)\s*(<=|>=|<|>|==)\s*(-?\d+(?:\.\d+)?)$/.exec(words);
  if (parsed === null) throw new DeclarationError(`no condition "${words}"`);
  const [, name = "", sign = "", bound] = parsed;
  const word = { "<": "lt", "<=": "lte", ">": "gt", ">=": "gte", "==": "eq" }[sign] ?? "eq";
  const matches = argsMatcher({ [name]: { [word]: Number(bound) } });
  return (call) => matches(call.arguments);
}

type Made = (value: string, stage: Stage) => Rule;

const onPath =
  (effect: "allow" | "deny", pattern: (value: string) => string): Made =>
  (value, stage) => {
    const matches = pathMatcher(pattern(value), effect, stage.world.files);
    return { [effect]: "**", when: (call) => matches(call.arguments) };
  };
const onCommand =
  (effect: "allow" | "deny"): Made =>
  (value) => {
    const matches = commandMatcher(`${value} *`, effect);
    return { [effect]: "**", when: (call) => matches(call.arguments) };
  };

const RULES: Readonly<Record<string, Made>> = {
  allow: (value) => ({ allow: value === "*" ? "**" : value }),
  deny: (value) => ({ deny: value === "*" ? "**" : value }),
  ask: (value) => ({ ask: value === "*" ? "**" : value }),
  allow_tool: (value) => ({ allow: value }),
  deny_tool: (value) => ({ deny: value }),
  // A pattern in a rule in code is a name; what it looks for in arguments is the policy file's to read.
  match: (value) => ({ allow: value }),
  allow_prefix: onPath("allow", (value) => `${value}**`),
  allow_path: onPath("allow", (value) => value),
  deny_path: onPath("deny", (value) => value),
  deny_prefix: onPath("deny", (value) => `${value}**`),
  allow_cmd: onCommand("allow"),
  deny_cmd: onCommand("deny"),
  allow_if: (value) => ({ allow: "**", when: comparison(value) }),
  deny_if: (value) => ({ deny: "**", when: comparison(value) }),
};

/** One member of a rule each: `{ allow_if: "amount < 100", budget: … }`. What no rule knows stays in it, and fails the load. */
function rulesOf(given: Fields, stage: Stage): readonly Rule[] {
  const known = Object.entries(given).flatMap(([word, value]) =>
    Object.hasOwn(RULES, word) && typeof value === "string" ? [RULES[word]?.(value, stage) ?? {}] : [],
  );
  const verdicts = new Set(["allow", "deny", "ask"]);
  const byTool = Object.entries(given).flatMap(([tool, value]) =>
    !Object.hasOwn(RULES, tool) && verdicts.has(String(value)) ? [{ [String(value)]: tool }] : [],
  );
  const rest = Object.entries(given).filter(([word, value]) => !Object.hasOwn(RULES, word) && !verdicts.has(String(value)));
  const [first = {}, ...others] = [...known, ...byTool];
  return [{ ...first, ...Object.fromEntries(rest) }, ...others];
}

/** Durations that a configuration could state. */
const durationsOf = (input: Fields): readonly Duration[] =>
  list(input.ttl_ms).map((value) =>
    typeof value === "string" && !Number.isNaN(Number(value))
      ? Number(value)
      : value === "NaN"
        ? Number.NaN
        : (value as Duration),
  );

/** A text as a policy: read strictly, and taken as it is. */
function loaded(stage: Stage, read: () => unknown): Promise<void> {
  return Promise.resolve()
    .then(async () => stage.world.process().setPolicy(read() as Policy))
    .then(
      () => void stage.marks.set("loaded", true),
      (thrown: unknown) => {
        stage.marks.set("loaded", false);
        stage.marks.set("load-error", thrown);
      },
    );
}

export const isDeclared = (thrown: unknown): boolean =>
  thrown instanceof DeclarationError || thrown instanceof JsonFault || isHoldpointError(thrown);

/** A configuration is handed to a gate that runs; what it had before goes on ruling. */
async function load(one: AttackCase, stage: Stage): Promise<void> {
  const { input } = one;
  const before = stage.world.process().desk.policy().hash;
  stage.marks.set("raw", input.raw);
  if (text(input.raw) !== undefined) await loaded(stage, () => readJson(String(input.raw)));
  else if (isFields(input.config)) await loaded(stage, () => input.config);
  else {
    const refused: boolean[] = [];
    for (const deadline of durationsOf(input)) {
      await loaded(stage, () => ({ rules: [{ ask: "**", deadline }] }));
      refused.push(stage.marks.get("loaded") === false && isDeclared(stage.marks.get("load-error")));
    }
    stage.marks.set("loaded", refused.length === 0 || refused.some((one_) => !one_));
  }
  stage.marks.set("policy-kept", stage.world.process().desk.policy().hash === before);
}

export async function runRules(one: AttackCase, sabotage?: Sabotage): Promise<Stage> {
  const { input } = one;
  const given = isFields(input.rule) ? [input.rule] : list(input.rules).filter(isFields);
  const { tool, args } = calledBy({ ...input, raw: undefined });
  const calls = list(input.calls).filter(isFields);
  const stage = new Stage({ sabotage, tools: [{ name: tool, run: () => undefined }] });
  stage.world.start({ name: "main" });
  if (given.length === 0) {
    await load(one, stage);
    return stage;
  }
  const began = performance.now();
  await loaded(stage, () => ({ rules: given.flatMap((rule) => [...rulesOf(rule, stage)]) }));
  stage.world.newRuns();
  if (calls.length === 0) await stage.call(tool, args);
  for (const one_ of calls) await stage.call(tool, one_);
  stage.marks.set("took", performance.now() - began);
  return stage;
}

/** Configurations and rules; a call beside them is judged by them. */
export const isPolicy = ({ where, input }: AttackCase): boolean =>
  where === "policy" &&
  (isFields(input.rule) ||
    Array.isArray(input.rules) ||
    input.config !== undefined ||
    text(input.raw) !== undefined ||
    input.ttl_ms !== undefined);
