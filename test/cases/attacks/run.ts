import { expand } from "../expand.ts";
import { text } from "../faults/shape.ts";
import { broken } from "../invariants.ts";
import { failed, type Result, Wrong } from "../work.ts";
import type { Sabotage } from "../world/part.ts";
import { runCard } from "./cards.ts";
import { mapped } from "./checks.ts";
import { runCode } from "./code.ts";
import { isCrowd, runCrowd } from "./crowd.ts";
import { laterThan } from "./later.ts";
import { isMachine, Machine } from "./machine.ts";
import { OUTCOMES } from "./outcomes.ts";
import { isPair, runPair } from "./pairs.ts";
import { isPrompt, runPrompt } from "./prompt.ts";
import { isRelayed, runRelayed } from "./relayed.ts";
import { isPolicy, runRules } from "./rules.ts";
import type { Seen } from "./seen.ts";
import type { AttackCase } from "./shape.ts";
import type { Stage } from "./stage.ts";
import { isTampered, runTampered } from "./tampered.ts";

const problemOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));

/** Shorthands in everything but the exact texts of a wire. */
const written = (one: AttackCase): AttackCase => ({
  ...one,
  input: Object.fromEntries(
    Object.entries(one.input).map(([name, value]) => [name, name === "events" || name === "parallel" ? value : expand(value)]),
  ),
});

async function runMachine(one: AttackCase, sabotage: Sabotage | undefined): Promise<Stage> {
  const machine = new Machine(one, sabotage);
  machine.stage.marks.set("machine", machine);
  try {
    await machine.run();
  } catch (thrown) {
    machine.stage.marks.set("driven", thrown);
  }
  return machine.stage;
}

/** How a case is run is in what its input has, never in its name. */
function play(one: AttackCase, sabotage: Sabotage | undefined): Promise<Stage> {
  const { input } = one;
  if (isRelayed(one) && !isMachine(one)) return runRelayed(one, sabotage);
  if (isPrompt(one)) return runPrompt(one, sabotage);
  if (isCrowd(one)) return runCrowd(one, sabotage);
  if (isTampered(one)) return runTampered(one, sabotage);
  if (isPair(one)) return runPair(one, sabotage);
  if (text(input.js) !== undefined) return runCode(one, sabotage);
  if (isPolicy(one)) return runRules(one, sabotage);
  if (isMachine(one)) return runMachine(one, sabotage);
  return runCard(one, sabotage);
}

async function assertAll(one: AttackCase, stage: Stage): Promise<readonly string[]> {
  const wrong: string[] = [];
  const driven = stage.marks.get("driven");
  if (driven !== undefined) return [`it could not be driven: ${problemOf(driven)}`];
  const attempt = async (name: string, check: () => void | Promise<void>): Promise<void> => {
    try {
      await check();
    } catch (thrown) {
      wrong.push(`${name}: ${thrown instanceof Wrong ? "" : "the check failed: "}${problemOf(thrown)}`);
    }
  };
  const { outcome, checks } = one.expect;
  const seen: Seen = { one, stage, said: [] };
  const expected = Object.hasOwn(OUTCOMES, outcome) ? OUTCOMES[outcome] : undefined;
  if (expected === undefined) wrong.push(`no outcome "${outcome}"`);
  else await attempt(outcome, () => expected(seen));
  for (const words of checks) {
    const check = mapped(words);
    if (check === undefined) wrong.push(`no assertion for "${words}"`);
    else if (typeof check.how === "string") wrong.push(`"${words}" is asserted by the work "${check.how}"`);
    else await attempt(check.name, () => (check.how as (seen: Seen) => void)({ ...seen, said: check.said }));
  }
  return [...wrong, ...(await broken(stage.world))];
}

/** Runs one attack. */
export async function runAttack(given: AttackCase, sabotage?: Sabotage): Promise<Result> {
  const unmapped = given.expect.checks.filter((words) => mapped(words) === undefined);
  if (unmapped.length > 0) return failed(unmapped.map((words) => `no assertion for "${words}"`));
  const later = laterThan(given);
  if (later !== undefined) return later;
  const one = written(given);
  let stage: Stage | undefined;
  try {
    stage = await play(one, sabotage);
    return failed(await assertAll(one, stage));
  } catch (thrown) {
    return failed([`it could not be driven: ${problemOf(thrown)}`]);
  } finally {
    await stage?.close();
  }
}
