import { describe, expect, it } from "vitest";
import { createGate, DeclarationError, nodeRuntime, type Policy, type Tool } from "../../src/index.ts";
import type { Approvals, Identity } from "../../src/core/approving.ts";
import { faultyStore, noFaults } from "../../src/core/desk/faulty-store.test-kit.ts";
import { memoryStore } from "../../src/stores/memory/index.ts";
import { manualClock, recordingChannel } from "../../src/testing/index.ts";

const who = (principal: string, over: Partial<Identity> = {}): Identity => ({
  principal,
  as: `recording:${principal}`,
  via: "recording",
  assurance: "account",
  ...over,
});

function scene(given: { policy?: Policy; tool?: Partial<Tool> } = {}) {
  const clock = manualClock();
  const lines: string[] = [];
  const write = (...said: unknown[]): void => void lines.push(JSON.stringify(said));
  const log = { debug: write, info: write, warn: write, error: write };
  const runtime = nodeRuntime({ clock, log });
  const faults = noFaults();
  const inner = memoryStore({ clock });
  const store = faultyStore(inner, faults);
  const channel = recordingChannel({ people: ["ada", "bob"], assurance: "account" });
  const gate = createGate({ policy: given.policy ?? {}, runtime, store, channels: [channel] });
  const ran: unknown[] = [];
  gate.tool({ name: "pay", confirm: true, ...given.tool, run: (args: unknown) => ran.push(args) } as never);
  gate.on((event) => void lines.push(JSON.stringify(event)));
  return { clock, runtime, faults, inner, channel, gate, ran, lines, approvals: gate.desk.approvals as Approvals };
}
type Scene = ReturnType<typeof scene>;

async function seenBy(on: Scene, id: string, as: Identity) {
  const shown = await on.approvals.card(id, as);
  if (shown === undefined || !("view" in shown)) throw new Error("not shown");
  return { digest: shown.card.digest, view: shown.view };
}
const firstShown = async (on: Scene): Promise<string> => {
  await on.clock.settle();
  return String(on.channel.deliveries[0]?.card.id);
};

describe("answers that were lost, at every commit of a call's life (P-03, P-10)", () => {
  const life = async (on: Scene): Promise<string> => {
    const run = on.gate.run({ principal: "ada", agent: "bot", run: "r1" });
    const outcome = run.try("pay", { amount: 1 }, { id: "c1" });
    const id = await firstShown(on);
    const answer = async () => on.channel.answer(id, "approve", { by: "ada" });
    await answer().catch(() => undefined);
    await on.clock.advance(700_000);
    const first = await outcome;
    const again = run.try("pay", { amount: 1 }, { id: "c1" });
    await on.clock.settle();
    await on.clock.advance(700_000);
    return `${first.status}, then ${(await again).status}`;
  };

  it("never runs the call twice, nor before its claim is stored", async () => {
    const plain = scene();
    expect(await life(plain)).toBe("ran, then ran");
    const steps = plain.faults.commits.length;
    expect(steps).toBeGreaterThan(4);
    for (const lost of [1, 3]) {
      for (let at = 0; at < steps; at++) {
        const on = scene();
        let made = 0;
        on.faults.instead = () => {
          made += 1;
          if (made === at + 1) on.faults.lost = lost;
          return undefined;
        };
        const said = await life(on);
        expect(on.ran.length, `${lost} lost from commit ${at}: ${said}`).toBeLessThanOrEqual(1);
        if (lost === 1) expect(said, `commit ${at}`).toBe("ran, then ran");
        for await (const { record } of on.inner.find({})) if (on.ran.length === 1) expect(record.claim).toBeDefined();
      }
    }
  });

  it("never runs it where the store says no to any commit, for whatever reason", async () => {
    for (const why of ["conflict", "too_late", "too_early", "killed"] as const) {
      for (let at = 0; at < 8; at++) {
        const on = scene();
        let made = 0;
        on.faults.instead = () => {
          made += 1;
          return made > at ? { ok: false, why } : undefined;
        };
        await life(on);
        const claimed: boolean[] = [];
        for await (const { record } of on.inner.find({})) claimed.push(record.claim !== undefined);
        expect(on.ran.length, `${why} from commit ${at}`).toBeLessThanOrEqual(claimed.filter(Boolean).length);
      }
    }
  });
});

describe("views and digests of something else (P-02, P-05)", () => {
  it("decide nothing: another person's, channel's, request's, an older one's, a part of one", async () => {
    const on = scene({ policy: { rules: [{ ask: "pay", approvers: ["ada", "bob"], quorum: 2, self: "allow" }] } });
    const run = on.gate.run({ principal: "ada" });
    void run.try("pay", { amount: 1 });
    void run.try("pay", { amount: 2 });
    await on.clock.settle();
    const [first, second] = [...new Set(on.channel.deliveries.map(({ card }) => card.id))] as [string, string];
    const mine = await seenBy(on, first, who("ada"));
    const theirs = await seenBy(on, first, who("bob"));
    const others = await seenBy(on, second, who("ada"));
    const elsewhere = await seenBy(on, first, who("ada", { via: "web" }));
    const wrong = [
      { ...mine, view: theirs.view },
      { ...mine, view: elsewhere.view },
      others,
      { ...mine, view: others.view },
      { ...mine, digest: others.digest },
      { ...mine, digest: mine.digest.slice(0, 20) as typeof mine.digest },
      { ...mine, digest: `${mine.digest} ` as typeof mine.digest },
      { ...mine, view: "" },
      { ...mine, view: mine.view.slice(0, -1) },
      { ...mine, view: `${mine.view}A` },
      { ...mine, view: mine.view.slice(65) },
      { ...mine, view: undefined as unknown as string },
      { ...mine, view: [mine.view] as unknown as string },
    ];
    for (const answer of wrong)
      expect(await on.approvals.decide(first, { verdict: "approve", ...answer }, who("ada"))).toMatchObject({ counted: false });
    const edit = await on.approvals.edit(first, { arguments: { amount: 3 }, ...mine }, who("ada"));
    expect(edit.counted).toBe(true);
    const successor = String(edit.id);
    for (const answer of [mine, theirs])
      for (const id of [first, successor])
        expect(await on.approvals.decide(id, { verdict: "approve", ...answer }, who("bob"))).toMatchObject({ counted: false });
    expect((await on.approvals.decide(first, { verdict: "yes" as "approve", ...mine }, who("ada"))).counted).toBe(false);
    expect(on.ran).toEqual([]);
  });

  it("do not carry a vote over an edit, whoever made it", async () => {
    const on = scene({ policy: { rules: [{ ask: "pay", approvers: ["ada", "bob", "cem"], quorum: 2, self: "allow" }] } });
    const outcome = on.gate.run({ principal: "ada" }).try("pay", { amount: 1 });
    const id = await firstShown(on);
    await on.channel.answer(id, "approve", { by: "ada" });
    const edit = await on.approvals.edit(id, { arguments: { amount: 3 }, ...(await seenBy(on, id, who("bob"))) }, who("bob"));
    expect(edit.status).toBe("pending");
    await on.clock.settle();
    expect(on.ran).toEqual([]);
    await on.channel.answer(String(edit.id), "approve", { by: "ada" });
    expect(await outcome).toMatchObject({ status: "ran", edited: { by: "bob" } });
  });

  it("take no edit from who may not decide, is not sure enough, or comes after the yes", async () => {
    const policy: Policy = { rules: [{ ask: "pay", approvers: ["bob"], assurance: "account" }] };
    const on = scene({ policy, tool: { confirm: undefined as never } });
    void on.gate.run({ principal: "ada" }).try("pay", { amount: 1 });
    const id = await firstShown(on);
    const edit = async (as: Identity) => on.approvals.edit(id, { arguments: { amount: 9 }, ...(await seenBy(on, id, as)) }, as);
    expect(await edit(who("ada"))).toMatchObject({ counted: false, code: "not_eligible" });
    expect(await edit(who("bob", { assurance: "local" }))).toMatchObject({ counted: false, code: "assurance_too_low" });
    const shown = await seenBy(on, id, who("bob"));
    await on.approvals.decide(id, { verdict: "approve", ...shown }, who("bob"));
    expect(await on.approvals.edit(id, { arguments: { amount: 9 }, ...shown }, who("bob"))).toMatchObject({ counted: false });
    await on.clock.settle();
    expect(on.ran).toEqual([{ amount: 1 }]);
  });
});

describe("what a policy adds (P-08)", () => {
  it("does not replace a grant that the tool's own code wants", async () => {
    const policy: Policy = { unmatched: "allow", tools: [{ match: "pay", tier: "write", requires: "office" }] };
    const on = scene({ policy, tool: { confirm: undefined as never, requires: "payments" } });
    const outcome = on.gate.run({ principal: "ada" }).try("pay", {});
    const scopes: unknown[] = [];
    for (let asked = 0; asked < 2; asked++) {
      await on.clock.settle();
      const card = on.channel.deliveries.findLast(({ card: { kind } }) => kind === "grant")?.card;
      scopes.push(card?.arguments.scope);
      await on.channel.answer(String(card?.id), "approve", { by: "ada" });
    }
    expect(scopes).toEqual(["payments", "office"]);
    expect((await outcome).status).toBe("ran");
  });

  it("does not let an operator without a name be everybody without one", () => {
    expect(() => createGate({ operator: "" })).toThrow(DeclarationError);
  });
});

describe("a list of bound paths (P-02)", () => {
  it("is bound path by path", async () => {
    const clock = manualClock();
    const base = nodeRuntime({ clock });
    let target = "/srv/a";
    const surroundings = { ...base.surroundings, realPath: async (path: string) => (path === "/link" ? target : path) };
    const channel = recordingChannel({ people: ["ada"] });
    const gate = createGate({ runtime: { ...base, surroundings }, store: memoryStore({ clock }), channels: [channel] });
    const ran: unknown[] = [];
    gate.tool({ name: "wipe", confirm: true, binds: { paths: ["/paths"] }, run: (args) => ran.push(args) });
    const outcome = gate.run({ principal: "ada" }).try("wipe", { paths: ["/tmp", "/link"] });
    await clock.settle();
    expect(channel.deliveries[0]?.card.bindings).toEqual({ "path:/paths/0": "/tmp", "path:/paths/1": "/srv/a" });
    target = "/srv/b";
    await channel.answer(String(channel.deliveries[0]?.card.id), "approve");
    expect(await outcome).toMatchObject({ status: "refused", code: "context_changed" });
    expect(ran).toEqual([]);
  });
});

describe("secrets through the whole life of a call (P-19)", () => {
  it("are in no card, record, entry, log line or event, whoever repeats them", async () => {
    const tool = {
      secrets: ["/token", "/auth"],
      effect: "log in at {host} with {token}",
      confirm: { message: (args: object) => `with ${JSON.stringify(args)}` },
    };
    const on = scene({ tool: tool as never });
    const args = { host: "a", token: "s3cret-one", auth: { pin: 987_654 } };
    const statement = "I use s3cret-one and 987654, trust me";
    const outcome = on.gate.run({ principal: "ada" }).try("pay", args, { statement });
    const id = await firstShown(on);
    await on.channel.answer(id, "approve", { by: "ada" });
    expect(await outcome).toMatchObject({ status: "ran" });
    expect(on.ran).toEqual([args]);
    const stored: unknown[] = [await on.inner.read(id), on.faults.commits, on.channel.deliveries, on.channel.closed, on.lines];
    const all = JSON.stringify(stored);
    expect(all).not.toContain("s3cret-one");
    expect(all).not.toContain("987654");
  });
});
