import { describe, expect, it } from "vitest";
import type { Hash } from "./hash.ts";
import { instant } from "./instant.ts";
import { allMet, clauseMet, couldMeet, eligible, type Standing, supporters } from "./quorum.ts";
import type { Decision } from "./request.ts";
import type { Assurance, Clause } from "./requirement.ts";

const DIGEST: Hash = `sha256:${"d".repeat(64)}`;
const vote = (by: string, over: Partial<Decision> = {}): Decision => ({
  id: `d-${by}`,
  verdict: "approve",
  by,
  as: `slack:${by}`,
  via: "slack",
  assurance: "account",
  digest: DIGEST,
  rendering: null,
  at: instant(0),
  mac: "m",
  ...over,
});
const clause = (over: Partial<Clause> = {}): Clause => ({
  by: "tool",
  any: [{ of: ["x"], count: 1 }],
  self: "deny",
  assurance: "local",
  window: 0,
  exemptible: false,
  ...over,
});
const member = (over: Partial<Standing> = {}): Standing => ({ self: false, holds: [[true]], ...over });

describe("quorum", () => {
  it("P-01 counts each person once, whatever the number of identities", () => {
    const two = clause({ any: [{ of: ["x"], count: 2 }] });
    const electorate = new Map([
      ["ada", member()],
      ["bob", member()],
    ]);
    const twice = [vote("ada"), vote("ada", { id: "other", as: "mail:ada" })];
    expect(clauseMet(two, 0, { decisions: twice, electorate })).toBe(false);
    expect(clauseMet(two, 0, { decisions: [...twice, vote("bob")], electorate })).toBe(true);
    expect(supporters(two, 0, { decisions: twice, electorate })).toEqual([new Set(["ada"])]);
  });

  it("P-09 leaves out who asks, who is not known, who is not named, and who says no", () => {
    const of = (decisions: readonly Decision[], standing: Standing) =>
      clauseMet(clause(), 0, { decisions, electorate: new Map([["ada", standing]]) });
    expect(of([vote("ada")], member())).toBe(true);
    expect(of([vote("ada")], member({ self: true }))).toBe(false);
    expect(of([vote("eve")], member())).toBe(false);
    expect(of([vote("ada")], member({ holds: [[false]] }))).toBe(false);
    expect(of([vote("ada")], member({ holds: [] }))).toBe(false);
    expect(of([vote("ada", { verdict: "reject" })], member())).toBe(false);
    expect(
      clauseMet(clause({ self: "allow" }), 0, {
        decisions: [vote("ada")],
        electorate: new Map([["ada", member({ self: true })]]),
      }),
    ).toBe(true);
  });

  it.each<[Assurance, Assurance, boolean]>([
    ["client", "local", false],
    ["local", "local", true],
    ["account", "local", true],
    ["fresh", "signed", false],
    ["signed", "signed", true],
  ])("takes an answer worth %s for a clause that wants %s: %s", (had, assurance, met) => {
    const electorate = new Map([["ada", member()]]);
    expect(clauseMet(clause({ assurance }), 0, { decisions: [vote("ada", { assurance: had })], electorate })).toBe(met);
  });

  it("lets one person count in several clauses, and one alternative suffice", () => {
    const both = [
      clause(),
      clause({
        any: [
          { of: ["y"], count: 2 },
          { of: ["z"], count: 1 },
        ],
      }),
    ];
    const electorate = new Map([["ada", member({ holds: [[true], [false, true]] })]]);
    expect(allMet(both, { decisions: [vote("ada")], electorate })).toBe(true);
    expect(allMet(both, { decisions: [], electorate })).toBe(false);
  });

  it("P-14 never takes nothing for everything: no clause, no count, no such clause", () => {
    const votes = { decisions: [vote("ada")], electorate: new Map([["ada", member()]]) };
    expect(allMet([], votes)).toBe(false);
    expect(clauseMet(clause({ any: [] }), 0, votes)).toBe(false);
    expect(clauseMet(clause({ any: [{ of: ["x"], count: 0 }] }), 0, votes)).toBe(false);
    expect(clauseMet(clause(), 3, votes)).toBe(false);
    expect(couldMeet(clause({ any: [{ of: ["x"], count: 0 }] }), 0, new Map())).toBe(false);
  });

  it("P-06 knows who could meet a clause before anyone is asked", () => {
    const people = new Map([
      ["ada", member({ self: true })],
      ["bob", member()],
      ["cem", member({ holds: [[false]] })],
    ]);
    expect(couldMeet(clause(), 0, people)).toBe(true);
    expect(couldMeet(clause({ any: [{ of: ["x"], count: 2 }] }), 0, people)).toBe(false);
    expect(couldMeet(clause({ any: [{ of: ["x"], count: 2 }], self: "allow" }), 0, people)).toBe(true);
    expect(couldMeet(clause(), 1, people)).toBe(false);
    expect(eligible(clause(), 0, member({ self: true }))).toBe(false);
    expect(eligible(clause(), 0, member())).toBe(true);
    expect(eligible(clause(), 1, member())).toBe(false);
  });
});
