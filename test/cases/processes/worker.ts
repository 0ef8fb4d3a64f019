import { once } from "node:events";
import { join } from "node:path";
import { localDesk, snapshotOf } from "../../../src/core/approving.ts";
import { groupDirectory } from "../../../src/core/index.ts";
import { fileKeys, nodeRuntime } from "../../../src/index.ts";
import { sqliteStore } from "../../../src/stores/sqlite/index.ts";

/** One of many processes on one file: tries to claim each request, and says which it got. */
const [folder = "", ...ids] = process.argv.slice(2);
const runtime = nodeRuntime({ keys: fileKeys(join(folder, "keys")) });
const desk = localDesk({
  runtime,
  store: sqliteStore({ path: join(folder, "claims.db") }),
  policy: snapshotOf({ rules: [{ ask: "**", approvers: ["ann"] }] }, { runtime, record: "counts" }),
  directory: groupDirectory(() => new Map()),
});

// All begin at one word: a process that starts late would find nothing to race for.
await desk.standing("none");
process.send?.("ready");
await once(process, "message");
const got: string[] = [];
for (const id of ids) {
  const standing = await desk.standing(id);
  if (standing === undefined) continue;
  const { call, bindings } = standing.record;
  const claimed = await desk.claim(id, {
    holder: `process-${process.pid}`,
    requester: { principal: "lena", run: "run-1" },
    tool: call.tool,
    arguments: standing.arguments ?? {},
    bindings,
  });
  if (claimed.ok) got.push(id);
}
process.send?.(got);
await desk.close();
