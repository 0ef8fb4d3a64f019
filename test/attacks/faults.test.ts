import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { createGate, DeclarationError, type Directory, nodeRuntime, type Policy, type Tool } from "../../src/index.ts";
import type { Approvals, Identity } from "../../src/core/approving.ts";
import { bench, held, holdFor, standing, submissionOf, viewOf } from "../../src/core/desk/desk.test-kit.ts";
import { faultyStore, noFaults } from "../../src/core/desk/faulty-store.test-kit.ts";
import { eventStream } from "../../src/core/desk/events.ts";
import { journalWriter } from "../../src/core/desk/journal-writer.ts";
import { memoryStore } from "../../src/stores/memory/index.ts";
import { sqliteStore } from "../../src/stores/sqlite/index.ts";
import { manualClock, recordingChannel } from "../../src/testing/index.ts";

const who = (principal: string, over: Partial<Identity> = {}): Identity => ({
  principal,
  as: `recording:${principal}`,
  via: "recording",
  assurance: "account",
  ...over,
});

function scene(given: { policy?: Policy; tool?: Partial<Tool>; directory?: Directory; people?: readonly string[] } = {}) {
  const clock = manualClock();
  const runtime = nodeRuntime({ clock });
  const faults = noFaults();
  const store = faultyStore(memoryStore({ clock }), faults);
  const channel = recordingChannel({ people: given.people ?? ["ada", "bob"], assurance: "account" });
  const directory = given.directory === undefined ? {} : { directory: given.directory };
  const gate = createGate({ policy: given.policy ?? {}, runtime, store, channels: [channel], ...directory });
  const ran: unknown[] = [];
  gate.tool({ name: "pay", confirm: true, ...given.tool, run: (args: unknown) => ran.push(args) } as never);
  return { clock, runtime, faults, store, channel, gate, ran, approvals: gate.desk.approvals as Approvals };
}

describe("a fault on the way is an outcome, never an exception and never a run (P-07, P-15)", () => {
  it("when the store is gone as the caller aborts", async () => {
    const on = scene();
    const stop = new AbortController();
    const outcome = on.gate.run({ principal: "ada" }).try("pay", {}, { signal: stop.signal });
    await on.clock.settle();
    on.faults.down = true;
    stop.abort();
    expect(await outcome).toMatchObject({ status: "refused", code: "store_unavailable" });
    expect(on.ran).toEqual([]);
  });

  it("when the place that knows the tool throws between the yes and the claim", async () => {
    const on = scene();
    const performer = {
      run: () => on.ran.push("performed"),
      current: async (): Promise<Tool> => {
        throw new Error("the server is gone");
      },
    };
    const outcome = on.gate.run({ principal: "ada" }).try("pay", {}, { performer });
    await on.clock.settle();
    await on.channel.answer(String(on.channel.deliveries[0]?.card.id), "approve", { by: "ada" });
    expect(await outcome).toMatchObject({ status: "refused", code: "policy_error" });
    expect(on.ran).toEqual([]);
  });

  it("when surroundings that a call is bound to cannot be read", async () => {
    const clock = manualClock();
    const base = nodeRuntime({ clock });
    const surroundings = {
      ...base.surroundings,
      realPath: async (): Promise<string> => {
        throw new Error("EIO");
      },
    };
    const gate = createGate({ runtime: { ...base, surroundings }, store: memoryStore({ clock }) });
    const ran: unknown[] = [];
    gate.tool({ name: "read", tier: "read", binds: { paths: ["/path"] }, run: () => ran.push(1) });
    expect(await gate.run({ principal: "ada" }).try("read", { path: "/etc" })).toMatchObject({ status: "refused" });
    expect(ran).toEqual([]);
  });

  it("at the declaration, for a time limit that is none", () => {
    const gate = createGate();
    for (const timeout of ["5 parsecs", "soon", "", -1, Number.NaN])
      expect(() => gate.tool({ name: "slow", tier: "read", timeout: timeout as never, run: () => 1 })).toThrow(DeclarationError);
  });
});

describe("a directory that does not say yes plainly (P-09, P-15)", () => {
  const lying = (over: Partial<Record<keyof Directory, unknown>>): Directory => ({
    principalOf: async (_as: string, vouched: string) => vouched,
    holds: async () => false,
    ownerOf: async () => undefined,
    ...(over as Partial<Directory>),
  });
  const TEAM: Policy = { rules: [{ ask: "pay", approvers: ["group:team"] }] };

  it("makes nobody eligible by a truthy answer", async () => {
    for (const said of ["no", { member: false }, 1, []]) {
      const on = scene({ policy: TEAM, directory: lying({ holds: async () => said }) });
      expect(await on.gate.run({ principal: "ada" }).try("pay", {})).toMatchObject({ status: "refused", code: "no_approver" });
    }
  });

  it("makes nobody of a principal that is no text", async () => {
    for (const said of [null, 7, {}, ["ada"], ""]) {
      const on = scene({ directory: lying({ principalOf: async () => said }) });
      expect(await on.gate.run({ principal: "ada" }).try("pay", {})).toMatchObject({ status: "refused", code: "no_approver" });
    }
  });

  it("counts nobody who answers while it is down, and refuses a claim meanwhile", async () => {
    let down = false;
    const directory = lying({
      holds: async () => {
        if (down) throw new Error("down");
        return true;
      },
    });
    const on = scene({ policy: TEAM, directory });
    const outcome = on.gate.run({ principal: "ada" }).try("pay", {});
    await on.clock.settle();
    const id = String(on.channel.deliveries[0]?.card.id);
    down = true;
    await expect(on.channel.answer(id, "approve", { by: "bob" })).rejects.toMatchObject({ code: "directory_unavailable" });
    await on.clock.advance(300_000);
    expect(await outcome).toMatchObject({ status: "refused", code: "expired" });
    expect(on.ran).toEqual([]);
  });
});

describe("a channel that never finishes (P-06)", () => {
  const hanging = (over: Partial<ReturnType<typeof recordingChannel>>) => {
    const inner = recordingChannel({ name: "stuck", people: ["ada", "bob"], assurance: "account" });
    return new Proxy(inner, { get: (target, key) => Reflect.get({ ...over }, key) ?? bound(target, key) });
  };
  const bound = (target: object, key: string | symbol): unknown => {
    const value: unknown = Reflect.get(target, key);
    return typeof value === "function" ? value.bind(target) : value;
  };
  const never = () => new Promise<never>(() => undefined);

  it("does not let a request wait unseen", async () => {
    const on = bench({ channels: [hanging({ deliver: never })] });
    const id = await held(on, submissionOf(on));
    await on.clock.advance(31_000);
    expect((await standing(on, id)).record.resolution).toMatchObject({ status: "cancelled", reason: "undeliverable" });
  });

  it("does not keep the next channel of the list from asking", async () => {
    const next = recordingChannel({ name: "next", people: ["ada"], assurance: "account" });
    const on = bench({ channels: [hanging({ deliver: never }), next] });
    const id = await held(on, submissionOf(on, { channels: ["stuck", "next"] }));
    await on.clock.advance(29_000);
    expect(next.deliveries.map(({ card }) => card.id)).toContain(id);
    expect((await standing(on, id)).status).toBe("pending");
  });

  it("does not keep an edit's successor from being asked about", async () => {
    const stuck = hanging({ close: never });
    const on = bench({ channels: [stuck] });
    const id = await held(on, submissionOf(on, { holds: [holdFor({ approvers: ["bob", "ada"], quorum: 2, self: "allow" })] }));
    const ada = who("ada", { as: "stuck:ada", via: "stuck" });
    const done = await on.desk.approvals.edit(id, { arguments: { to: "bob", amount: 5 }, ...(await viewOf(on, id, ada)) }, ada);
    await on.clock.advance(29_000);
    expect(stuck.deliveries.map(({ card }) => card.id)).toContain(done.id);
  });
});

describe("an edit on another desk of the same store (P-02, P-06)", () => {
  it("is asked about where the call waits, and runs with the secrets that only that process holds", async () => {
    const folder = mkdtempSync(join(tmpdir(), "holdpoint-far-"));
    const clock = manualClock();
    const runtime = nodeRuntime({ clock });
    const open = (name: string) => {
      const channel = recordingChannel({ name, people: ["ada", "bob"], assurance: "account" });
      const store = sqliteStore({ path: join(folder, "holdpoint.db"), clock });
      return { channel, gate: createGate({ runtime: { ...runtime, ids: nodeRuntime().ids }, store, channels: [channel] }) };
    };
    const [near, far] = [open("near"), open("far")];
    const ran: unknown[] = [];
    near.gate.tool({
      name: "login",
      secrets: ["/token"],
      confirm: { approvers: ["ada", "bob"], quorum: 2, self: "allow" },
      run: (args: unknown) => ran.push(args),
    });
    const outcome = near.gate.run({ principal: "ada" }).try("login", { host: "a", token: "s3cret-s3cret" });
    const [first] = await vi.waitFor(() => {
      expect(near.channel.deliveries).toHaveLength(2);
      return near.channel.deliveries;
    });
    const id = String(first?.card.id);
    const approvals = far.gate.desk.approvals as Approvals;
    const ada = who("ada", { as: "far:ada", via: "far" });
    const shown = await approvals.card(id, ada);
    if (shown === undefined || !("view" in shown)) throw new Error("not shown");
    const edit = { arguments: { ...shown.card.arguments, host: "b" }, digest: shown.card.digest, view: shown.view };
    const done = await approvals.edit(id, edit, ada);
    await clock.advance(6000);
    await vi.waitFor(() => expect(near.channel.deliveries.map(({ card }) => card.id)).toContain(done.id));
    await near.channel.answer(String(done.id), "approve", { by: "bob" });
    expect(await outcome).toMatchObject({ status: "ran" });
    expect(ran).toEqual([{ host: "b", token: "s3cret-s3cret" }]);
    await near.gate[Symbol.asyncDispose]();
    await far.gate[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });
});

describe("a decision on another desk of the same store (P-05)", () => {
  it("ends the wait and closes the prompt where the call waits", async () => {
    const folder = mkdtempSync(join(tmpdir(), "holdpoint-far-"));
    const clock = manualClock();
    const runtime = nodeRuntime({ clock });
    const open = (name: string) => {
      const channel = recordingChannel({ name, people: ["ada"], assurance: "account" });
      const store = sqliteStore({ path: join(folder, "holdpoint.db"), clock });
      return { channel, gate: createGate({ runtime: { ...runtime, ids: nodeRuntime().ids }, store, channels: [channel] }) };
    };
    const [near, far] = [open("near"), open("far")];
    near.gate.tool({ name: "pay", confirm: true, run: () => "paid" });
    const outcome = near.gate.run({ principal: "ada" }).try("pay", {});
    await vi.waitFor(() => expect(near.channel.deliveries).toHaveLength(1));
    const id = String(near.channel.deliveries[0]?.card.id);
    const ada = who("ada", { as: "far:ada", via: "far" });
    const approvals = far.gate.desk.approvals as Approvals;
    const shown = await approvals.card(id, ada);
    if (shown === undefined || !("view" in shown)) throw new Error("not shown");
    await approvals.decide(id, { verdict: "reject", digest: shown.card.digest, view: shown.view }, ada);
    await clock.advance(6000);
    expect(await outcome).toMatchObject({ status: "refused", code: "rejected" });
    await vi.waitFor(() => expect(near.channel.closed.map(({ card }) => card.status)).toEqual(["rejected"]));
    await near.gate[Symbol.asyncDispose]();
    await far.gate[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });
});

describe("a requester that is not plainly nobody's own (P-09)", () => {
  it("counts as shared", async () => {
    for (const shared of ["yes", 1, null, {}]) {
      const on = scene();
      const outcome = on.gate.run({ principal: "ada", shared: shared as never }).try("pay", {});
      expect(await outcome).toMatchObject({ status: "refused", code: "no_approver" });
    }
  });
});

describe("this process's own journal under load (P-10)", () => {
  it("is not set back by a change that writes nothing to it", async () => {
    const clock = manualClock();
    const runtime = nodeRuntime({ clock });
    const faults = noFaults();
    const inner = faultyStore(memoryStore({ clock }), faults);
    let release: () => void = () => undefined;
    const waits = new Promise<void>((resolve) => (release = resolve));
    const store: typeof inner = {
      ...inner,
      commit: async (change) => {
        if (change.entries.length === 0) await waits;
        return inner.commit(change);
      },
    };
    const journal = journalWriter({ runtime, store, tenant: "default", events: eventStream(runtime.log) });
    const entry = (n: number) => ({ node: [{ event: "call.denied" as const, actor: null, data: { n } }] });
    const slow = journal.write({ rows: [{ kind: "policy", key: "p", expect: null, next: { a: 1 } }] });
    await journal.write(entry(0));
    release();
    expect(await slow).toMatchObject({ ok: true });
    await journal.write(entry(1));
    expect(faults.commits).toHaveLength(3);
  });
});

describe("what a tool is given of its run (P-02)", () => {
  it("cannot be written to", async () => {
    const on = scene();
    on.gate.tool({
      name: "read",
      tier: "read",
      run: (_args, { requester }) => {
        (requester.path as string[]).push("root");
      },
    });
    const run = on.gate.run({ principal: "ada", path: ["main"] });
    expect((await run.try("read", {})).status).toBe("failed");
    void run.try("pay", {});
    await on.clock.settle();
    expect(on.channel.deliveries[0]?.card.requester.path).toEqual(["main"]);
  });
});
