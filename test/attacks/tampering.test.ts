import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createGate, nodeRuntime, type Policy, type Tool } from "../../src/index.ts";
import type { Approvals, Identity } from "../../src/core/approving.ts";
import { hashOf } from "../../src/core/index.ts";
import { sqliteStore } from "../../src/stores/sqlite/index.ts";
import { manualClock, recordingChannel } from "../../src/testing/index.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

type Fields = Record<string, unknown>;

/** A gate on a database file, and somebody who can write that file but has none of the desk's keys. */
function scene(policy: Policy, tool: Partial<Tool> = {}) {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-tampering-"));
  folders.push(folder);
  const path = join(folder, "holdpoint.db");
  const clock = manualClock();
  const runtime = nodeRuntime({ clock });
  const channel = recordingChannel({ people: ["ada", "bob", "cem"], assurance: "account" });
  const gate = createGate({ policy, runtime, store: sqliteStore({ path, clock }), channels: [channel] });
  const ran: unknown[] = [];
  gate.tool({ name: "pay", tier: "write", ...tool, run: (args: unknown) => ran.push(args) } as never);
  const sql = <T>(work: (db: DatabaseSync) => T): T => {
    const db = new DatabaseSync(path);
    try {
      return work(db);
    } finally {
      db.close();
    }
  };
  /** Changes one part of the only request as its bytes stand in the file. */
  const rewrite = (table: "requests" | "states", column: string, change: (value: Fields) => Fields): void =>
    sql((db) => {
      const found = db.prepare(`SELECT place, ${column} AS text FROM ${table} ORDER BY place DESC LIMIT 1`).get() as {
        place: number;
        text: string;
      };
      db.prepare(`UPDATE ${table} SET ${column} = ? WHERE place = ?`).run(
        JSON.stringify(change(JSON.parse(found.text) as Fields)),
        found.place,
      );
    });
  const rewriteRow = (kind: string, change: (value: Fields) => Fields): void =>
    sql((db) => {
      const { value } = db.prepare("SELECT value FROM rows WHERE kind = ?").get(kind) as { value: string };
      db.prepare("UPDATE rows SET value = ? WHERE kind = ?").run(JSON.stringify(change(JSON.parse(value) as Fields)), kind);
    });
  const approvals = gate.desk.approvals as Approvals;
  const run = gate.run({ principal: "ada", agent: "bot" });
  /** The id of the next request that waits and was shown. */
  const waiting = (): Promise<string> =>
    vi.waitFor(() => {
      const last = channel.deliveries.at(-1);
      if (last === undefined || channel.closed.some(({ request }) => request === last.card.id)) throw new Error("nothing waits");
      return last.card.id;
    });
  return { clock, runtime, channel, gate, ran, sql, rewrite, rewriteRow, approvals, run, waiting };
}

const who = (principal: string): Identity => ({
  principal,
  as: `recording:${principal}`,
  via: "recording",
  assurance: "account",
});
async function shownTo(on: ReturnType<typeof scene>, id: string, as: Identity) {
  const shown = await on.approvals.card(id, as);
  if (shown === undefined || !("view" in shown)) throw new Error("not shown");
  return { digest: shown.card.digest, view: shown.view };
}

describe("authority written into the database by hand (P-01, P-14)", () => {
  it("does not lengthen a window", async () => {
    const on = scene({}, { confirm: { window: "10m" } });
    const first = on.run.try("pay", { amount: 1 });
    await on.channel.answer(await on.waiting(), "approve", { by: "ada" });
    expect((await first).status).toBe("ran");
    on.clock.set(on.clock.now() + 660_000);
    on.rewriteRow("window", (row) => ({ ...row, since: new Date(on.clock.now()).toISOString() }));
    const again = on.run.try("pay", { amount: 1 });
    await on.channel.answer(await on.waiting(), "reject", { by: "ada" });
    expect(await again).toMatchObject({ status: "refused", code: "rejected" });
    expect(on.ran).toHaveLength(1);
  });

  it("does not outlive its end by a clock that is set back before it began", async () => {
    const on = scene({}, { confirm: { window: "10m" } });
    const first = on.run.try("pay", { amount: 1 });
    await on.channel.answer(await on.waiting(), "approve", { by: "ada" });
    await first;
    on.clock.set(on.clock.now() - 86_400_000);
    const again = on.run.try("pay", { amount: 1 });
    await on.channel.answer(await on.waiting(), "reject", { by: "ada" });
    expect((await again).status).toBe("refused");
  });

  it("does not let a window's words be put under another call's key", async () => {
    const on = scene({}, { confirm: { window: "10m" } });
    const first = on.run.try("pay", { amount: 1 });
    await on.channel.answer(await on.waiting(), "approve", { by: "ada" });
    await first;
    const other = on.run.try("pay", { amount: 1_000_000 });
    const id = await on.waiting();
    const callKey = on.sql((db) => {
      const { frozen } = db.prepare("SELECT frozen FROM requests ORDER BY place DESC LIMIT 1").get() as { frozen: string };
      return (JSON.parse(frozen) as { callKey: string }).callKey;
    });
    await on.gate.cancel(id);
    await other;
    const key = hashOf(on.runtime.crypto, {
      type: "holdpoint/window-key/v1",
      tenant: "default",
      principal: "ada",
      agent: "bot",
      callKey,
    });
    on.sql((db) => db.prepare("UPDATE rows SET key = ? WHERE kind = 'window'").run(key));
    const again = on.run.try("pay", { amount: 1_000_000 });
    await on.channel.answer(await on.waiting(), "reject", { by: "ada" });
    expect(await again).toMatchObject({ status: "refused", code: "rejected" });
    expect(on.ran).toEqual([{ amount: 1 }]);
  });

  it("does not lengthen a grant", async () => {
    const on = scene({ unmatched: "allow" }, { requires: { scope: "payments", length: "10m" } });
    const first = on.run.try("pay", { amount: 1 });
    await on.channel.answer(await on.waiting(), "approve", { by: "ada" });
    expect((await first).status).toBe("ran");
    on.clock.set(on.clock.now() + 660_000);
    on.rewriteRow("grant", (row) => ({ ...row, until: new Date(on.clock.now() + 3_600_000).toISOString() }));
    const again = on.run.try("pay", { amount: 2 });
    await on.channel.answer(await on.waiting(), "reject", { by: "ada" });
    expect((await again).status).toBe("refused");
    expect(on.ran).toHaveLength(1);
  });
});

describe("a request rewritten in the database (P-01, P-02)", () => {
  const TWO: Policy = { rules: [{ ask: "pay", approvers: ["bob", "cem"], quorum: 2, window: "10m" }] };

  it("does not count a vote that nobody gave, not even for a window", async () => {
    const on = scene(TWO);
    const outcome = on.run.try("pay", { amount: 1 });
    const id = await on.waiting();
    const { digest } = await shownTo(on, id, who("bob"));
    const forged = { id: "x", verdict: "approve", by: "cem", as: "recording:cem", via: "recording", assurance: "account" };
    on.rewrite("states", "changing", (record) => ({
      ...record,
      decisions: [{ ...forged, digest, rendering: null, at: new Date(on.clock.now()).toISOString(), mac: "x".repeat(43) }],
    }));
    await on.channel.answer(id, "approve", { by: "bob" }).catch(() => undefined);
    await on.gate.cancel(id).catch(() => undefined);
    await on.clock.advance(400_000);
    expect(on.sql((db) => db.prepare("SELECT count(*) AS n FROM rows WHERE kind = 'window'").get())).toEqual({ n: 0 });
    expect(on.ran).toEqual([]);
    void outcome.catch(() => undefined);
  });

  it("does not take a demand that was weakened while it waited", async () => {
    const on = scene(TWO);
    const outcome = on.run.try("pay", { amount: 1 });
    await on.waiting();
    const { crypto } = on.runtime;
    on.rewrite("requests", "frozen", (record) => {
      const terms = record.terms as { clauses: Fields[] };
      const weak = { ...terms, clauses: [{ ...terms.clauses[0], any: [{ of: ["mallory"], count: 1 }], assurance: "local" }] };
      const termsHash = hashOf(crypto, weak as never);
      const { id, tenant, kind, nonce, bindings, requester, call } = record;
      const said = { ...(call as Fields), arguments: { amount: 1 } };
      const digest = hashOf(crypto, {
        type: "holdpoint/request/v1",
        id,
        tenant,
        kind,
        nonce,
        call: said,
        bindings,
        requester,
        terms: termsHash,
      } as never);
      return { ...record, terms: weak, termsHash, digest };
    });
    const id = String(on.channel.deliveries.at(-1)?.card.id);
    const mallory = who("mallory");
    const decided = await shownTo(on, id, mallory)
      .then((shown) => on.approvals.decide(id, { verdict: "approve", ...shown }, mallory))
      .catch(() => undefined);
    await on.clock.advance(400_000);
    expect(decided?.status).not.toBe("approved");
    expect(on.ran).toEqual([]);
    void outcome.catch(() => undefined);
  });

  it("cannot be approved once its arguments are gone", async () => {
    const on = scene({}, { confirm: true });
    void on.run.try("pay", { amount: 1_000_000 });
    const id = await on.waiting();
    on.sql((db) => db.prepare("UPDATE requests SET payload = NULL, payload_rev = NULL").run());
    const shown = await shownTo(on, id, who("ada"));
    const decided = await on.approvals.decide(id, { verdict: "approve", ...shown }, who("ada"));
    expect(decided.counted).toBe(false);
    expect(on.ran).toEqual([]);
  });

  it("is not approved by a status, a time or a claim that somebody wrote", async () => {
    for (const forged of [
      { status: "approved" },
      { status: "approved", runBy: "2999-01-01T00:00:00.000Z" },
      { runBy: "2999-01-01T00:00:00.000Z" },
    ]) {
      const on = scene({}, { confirm: true });
      const outcome = on.run.try("pay", { amount: 1 });
      await on.waiting();
      on.rewrite("states", "changing", (record) => ({ ...record, ...forged }));
      on.sql((db) => db.prepare("UPDATE states SET status = ?").run((forged as { status?: string }).status ?? "pending"));
      await on.clock.advance(400_000);
      expect(on.ran).toEqual([]);
      void outcome.catch(() => undefined);
    }
  });

  it("is not answered later than it was asked to be", async () => {
    const on = scene({}, { confirm: true });
    const outcome = on.run.try("pay", { amount: 1 });
    const id = await on.waiting();
    const shown = await shownTo(on, id, who("ada"));
    on.rewrite("requests", "frozen", (record) => ({ ...record, decideBy: "2999-01-01T00:00:00.000Z" }));
    on.clock.set(on.clock.now() + 3_600_000);
    const decided = await on.approvals.decide(id, { verdict: "approve", ...shown }, who("ada")).catch(() => undefined);
    expect(decided?.counted).not.toBe(true);
    expect(on.ran).toEqual([]);
    void outcome.catch(() => undefined);
  });

  it("does not run later than its approval was worth", async () => {
    const on = scene({}, { confirm: true });
    const { id } = await on.run.submit("pay", { amount: 1 });
    await vi.waitFor(() => expect(on.channel.deliveries).toHaveLength(1));
    await on.channel.answer(id, "approve", { by: "ada" });
    on.rewrite("states", "changing", (record) => ({ ...record, runBy: "2999-01-01T00:00:00.000Z" }));
    on.clock.set(on.clock.now() + 3_600_000);
    const standing = await on.gate.desk.standing(id).catch(() => undefined);
    expect(standing?.status).not.toBe("approved");
  });
});
