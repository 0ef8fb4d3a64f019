import { z } from "zod";
import type { Opinion, OpinionAnswer, Policy, Rule, Tool, ToolEntry } from "../../../src/core/index.ts";
import type { Files } from "../world/files.ts";
import { argsMatcher, commandMatcher, type Matcher, pathMatcher } from "./patterns.ts";
import { callsOf, type FaultCase, type FaultPolicy, type FaultRule, type Fields, isFields, list, number, text } from "./shape.ts";

/** Settings of a case's policy, and what they are with us. What is not named here has no part that could run it. */
export const SETTINGS: ReadonlySet<string> = new Set([
  "default",
  "rules",
  "channels",
  "store",
  "window_ms",
  "cwd",
  "interactive",
  "remind_after_ms",
  "hooks",
  "hook_errors",
  "transform",
  "ask_from",
  "human",
  "tool_limit_ms",
  "after_deny",
  "gates",
  "upstream",
  "servers",
  "annotations",
  "inline_wait_ms",
  "other_middleware",
  "final_answer_path",
  "max_steps",
  "batch_mode",
  // What other systems set and there is nothing to set for: history, secrets, verbosity and views are always as they are.
  "history",
  "redact",
  "verbose",
  "signed",
  "wrap",
]);

export const RULE_KEYS: ReadonlySet<string> = new Set([
  "effect",
  "tool",
  "command",
  "path",
  "args",
  "editable",
  "window_ms",
  "ignore_args",
  "approvers",
  "quorum",
  "self",
  "reason",
  "message",
]);

const HOUR = 3_600_000;
const RUNS_CODE = /^(?:bash|shell|sh|exec|terminal|run_code|python|node|powershell)$/;

/** Tool patterns of cases cross `/`: `mcp:*` is every tool of every server. */
const toolPattern = (pattern: string): string => (/^\*+$/.test(pattern) ? "**" : pattern.replaceAll(/\*+/g, "**"));

function matcherOf(rule: FaultRule, files: Files): Matcher | undefined {
  const { effect } = rule;
  const matchers = [
    ...list(rule.command).map((pattern) => commandMatcher(String(pattern), effect)),
    ...list(rule.path).map((pattern) => pathMatcher(String(pattern), effect, files)),
    ...(isFields(rule.args) ? [argsMatcher(rule.args)] : []),
  ];
  return matchers.length === 0 ? undefined : (args) => matchers.every((fits) => fits(args));
}

export interface Terms {
  /** Milliseconds for which a yes answers the same call again, where the case says "always". */
  readonly window: number;
  /** Who may answer where a rule names nobody and several people answer; `undefined`: the person the agent acts for. */
  readonly people: readonly string[] | undefined;
}

function askWords(rule: FaultRule, policy: FaultPolicy, terms: Terms): Partial<Rule> {
  const named = list(rule.approvers).map(String);
  const approvers = named.length > 0 ? named : terms.people;
  const window = number(rule.window_ms) ?? number(policy.window_ms);
  const remind = number(policy.remind_after_ms);
  return {
    ...(approvers === undefined ? {} : { approvers, self: named.length > 0 ? "deny" : "allow" }),
    ...(typeof rule.quorum === "number" ? { quorum: rule.quorum } : {}),
    ...(rule.editable === undefined ? {} : { editable: list(rule.editable).map((name) => `/${String(name)}`) }),
    ...(window === undefined ? {} : { deadline: window }),
    ...(remind === undefined ? {} : { remind }),
    ...(terms.window === 0 ? {} : { window: terms.window }),
  };
}

function ruleOf(rule: FaultRule, policy: FaultPolicy, made: { files: Files; terms: Terms }): Rule {
  const fits = matcherOf(rule, made.files);
  return {
    [rule.effect]: toolPattern(rule.tool),
    ...(fits === undefined ? {} : { when: (call) => fits(call.arguments) }),
    ...(text(rule.reason) === undefined ? {} : { reason: String(rule.reason) }),
    ...(rule.effect === "ask" ? askWords(rule, policy, made.terms) : {}),
  };
}

/** A hook of another system before the tool: what it returns, as an opinion in code. */
function opinionOf(hook: Fields): Opinion | undefined {
  const returns = isFields(hook.returns) ? hook.returns : undefined;
  if (returns === undefined || (hook.event !== undefined && hook.event !== "pre")) return undefined;
  return (call) => {
    const said = text(returns.stderr) ?? text(returns.reason);
    const reason = said === undefined ? {} : { reason: said };
    if (returns.exit === 2 || returns.deny === true || returns.block === true) return { verdict: "deny", ...reason };
    if (number(returns.exit) !== undefined && returns.exit !== 0) throw new Error(`the hook ended with ${String(returns.exit)}`);
    const verdict = returns.allow === true ? "allow" : returns.ask === true ? "ask" : "none";
    const answer: OpinionAnswer = isFields(returns.updated)
      ? { verdict, arguments: { ...call.arguments, ...(returns.updated as object) } }
      : { verdict };
    return verdict === "none" && answer.arguments === undefined ? null : answer;
  };
}

/** `clamp amount to 50`. */
function transformOf(words: string): Opinion {
  const clamp = /^clamp (\w+) to (\d+)$/.exec(words);
  if (clamp === null) throw new Error(`no transform "${words}"`);
  const [, name = "", bound] = clamp;
  return (call) => {
    const value = number(call.arguments[name]);
    return value === undefined || value <= Number(bound)
      ? null
      : { verdict: "none", arguments: { ...call.arguments, [name]: Number(bound) } };
  };
}

function opinionsOf(policy: FaultPolicy): readonly Opinion[] {
  return [
    ...list(policy.hooks).flatMap((hook) => (isFields(hook) ? (opinionOf(hook) ?? []) : [])),
    ...(text(policy.transform) === undefined ? [] : [transformOf(String(policy.transform))]),
    ...(policy.ask_from === undefined ? [] : [(): OpinionAnswer => ({ verdict: "ask" })]),
  ];
}

const entriesOf = (policy: FaultPolicy): readonly ToolEntry[] =>
  policy.rules.flatMap((rule) =>
    rule.ignore_args === undefined
      ? []
      : [{ match: toolPattern(rule.tool), ignore: list(rule.ignore_args).map((name) => `/${String(name)}`) }],
  );

/** A case's policy as plain rules in code. */
export function policyOf(
  one: FaultCase,
  made: { files: Files; terms: Terms },
  rules: readonly FaultRule[] = one.policy.rules,
): Policy {
  const { policy } = one;
  const named =
    made.terms.people === undefined ? [] : [{ ask: "**", ...askWords({ effect: "ask", tool: "*" }, policy, made.terms) }];
  const unmatched = policy.default;
  return {
    unmatched,
    rules: [
      ...rules.map((rule) => ruleOf(rule, policy, made)),
      // An ask by default belongs to the people of the case too.
      ...(unmatched === "ask" && !rules.some((rule) => rule.effect === "allow") && opinionsOf(policy).length === 0
        ? (named as Rule[])
        : []),
    ],
    ...(opinionsOf(policy).length === 0 ? {} : { opinions: opinionsOf(policy) }),
    ...(entriesOf(policy).length === 0 ? {} : { tools: entriesOf(policy) }),
    ...(policy.human === "never" ? { mode: "no-ask" as const } : {}),
  };
}

const TYPES: Readonly<Record<string, object>> = {
  string: { type: "string" },
  number: { type: "number" },
  integer: { type: "integer" },
  boolean: { type: "boolean" },
  array: { type: "array" },
  object: { type: "object" },
};
const ZOD: Readonly<Record<string, () => z.ZodType>> = {
  string: () => z.string(),
  number: () => z.number(),
  integer: () => z.int(),
  boolean: () => z.boolean(),
  array: () => z.array(z.unknown()),
  object: () => z.record(z.string(), z.unknown()),
};

interface Param {
  readonly name: string;
  readonly type: string;
  readonly optional: boolean;
  readonly fallback: unknown;
}

function paramOf([name, said]: [string, string]): Param {
  const [type = "", fallback] = said.split("=");
  const optional = type.endsWith("?");
  return {
    name,
    type: optional ? type.slice(0, -1) : type,
    optional,
    fallback:
      fallback === undefined
        ? undefined
        : fallback === ""
          ? ""
          : (JSON.parse(
              /^[a-z]+$/i.test(fallback) && !/^(?:true|false|null)$/.test(fallback) ? `"${fallback}"` : fallback,
            ) as unknown),
  };
}

/** A schema that fills in defaults is a schema of code; the others are JSON Schema. */
function schemaOf(params: readonly Param[]): NonNullable<Tool["input"]> {
  if (params.some((param) => param.fallback !== undefined)) {
    const shape = params.map(({ name, type, optional, fallback }): [string, z.ZodType] => {
      const known = (ZOD[type] ?? ((): z.ZodType => z.unknown()))();
      return [name, fallback === undefined ? (optional ? known.optional() : known) : known.default(fallback as never)];
    });
    return z.strictObject(Object.fromEntries(shape)) as unknown as NonNullable<Tool["input"]>;
  }
  return {
    type: "object",
    properties: Object.fromEntries(params.map(({ name, type }) => [name, TYPES[type] ?? {}])),
    required: params.filter((param) => !param.optional).map((param) => param.name),
    additionalProperties: false,
  };
}

/** Every tool that a case names, with what it says of their parameters. */
export function toolsOf(one: FaultCase): readonly Tool[] {
  const names = new Set([one.tool.name, ...callsOf(one).map((call) => call.tool)]);
  const emitted = one.events.flatMap((event) => list(event.emits).map((call) => text((call as Fields).tool) ?? one.tool.name));
  const late = new Set(one.events.flatMap((event) => (event.do === "load_tool_late" ? [String(event.tool)] : [])));
  const listed = new Set(
    one.events.flatMap((event) =>
      event.do === "tools_list"
        ? list(event.tools).map((tool) => `mcp:${String(event.server)}/${String((tool as Fields).name)}`)
        : [],
    ),
  );
  const wanted = [...new Set([...names, ...emitted])].filter((name) => !late.has(name) && !listed.has(name));
  return wanted.map((name) => toolOf(one, name));
}

export function toolOf(one: FaultCase, name: string): Tool {
  const params = Object.entries(name === one.tool.name ? (one.tool.params ?? {}) : {}).map(paramOf);
  const limit = number(one.policy.tool_limit_ms);
  const reads = one.policy.rules.some((rule) => rule.path !== undefined && rule.tool === name);
  return {
    name,
    ...(params.length === 0 ? {} : { input: schemaOf(params) }),
    ...(RUNS_CODE.test(name) ? { tier: "physical" as const } : one.policy.default === "allow" ? { tier: "write" as const } : {}),
    ...(reads ? { binds: { paths: ["/path"] } } : {}),
    ...(limit === undefined ? {} : { timeout: limit }),
    run: () => undefined,
  };
}

export const WINDOW: number = HOUR;
