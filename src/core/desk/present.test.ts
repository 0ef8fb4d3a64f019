import { describe, expect, it } from "vitest";
import type { Identity } from "../ports/approvals.ts";
import type { Card } from "../card.ts";
import { type Bench, bench, evidenceOf, held, holdFor, identity, submissionOf } from "./desk.test-kit.ts";
import { wordsFor } from "./present.ts";

const ADA: Identity = identity("ada");
const call = { tool: "pay", args: { to: "bob" } };

async function cardOf(on: Bench, id: string): Promise<Card> {
  const presented = await on.desk.approvals.card(id, ADA);
  if (presented === undefined || "ambiguous" in presented) throw new Error("not seen");
  return presented.card;
}

describe("wordsFor", () => {
  it("P-13 gives the listing where a declaration's words fail in any way", () => {
    const listing = wordsFor(undefined, call);
    expect(listing).toMatch(/^pay with: to=/);
    expect(wordsFor("Pay {to}?", call)).toBe("Pay bob?");
    expect(wordsFor(({ to }) => `To ${String(to)}`, call)).toBe("To bob");
    expect(wordsFor((() => 7) as never, call)).toBe(listing);
    expect(
      wordsFor(() => {
        throw new Error("no");
      }, call),
    ).toBe(listing);
  });
});

describe("a card", () => {
  it("P-13 says what it asks of whom, and who has said yes", async () => {
    const on = bench();
    const id = await held(
      on,
      submissionOf(on, {
        holds: [holdFor({ approvers: ["bob", "cem"], quorum: 2 }, "rule:two"), holdFor()],
        requester: { principal: "ada", agent: "bot", path: ["r"] },
        proof: "claimed",
      }),
    );
    await on.channel.answer(id, "approve", { by: "bob" });
    const card = await cardOf(on, id);
    expect(card.asks).toEqual([
      { by: "rule:two", of: [{ selectors: ["bob", "cem"], count: 2 }], approvedBy: ["bob"], met: false, assurance: "account" },
      { by: "tool", of: [{ selectors: ["@principal", "@operator"], count: 1 }], approvedBy: [], met: false, assurance: "local" },
    ]);
    expect(card.requester).toEqual({ principal: "ada", agent: "bot", path: ["r"], claimed: true });
    expect([card.editable, card.ending, card.code]).toEqual([[""], null, expect.stringMatching(/^[A-Z0-9]{4}$/)]);
    expect((await cardOf(on, id)).code).toBe(card.code);
  });

  it("P-13 flags what a reader could miss, in the call and in the agent's own words", async () => {
    const on = bench();
    const id = await held(
      on,
      submissionOf(on, { args: { path: "a\u202eb", key: "AKIAIOSFODNN7EXAMPLE" }, statement: "trust me\u200b" }),
    );
    const card = await cardOf(on, id);
    expect(card.flags.map(({ kind, pointer }) => `${kind} ${pointer}`)).toEqual(
      expect.arrayContaining(["bidi /path", "masked /key", "invisible the agent's own words"]),
    );
    expect(JSON.stringify(card.arguments)).not.toContain("AKIAIOSFODNN7EXAMPLE");
  });

  it("P-04 P-11 says how it ended, in words, and by whom", async () => {
    const on = bench();
    const endings: (string | null)[] = [];
    const ended = async (n: number, end: (id: string) => Promise<unknown>) => {
      const id = await held(on, submissionOf(on, { args: { n } }));
      await end(id);
      endings.push((await cardOf(on, id)).ending);
    };
    const claim = async (id: string, n: number) => {
      await on.channel.answer(id, "approve");
      const claimed = await on.desk.claim(id, evidenceOf(submissionOf(on, { args: { n } })));
      return claimed.ok ? claimed.token : "";
    };
    await ended(1, (id) => claim(id, 1));
    await ended(2, async (id) =>
      on.desk.complete(id, await claim(id, 2), { status: "succeeded", value: 1, observedBy: "executor" }),
    );
    await ended(3, async (id) => on.desk.complete(id, await claim(id, 3), { status: "failed", observedBy: "executor" }));
    await ended(4, async (id) => on.desk.complete(id, await claim(id, 4), { status: "lost", observedBy: "executor" }));
    await ended(5, async (id) => {
      await on.desk.complete(id, await claim(id, 5), { status: "lost", observedBy: "executor" });
      await on.desk.approvals.reconcile(id, true, ADA);
    });
    await ended(6, async (id) => {
      await on.desk.complete(id, await claim(id, 6), { status: "lost", observedBy: "executor" });
      await on.desk.approvals.reconcile(id, false, ADA);
    });
    await ended(7, (id) => on.channel.answer(id, "reject"));
    await ended(8, (id) => on.desk.cancel(id, "kill_switch", { principal: "ada" }));
    await ended(9, () => on.clock.advance(300_000));
    expect(endings).toEqual([
      "running now; a no comes too late",
      "it ran and succeeded",
      "it ran and failed",
      "it may or may not have run; nobody knows yet (unobserved)",
      "it may or may not have run; nobody knows yet (unobserved); it was found out that it ran",
      "it may or may not have run; nobody knows yet (unobserved); it was found out that it did not run",
      "rejected; it was not run, by ada",
      "withdrawn; it was not run (kill switch), by ada",
      "expired; it was not run (not decided)",
    ]);
  });

  it("A105 says whether its agent waits, was told to come back, or is gone", async () => {
    const on = bench();
    const id = await held(on, submissionOf(on, { deadline: 3_600_000 }));
    const presence = async (of: string) => (await cardOf(on, of)).presence;
    expect(await presence(id)).toBe("waiting");
    await on.desk.park(id, "gate");
    expect(await presence(id)).toBe("parked");
    await on.channel.answer(id, "approve");
    expect(await presence(id)).toBe("parked");
    await on.clock.advance(60_000);
    expect(await presence(id)).toBe("gone");
    await on.desk.cancel(id, "requester", { principal: "ada" });
    expect(await presence(id)).toBeNull();
    expect(await presence(await held(on, submissionOf(on, { wait: "suspend", args: { n: 2 } })))).toBeNull();
  });
});
