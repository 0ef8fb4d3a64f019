/**
 * Targets 4 and 5: request, approve at once, the tool runs. In memory beside a hand-written map and the frameworks'
 * own approvals; on SQLite, everything synced to the disk, beside a hand-written table; and 64 at a time.
 *
 *   (cd bench && npm ci)                                    the peers
 *   node --expose-gc bench/cycle.mjs [memory] [sqlite]      default: both
 */
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { sqliteStore } from "../src/stores/sqlite/index.ts";
import { measure, median, quantile, ratio, show, target, targetAtLeast, verdict, wallRatio } from "./measure.mjs";
import { perSecond } from "./store-lib.mjs";
import { handInMemory, handOnSqlite } from "./peers/hand.mjs";
import { holdpoint } from "./peers/holdpoint.mjs";

const HAND = "hand: map, promise, two digests";
/** Each with how many times less than it ours may cost. */
const PEERS = [
  { name: "AI SDK 7", least: 10, load: async () => (await import("./peers/ai-sdk.mjs")).aiSdk },
  { name: "Mastra, workflow", least: 10, load: async () => (await import("./peers/mastra.mjs")).mastraWorkflow },
  { name: "OpenAI Agents", least: 30, load: async () => (await import("./peers/openai-agents.mjs")).openaiAgents },
  { name: "LangGraph, MemorySaver", least: 100, load: async () => (await import("./peers/langgraph.mjs")).langgraph },
];

/** A peer that is not installed is left out, loudly: the others still say something. */
async function peers() {
  const found = [];
  for (const { name, least, load } of PEERS) {
    try {
      const cycle = (await load())();
      await cycle();
      found.push({ name, cycle, least });
    } catch (thrown) {
      console.log(`NOT MEASURED ${name}: ${thrown.message.split("\n")[0]}`);
    }
  }
  return found;
}

const one = (run, batch = 1) => ({ run, async: true, batch });

async function inMemory() {
  const others = await peers();
  const contenders = {
    [HAND]: one(handInMemory(), 10),
    holdpoint: one(holdpoint()),
    ...Object.fromEntries(others.map(({ name, cycle }) => [name, one(cycle)])),
  };
  const measured = await measure(contenders, { rounds: 9, ms: 300 });
  show("an approve cycle in memory", measured, HAND);
  target("4, approve cycle in memory to hand, CPU", ratio(measured.holdpoint, measured[HAND]), 1.5);
  for (const { name, least } of others)
    targetAtLeast(`4, ${name} to approve cycle in memory, CPU`, ratio(measured[name], measured.holdpoint), least);
}

async function onSqlite() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "holdpoint-bench-"));
  try {
    const hand = handOnSqlite(path.join(folder, "hand.db"), "FULL");
    const ours = holdpoint(sqliteStore(path.join(folder, "ours.db")));
    const measured = await measure({ "hand: insert, decide, use": one(hand), holdpoint: one(ours) }, { rounds: 9, ms: 400 });
    show("an approve cycle on SQLite, synchronous = FULL", measured, "hand: insert, decide, use");
    const [byHand, byUs] = Object.values(measured);
    target("5, approve cycle on SQLite to hand, p10", wallRatio(byUs, byHand), 1.5);
    target("5, approve cycle on SQLite to hand, p50", wallRatio(byUs, byHand, 0.5), 1.5);
    await together(ours, hand);
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

/** Group commit: what 64 at a time gain over one at a time, in pairs that lie beside each other. */
async function together(ours, hand) {
  const gains = { ours: [], hand: [] };
  const rates = { 1: [], 64: [] };
  for (let turn = 0; turn < 7; turn++) {
    const [alone, many] = [await perSecond(ours, 1, 400), await perSecond(ours, 64, 400)];
    gains.ours.push(many / alone);
    gains.hand.push((await perSecond(hand, 64, 400)) / (await perSecond(hand, 1, 400)));
    rates[1].push(alone);
    rates[64].push(many);
  }
  console.log(
    `\ncycles per second on SQLite: ${median(rates[1]).toFixed(0)} one at a time, ${median(rates[64]).toFixed(0)} at 64`,
  );
  console.log(`(hand gains ${quantile(gains.hand, 0.5).toFixed(2)} ×: each of its steps is a sync of its own)`);
  targetAtLeast("5, cycles per second on SQLite, 64 at a time to one", median(gains.ours), 5);
}

const wanted = process.argv.slice(2);
if (wanted.length === 0 || wanted.includes("memory")) await inMemory();
if (wanted.length === 0 || wanted.includes("sqlite")) await onSqlite();
verdict();
process.exit();
