import { describe, expect, it } from "vitest";
import { manualClock } from "../../testing/index.ts";
import { isSuspended, Unknown } from "../outcome.ts";
import type { Desk } from "../ports/desk.ts";
import type { CallOptions } from "./run-port.ts";
import { type GateBench, gateBench, type GateBenchOptions, recorder } from "./gate.test-kit.ts";

const PAY = { to: "bob", amount: 7 };
const HOLD = 45_000;

/** A gate between client and server: its calls wait for `HOLD`, then their caller has to come back. */
const between = (over: GateBenchOptions = {}): GateBench & { tool: ReturnType<typeof recorder> } => {
  const on = gateBench({ deadline: "1h", host: { grade: "structural" }, ...over });
  const tool = recorder();
  on.gate.tools([tool]);
  return { ...on, tool };
};
const tryPay = (on: GateBench, over: CallOptions = {}, run = on.run) => run.try("pay", PAY, { hold: HOLD, ...over });
const recordOf = async (on: GateBench, id: string) => (await on.store.read(id))?.record;

async function parkedPay(on: GateBench): Promise<string> {
  const call = tryPay(on);
  const id = await on.shown();
  await on.clock.advance(HOLD);
  expect(await call).toEqual({ status: "suspended", request: id, token: "" });
  return id;
}

describe("a call whose caller can wait no longer", () => {
  it("is parked when its hold time is over, and its request lives on", async () => {
    const on = between();
    const call = tryPay(on);
    const id = await on.shown();
    await on.clock.advance(HOLD - 1);
    expect((await recordOf(on, id))?.parked).toBe(false);
    await on.clock.advance(1);
    const outcome = await call;
    expect(outcome).toEqual({ status: "suspended", request: id, token: "" });
    await on.clock.advance(3_000_000);
    expect(await recordOf(on, id)).toMatchObject({ status: "pending", parked: true });
    expect(on.tool.ran).toEqual([]);
  });

  it("throws `Suspended` where the caller wants the value", async () => {
    const on = between();
    const call = on.run.call("pay", PAY, { hold: 0 }).catch((thrown: unknown) => thrown);
    await on.shown();
    await on.clock.advance(0);
    expect(isSuspended(await call)).toBe(true);
  });

  it("P-03 runs when it is made again and was approved, once", async () => {
    const on = between();
    const id = await parkedPay(on);
    await on.answer("approve");
    await on.clock.advance(100_000);
    expect(on.tool.ran).toEqual([]);
    expect(await tryPay(on)).toMatchObject({ status: "ran", how: "approved", request: id });
    expect(on.tool.ran).toEqual([PAY]);
    expect(on.clock.waiting).toBe(0);
  });

  it("made again waits again, and is parked again", async () => {
    const on = between();
    const id = await parkedPay(on);
    expect(await parkedPay(on)).toBe(id);
    const again = tryPay(on);
    await on.clock.settle();
    await on.answer("approve");
    expect(await again).toMatchObject({ status: "ran", request: id });
  });

  it("P-07 reads the sentence when it is made again and was rejected", async () => {
    const on = between();
    const id = await parkedPay(on);
    await on.answer("reject", { reason: "too much" });
    expect(await tryPay(on)).toMatchObject({ status: "refused", code: "rejected", reason: "too much", request: id });
    expect(await tryPay(on)).toMatchObject({ status: "refused", code: "already_refused" });
  });

  it("runs as it was edited meanwhile, and says so", async () => {
    const on = between();
    const id = await parkedPay(on);
    const delivery = on.channel.deliveries.at(-1);
    if (delivery === undefined) throw new Error("nobody was shown it");
    const { digest } = delivery.card;
    await on.gate.desk.approvals?.edit(id, { digest, view: delivery.view, arguments: { ...PAY, amount: 1 } }, delivery.to);
    expect(await tryPay(on)).toMatchObject({ status: "ran", edited: { by: delivery.to.principal } });
    expect(on.tool.ran).toEqual([{ ...PAY, amount: 1 }]);
  });

  it("waits as long as it takes for a gate in code", async () => {
    const on = between({ host: {} });
    const call = tryPay(on);
    const id = await on.shown();
    await on.clock.advance(HOLD);
    await on.answer("approve");
    expect(await call).toMatchObject({ status: "ran", request: id });
  });

  it("is parked while it waits for a grant, and goes on from it", async () => {
    const on = gateBench({
      people: ["ada", "op"],
      host: { grade: "structural" },
      deadline: "1h",
      policy: { rules: [{ allow: "pay", requires: "money" }] },
    });
    const tool = recorder({ tier: "read" });
    on.gate.tools([tool]);
    const id = await parkedPay(on);
    const again = tryPay(on);
    await on.answer("approve");
    expect((await recordOf(on, id))?.kind).toBe("grant");
    expect(await again).toMatchObject({ status: "ran", how: "allowed" });
  });

  it("is told where a person finds it", async () => {
    const on = between();
    const far = between({ desk: linked(on.gate.desk), clock: on.clock });
    const call = tryPay(far);
    const id = await on.shown();
    await on.clock.advance(HOLD);
    expect(await call).toMatchObject({ status: "suspended", request: id, link: `desk:${id}` });
  });
});

/** Another's desk that has an address of its own. */
const linked = (desk: Desk): Desk =>
  over(desk, {
    submit: async (submission) => {
      const ruling = await desk.submit(submission);
      return ruling.ruling === "held" ? { ...ruling, link: `desk:${ruling.request}` } : ruling;
    },
  });
const over = (desk: Desk, changed: Partial<Desk>): Desk =>
  new Proxy(desk, {
    get: (target, key) => {
      const own: unknown = Reflect.get(changed, key);
      if (own !== undefined) return own;
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });

describe("a parked call and its gate", () => {
  it("A105 is kept by its run while that lives, and let go when it ends, for another to take up at once", async () => {
    const on = between();
    const id = await parkedPay(on);
    await on.clock.advance(600_000);
    await on.run[Symbol.asyncDispose]();
    expect(await recordOf(on, id)).toMatchObject({ status: "pending", parked: true });
    const next = on.gate.run({ principal: "ada", agent: "bot" });
    await on.answer("approve");
    expect(await tryPay(on, {}, next)).toMatchObject({ status: "ran", request: id });
  });

  it("A105 is withdrawn when nobody takes it up within five minutes of the run's end", async () => {
    const on = between();
    const id = await parkedPay(on);
    await on.run[Symbol.asyncDispose]();
    await on.clock.advance(300_000);
    expect((await recordOf(on, id))?.resolution).toMatchObject({ status: "cancelled", reason: "requester_gone" });
    expect(on.clock.waiting).toBe(0);
  });

  it("of a run that ends is withdrawn at once while it is held", async () => {
    const on = between();
    await parkedPay(on);
    const again = tryPay(on);
    await on.clock.settle();
    const id = await on.shown();
    await on.run[Symbol.asyncDispose]();
    expect(await again).toMatchObject({ status: "refused", code: "cancelled" });
    expect((await recordOf(on, id))?.resolution).toMatchObject({ reason: "abort" });
  });

  it("is kept no longer once it has ended", async () => {
    const on = between();
    await parkedPay(on);
    await on.answer("reject");
    await on.clock.advance(20_000);
    expect(on.clock.waiting).toBe(0);
    await on.run[Symbol.asyncDispose]();
  });

  it("P-15 runs out by itself where the desk cannot be told that its gate ends", async () => {
    const on = between();
    const far = between({
      desk: over(on.gate.desk, {
        park: async (id, holder, leaving) => {
          if (leaving === true) throw new Error("the desk does not answer");
          return on.gate.desk.park(id, holder);
        },
      }),
      clock: on.clock,
    });
    const call = tryPay(far);
    const id = await on.shown();
    await on.clock.advance(HOLD);
    await call;
    await far.run[Symbol.asyncDispose]();
    expect(far.lines.map(({ message }) => message)).toContain(
      "a parked request could not be let go; its lease runs out by itself",
    );
    await on.clock.advance(60_000 + 300_000);
    expect((await recordOf(on, id))?.resolution?.reason).toBe("requester_gone");
  });

  it("P-15 waits on where the desk does not take the parking", async () => {
    const on = between();
    const far = between({
      desk: over(on.gate.desk, {
        park: async () => {
          throw new Error("the desk does not answer");
        },
      }),
      clock: on.clock,
    });
    const call = tryPay(far);
    await on.shown();
    await on.clock.advance(HOLD);
    expect(far.lines.map(({ message }) => message)).toContain("a request could not be parked; its caller waits on");
    await on.answer("approve");
    expect(await call).toMatchObject({ status: "ran" });
  });

  it("P-03 that is parked while its approval is on the way is parked, and does not run", async () => {
    const on = between();
    const clock = manualClock();
    let left = HOLD;
    const far = between({
      desk: over(on.gate.desk, {
        // The yes reaches this gate while its word that it waits no longer is on the way.
        await: async (id, signal) => {
          const standing = await on.gate.desk.await(id, signal);
          await clock.advance(left);
          left = 0;
          return standing;
        },
      }),
      clock,
    });
    const call = tryPay(far);
    const id = await on.answer("approve");
    expect(await call).toEqual({ status: "suspended", request: id, token: "" });
    expect(far.tool.ran).toEqual([]);
    expect(await tryPay(far)).toMatchObject({ status: "ran", request: id });
  });

  it("P-15 goes on with what it knows where a desk that parked it forgets it", async () => {
    const on = between();
    const clock = manualClock();
    const far = between({
      desk: over(on.gate.desk, {
        await: async (id, signal) => {
          const standing = await on.gate.desk.await(id, signal);
          await clock.advance(HOLD);
          return standing;
        },
        standing: async () => undefined,
      }),
      clock,
    });
    const call = tryPay(far);
    await on.answer("approve");
    expect(await call).toMatchObject({ status: "refused", code: "cancelled" });
    expect(far.tool.ran).toEqual([]);
  });
});

describe("a call that ran while its caller was gone", () => {
  const unseen = (value: unknown, gone = "while it runs"): CallOptions => {
    const left = new AbortController();
    if (gone === "before") left.abort();
    return {
      performer: {
        run: async () => {
          if (gone === "while it runs") left.abort();
          if (value instanceof Error) throw value;
          return value;
        },
        left: left.signal,
        kept: () => (value instanceof Error ? { isError: true } : value),
      },
    };
  };

  it("P-03 gives its repeat what it gave, once, without running", async () => {
    const on = between();
    const call = tryPay(on, unseen({ text: "done" }));
    const id = await on.answer("approve");
    expect(await call).toMatchObject({ status: "ran" });
    expect(await tryPay(on)).toEqual({ status: "ran", value: { text: "done" }, how: "approved", request: id });
    expect(on.tool.ran).toEqual([]);
  });

  it("gives nothing to a repeat where its caller is there, and is a new call", async () => {
    const on = between();
    const call = tryPay(on, unseen({ text: "done" }, "never"));
    const id = await on.answer("approve");
    expect(await call).toMatchObject({ status: "ran", value: { text: "done" } });
    const again = tryPay(on);
    expect(await on.shown()).not.toBe(id);
    await on.answer("reject");
    await again;
  });

  it("P-03 is unknown to a repeat while it still runs, and not asked for anew", async () => {
    const on = between();
    let end = (): void => undefined;
    const running = new Promise<void>((resolve) => (end = resolve));
    const left = new AbortController();
    const call = tryPay(on, { performer: { run: () => running, left: left.signal, kept: () => "done" } });
    const id = await on.answer("approve");
    left.abort();
    await on.clock.settle();
    expect(await tryPay(on)).toMatchObject({ status: "unknown", request: id });
    expect(await tryPay(on)).toMatchObject({ status: "unknown", request: id });
    end();
    await call;
    expect(await tryPay(on)).toMatchObject({ status: "ran", value: "done", request: id });
  });

  it("is another session's to hear of where its own has ended", async () => {
    const on = between();
    const left = new AbortController();
    const gone = { run: () => left.abort("requester_gone"), left: left.signal, kept: () => "done" };
    const call = tryPay(on, { performer: gone });
    const id = await on.answer("approve");
    await call;
    const next = on.gate.run({ principal: "ada", agent: "bot" });
    expect(await tryPay(on, {}, next)).toMatchObject({ status: "ran", value: "done", request: id });
  });

  it("P-15 is kept where it could not be recorded that its caller went, and a performer without it kept nothing", async () => {
    const on = between();
    const far = between({
      desk: over(on.gate.desk, {
        park: async () => {
          throw new Error("the desk does not answer");
        },
      }),
      clock: on.clock,
    });
    const first = tryPay(far, unseen("done", "before"));
    await on.answer("approve");
    await first;
    expect(far.lines.map(({ message }) => message)).toContain("that a caller went away could not be recorded");
    expect(await tryPay(far)).toMatchObject({ status: "ran", value: "done" });
    const left = new AbortController();
    left.abort();
    const second = tryPay(far, { performer: { run: () => "done", left: left.signal } });
    await on.answer("approve");
    await second;
    expect(await tryPay(far)).toMatchObject({ status: "unknown" });
  });

  it("gives it the error that it gave", async () => {
    const on = between();
    const call = tryPay(on, unseen(new Error("no")));
    const id = await on.answer("approve");
    expect(await call).toMatchObject({ status: "failed" });
    expect(await tryPay(on)).toEqual({ status: "failed", error: { isError: true }, how: "approved", request: id });
  });

  it("gives it with what a person had made of it", async () => {
    const on = between();
    const call = tryPay(on, unseen({ text: "done" }));
    const id = await on.shown();
    const delivery = on.channel.deliveries.at(-1);
    if (delivery === undefined) throw new Error("nobody was shown it");
    const { digest } = delivery.card;
    await on.gate.desk.approvals?.edit(id, { digest, view: delivery.view, arguments: { ...PAY, amount: 1 } }, delivery.to);
    await call;
    expect(await tryPay(on)).toMatchObject({ status: "ran", edited: { arguments: { ...PAY, amount: 1 } } });
  });

  it("is unknown to its repeat where nobody knows how it ended", async () => {
    const on = between();
    const call = tryPay(on, unseen(new Unknown({ status: "unknown", sentence: "lost" })));
    const id = await on.answer("approve");
    expect(await call).toMatchObject({ status: "unknown" });
    expect((await recordOf(on, id))?.status).toBe("indeterminate");
    expect(await tryPay(on)).toMatchObject({ status: "unknown", request: id });
  });
});
