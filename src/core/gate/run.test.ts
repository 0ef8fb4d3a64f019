import { describe, expect, it } from "vitest";
import { memoryStore } from "../../stores/memory/index.ts";
import { manualClock } from "../../testing/index.ts";
import { identity } from "../desk/desk.test-kit.ts";
import type { HoldpointEvent } from "../desk/events.ts";
import { faultyStore, noFaults } from "../desk/faulty-store.test-kit.ts";
import { isRefused, Unknown } from "../outcome.ts";
import type { Tool } from "../tool-call.ts";
import { gateBench, recorder } from "./gate.test-kit.ts";
import type { GatedTool } from "./tool.ts";

const PAY = { to: "bob", amount: 7 };

describe("a call", () => {
  it("P-01 runs on the approval it needs, with the arguments that were shown, and gives the tool's own value", async () => {
    const on = gateBench();
    const tool = recorder();
    const [pay] = on.gate.tools([tool]) as [GatedTool];
    const call = on.run.call(pay, PAY as never);
    const id = await on.answer("approve");
    expect(await call).toEqual({ paid: true });
    expect(tool.ran).toEqual([PAY]);
    expect((await on.store.read(id))?.record).toMatchObject({ status: "succeeded", outcome: { observedBy: "executor" } });
    const second = on.run.try(pay, PAY as never);
    const next = await on.answer("approve");
    expect(await second).toEqual({ status: "ran", value: { paid: true }, how: "approved", request: next });
  });

  it("P-07 that is rejected ends in one sentence, and the run goes on", async () => {
    const on = gateBench();
    const tool = recorder();
    const [pay] = on.gate.tools([tool]) as [GatedTool];
    const call = on.run.call(pay, PAY as never).catch((thrown: unknown) => thrown);
    const id = await on.answer("reject", { reason: "use staging" });
    const thrown = await call;
    expect(isRefused(thrown) && [thrown.code, thrown.reason, thrown.request]).toEqual(["rejected", "use staging", id]);
    expect(String((thrown as Error).message)).toMatch(
      /^Not run: a person rejected "pay"\. Reason given: "use staging"\. This is final/,
    );
    expect(await on.run.try(pay, PAY as never)).toMatchObject({ status: "refused", code: "already_refused" });
    expect(tool.ran).toEqual([]);
  });

  it("P-01 of an unknown tool runs nothing, asks nobody, and is loud", async () => {
    const on = gateBench();
    const heard: HoldpointEvent[] = [];
    on.gate.on((event) => heard.push(event));
    for (const tool of ["nothing", { name: "forged", run: () => 1 }, 7, null, {}])
      expect(await on.run.try(tool as string, {})).toMatchObject({ status: "refused", code: "unknown_tool" });
    await on.clock.settle();
    expect(heard.filter(({ type }) => type === "error")).toHaveLength(5);
    expect(on.lines.filter(({ message }) => message === "an unknown tool was called").map(({ fields }) => fields.tool)).toEqual([
      "nothing",
      "forged",
      "unknown",
      "unknown",
      "unknown",
    ]);
    expect(await on.run.check("nothing", {})).toEqual({
      verdict: "refused",
      stations: [{ station: "know", said: "unknown_tool" }],
    });
    expect(await on.run.available("nothing", {})).toBe(false);
  });

  it("P-02 is the copy that was shown, whatever the caller changes meanwhile", async () => {
    const on = gateBench();
    const tool = recorder();
    on.gate.tools([tool]);
    const args = { to: "bob", list: [1, { deep: true }] };
    const call = on.run.call("pay", args);
    await on.shown();
    args.to = "eve";
    (args.list[1] as { deep: boolean }).deep = false;
    await on.answer("approve");
    await call;
    expect(tool.ran).toEqual([{ to: "bob", list: [1, { deep: true }] }]);
    expect(on.channel.deliveries[0]?.card.arguments).toEqual(tool.ran[0]);
    expect(Object.isFrozen(tool.ran[0])).toBe(true);
  });

  it("goes straight through where policy frees it by its name alone, untouched", async () => {
    const on = gateBench();
    const seen: unknown[] = [];
    const look = on.gate.tool({
      name: "look",
      tier: "read",
      run: (args: unknown, { requester }) => seen.push(args, requester.principal),
    });
    const odd = { fn: () => 1 };
    await on.run.call(look, odd as never);
    await on.run.call(look, odd as never);
    expect(seen).toEqual([odd, "ada", odd, "ada"]);
    expect(seen[0]).toBe(odd);
    expect(await on.run.try(look, odd as never)).toEqual({ status: "ran", value: 6, how: "allowed" });
    expect(on.lines.filter(({ message }) => message === "call")).toMatchObject([
      { level: "debug", fields: { tool: "look", status: "ran" } },
      { level: "debug" },
    ]);
  });

  it("P-02 is copied and checked where anything looked at its arguments", async () => {
    const on = gateBench({ policy: { rules: [{ allow: "pay", when: ({ arguments: args }) => args.amount === 7 }] } });
    const tool = recorder();
    on.gate.tools([tool]);
    const args = { amount: 7 };
    expect(await on.run.try("pay", args)).toMatchObject({ status: "ran", how: "allowed" });
    expect(tool.ran[0]).not.toBe(args);
    expect(await on.run.try("pay", { amount: Number.NaN })).toMatchObject({ code: "invalid_arguments" });
  });

  it("P-12 has its own time counted from when it runs, and an unknown end when it is over", async () => {
    const on = gateBench();
    const aborted: unknown[] = [];
    on.gate.tool({
      name: "slow",
      tier: "physical",
      timeout: "10s",
      run: (_args, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => {
            aborted.push(signal.reason);
            reject(new Error("aborted"));
          });
        }),
    });
    const call = on.run.try("slow", {});
    await on.shown();
    await on.clock.advance(60_000);
    const id = await on.answer("approve");
    await on.clock.advance(10_000);
    expect(await call).toEqual({
      status: "unknown",
      request: id,
      sentence: '"slow" may or may not have run; do not repeat it. Tell the user briefly.',
    });
    expect(String(aborted)).toMatch(/took longer than 10s/);
    expect((await on.store.read(id))?.record).toMatchObject({ status: "indeterminate", resolution: { reason: "unobserved" } });
    const free = gateBench({ policy: { rules: [{ allow: "quick" }] } });
    free.gate.tool({ name: "quick", tier: "write", timeout: 5, run: () => new Promise(() => undefined) });
    const lost = free.run.call("quick", {}).catch((thrown: unknown) => thrown);
    await free.clock.settle();
    await free.clock.advance(5);
    expect(await lost).toBeInstanceOf(Unknown);
  });

  it("P-12 keeps its claim alive while it runs, past any lease", async () => {
    const on = gateBench();
    let finish = (_value: unknown): void => undefined;
    on.gate.tools([recorder({ run: (() => new Promise((resolve) => (finish = resolve))) as Tool["run"] })]);
    const call = on.run.try("pay", PAY);
    const id = await on.answer("approve");
    await on.clock.advance(300_000);
    expect(await on.gate.sweep()).toBe(0);
    finish("done");
    expect(await call).toMatchObject({ status: "ran", value: "done" });
    expect((await on.store.read(id))?.record.status).toBe("succeeded");
  });

  it("gives on what the tool itself threw", async () => {
    const own = new Error("card declined");
    const on = gateBench({ policy: { rules: [{ allow: "free" }] } });
    const fails = (): never => {
      throw own;
    };
    on.gate.tools([{ name: "free", tier: "write", run: fails }, recorder({ run: fails as Tool["run"] })]);
    expect(await on.run.try("free", {})).toEqual({ status: "failed", error: own, how: "allowed" });
    const call = on.run.call("pay", PAY).catch((thrown: unknown) => thrown);
    const id = await on.answer("approve");
    expect(await call).toBe(own);
    expect((await on.store.read(id))?.record).toMatchObject({ status: "failed", outcome: { error: { code: "failed" } } });
  });

  it("P-02 P-15 is bound to what it names, resolved again before it runs", async () => {
    let target = "/srv/a";
    const on = gateBench({
      surroundings: { realPath: async (path) => (path === "link" ? target : path) },
      policy: { rules: [{ allow: "free" }] },
    });
    const [pay, free] = [recorder({ binds: { paths: ["/path"] } }), recorder({ name: "free", binds: { paths: ["/path"] } })];
    on.gate.tools([pay, free]);
    const call = on.run.try("pay", { path: "link" });
    const id = await on.shown();
    expect(on.channel.deliveries.at(-1)?.card.bindings).toEqual({ "path:/path": "/srv/a" });
    target = "/srv/b";
    await on.answer("approve");
    expect(await call).toMatchObject({ status: "refused", code: "context_changed", request: id });
    expect(await on.run.try("free", { path: "link" })).toMatchObject({ status: "ran", how: "allowed" });
    let looks = 0;
    const moving = gateBench({
      surroundings: { realPath: async (path) => `${path}${++looks}` },
      policy: { rules: [{ allow: "free" }] },
    });
    moving.gate.tools([free]);
    expect(await moving.run.try("free", { path: "link" })).toMatchObject({ status: "refused", code: "context_changed" });
    expect(pay.ran).toEqual([]);
  });

  it("P-15 never throws for a call: a part that fails refuses, with a code", async () => {
    const faults = noFaults();
    const clock = manualClock();
    const on = gateBench({
      clock,
      store: faultyStore(memoryStore({ clock }), faults),
      surroundings: {
        realPath: async (path) => {
          if (path === "/broken") throw new Error("EIO");
          return path;
        },
      },
    });
    on.gate.tools([recorder(), recorder({ name: "bound", binds: { paths: ["/path"] } })]);
    expect(await on.run.try("bound", { path: "/broken" })).toMatchObject({ status: "refused", code: "policy_error" });
    const source = on.runtime.aborter();
    const call = on.run.try("pay", PAY, { signal: source.signal });
    await on.shown();
    faults.down = true;
    source.abort(new Error("enough"));
    expect(await call).toMatchObject({ status: "refused", code: "store_unavailable" });
    expect(on.lines).toContainEqual(expect.objectContaining({ level: "error", message: "a call could not be carried out" }));
  });
});

describe("call ids", () => {
  it("P-03 the same call under one id is one request and one run, at once and afterwards", async () => {
    const on = gateBench();
    const tool = recorder();
    on.gate.tools([tool]);
    const calls = [1, 2, 3].map(() => on.run.try("pay", PAY, { id: "c1" }));
    await on.answer("approve");
    const outcomes = await Promise.all(calls);
    expect(new Set(outcomes.map((outcome) => JSON.stringify(outcome))).size).toBe(1);
    expect(tool.ran).toHaveLength(1);
    expect(await on.run.try("pay", PAY, { id: "c1" })).toEqual(outcomes[0]);
    expect(await on.run.try("pay", { to: "eve" }, { id: "c1" })).toMatchObject({ code: "duplicate_id" });
    const later = on.gate.run({ principal: "ada", agent: "bot", run: on.run.requester.run ?? "" });
    expect(await later.try("pay", PAY, { id: "c1" })).toMatchObject({ status: "unknown" });
    expect(tool.ran).toHaveLength(1);
  });

  it("P-03 P-11 is waited for again by a run that comes later, and runs once", async () => {
    const on = gateBench();
    const tool = recorder();
    on.gate.tools([tool]);
    const first = on.run.try("pay", PAY, { id: "c1" });
    await on.shown();
    const again = on.gate.run({ principal: "ada", agent: "bot", run: on.run.requester.run ?? "" });
    const [second, third] = [again.try("pay", PAY, { id: "c1" }), again.try("pay", PAY, { id: "c1" })];
    await on.answer("approve");
    const outcomes = await Promise.all([first, second, third]);
    expect(outcomes.filter(({ status }) => status === "ran").length).toBeGreaterThanOrEqual(1);
    expect(tool.ran).toHaveLength(1);
    expect(outcomes[1]).toEqual(outcomes[2]);
  });

  it("P-03 follows an edit: whoever waits under that id has its one outcome", async () => {
    const on = gateBench();
    const tool = recorder();
    on.gate.tools([tool]);
    const first = on.run.try("pay", PAY, { id: "c1" });
    const id = await on.shown();
    const { card, view, to } = on.channel.deliveries[0] ?? { card: undefined, view: "", to: identity("ada") };
    const approvals = on.gate.desk.approvals;
    await approvals?.edit(id, { arguments: { to: "bob", amount: 1 }, digest: card?.digest ?? "sha256:", view }, to);
    const second = on.run.try("pay", PAY, { id: "c1" });
    const outcome = await first;
    expect(outcome).toMatchObject({ status: "ran", edited: { by: "ada", arguments: { to: "bob", amount: 1 } } });
    expect(await second).toEqual(outcome);
    expect(tool.ran).toEqual([{ to: "bob", amount: 1 }]);
  });
});
