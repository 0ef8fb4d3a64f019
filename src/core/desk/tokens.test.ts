import { describe, expect, it } from "vitest";
import { memoryStore } from "../../stores/memory/index.ts";
import { manualClock } from "../../testing/index.ts";
import type { Store } from "../ports/store.ts";
import { benchRuntime, entriesOf, identity, rowsOf } from "./desk.test-kit.ts";
import { eventStream } from "./events.ts";
import { tokenBook } from "./tokens.ts";

function book(over: { readonly tenant?: string; readonly store?: Store } = {}) {
  const clock = manualClock();
  const runtime = benchRuntime(clock);
  const store = over.store ?? memoryStore({ clock });
  const tenant = over.tenant === undefined ? {} : { tenant: over.tenant };
  return { runtime, store, tokens: tokenBook({ runtime, store, events: eventStream(runtime.log), ...tenant }) };
}
const op = identity("op");
const AGENT = { role: "agent", principals: ["ada"], agent: "bot", label: null } as const;

describe("tokens", () => {
  it("are found by what they are and stored as a hash alone", async () => {
    const { tokens, store } = book();
    const { token, ...info } = await tokens.make(AGENT, op);
    expect(token).toMatch(/^hpt_[\w-]{43}$/);
    expect(await tokens.find(token)).toEqual(info);
    expect(info).toMatchObject({ role: "agent", principals: ["ada"], agent: "bot", by: "op" });
    expect(JSON.stringify(await rowsOf(store, "token"))).not.toContain(token);
    expect(await tokens.find(token.slice(0, 8))).toBeUndefined();
  });

  it("are listed without themselves, and end when they are revoked, once", async () => {
    const { tokens, store, runtime } = book();
    const { token, ...info } = await tokens.make({ ...AGENT, role: "approver", label: "phone" }, op);
    expect(await tokens.list()).toEqual([info]);
    expect(await tokens.revoke("another", op)).toBe(false);
    expect(await tokens.revoke(info.id, op)).toBe(true);
    expect(await tokens.revoke(info.id, op)).toBe(false);
    expect(await tokens.find(token)).toBeUndefined();
    const entries = await entriesOf(store, `node/${runtime.ids.process}`);
    expect(entries.map(({ event }) => event)).toEqual(["token.made", "token.revoked"]);
    expect(JSON.stringify(entries)).not.toContain(token);
  });

  it("are made only where the journal takes it (P-10)", async () => {
    const clock = manualClock();
    const plain = memoryStore({ clock });
    const store: Store = { ...plain, commit: async () => ({ ok: false, why: "killed" }), row: plain.row.bind(plain) };
    await expect(book({ store }).tokens.make(AGENT, op)).rejects.toMatchObject({ code: "journal_unavailable" });
  });

  it("of another tenant are nobody's", async () => {
    const { tokens, store } = book({ tenant: "one" });
    const { token } = await tokens.make(AGENT, op);
    const other = book({ tenant: "two", store }).tokens;
    expect([await other.find(token), await other.list()]).toEqual([undefined, []]);
  });

  it("with a row that says no role or names nobody by a list are nobody's", async () => {
    const { tokens, store, runtime } = book();
    const { token } = await tokens.make(AGENT, op);
    const [row] = await rowsOf(store, "token");
    if (row === undefined) throw new Error("there is no row");
    let rev = row.rev;
    for (const damage of [{ role: "root" }, { principals: "ada" }]) {
      await store.commit({
        records: [],
        entries: [],
        rows: [{ kind: "token", key: row.key, expect: rev, next: { ...row.value, ...damage } }],
        at: await store.now(),
        key: runtime.ids.request(),
      });
      rev += 1;
      expect([await tokens.find(token), await tokens.list()]).toEqual([undefined, []]);
    }
  });
});
