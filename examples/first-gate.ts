/** The gate of the README, with a function as the person, so that it runs by itself: `node examples/first-gate.ts`. */
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createGate, isRefused } from "holdpoint";
import { callbackChannel } from "holdpoint/channels/callback";
import { sqliteStore } from "holdpoint/stores/sqlite";
import { memoryKeys, nodeRuntime } from "holdpoint";
import { z } from "zod";

const folder = mkdtempSync(join(tmpdir(), "holdpoint-example-"));
const report = join(folder, "report.txt");
const plans = join(folder, "plans.txt");
writeFileSync(report, "old");
writeFileSync(plans, "keep");

/** Ada looks at the arguments on the card, not at what the agent says of them. */
const ada = callbackChannel(
  async (card) =>
    card.arguments.path === report ? { verdict: "approve" } : { verdict: "reject", reason: "we still need the plans" },
  { name: "ada", as: "ada" },
);

const gate = createGate({
  store: sqliteStore(join(folder, "holdpoint.db")),
  runtime: nodeRuntime({ keys: memoryKeys() }),
  channels: [ada],
});
const deletePath = gate.tool({
  name: "delete_path",
  input: z.object({ path: z.string() }),
  confirm: "Delete {path}? This cannot be undone.",
  impact: "irreversible",
  run: ({ path }) => rmSync(path),
});

const run = gate.run({ principal: "ada", agent: "janitor" });
await run.call(deletePath, { path: report });
assert.equal(existsSync(report), false, "what was approved ran");

const thrown = await run.call(deletePath, { path: plans }).catch((error: unknown) => error);
assert.ok(isRefused(thrown) && thrown.code === "rejected" && thrown.reason === "we still need the plans");
assert.equal(existsSync(plans), true, "what was rejected did not");

const again = await run.try(deletePath, { path: plans });
assert.equal(again.status === "refused" && again.code, "already_refused", "the same call is not asked again in this run");

await run[Symbol.asyncDispose]();
await gate[Symbol.asyncDispose]();
rmSync(folder, { recursive: true });
console.log("first-gate: one call approved and run, one rejected and not run");
