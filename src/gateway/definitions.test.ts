import { describe, expect, it } from "vitest";
import { Definitions } from "./definitions.ts";
import type { MessageValue } from "../core/index.ts";

const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const page = (description: string, more: Record<string, MessageValue> = {}): MessageValue => ({
  tools: [{ name: "a", description }],
  ...more,
});
const described = (description: string): object => ({ name: "a", description });

describe("a list that was asked for before the tools changed", () => {
  it("is not kept when the client asked for it", () => {
    const definitions = new Definitions(log);
    const asked = definitions.changes;
    definitions.changed();
    definitions.observed(page("old"), { asked, first: true });
    expect(definitions.known("a")).toBeUndefined();
  });

  it("is asked for again when we did, at most three times", async () => {
    const definitions = new Definitions(log);
    const answers = ["old", "newer", "newest"];
    let asked = 0;
    const changing = async (): Promise<MessageValue> => {
      const answer = page(answers[asked] as string);
      asked += 1;
      if (asked < 3) definitions.changed();
      return answer;
    };
    expect(await definitions.find("a", changing)).toEqual(described("newest"));
    expect(await definitions.find("a", changing)).toEqual(described("newest"));
    expect(asked).toBe(3);
  });

  it("from a server that never stops changing is no list", async () => {
    const definitions = new Definitions(log);
    const restless = async (): Promise<MessageValue> => {
      definitions.changed();
      return page("again");
    };
    expect(await definitions.find("a", restless)).toBeUndefined();
    expect(definitions.known("a")).toBeUndefined();
  });
});

describe("a list that says for how long it holds (2026-07-28)", () => {
  it("is asked for again once it no longer does, and answers the call it was asked for", async () => {
    const definitions = new Definitions(log);
    let asked = 0;
    const brief = async (): Promise<MessageValue> => {
      asked += 1;
      return page(`${asked}`, { ttlMs: 0 });
    };
    expect(await definitions.find("a", brief)).toEqual(described("1"));
    expect(definitions.known("a")).toBeUndefined();
    expect(await definitions.find("a", brief)).toEqual(described("2"));
  });

  it("is kept while it does, also when the client asked for it; the shortest page counts", () => {
    const definitions = new Definitions(log);
    definitions.observed(page("kept", { ttlMs: 60_000 }), { asked: 0, first: true });
    expect(definitions.known("a")).toEqual(described("kept"));
    definitions.observed({ tools: [], ttlMs: 0 }, { asked: 0, first: false });
    definitions.observed({ tools: [], ttlMs: 60_000 }, { asked: 0, first: false });
    expect(definitions.known("a")).toBeUndefined();
    definitions.observed(page("new"), { asked: 0, first: true });
    expect(definitions.known("a")).toEqual(described("new"));
  });
});

describe("what a server lists", () => {
  it("without end is not waited for", async () => {
    let asked = 0;
    const endless = async (): Promise<MessageValue> => {
      asked += 1;
      return page("x", { nextCursor: `${asked}` });
    };
    expect(await new Definitions(log).find("a", endless)).toBeUndefined();
    expect(asked).toBe(100);
  });

  it.each<[string, MessageValue]>([
    ["nothing", null],
    ["no list", { tools: "none" }],
    ["tools without a name", { tools: [{ description: "x" }, null, "a", { name: 5 }] }],
  ])("as %s is no tool", async (_what, answer) => {
    expect(await new Definitions(log).find("a", async () => answer)).toBeUndefined();
  });
});
