import { canonicalize, JsonFault, readJson } from "../../../src/core/index.ts";
import { type Fields, isFields, text } from "../faults/shape.ts";
import type { Sabotage } from "../world/part.ts";
import type { AttackCase } from "./shape.ts";
import { Stage } from "./stage.ts";

/** Two or more calls that must, or must not, be the same act. */

const NAMES = ["a", "b", "c"] as const;

export const isPair = ({ input }: AttackCase): boolean =>
  (input.a !== undefined && input.b !== undefined) || (input.rawA !== undefined && input.rawB !== undefined);

interface Member {
  readonly tool: string;
  readonly args: unknown;
}

const memberOf = (value: unknown): Member =>
  isFields(value) && text(value.tool) !== undefined && isFields(value.args)
    ? { tool: String(value.tool), args: value.args }
    : { tool: "act", args: value };

export async function runPair(one: AttackCase, sabotage?: Sabotage): Promise<Stage> {
  const members: Member[] = [];
  const faults: string[] = [];
  for (const name of NAMES) {
    const raw = text(one.input[`raw${name.toUpperCase()}`]);
    const value: unknown = one.input[name];
    if (raw === undefined && value === undefined) continue;
    try {
      members.push(memberOf(raw === undefined ? value : readJson(raw)));
    } catch (thrown) {
      if (!(thrown instanceof JsonFault)) throw thrown;
      faults.push(thrown.problem);
    }
  }
  const tools = [...new Set(members.map((member) => member.tool))];
  const stage = new Stage({ sabotage, tools: tools.map((name) => ({ name, run: () => undefined })), channel: "recording" });
  stage.world.start({ name: "main" });
  stage.marks.set("faults", faults);
  stage.marks.set(
    "canonical",
    members.map((member) => canonicalize(member.args)),
  );
  const keys: string[] = [];
  for (const { tool, args } of members) {
    const call = await stage.call(tool, args);
    const stored = await stage.world.process().store.read(call.requests[0] ?? "none");
    if (stored !== undefined) keys.push(stored.record.callKey);
  }
  stage.marks.set("keys", keys);
  return stage;
}

export const keysOf = (stage: Stage): readonly string[] => (stage.marks.get("keys") as readonly string[] | undefined) ?? [];
export const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {});
