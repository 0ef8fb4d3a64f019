import { describe, expect, it } from "vitest";
import { channelSuite, ListeningDesk } from "./channel-suite.ts";
import { manualClock } from "./manual-clock.ts";
import { recordingChannel } from "./recording-channel.ts";
import { sampleCard } from "./sample-card.ts";
import { scriptedApprover } from "./scripted-approver.ts";

const desk = (): ListeningDesk => new ListeningDesk(manualClock());
const A = sampleCard({ id: "a" });
const B = sampleCard({ id: "b" });

describe("recordingChannel", () => {
  it("remembers what it was given and answers nothing by itself", async () => {
    const channel = recordingChannel({ people: ["ada"] });
    const listening = desk();
    channel.open(listening.parts);
    expect(await listening.deliver(channel, A)).toEqual({ state: "seen" });
    await channel.close("a", { ...A, status: "expired" });
    await channel.remind("a", A);
    expect([
      channel.deliveries.map(({ card }) => card.id),
      channel.closed.map(({ request }) => request),
      channel.reminded,
    ]).toEqual([["a"], ["a"], ["a"]]);
    expect(listening.heard).toEqual([]);
  });

  it("answers what the test says, with what was shown", async () => {
    const channel = recordingChannel();
    const listening = desk();
    channel.open(listening.parts);
    await listening.deliver(channel, A);
    expect(await channel.answer("a", "reject", { reason: "no" })).toMatchObject({ counted: true, status: "rejected" });
    expect(listening.decisions).toEqual(["a reject no"]);
    expect(() => channel.answer("b", "approve")).toThrow(/nothing about b was delivered/);
    expect(() => channel.answer("a", "approve", { by: "eve" })).toThrow(/to eve/);
  });

  it("can be a transport that is down, or that reaches nobody", async () => {
    const down = recordingChannel({
      state: () => {
        throw new Error("down");
      },
    });
    const listening = desk();
    down.open(listening.parts);
    await expect(listening.deliver(down, A)).rejects.toThrow("down");
    expect(down.deliveries).toEqual([]);
    expect(await recordingChannel({ people: [] }).reaches()).toEqual([]);
  });

  channelSuite({
    describe,
    it,
    makeChannel: () => {
      const channel = recordingChannel();
      const done = new Set<string>();
      return {
        channel,
        answer: async (card, verdict, reason) => {
          const over = channel.closed.some(({ request }) => request === card.id) || done.has(card.id);
          if (!over) await channel.answer(card.id, verdict, reason === undefined ? {} : { reason });
          done.add(card.id);
        },
        dispose: async () => done.clear(),
      };
    },
  });
});

describe("scriptedApprover", () => {
  it("gives the answers of its script in order, then none", async () => {
    const channel = scriptedApprover([{ verdict: "approve" }, { verdict: "reject", reason: "no" }]);
    const listening = desk();
    channel.open(listening.parts);
    for (const card of [A, B, sampleCard({ id: "c" })]) await listening.deliver(channel, card);
    await channel.idle();
    expect(listening.decisions).toEqual(["a approve", "b reject no"]);
    expect(channel.shown.map(({ id }) => id)).toEqual(["a", "b", "c"]);
    expect([channel.left, channel.decided]).toEqual([
      0,
      [
        { request: "a", counted: true },
        { request: "b", counted: true },
      ],
    ]);
  });

  it("looks at the card, edits, and leaves unanswered", async () => {
    const channel = scriptedApprover(
      [
        (card) => (card.tool.name === "delete_path" ? null : { verdict: "approve" }),
        { verdict: "approve", arguments: { path: "/x" } },
      ],
      { as: "bob" },
    );
    const listening = desk();
    channel.open(listening.parts);
    await listening.deliver(channel, A);
    await listening.deliver(channel, A);
    await listening.deliver(channel, B);
    await channel.idle();
    expect(listening.heard).toMatchObject([
      { what: "edit", id: "b", edit: { arguments: { path: "/x" } }, as: { principal: "bob" } },
    ]);
  });
});
