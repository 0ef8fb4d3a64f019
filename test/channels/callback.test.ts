import { describe, expect, it } from "vitest";
import { channelSuite, ListeningDesk, manualClock, sampleCard } from "../../src/testing/index.ts";
import { type ChannelDecision, DeclarationError } from "../../src/index.ts";
import { callbackChannel, type Answerer, type CallbackOptions } from "../../src/channels/callback/index.ts";

const card = sampleCard();
type Card = typeof card;

async function asked(answer: Answerer, desk: ListeningDesk = new ListeningDesk(manualClock())): Promise<ListeningDesk> {
  const channel = callbackChannel(answer, { as: "ada" });
  channel.open(desk.parts);
  await desk.deliver(channel, card);
  await desk.clock.settle();
  return desk;
}
const heard = (desk: ListeningDesk): readonly unknown[] =>
  desk.heard.map((one) => ("answer" in one ? [one.what, one.answer] : "edit" in one ? [one.what, one.edit] : [one.what, one.id]));

describe("callbackChannel", () => {
  it("carries a decision with the digest and view of what was shown", async () => {
    const desk = await asked(async () => ({ verdict: "approve", reason: "fine" }));
    expect(heard(desk)).toEqual([
      ["decide", { verdict: "approve", digest: card.digest, view: `view of ${card.id}`, reason: "fine" }],
    ]);
    expect(desk.heard[0]).toMatchObject({ as: { principal: "ada", as: "callback:ada", via: "callback", assurance: "local" } });
  });

  it("takes arguments on an approval for an edit", async () => {
    const desk = await asked(() => ({ verdict: "approve", arguments: { path: "/tmp/other" } }));
    expect(heard(desk)).toEqual([
      ["edit", { arguments: { path: "/tmp/other" }, digest: card.digest, view: `view of ${card.id}` }],
    ]);
  });

  it("passes on with null", async () => {
    expect(heard(await asked(() => null))).toEqual([["pass", card.id]]);
  });

  it.each<[string, unknown]>([
    ["true", true],
    ["undefined", undefined],
    ["a text", "approve"],
    ["a list", [{ verdict: "approve" }]],
    ["a verdict of another case", { verdict: "Approve" }],
    ["no verdict", { reason: "x" }],
    ["a member too many", { verdict: "approve", approved: true }],
    ["a reason that is no text", { verdict: "reject", reason: 1 }],
    ["arguments on a rejection", { verdict: "reject", arguments: {} }],
    ["arguments that are no object", { verdict: "approve", arguments: [1] }],
    ["arguments that are null", { verdict: "approve", arguments: null }],
    ["arguments that JSON cannot carry", { verdict: "approve", arguments: { at: new Date(0) } }],
    [
      "arguments with a getter",
      {
        verdict: "approve",
        arguments: {
          get path() {
            return "/x";
          },
        },
      },
    ],
  ])("ends the request for %s", async (_, value) => {
    expect(heard(await asked(() => value as ChannelDecision))).toEqual([["fault", card.id]]);
  });

  it("ends the request when the function throws, at once or later", async () => {
    for (const answer of [
      () => {
        throw new Error("no");
      },
      async () => {
        throw new Error("no");
      },
    ] as Answerer[]) {
      const desk = await asked(answer);
      expect(desk.heard).toEqual([{ what: "fault", id: card.id, problem: 'the function of channel "callback" threw' }]);
    }
  });

  it("gives the function a copy of the card", async () => {
    const seen: Card[] = [];
    const original = structuredClone(card);
    await asked((shown) => {
      seen.push(structuredClone(shown));
      (shown.arguments as Record<string, unknown>).path = "/other";
      return null;
    });
    expect(seen).toEqual([original]);
    expect(card).toEqual(original);
  });

  it("asks again where an edit was not taken, says why, and then gives the edit up (AP-024)", async () => {
    const desk = new ListeningDesk(manualClock());
    const no = {
      found: true,
      status: "pending",
      counted: false,
      code: "invalid_edit",
      note: "/path may not be changed",
    } as const;
    desk.answers.push(no, no);
    const notes: (readonly string[])[] = [];
    await asked((shown) => {
      notes.push(shown.notes);
      return { verdict: "approve", arguments: { path: "" } };
    }, desk);
    expect(notes).toEqual([[], ["the changed arguments were not taken: /path may not be changed"]]);
    expect(desk.heard.map((one) => one.what)).toEqual(["edit", "edit", "endEdit"]);
  });

  it("does not ask again where the answer itself was not taken", async () => {
    const desk = new ListeningDesk(manualClock());
    desk.answers.push({ found: true, status: "pending", counted: false, code: "stale_view" });
    await asked(() => ({ verdict: "approve", arguments: { path: "x" } }), desk);
    expect(desk.heard.map((one) => one.what)).toEqual(["edit"]);
  });

  it("tells the function when the request is over, and takes no answer from it then", async () => {
    const desk = new ListeningDesk(manualClock());
    let answer: (decision: ChannelDecision) => void = () => undefined;
    let aborted = false;
    const channel = callbackChannel(
      (_, { signal }) => {
        signal.addEventListener("abort", () => {
          aborted = true;
        });
        return new Promise((resolve) => {
          answer = resolve;
        });
      },
      { as: "ada" },
    );
    channel.open(desk.parts);
    await desk.deliver(channel, card);
    await desk.end(channel, { ...card, status: "expired", ending: "expired; it was not run" });
    expect(aborted).toBe(true);
    answer({ verdict: "approve" });
    await desk.clock.settle();
    expect(desk.heard).toEqual([]);
  });

  it("logs and lives when an answer cannot be recorded", async () => {
    const desk = new ListeningDesk(manualClock());
    desk.answers.push(() => {
      throw new Error("store down");
    });
    await asked(() => ({ verdict: "approve" }), desk);
    expect(desk.logged).toEqual(["an answer could not be recorded; the request's deadline ends it"]);
  });

  it("states name, assurance and deadline", async () => {
    const channel = callbackChannel(() => null, { name: "pager", as: "ada", assurance: "account", deadline: "15m" });
    expect(channel.capabilities).toEqual({
      edit: true,
      reason: true,
      links: false,
      assurance: "account",
      reach: "process",
      deadline: 900_000,
    });
    expect(await channel.reaches()).toEqual([{ principal: "ada", as: "pager:ada", via: "pager", assurance: "account" }]);
  });

  it.each<[string, unknown, unknown]>([
    ["no function", { verdict: "approve" }, { as: "ada" }],
    ["no options", () => null, undefined],
    ["nobody to speak for", () => null, {}],
    ["an empty principal", () => null, { as: " " }],
    ["an empty name", () => null, { as: "ada", name: "" }],
    ["an unknown assurance", () => null, { as: "ada", assurance: "total" }],
    ["a bad deadline", () => null, { as: "ada", deadline: "soon" }],
  ])("refuses %s where it is declared", (_, answer, options) => {
    expect(() => callbackChannel(answer as Answerer, options as CallbackOptions)).toThrow(DeclarationError);
  });

  channelSuite({
    describe,
    it,
    makeChannel: () => {
      const waiting = new Map<string, (decision: ChannelDecision) => void>();
      return {
        channel: callbackChannel(({ id }) => new Promise((resolve) => waiting.set(id, resolve)), { as: "ada" }),
        answer: async ({ id }, verdict, reason) => waiting.get(id)?.({ verdict, ...(reason === undefined ? {} : { reason }) }),
        dispose: async () => waiting.clear(),
      };
    },
  });
});
