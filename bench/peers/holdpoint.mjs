/** Holdpoint itself, as an app uses it: a gate, a function that approves at once, a tool that always asks. */
import { callbackChannel } from "../../src/channels/callback/index.ts";
import { createGate, memoryKeys, nodeRuntime } from "../../src/index.ts";
import { ARGS, ran, tool } from "./call.mjs";

/** @param store undefined: in memory */
export function holdpoint(store) {
  const gate = createGate({
    // Keys of this process only: a benchmark leaves nothing in the data folder of whoever runs it.
    runtime: nodeRuntime({ keys: memoryKeys() }),
    channels: [callbackChannel(() => ({ verdict: "approve" }), { as: "ada" })],
    ...(store === undefined ? {} : { store }),
  });
  const send = gate.tool({ name: "send", confirm: true, run: tool });
  const run = gate.run({ principal: "ada", agent: "bench" });
  return async () => ran(await run.call(send, ARGS));
}
