import type { JsonObject } from "../../../src/core/index.ts";
import { gateJudge } from "../../../src/gateway/index.ts";
import type { Call } from "../world/call.ts";
import { CURRENT } from "../world/process.ts";
import { relayedCall } from "../world/relayed-call.ts";
import type { Scene } from "./scene.ts";
import { type FaultCall, type FaultEvent, type Fields, list } from "./shape.ts";

/** A tool of an MCP server comes and goes through the relay's own judge. */
export async function toolsList(scene: Scene, event: FaultEvent): Promise<void> {
  const server = String(event.server);
  const judge = gateJudge({
    gate: scene.world.process().gate,
    server: `mcp:${server}`,
    command: [server],
    principal: scene.principal,
    waiting: (tool) => tool,
  });
  for (const tool of list(event.tools)) scene.marks.set(`mcp:${server}/${String((tool as Fields).name)}`, { judge, tool });
}

export async function callListed(
  scene: Scene,
  said: FaultCall,
  listed: { judge: ReturnType<typeof gateJudge>; tool: Fields },
): Promise<void> {
  const { judge, tool } = listed;
  const definition = { inputSchema: { type: "object" }, ...tool };
  const call: Call = {
    label: said.id,
    spec: { label: said.id, tool: said.tool, args: said.args },
    process: "relay",
    abort: new AbortController(),
    requests: [],
    outcome: undefined,
    results: 0,
  };
  scene.world.calls.push(call);
  scene.world.expectRequestOf(call);
  const judged = CURRENT.run(said.id, () =>
    judge.judge(relayedCall(String(tool.name), said.args as JsonObject, definition), call.abort.signal),
  );
  judged.then(
    (verdict) => {
      call.outcome = verdict.run
        ? { status: "ran", value: undefined, how: "allowed" }
        : { status: "refused", code: "denied", sentence: "text" in verdict ? verdict.text : "" };
      call.results += 1;
    },
    () => undefined,
  );
  await scene.settle();
  scene.verdicts.set(said.id, scene.verdictOf(call));
}
