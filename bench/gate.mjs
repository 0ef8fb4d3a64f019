/**
 * Target 1: what the gate adds to a call that policy lets through.
 *
 *   node --expose-gc bench/gate.mjs
 */
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { z } from "zod";
import { canonicalize, createGate, memoryKeys, nodeRuntime } from "../src/index.ts";
import { memoryStore } from "../src/stores/memory/index.ts";
import { sqliteStore } from "../src/stores/sqlite/index.ts";
import { measure, median, ratio, show, target, verdict } from "./measure.mjs";
import { frozenCopy, strictWalk } from "./peers/hand.mjs";
import { ARGS, ran, tool } from "./peers/call.mjs";

const { crypto, ids } = nodeRuntime();
const awaited = (run, batch = 100) => ({ run, async: true, batch });

/** A run whose policy is this; with keys of its own, so that nothing is left in a data folder. */
function runOf(policy, { store = memoryStore(), ...declared } = {}) {
  const gate = createGate({ runtime: nodeRuntime({ keys: memoryKeys() }), store, policy });
  const send = gate.tool({ name: "send", run: tool, ...declared });
  const run = gate.run({ principal: "ada", agent: "bench" });
  return () => run.call(send, ARGS);
}

async function freedByName() {
  const gated = runOf({ record: "counts" }, { tier: "read" });
  ran(await gated());
  const measured = await measure({
    "raw async tool": awaited(() => tool(ARGS), 1000),
    "holdpoint, freed by its name": awaited(gated, 1000),
  });
  show("a call freed by its name", measured, "raw async tool");
  const [raw, ours] = Object.values(measured);
  target("1a, a call freed by its name to the raw call", ratio(ours, raw), 8);
}

const INPUT = z.object({
  to: z.array(z.string()),
  subject: z.string(),
  amount: z.number(),
  currency: z.string(),
  urgent: z.boolean(),
  meta: z.object({
    zone: z.string(),
    account: z.string(),
    tags: z.array(z.string()),
    nested: z.object({ b: z.number(), a: z.number(), c: z.object({ y: z.null(), x: z.boolean() }) }),
  }),
  body: z.string(),
});
const isSmall = ({ amount }) => amount < 10_000;
const lookingAt = (record) => ({ record, rules: [{ allow: "send", when: (call) => isSmall(call.arguments) }] });

/** The tool's own validation, one strict walk, one frozen copy, the same condition. */
async function byHand() {
  strictWalk(ARGS);
  const { value, issues } = await INPUT["~standard"].validate(ARGS);
  if (issues !== undefined) throw new Error("not valid");
  const copy = frozenCopy(value);
  if (!isSmall(copy)) throw new Error("not allowed");
  return tool(copy);
}

async function freedByArguments() {
  const gated = runOf(lookingAt("counts"), { tier: "write", input: INPUT });
  ran(await gated());
  ran(await byHand());
  const measured = await measure({
    "hand: validation, strict walk, frozen copy": awaited(byHand),
    "holdpoint, freed by its arguments": awaited(gated),
    "the tool's own validation alone": awaited(() => INPUT["~standard"].validate(ARGS)),
  });
  show("a call freed after a look at its arguments", measured, "hand: validation, strict walk, frozen copy");
  const [hand, ours] = Object.values(measured);
  target("1b, a call freed by its arguments to validation, walk and copy", ratio(ours, hand), 1.3);
}

/** One commit with one entry of this process, made of constants: what the store itself takes for it. */
function committing(store) {
  let n = 0;
  const entry = {
    type: "holdpoint/entry/v1",
    stream: "node/bench",
    event: "call.allowed",
    tenant: "default",
    actor: null,
    rev: null,
  };
  const data = { call: ids.request(), tool: "send", definition: `sha256:${"0".repeat(64)}`, by: "rule 1", principal: "ada" };
  return () => {
    const at = new Date().toISOString();
    const entries = [{ ...entry, n, prev: n === 0 ? null : `sha256:${"0".repeat(64)}`, at, data }];
    n += 1;
    return store.commit({ records: [], rows: [], entries, at, key: ids.request() });
  };
}

async function recorded(name, stores, batch) {
  const declared = { tier: "write", input: INPUT };
  const counted = runOf(lookingAt("counts"), { ...declared, store: stores() });
  const kept = runOf(lookingAt("calls"), { ...declared, store: stores() });
  const commit = committing(stores());
  ran(await kept());
  if (!(await commit()).ok) throw new Error("the store refused");
  const measured = await measure(
    {
      "freed by its arguments, counted": awaited(counted, batch),
      "freed by its arguments, recorded": awaited(kept, batch),
      "one canonical hash": { run: () => crypto.sha256(canonicalize(ARGS)), batch: 100 },
      "one commit of the store": awaited(commit, batch),
    },
    { rounds: 15, ms: 120 },
  );
  show(`a call that is recorded, ${name}`, measured, "freed by its arguments, counted");
  const [free, journaled, hash, store] = Object.values(measured).map(({ rounds }) => rounds);
  const added = journaled.map((cost, round) => (cost - free[round]) / (hash[round] + store[round]));
  target(`1c, what recording adds to one hash and one commit, ${name}`, median(added), 1.3);
}

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "holdpoint-bench-"));
try {
  await freedByName();
  await freedByArguments();
  await recorded("in memory", () => memoryStore(), 50);
  let files = 0;
  await recorded("SQLite", () => sqliteStore(path.join(folder, `${files++}.db`)), 1);
} finally {
  fs.rmSync(folder, { recursive: true, force: true });
}
verdict();
process.exit();
