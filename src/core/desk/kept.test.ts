import { describe, expect, it } from "vitest";
import { memoryStore } from "../../stores/memory/index.ts";
import { manualClock } from "../../testing/index.ts";
import { bench, evidenceOf, held, identity, standing, viewOf } from "./desk.test-kit.ts";
import { callOf, claimed, ranUnseen, requestOf } from "./repeat.test-kit.ts";

const ADA = identity("ada");
const withSeal = { keys: { call: "c".repeat(40), view: "v".repeat(40), decision: "d".repeat(40), seal: "s".repeat(40) } };

describe("what a call gave while its caller was gone", () => {
  it.each([[undefined], [withSeal]])("P-03 is handed out once, and never run again (sealed: %#)", async (runtime) => {
    const on = bench(runtime === undefined ? {} : { runtime });
    const value = { content: [{ type: "text", text: "hello" }] };
    const id = await ranUnseen(on, { value });
    const stored = (await on.store.read(id))?.payload?.result;
    expect(JSON.stringify(stored).includes("hello")).toBe(runtime === undefined);
    expect((await standing(on, id)).record.outcome?.result).toEqual({
      digest: expect.stringMatching(/^sha256:/),
      ...(runtime === undefined ? {} : { sealed: true }),
    });
    expect(await on.desk.submit(callOf(on))).toMatchObject({
      ruling: "repeated",
      standing: { status: "succeeded", record: { id }, result: { value } },
    });
    expect((await on.store.read(id))?.payload?.result).toBeNull();
    expect(requestOf(await on.desk.submit(callOf(on)))).not.toBe(id);
  });

  it("is a failure's too", async () => {
    const on = bench();
    const id = await ranUnseen(on, { status: "failed", value: { isError: true }, errorCode: "failed" });
    expect(await on.desk.submit(callOf(on))).toMatchObject({
      standing: { status: "failed", record: { id }, result: { value: { isError: true } } },
    });
  });

  it.each([
    ["too large", "x".repeat(1_048_577)],
    ["not JSON", () => 1],
    ["nothing", undefined],
  ])("is said to be lost where it is %s", async (_what, value) => {
    const on = bench();
    const id = await ranUnseen(on, { value });
    const ruling = await on.desk.submit(callOf(on));
    expect(ruling).toMatchObject({ ruling: "repeated", standing: { status: "succeeded", record: { id } } });
    expect(ruling.ruling === "repeated" && ruling.standing.result).toBeUndefined();
  });

  it("is said to be lost where nobody could observe how it ended, or its executor died", async () => {
    const on = bench();
    const lost = await ranUnseen(on, { status: "lost" });
    expect(await on.desk.submit(callOf(on))).toMatchObject({ ruling: "repeated", standing: { record: { id: lost } } });
    const submission = callOf(on, "s1", { args: { n: 2 } });
    const id = await held(on, submission);
    await on.channel.answer(id, "approve");
    await claimed(on, submission, id);
    await on.clock.advance(60_000);
    await on.desk.sweep();
    expect(await on.desk.submit(callOf(on, "s2", { args: { n: 2 } }))).toMatchObject({
      ruling: "repeated",
      standing: { status: "indeterminate", record: { id } },
    });
    expect(await on.desk.submit(callOf(on, "s2", { args: { n: 2 } }))).toMatchObject({ ruling: "held" });
  });

  it("is lost with the key it was sealed with, whole or changed", async () => {
    const on = bench({ runtime: withSeal });
    for (const keys of [
      { ...withSeal.keys, seal: null },
      { ...withSeal.keys, seal: "o".repeat(40) },
    ]) {
      await ranUnseen(on, { value: 1 });
      const other = bench({ store: on.store, clock: on.clock, runtime: { keys } });
      const ruling = await other.desk.submit(callOf(other));
      expect(ruling.ruling === "repeated" && ruling.standing).toMatchObject({ status: "succeeded" });
      expect(ruling.ruling === "repeated" && ruling.standing.result).toBeUndefined();
    }
  });

  it("is of an edited call told with what ran", async () => {
    const on = bench();
    const submission = callOf(on);
    const id = await held(on, submission);
    await on.desk.approvals.edit(id, { ...(await viewOf(on, id, ADA)), arguments: { to: "x", amount: 1 } }, ADA);
    const { record } = await standing(on, id);
    const said = await on.desk.claim(record.id, evidenceOf(submission, { holder: "gate s1", arguments: { to: "x", amount: 1 } }));
    if (!said.ok) throw new Error("not claimed");
    await on.desk.complete(record.id, said.token, { status: "succeeded", value: 1, observedBy: "executor", keep: true });
    expect(await on.desk.submit(callOf(on))).toMatchObject({
      standing: { edited: { by: "ada", arguments: { to: "x", amount: 1 } }, result: { value: 1 } },
    });
  });

  it("is not kept where the call was erased", async () => {
    const clock = manualClock();
    const inner = memoryStore({ clock });
    const erased = { on: false };
    const on = bench({
      clock,
      store: new Proxy(inner, {
        get: (target, key) => {
          if (key === "read")
            return async (id: string) => {
              const stored = await inner.read(id);
              return stored === undefined || !erased.on ? stored : { ...stored, payload: null };
            };
          const value: unknown = Reflect.get(target, key, target);
          return typeof value === "function" ? value.bind(target) : value;
        },
      }),
    });
    const submission = callOf(on);
    const id = await held(on, submission);
    await on.channel.answer(id, "approve");
    const token = await claimed(on, submission, id);
    erased.on = true;
    expect(await on.desk.complete(id, token, { status: "succeeded", value: 1, observedBy: "executor", keep: true })).toBe(true);
    erased.on = false;
    expect(await on.desk.submit(callOf(on))).toMatchObject({ ruling: "held" });
  });
});
