import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { digestOf, type Keys, partsOf } from "../../../src/core/index.ts";
import { type Channel, createGate, memoryKeys, nodeRuntime, type Outcome, type Run } from "../../../src/index.ts";
import { sqliteStore } from "../../../src/stores/sqlite/index.ts";
import { type ManualClock, manualClock, type RecordingChannel, recordingChannel } from "../../../src/testing/index.ts";
import { steered } from "../world/stores.ts";
import { bench } from "./bench.ts";

const PHYSICAL = { tier: "physical" as const };
describe("what outlives a process", () => {
  const folders: string[] = [];
  afterEach(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  });

  interface Host {
    readonly run: Run;
    readonly person: RecordingChannel;
    readonly gate: ReturnType<typeof createGate>;
    readonly store: ReturnType<typeof steered>;
    readonly ran: unknown[];
    stop(): Promise<void>;
  }
  const around = (): { clock: ManualClock; host: (channels?: readonly Channel[]) => Host } => {
    const folder = mkdtempSync(join(tmpdir(), "holdpoint-seeds-"));
    folders.push(folder);
    const clock = manualClock();
    const keys: Keys = memoryKeys();
    const host = (channels?: readonly Channel[]): Host => {
      const person = recordingChannel();
      const store = steered(sqliteStore({ path: join(folder, "holdpoint.db"), clock }), clock);
      const gate = createGate({ runtime: nodeRuntime({ clock, keys }), store, channels: channels ?? [person], deadline: "1h" });
      const ran: unknown[] = [];
      gate.tools([{ name: "move", tier: "physical", run: (args) => ran.push(args) }]);
      const run = gate.run({ principal: "ada", run: "run-1" });
      const stop = (): Promise<void> => (gate.desk as unknown as { close(): Promise<void> }).close();
      return { run, person, gate, store, ran, stop };
    };
    return { clock, host };
  };
  const settled = async (clock: ManualClock): Promise<void> => {
    for (let turn = 0; turn < 4; turn += 1) await clock.settle();
  };
  const begun = async (host: Host, clock: ManualClock): Promise<{ request: string; ended: Promise<Outcome> }> => {
    const ended = host.run.try("move", { to: "x" }, { id: "call-1" });
    ended.catch(() => undefined);
    await settled(clock);
    return { request: (await host.gate.pending())[0]?.record.id ?? "", ended };
  };
  const approved = async (host: Host, request: string): Promise<void> => {
    const as = { principal: "ada", as: "cli:ada", via: "cli", assurance: "account" as const };
    const approvals = host.gate.desk.approvals;
    const shown = await approvals?.card(request, as);
    if (shown === undefined || "ambiguous" in shown) throw new Error("there is no card");
    await approvals?.decide(request, { verdict: "approve", digest: shown.card.digest, view: shown.view }, as);
  };

  it("TA-103, TA-104: a spent approval is in no list and is decided no more", async () => {
    const at = bench();
    at.tools({ name: "move", ...PHYSICAL });
    const call = await at.begin("move", {});
    await at.answers(call.request, "approve");
    expect(await at.gate.pending()).toEqual([]);
    expect(await at.answers(call.request, "reject")).toMatchObject({ counted: false, code: "late", status: "succeeded" });
  });

  it("TA-105: a request that nobody decided cannot be claimed", async () => {
    const at = bench();
    at.tools({ name: "move", ...PHYSICAL });
    const { request } = await at.begin("move", { to: "x" });
    const standing = await at.desk.standing(request);
    const claimed = await at.desk.claim(request, {
      holder: "somebody",
      requester: { principal: "ada", run: "run-1" },
      tool: standing?.record.call.tool as never,
      arguments: { to: "x" },
      bindings: {},
    });
    expect(claimed).toMatchObject({ ok: false, status: "pending" });
  });

  it("TA-106: a pending request is there after a restart, under its id", async () => {
    const { clock, host } = around();
    const first = host();
    const { request } = await begun(first, clock);
    await first.stop();
    const second = host();
    expect((await second.gate.pending()).map(({ record }) => record.id)).toEqual([request]);
    await second.stop();
  });

  it("TA-107: a decision, its person and what it is tied to are there after a restart", async () => {
    const { clock, host } = around();
    const first = host();
    const { id } = await first.run.submit("move", { to: "x" });
    await settled(clock);
    await approved(first, id);
    const before = await first.gate.desk.standing(id);
    await first.stop();
    const second = host();
    const after = await second.gate.desk.standing(id);
    expect(after?.record.decisions).toEqual(before?.record.decisions);
    expect(after).toMatchObject({
      status: "approved",
      record: { digest: before?.record.digest, decisions: [{ by: "ada", as: "cli:ada" }] },
    });
    await second.stop();
  });

  it("TA-108: arguments and their hash changed together are still not what was approved", async () => {
    const { clock, host } = around();
    const first = host();
    const { id } = await first.run.submit("move", { to: "x" });
    await settled(clock);
    await approved(first, id);
    const { crypto } = nodeRuntime();
    const asked = await first.gate.desk.standing(id);
    first.store.tamper = (stored) => {
      if (stored.payload === null) return stored;
      const payload = { ...stored.payload, arguments: { to: "elsewhere" } };
      return { payload, record: { ...stored.record, digest: digestOf(crypto, partsOf(stored.record, payload.arguments)) } };
    };
    const claimed = await first.gate.desk.claim(id, {
      holder: "somebody",
      requester: { principal: "ada", run: "run-1" },
      tool: asked?.record.call.tool as never,
      arguments: { to: "elsewhere" },
      bindings: {},
    });
    expect(claimed).toMatchObject({ ok: false, refusal: { code: "store_unavailable" } });
    await expect(first.gate.desk.standing(id)).rejects.toThrow("changed outside Holdpoint");
    await first.stop();
  });

  it("TA-109: what expired is not pending after a restart", async () => {
    const { clock, host } = around();
    const first = host();
    await begun(first, clock);
    await first.stop();
    await clock.advance(3_600_000);
    const second = host();
    expect(await second.gate.pending()).toEqual([]);
    await second.stop();
  });

  it.each([
    ["approve", "request.voted"],
    ["reject", "request.rejected"],
  ] as const)("TA-112: to %s leaves who did it, and with which words", async (verdict, event) => {
    const at = bench();
    at.tools({ name: "move", ...PHYSICAL });
    const call = await at.begin("move", {});
    await at.answers(call.request, verdict, { reason: "because" });
    expect(at.journal(event)).toMatchObject([{ actor: { principal: "ada", as: "recording:ada", via: "recording" } }]);
    const shown = await at.card(call.request);
    expect(shown === undefined || "ambiguous" in shown ? [] : shown.card.notes).toContain("a person wrote: because");
  });
});
