/**
 * Attacks that still succeed. Each test says what should hold and fails today (`it.fails`): whoever closes one takes the
 * word away.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it, vi } from "vitest";
import { createGate, nodeRuntime } from "../../src/index.ts";
import type { Approvals, Identity } from "../../src/core/approving.ts";
import { memoryStore } from "../../src/stores/memory/index.ts";
import { sqliteStore } from "../../src/stores/sqlite/index.ts";
import { manualClock, recordingChannel } from "../../src/testing/index.ts";

const who = (principal: string): Identity => ({
  principal,
  as: `recording:${principal}`,
  via: "recording",
  assurance: "account",
});

function scene() {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-open-"));
  const path = join(folder, "holdpoint.db");
  const clock = manualClock();
  const channel = recordingChannel({ people: ["ada"], assurance: "account" });
  const gate = createGate({ runtime: nodeRuntime({ clock }), store: sqliteStore({ path, clock }), channels: [channel] });
  const ran: unknown[] = [];
  gate.tool({ name: "pay", confirm: true, run: (args) => ran.push(args) });
  gate.tool({ name: "look", tier: "read", run: (args) => ran.push(args) });
  const sql = (text: string, ...values: string[]): void => {
    const db = new DatabaseSync(path);
    db.prepare(text).run(...values);
    db.close();
  };
  const end = async (): Promise<void> => {
    await gate[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  };
  return { clock, channel, gate, ran, sql, path, end, approvals: gate.desk.approvals as Approvals };
}

describe("authority", () => {
  it("whoever asks to switch the kill switch off is not the one who may say yes to it (P-09)", async () => {
    const clock = manualClock();
    const channel = recordingChannel({ people: ["ada"], assurance: "account" });
    const gate = createGate({
      runtime: nodeRuntime({ clock }),
      store: memoryStore({ clock }),
      channels: [channel],
      operator: "boss",
    });
    const approvals = gate.desk.approvals as Approvals;
    await approvals.kill("all", true, who("boss"));
    const mallory = who("mallory");
    const { request = "" } = await approvals.kill("all", false, mallory);
    const shown = await approvals.card(request, mallory);
    if (shown !== undefined && "view" in shown)
      await approvals.decide(request, { verdict: "approve", digest: shown.card.digest, view: shown.view }, mallory);
    expect(await approvals.killed()).toHaveLength(1);
  });

  it("an exemption in code does not answer a confirm that only the policy states (P-08)", async () => {
    const gate = createGate({ policy: { tools: [{ match: "pay", tier: "write", confirm: "sure?" }], unmatched: "allow" } });
    gate.tool({ name: "pay", run: () => "paid" });
    await gate.exempt("ours", { tools: ["pay"] }, () => true);
    expect((await gate.run({ principal: "ada" }).try("pay", {})).status).toBe("refused");
  });
});

describe("a database whose writer has none of the desk's keys", () => {
  it("a request that ran cannot be put back to approved and run by a repeat of its call id (P-03)", async () => {
    const on = scene();
    const run = () => on.gate.run({ principal: "ada", run: "r1" });
    const outcome = run().try("pay", {}, { id: "c1" });
    await vi.waitFor(() => expect(on.channel.deliveries).toHaveLength(1));
    await on.channel.answer(String(on.channel.deliveries[0]?.card.id), "approve");
    await outcome;
    on.sql(
      "UPDATE states SET status = 'approved', open = 1, changing = json_set(json_remove(changing, '$.claim', '$.outcome', '$.resolution'), '$.status', 'approved')",
    );
    await run().try("pay", {}, { id: "c1" });
    const ran = on.ran.length;
    await on.end();
    expect(ran).toBe(1);
  });

  it.fails("OPEN: a kill switch cannot be switched off by removing its row (P-10)", async () => {
    const on = scene();
    await on.approvals.kill("all", true, who("ada"));
    on.sql("DELETE FROM rows WHERE kind = 'kill'");
    await on.clock.advance(2000);
    const outcome = await on.gate.run({ principal: "ada" }).try("look", {});
    await on.end();
    expect(outcome).toMatchObject({ status: "refused", code: "killed" });
  });
});

describe("physical tools", () => {
  it.fails("OPEN: a physical tool that calls another one does not wait for itself for ever (P-07)", async () => {
    const clock = manualClock();
    const gate = createGate({
      policy: { rules: [{ allow: "**" }] },
      runtime: nodeRuntime({ clock }),
      store: memoryStore({ clock }),
    });
    const run = gate.run({ principal: "ada" });
    gate.tool({ name: "inner", tier: "physical", run: () => "done" });
    gate.tool({ name: "outer", tier: "physical", run: () => run.call("inner", {}) });
    let ended = false;
    void run.try("outer", {}).finally(() => {
      ended = true;
    });
    await clock.advance(86_400_000);
    expect(ended).toBe(true);
  });
});
