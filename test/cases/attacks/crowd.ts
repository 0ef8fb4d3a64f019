import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeGate } from "../../../src/core/index.ts";
import { fileKeys, nodeRuntime } from "../../../src/index.ts";
import { sqliteStore } from "../../../src/stores/sqlite/index.ts";
import { recordingChannel } from "../../../src/testing/index.ts";
import { list, number, text } from "../faults/shape.ts";
import { expand } from "../expand.ts";
import type { Sabotage } from "../world/part.ts";
import { type AttackCase, stepOf } from "./shape.ts";
import { Stage } from "./stage.ts";

/** Many at once: answers in one moment, and processes that want the same approval. */

export const isCrowd = ({ input }: AttackCase): boolean => input.parallel !== undefined || input.processes !== undefined;

interface Round {
  readonly statuses: readonly string[];
  readonly votes: number;
  readonly counted: number;
  readonly noBeforeRun: boolean;
  readonly effects: number;
}

/** Everybody answers one request at the same moment. */
async function round(stage: Stage, answers: readonly string[], time: number): Promise<Round> {
  const { world } = stage;
  const call = world.make({ label: `call-${time}`, tool: "act", args: { n: time }, run: `run-${time}` });
  await world.settle();
  const request = call.requests[0] ?? "none";
  const decided = await Promise.all(
    answers.map((words) => {
      const { verb, params } = stepOf(words);
      const by = text(params.by) ?? "ann";
      return world.decide(request, { verdict: verb === "approve" ? "approve" : "reject", by, via: "chat" });
    }),
  );
  await world.settle();
  const standing = await world.standing(request);
  const ends = (await world.entries(request)).map((entry) => entry.event);
  const finals = ends.filter((event) =>
    ["request.rejected", "request.revoked", "request.succeeded", "request.failed"].includes(event),
  );
  const no = ends.findIndex((event) => event === "request.rejected" || event === "request.revoked");
  const claimed = ends.indexOf("request.claimed");
  return {
    statuses: finals,
    votes: standing?.record.decisions.filter((vote) => vote.verdict === "approve").length ?? 0,
    counted: decided.filter((one) => one?.counted === true).length,
    noBeforeRun: no !== -1 && (claimed === -1 || no < claimed),
    effects: world.effects.filter((effect) => effect.request === request).length,
  };
}

export async function runCrowd(one: AttackCase, sabotage?: Sabotage): Promise<Stage> {
  if (one.input.processes !== undefined) return runProcesses(one);
  const stage = new Stage({ sabotage, tools: [{ name: "act", run: () => undefined }] });
  stage.world.start({ name: "main" });
  const answers = list(expand(one.input.parallel)).map(String);
  const rounds: Round[] = [];
  for (let time = 0; time < (number(one.input.repeat) ?? 1); time += 1) rounds.push(await round(stage, answers, time));
  stage.marks.set("rounds", rounds);
  stage.marks.set("answers", answers.length);
  return stage;
}

export const roundsOf = (stage: Stage): readonly Round[] => (stage.marks.get("rounds") as readonly Round[] | undefined) ?? [];

const WORKER = fileURLToPath(new URL("../processes/worker.ts", import.meta.url));

/** Real processes on one real file: each tries to claim each approved request. */
async function runProcesses(one: AttackCase): Promise<Stage> {
  const stage = new Stage({ tools: [{ name: "act", run: () => undefined }] });
  stage.world.start({ name: "main" });
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-claims-"));
  try {
    const ids = await approved(folder, number(one.input.repeat) ?? 1);
    const children = Array.from({ length: Number(one.input.processes) }, () =>
      fork(WORKER, [folder, ...ids], { execArgv: ["--no-warnings"], stdio: ["ignore", "ignore", "inherit", "ipc"] }),
    );
    await Promise.all(children.map((child) => once(child, "message")));
    const answers = children.map((child) => once(child, "message"));
    for (const child of children) child.send("go");
    const claims = (await Promise.all(answers)).map(([got]) => got as readonly string[]);
    const counts = new Map(ids.map((id) => [id, 0]));
    for (const id of claims.flat()) counts.set(id, (counts.get(id) ?? 0) + 1);
    stage.marks.set("claims", [...counts.values()]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return stage;
}

/** Requests that were approved and that nobody has taken up. */
async function approved(folder: string, count: number): Promise<readonly string[]> {
  const runtime = nodeRuntime({ keys: fileKeys(join(folder, "keys")) });
  const store = sqliteStore({ path: join(folder, "claims.db") });
  const person = recordingChannel({ people: ["ann"] });
  const policy = { rules: [{ ask: "**", approvers: ["ann"] }] };
  const gate = makeGate({ runtime, store, policy, channels: [person] });
  const run = gate.run({ principal: "lena", run: "run-1" });
  gate.tools([{ name: "act", run: () => undefined }]);
  const ids: string[] = [];
  for (let time = 0; time < count; time += 1) {
    const { id } = await run.submit("act", { n: time });
    while (!person.deliveries.some(({ card }) => card.id === id)) await new Promise((resolve) => setImmediate(resolve));
    await person.answer(id, "approve");
    ids.push(id);
  }
  await store.close();
  return ids;
}
