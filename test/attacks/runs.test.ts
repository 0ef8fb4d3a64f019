import { describe, expect, it } from "vitest";
import { createGate, DeclarationError, nodeRuntime, type Policy, type Tool } from "../../src/index.ts";
import type { Approvals, Identity } from "../../src/core/approving.ts";
import { snapshotOf } from "../../src/core/approving.ts";
import { memoryStore } from "../../src/stores/memory/index.ts";
import { manualClock, recordingChannel } from "../../src/testing/index.ts";

const who = (principal: string): Identity => ({
  principal,
  as: `recording:${principal}`,
  via: "recording",
  assurance: "account",
});

function scene(policy: Policy, tools: readonly (Partial<Tool> & { readonly name: string })[]) {
  const clock = manualClock();
  const runtime = nodeRuntime({ clock });
  const store = memoryStore({ clock });
  const channel = recordingChannel({ people: ["ada", "bob"], assurance: "account" });
  const gate = createGate({ policy, runtime, store, channels: [channel] });
  const ran: unknown[] = [];
  for (const tool of tools) gate.tool({ run: (args: unknown) => ran.push(args), ...tool } as never);
  const policyOf = (child: Policy) => snapshotOf(child, { runtime, record: "counts" });
  return { clock, runtime, store, channel, gate, ran, policyOf, approvals: gate.desk.approvals as Approvals };
}

describe("a child cannot weaken what its parent knows of a tool (P-17)", () => {
  const parent: Policy = {
    tools: [{ match: "login", secrets: ["/token"], editable: ["/host"], impact: "irreversible", confirm: true }],
  };

  it("keeps the parent's secrets, editable part and impact", async () => {
    const on = scene(parent, [{ name: "login", tier: "write" }]);
    const run = on.gate.run({ principal: "ada" });
    const child = run.child({ path: "c", asks: "own", channels: ["recording"], policy: on.policyOf({ unmatched: "ask" }) });
    void child.try("login", { host: "a", token: "s3cret-s3cret" });
    await on.clock.settle();
    const [open] = await on.gate.pending();
    expect(JSON.stringify(open)).not.toContain("s3cret-s3cret");
    expect(open?.record.impact).toBe("irreversible");
    expect(open?.record.terms.editable).toEqual(["/host"]);
  });

  it("keeps the parent's demand where the child's own policy frees the tool by its name", async () => {
    const on = scene({ unmatched: "allow", tools: [{ match: "note", confirm: "note?" }] }, [{ name: "note", tier: "write" }]);
    on.gate.tool({ name: "look", tier: "read", run: () => 1 });
    const run = on.gate.run({ principal: "ada" });
    await run.call("look", {});
    const child = run.child({ path: "c", asks: "parent", policy: on.policyOf({ unmatched: "allow" }) });
    void child.call("note", {}).catch(() => undefined);
    void child.try("note", {});
    await on.clock.settle();
    expect(on.ran).toEqual([]);
    expect(await on.gate.pending()).toHaveLength(2);
  });

  it("keeps the parent's word that a tool is physical", async () => {
    const policy: Policy = { tools: [{ match: "arm", tier: "physical" }], rules: [{ allow: "arm" }] };
    let running = 0;
    let most = 0;
    const ends: (() => void)[] = [];
    const move = async () => {
      running += 1;
      most = Math.max(most, running);
      await new Promise<void>((resolve) => ends.push(resolve));
      running -= 1;
    };
    const on = scene(policy, [{ name: "arm", run: move as never }]);
    const run = on.gate.run({ principal: "ada" });
    const child = run.child({
      path: "c",
      asks: "own",
      policy: on.policyOf({ tools: [{ match: "arm", tier: "write" }], rules: [{ allow: "arm" }] }),
    });
    const both = [child.try("arm", {}), child.try("arm", {})];
    await on.clock.settle();
    ends.shift()?.();
    await on.clock.settle();
    ends.shift()?.();
    await Promise.all(both);
    expect(most).toBe(1);
  });
});

describe("conditions that write instead of reading (P-08)", () => {
  it("changes nothing that is judged after them", async () => {
    const policy: Policy = {
      rules: [
        {
          allow: "wipe",
          when: (call) => {
            (call as { tier: string }).tier = "read";
            return false;
          },
        },
      ],
    };
    const gate = createGate({ policy });
    gate.tool({ name: "wipe", tier: "physical", run: () => "wiped" });
    expect(await gate.run({ principal: "ada" }).try("wipe", {})).toMatchObject({ status: "refused", code: "no_approver" });
  });
});

describe("two functions under one name (P-02)", () => {
  it("are refused where they are guarded", () => {
    const gate = createGate();
    gate.tool({ name: "taken", tier: "read", run: () => 1 });
    const run = gate.run({ principal: "ada" });
    const one = (): number => 1;
    const words = { name: "mail", confirm: { window: "1h" } } as const;
    run.guard(one, words);
    expect(() => run.guard(one, words)).not.toThrow();
    expect(() => run.guard(() => 2, words)).toThrow(DeclarationError);
    expect(() => run.guard(() => 2, { name: "taken" })).toThrow(DeclarationError);
  });
});

describe("a run that has ended (P-06)", () => {
  it("opens no request", async () => {
    const on = scene({}, [{ name: "wipe", confirm: true }]);
    const run = on.gate.run({ principal: "ada" });
    await run[Symbol.asyncDispose]();
    await expect(run.submit("wipe", {})).rejects.toThrow();
    expect(await on.gate.pending()).toEqual([]);
    expect(await run.try("wipe", {})).toMatchObject({ status: "refused", code: "cancelled" });
  });

  it("withdraws what it submitted", async () => {
    const on = scene({}, [{ name: "wipe", confirm: true }]);
    const run = on.gate.run({ principal: "ada" });
    const { settled } = await run.submit("wipe", {});
    settled.catch(() => undefined);
    await on.clock.settle();
    await run[Symbol.asyncDispose]();
    expect(await on.gate.pending()).toEqual([]);
  });

  it("runs nothing that was approved while it ended", async () => {
    for (let ticks = 0; ticks < 40; ticks++) {
      const on = scene({}, [{ name: "wipe", confirm: true }]);
      const run = on.gate.run({ principal: "ada" });
      let disposed = false;
      let late = false;
      on.gate.tool({
        name: "late",
        confirm: true,
        run: () => {
          late = disposed;
        },
      });
      const outcome = run.try("late", {});
      await on.clock.settle();
      const [open] = await on.gate.pending();
      const answered = on.channel.answer(String(open?.record.id), "approve", { by: "ada" });
      for (let tick = 0; tick < ticks; tick++) await Promise.resolve();
      disposed = true;
      await Promise.all([run[Symbol.asyncDispose](), answered]);
      await outcome;
      expect(late).toBe(false);
    }
  });
});

describe("requesters and people with odd names (P-09)", () => {
  it("gives a selector's words to nobody who is called like it", async () => {
    for (const principal of ["@principal", "@operator", "group:ops", "role:x", "os:op"]) {
      const on = scene({ rules: [{ ask: "pay", approvers: ["group:ops", "bob"], self: "deny" }] }, [{ name: "pay" }]);
      const outcome = on.gate.run({ principal, agent: "bob-bot" }).try("pay", {});
      await on.clock.settle();
      const [open] = await on.gate.pending();
      const id = String(open?.record.id);
      const shown = await on.approvals.card(id, who("bob"));
      if (shown === undefined || !("view" in shown)) throw new Error("not shown");
      for (const name of ["@principal", "@operator", "group:ops", "role:x", "", principal]) {
        const as = { ...who(name), as: name };
        const view = await on.approvals.card(id, as);
        const seen = view !== undefined && "view" in view ? view.view : shown.view;
        const done = await on.approvals.decide(id, { verdict: "approve", digest: shown.card.digest, view: seen }, as);
        expect(done.counted, `${name} for ${principal}`).toBe(false);
      }
      await on.gate.cancel(id);
      expect((await outcome).status).toBe("refused");
      expect(on.ran).toEqual([]);
    }
  });

  it("excludes the person the agent is called after, where that person may not decide alone", async () => {
    const on = scene({ rules: [{ ask: "pay", approvers: ["bob"] }] }, [{ name: "pay" }]);
    expect(await on.gate.run({ principal: "ada", agent: "bob" }).try("pay", {})).toMatchObject({ code: "no_approver" });
  });
});
