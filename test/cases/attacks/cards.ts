import { readJson, type Tool } from "../../../src/core/index.ts";
import { z } from "zod";
import { type Fields, isFields, text } from "../faults/shape.ts";
import type { Sabotage } from "../world/part.ts";
import type { AttackCase } from "./shape.ts";
import { Stage } from "./stage.ts";

/** One call, and what an approver is shown of it. */

const NAME = /^[A-Za-z0-9_.:@-]+(?:\/[A-Za-z0-9_.:@-]+)*$/;

/** Messages of the cases are written `{{args.x}}`; ours are `{x}`. */
const templateOf = (written: string): string => written.replaceAll(/\{\{args\.(\w+)\}\}/g, "{$1}");

/** A schema that fills in what the case says is filled in. */
function schemaOf(declared: Fields, args: Fields): NonNullable<Tool["input"]> {
  const kinds: Readonly<Record<string, () => z.ZodType>> = {
    number: () => z.number(),
    string: () => z.string(),
    boolean: () => z.boolean(),
  };
  const known = Object.keys(args).map((name): [string, z.ZodType] => [
    name,
    (kinds[typeof args[name]] ?? ((): z.ZodType => z.unknown()))(),
  ]);
  const filled = Object.entries(declared).map(([name, how]): [string, z.ZodType] => [
    name,
    z.unknown().default((how as Fields).default),
  ]);
  return z.strictObject(Object.fromEntries([...known, ...filled])) as unknown as NonNullable<Tool["input"]>;
}

/** What a case calls: a tool with arguments, or the text that both were read from. */
export function calledBy(input: Fields): { tool: string; args: unknown } {
  if (text(input.raw) !== undefined) {
    const read = readJson(String(input.raw)) as unknown as Fields;
    return isFields(read.args) && text(read.tool) !== undefined
      ? { tool: String(read.tool), args: read.args }
      : { tool: "act", args: read };
  }
  return { tool: text(input.tool) ?? "act", args: input.args ?? {} };
}

function toolOf(name: string, input: Fields, args: unknown): Tool {
  const template = text(input.template);
  const secrets =
    isFields(input.secrets) || Array.isArray(input.secrets)
      ? (input.secrets as string[])
      : input.published === "commitment"
        ? Object.keys(args as object).map((key) => `/${key}`)
        : undefined;
  return {
    name,
    ...(template === undefined ? {} : { confirm: { message: templateOf(template), approvers: ["group:approvers"] } }),
    ...(isFields(input.schema) ? { input: schemaOf(input.schema, args as Fields) } : {}),
    ...(secrets === undefined ? {} : { secrets }),
    run: () => undefined,
  };
}

/** Something in the environment that could switch a gate off is there while the call is made. */
async function within<T>(env: unknown, work: () => Promise<T>): Promise<T> {
  const before = new Map<string, string | undefined>();
  for (const [name, value] of Object.entries(isFields(env) ? env : {})) {
    before.set(name, process.env[name]);
    process.env[name] = String(value);
  }
  try {
    return await work();
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
}

/** The words that the agent puts beside its call, under whatever name. */
export const wordsOf = (input: Fields): string | undefined => text(input.summary) ?? text(input.reason) ?? text(input.statement);

export async function runCard(one: AttackCase, sabotage?: Sabotage): Promise<Stage> {
  const { input } = one;
  const { tool, args } = calledBy(input);
  const known = NAME.test(tool) && !(one.where === "policy" && input.rule === undefined);
  const stage = new Stage({
    sabotage,
    tools: known ? [toolOf(tool, input, args)] : [],
    // A message is the tool's own: its floor asks, and no rule with another message does.
    ...(text(input.template) === undefined ? {} : { policy: {} }),
    // A channel that says yes by itself is asked for by name, and there is none.
    channel:
      text(input.channel) !== undefined || (Array.isArray(input.channels) && input.channels.length === 0) ? "none" : "terminal",
    record: "calls",
  });
  await within(input.env, async () => {
    try {
      stage.world.start({ name: "main" });
    } catch (thrown) {
      // A declaration that cannot be meant fails where it is written; no call comes so far.
      stage.marks.set("loaded", false);
      stage.marks.set("load-error", thrown);
      return;
    }
    const statement = wordsOf(input);
    await stage.call(tool, args, statement === undefined ? {} : { statement });
    if (statement !== undefined) await withoutWords(stage, tool, args);
  });
  return stage;
}

/** The same call without the agent's words, to tell whether they changed anything. */
async function withoutWords(stage: Stage, tool: string, args: unknown): Promise<void> {
  const bare = stage.world.make({ label: "without-words", tool, args, run: "another" });
  await stage.world.settle();
  stage.marks.set("without-words", stage.verdictOf(bare));
}
