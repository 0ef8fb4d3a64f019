import { describe, expect, it } from "vitest";
import { createGate, nodeRuntime } from "../../src/index.ts";
import { callbackChannel } from "../../src/channels/callback/index.ts";
import { memoryStore } from "../../src/stores/memory/index.ts";
import { manualClock } from "../../src/testing/index.ts";

describe("P-12: the person's time is not the tool's time", () => {
  it("starts the tool's own limit when it runs, not when it was asked (BR-118)", async () => {
    const clock = manualClock();
    let answer: (said: { verdict: "approve" }) => void = () => undefined;
    const ada = callbackChannel(() => new Promise((resolve) => (answer = resolve)), { as: "ada" });
    const gate = createGate({ runtime: nodeRuntime({ clock }), store: memoryStore({ clock }), channels: [ada] });
    let work: (value: string) => void = () => undefined;
    gate.tool({ name: "slow", confirm: true, timeout: "5s", run: () => new Promise<string>((resolve) => (work = resolve)) });
    const outcome = gate.run({ principal: "ada" }).try("slow", {});
    await clock.advance(240_000);
    answer({ verdict: "approve" });
    await clock.advance(3000);
    work("done");
    expect(await outcome).toMatchObject({ status: "ran", value: "done" });
  });

  it("ends a tool that runs longer than its own limit, and says that nobody knows what it did", async () => {
    const clock = manualClock();
    const ada = callbackChannel(async () => ({ verdict: "approve" }), { as: "ada" });
    const gate = createGate({ runtime: nodeRuntime({ clock }), store: memoryStore({ clock }), channels: [ada] });
    let aborted = false;
    gate.tool({
      name: "stuck",
      confirm: true,
      timeout: "5s",
      run: (_args, { signal }) =>
        new Promise<never>(() => {
          signal.addEventListener("abort", () => (aborted = true));
        }),
    });
    const run = gate.run({ principal: "ada" });
    const outcome = run.try("stuck", {});
    await clock.advance(1000);
    await clock.advance(5000);
    expect((await outcome).status).toBe("unknown");
    expect(aborted).toBe(true);
  });
});
