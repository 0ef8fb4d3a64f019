import { broken } from "../invariants.ts";
import { failed, notYet, type Result, Wrong } from "../work.ts";
import type { Sabotage } from "../world/part.ts";
import { Stricter } from "./common.ts";
import { expectationOf } from "./expect.ts";
import { laterThan, unknownWords } from "./later.ts";
import { Scene } from "./scene.ts";
import { type FaultCase, number } from "./shape.ts";
import { VERBS } from "./verbs.ts";

const problemOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));

async function drive(scene: Scene): Promise<void> {
  scene.world.start({ name: "main" });
  for (const event of scene.one.events) {
    await VERBS[event.do]?.(scene, event);
    for (const call of scene.world.calls) await remember(scene, call.label);
  }
  await scene.settle();
  // A prompt with half a line on it is no answer; the person ends the line where the case says how it ended.
  if (scene.seat !== undefined && scene.one.expect.outcome !== undefined) await scene.seat.key("Enter");
  await scene.settle();
}

/** Cards are gone when a call has ended. */
async function remember(scene: Scene, label: string): Promise<void> {
  const request = scene.requestOf(label);
  if (request === undefined || scene.marks.has(`card:${label}`) || !scene.world.process().alive) return;
  if (scene.world.stores.some((store) => store.down !== "no")) return;
  const shown = await scene.world.present(request, { by: scene.principal, via: "web" });
  if (shown !== undefined) scene.marks.set(`card:${label}`, shown.card);
}

interface Judged {
  readonly wrong: string[];
  readonly stricter: string[];
}

async function judge(scene: Scene): Promise<Judged> {
  const judged: Judged = { wrong: [], stricter: [] };
  for (const [key, value] of Object.entries(scene.one.expect)) {
    const check = expectationOf(key);
    if (check === undefined) {
      judged.wrong.push(`no assertion for "${key}"`);
      continue;
    }
    try {
      await check(scene, value);
    } catch (thrown) {
      if (thrown instanceof Stricter) judged.stricter.push(thrown.message);
      else if (thrown instanceof Wrong) judged.wrong.push(`${key}: ${thrown.message}`);
      else judged.wrong.push(`${key}: the check failed: ${problemOf(thrown)}`);
    }
  }
  judged.wrong.push(...(await broken(scene.world)));
  return judged;
}

async function once(one: FaultCase, sabotage: Sabotage | undefined): Promise<Judged> {
  const scene = new Scene(one, sabotage);
  try {
    await drive(scene);
    return await judge(scene);
  } catch (thrown) {
    return { wrong: [`it could not be driven: ${problemOf(thrown)}`], stricter: [] };
  } finally {
    await scene.close();
  }
}

/** Runs one reported fault. A case that says `repeat` is run that often, until one fails. */
export async function runFault(one: FaultCase, sabotage?: Sabotage): Promise<Result> {
  const later = laterThan(one);
  if (later !== undefined) return later;
  const unknown = unknownWords(one);
  if (unknown.length > 0) return failed(unknown);
  const times = number(one.expect.repeat) ?? 1;
  let judged: Judged = { wrong: [], stricter: [] };
  for (let time = 0; time < times && judged.wrong.length === 0; time += 1) judged = await once(one, sabotage);
  if (judged.wrong.length === 0 && judged.stricter.length > 0) return notYet("policy file", judged.stricter.join("; "));
  return failed(judged.wrong);
}
