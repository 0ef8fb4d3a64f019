import { expect, it } from "vitest";
import { manualClock } from "../../testing/index.ts";
import { benchRuntime } from "../desk/desk.test-kit.ts";
import { Unknown } from "../outcome.ts";
import { execute } from "./execute.ts";
import { recorder } from "./gate.test-kit.ts";

const runtime = benchRuntime(manualClock());
const execution = (tool: ReturnType<typeof recorder>, signal = runtime.aborter().signal) => ({
  tool,
  arguments: { to: "bob" },
  requester: { principal: "ada" },
  request: undefined,
  signal,
});

it("runs nothing for a caller that has gone", async () => {
  const gone = runtime.aborter();
  gone.abort("requester_gone");
  const tool = recorder();
  expect(await execute(runtime, execution(tool, gone.signal))).toEqual({ as: "failed", error: "requester_gone" });
  expect(tool.ran).toEqual([]);
});

it("P-03 takes a tool's own word that it cannot say whether it ran", async () => {
  const unsure = recorder({
    run: () => {
      throw new Unknown({ status: "unknown", sentence: "unsure" });
    },
  });
  expect(await execute(runtime, execution(unsure))).toEqual({ as: "lost" });
  expect(await execute(runtime, execution({ ...unsure, timeout: "1m" } as never))).toEqual({ as: "lost" });
});

it("tells the tool which request released it", async () => {
  const told: unknown[] = [];
  const tool = recorder({ run: (_args, { request }) => told.push(request) });
  await execute(runtime, { ...execution(tool), request: "r1" });
  await execute(runtime, execution(tool));
  expect(told).toEqual(["r1", undefined]);
});
