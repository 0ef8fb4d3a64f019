import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { memoryStore } from "../../stores/memory/index.ts";
import { sqliteStore } from "../../stores/sqlite/index.ts";
import type { ManualClock } from "../../testing/index.ts";
import { deskStart, deskStep, type ModelDesk, type Told } from "./desk-model.test-kit.ts";
import type { Step } from "./desk-steps.test-kit.ts";
import { agrees, RealDesk, type Said, type Truth, type Under } from "./real-desk.test-kit.ts";

export const inMemory = (clock: ManualClock): Truth => {
  const store = memoryStore({ clock });
  return { store, reopen: () => store, dispose: () => undefined };
};
export const inFile = (clock: ManualClock): Truth => {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-"));
  const open = () => sqliteStore({ path: join(folder, "desk.db"), clock });
  return { store: open(), reopen: open, dispose: () => rmSync(folder, { recursive: true, force: true }) };
};

const differ = (what: string, seen: unknown, should: unknown): void => expect(seen, what).toEqual(should);

/** P-03: an approval, edited or not, sets off at most one effect. */
function checkEffects(model: ModelDesk): void {
  const byRoot = new Map<number, number>();
  for (const { root, effects } of model.requests) byRoot.set(root, (byRoot.get(root) ?? 0) + effects);
  for (const [root, effects] of byRoot) expect(effects, `I1: effects of request ${root}`).toBeLessThanOrEqual(1);
}

export interface Counts {
  commands: number;
  readonly done: Map<string, number>;
}
const count = (counts: Counts | undefined, what: string, said: Said): void => {
  if (counts === undefined) return;
  counts.commands += 1;
  const key = `${what} ${said.ok ? "ok" : said.code}`;
  counts.done.set(key, (counts.done.get(key) ?? 0) + 1);
};

/** Two at once are as one after the other, in one of the two orders. */
async function race(real: RealDesk, model: ModelDesk, both: Extract<Step, { both: unknown }>["both"]): Promise<ModelDesk> {
  const [one, two] = both;
  const first = deskStep(model, one);
  const second = deskStep(model, two);
  if (first === undefined || second === undefined) return model;
  const [saidOne, saidTwo] = await real.race(one, two, model);
  const seen = JSON.stringify(await real.seen());
  // Both were meant for what was there before: an edit must not make the second one mean its successor.
  const place = (command: typeof one): typeof one =>
    "at" in command ? { ...command, at: command.at % model.requests.length } : command;
  const after = (from: ModelDesk, command: typeof one) => {
    const added = from.requests.length - model.requests.length;
    const placed = place(command);
    return deskStep(from, "at" in placed ? { ...placed, at: placed.at + added } : placed);
  };
  const orders = [
    { told: [first.told, after(first.desk, two)?.told], desk: after(first.desk, two)?.desk },
    { told: [after(second.desk, one)?.told, second.told], desk: after(second.desk, one)?.desk },
  ];
  // Why not is not compared: what stood against one of them may have stood against it before the other was first.
  const agree = (said: Said, told: Told | undefined): boolean => told !== undefined && said.ok === "ok" in told;
  const found = orders.find(
    ({ told, desk }) =>
      desk !== undefined && agree(saidOne, told[0]) && agree(saidTwo, told[1]) && JSON.stringify(real.expected(desk)) === seen,
  );
  if (found?.desk !== undefined) return found.desk;
  const said = `${JSON.stringify(one)} ${JSON.stringify(saidOne)} and ${JSON.stringify(two)} ${JSON.stringify(saidTwo)} at once`;
  const should = orders.map(({ told, desk }) => [
    told.map((one) => (one === undefined ? "?" : "ok" in one ? "ok" : [...one.codes].join(" or "))),
    desk && real.expected(desk),
  ]);
  throw new Error(`${said}\nare neither order:\n${JSON.stringify(should, null, 1)}\nbut\n${seen}`);
}

/** Runs the desk and the model side by side. @throws at the first difference */
export async function follow(under: Under, given: readonly Step[], counts?: Counts): Promise<void> {
  const real = new RealDesk(under);
  try {
    let model = deskStart();
    for (const step of given) {
      if ("both" in step) {
        if (model.up) model = await race(real, model, step.both);
        continue;
      }
      const should = deskStep(model, step.one);
      if (should === undefined) continue;
      const said = await real.run(step.one, model);
      count(counts, step.one.do, said);
      const what = `${step.one.do}, told ${said.ok ? "ok" : said.code}`;
      expect(agrees(said, should.told), `${what}, not ${"ok" in should.told ? "ok" : [...should.told.codes].join(" or ")}`).toBe(
        true,
      );
      differ(what, await real.seen(), real.expected(should.desk));
      model = should.desk;
      checkEffects(model);
    }
  } finally {
    real.dispose();
  }
}
