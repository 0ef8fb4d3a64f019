import { describe, expect, it } from "vitest";
import { createGate, nodeRuntime } from "../../src/index.ts";
import { callbackChannel } from "../../src/channels/callback/index.ts";
import { memoryStore } from "../../src/stores/memory/index.ts";
import { manualClock } from "../../src/testing/index.ts";

const ada = { principal: "ada", as: "cli:ada", via: "cli", assurance: "local" } as const;

describe("P-16: reads never change state", () => {
  it("leaves a request as it was, however often it is listed, shown or watched, also past its deadline", async () => {
    const clock = manualClock();
    const store = memoryStore({ clock });
    const silent = callbackChannel(() => new Promise(() => undefined), { as: "ada" });
    const gate = createGate({ runtime: nodeRuntime({ clock }), store, channels: [silent] });
    gate.tool({ name: "wipe", confirm: true, run: () => "wiped" });
    const { id } = await gate.run({ principal: "ada" }).submit("wipe", {});
    await clock.advance(0);
    const { approvals } = gate.desk;
    if (approvals === undefined) throw new Error("this gate owns its desk");
    const before = await store.read(id);
    const stop = new AbortController();
    const hints = approvals.watch(stop.signal)[Symbol.asyncIterator]().next();
    for (let look = 0; look < 3; look++) {
      expect((await approvals.list({}, ada)).map((card) => card.id)).toEqual([id]);
      const shown = await approvals.card(id, ada);
      expect(shown !== undefined && "view" in shown && shown.view.length > 64).toBe(true);
      await approvals.windows(ada);
      await approvals.killed();
      await gate.pending();
    }
    stop.abort();
    await hints;
    expect(await store.read(id)).toEqual(before);
    clock.set(clock.now() + 400_000);
    expect(await approvals.list({}, ada)).toEqual([]);
    expect((await store.read(id))?.record.status).toBe("pending");
  });

  it("gives no view to who may not see it, and the same answer as for what does not exist", async () => {
    const gate = createGate({
      operator: "os:root",
      channels: [callbackChannel(() => new Promise(() => undefined), { as: "ada" })],
    });
    gate.tool({ name: "wipe", confirm: true, run: () => "wiped" });
    const { id } = await gate.run({ principal: "ada" }).submit("wipe", {});
    const eve = { principal: "eve", as: "cli:eve", via: "cli", assurance: "local" } as const;
    expect(await gate.desk.approvals?.card(id, eve)).toBeUndefined();
    expect(await gate.desk.approvals?.card("00000000-0000-7000-8000-000000000000", eve)).toBeUndefined();
    expect(await gate.desk.approvals?.list({}, eve)).toEqual([]);
  });
});
