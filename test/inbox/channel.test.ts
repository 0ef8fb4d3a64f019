import { describe, expect, it } from "vitest";
import { inboxChannel, type InboxOptions, LiveSurfaces, type Surface } from "../../src/channels/inbox/index.ts";
import { type Card, type Channel, type ChannelDesk, DeclarationError, type Delivery } from "../../src/index.ts";
import { channelSuite, type ChannelUnderTest, ListeningDesk, manualClock, sampleCard } from "../../src/testing/index.ts";

type Identity = Surface["identity"];
const ADA: Identity = { principal: "ada", as: "inbox:ada", via: "inbox", assurance: "local" };
const BEN: Identity = { principal: "ben", as: "inbox:ben", via: "inbox", assurance: "account" };

/** An inbox that somebody has open: shows what it is told of, says so, and posts the answers as the server would. */
class OpenInbox implements Surface {
  readonly identity: Identity;
  readonly showing = new Map<string, Delivery>();
  readonly told: string[] = [];
  readonly #surfaces: LiveSurfaces;
  readonly known = new Map<string, Delivery>();
  desk: ChannelDesk | undefined;

  constructor(surfaces: LiveSurfaces, identity: Identity = ADA) {
    this.#surfaces = surfaces;
    this.identity = identity;
  }

  show(request: string): void {
    this.told.push(request);
    const delivery = this.known.get(request);
    if (delivery !== undefined) this.showing.set(request, delivery);
    this.#surfaces.report(request, this.identity.as, "seen");
  }

  drop(request: string): void {
    this.showing.delete(request);
  }

  async answer(card: Card, verdict: "approve" | "reject", reason?: string): Promise<void> {
    const shown = this.showing.get(card.id);
    if (shown === undefined) return;
    this.showing.delete(card.id);
    const answer = { verdict, digest: shown.card.digest, view: shown.view, ...(reason === undefined ? {} : { reason }) };
    await this.desk?.approvals.decide(card.id, answer, shown.to);
  }
}

/** The channel as it is, with what the server would fetch of a delivery kept for the inbox beside it. */
function watched(channel: Channel, inbox: OpenInbox): Channel {
  return {
    name: channel.name,
    capabilities: channel.capabilities,
    open: (desk) => {
      inbox.desk = desk;
      channel.open(desk);
    },
    reaches: () => channel.reaches(),
    render: (card) => channel.render(card),
    deliver: (delivery) => {
      inbox.known.set(delivery.card.id, delivery);
      return channel.deliver(delivery);
    },
    close: (request, card) => channel.close(request, card),
    remind: (request, card) => channel.remind(request, card),
    [Symbol.asyncDispose]: () => channel[Symbol.asyncDispose](),
  };
}

channelSuite({
  describe,
  it,
  makeChannel: (): ChannelUnderTest => {
    const surfaces = new LiveSurfaces();
    const inbox = new OpenInbox(surfaces);
    const close = surfaces.open(inbox);
    return {
      channel: watched(inboxChannel({ surfaces }), inbox),
      answer: (card, verdict, reason) => inbox.answer(card, verdict, reason),
      dispose: async () => close(),
    };
  },
});

const card = sampleCard();

function opened(options: Partial<InboxOptions> = {}) {
  const surfaces = new LiveSurfaces();
  const channel = inboxChannel({ surfaces, ...options });
  const desk = new ListeningDesk(manualClock());
  channel.open(desk.parts);
  return { surfaces, channel, desk };
}

describe("inboxChannel", () => {
  it("reaches whoever has an inbox open, once each, and nobody when it is closed", async () => {
    const { surfaces, channel } = opened({ assurance: "account" });
    expect(await channel.reaches()).toEqual([]);
    const close = surfaces.open({ identity: ADA });
    surfaces.open({ identity: ADA });
    surfaces.open({ identity: BEN });
    expect(await channel.reaches()).toEqual([ADA, BEN]);
    close();
    close();
    expect(await channel.reaches()).toHaveLength(2);
  });

  it("vouches for no more than it was set up for", async () => {
    const { surfaces, channel } = opened();
    surfaces.open({ identity: { ...BEN, via: "somewhere" } });
    expect(await channel.reaches()).toEqual([{ ...BEN, via: "inbox", assurance: "local" }]);
  });

  it("P-06: delivers when the list that is looked at shows it, and not before", async () => {
    const { surfaces, channel, desk } = opened();
    surfaces.open({ identity: ADA });
    const delivering = desk.deliver(channel, card);
    let settled = false;
    void delivering.then(() => {
      settled = true;
    });
    await desk.clock.settle();
    surfaces.report("another", ADA.as, "seen");
    surfaces.report(card.id, BEN.as, "seen");
    await desk.clock.settle();
    expect(settled).toBe(false);
    expect(surfaces.report(card.id, ADA.as, "listed")).toBe(true);
    expect(await delivering).toEqual({ state: "delivered" });
  });

  it("says seen where any of a person's inboxes showed all of it, also before it was delivered", async () => {
    const { surfaces, channel, desk } = opened();
    surfaces.open({ identity: ADA });
    surfaces.report(card.id, ADA.as, "seen");
    surfaces.report(card.id, ADA.as, "listed");
    expect(await desk.deliver(channel, card)).toEqual({ state: "seen" });
  });

  it("P-06: throws when no inbox says that it shows the request", async () => {
    const { surfaces, channel, desk } = opened({ within: "5s" });
    surfaces.open({ identity: ADA });
    const failing = expect(desk.deliver(channel, card)).rejects.toThrow("no open inbox said");
    await desk.clock.settle();
    await desk.clock.advance(5000);
    await failing;
  });

  it("keeps nothing that a closed inbox said", async () => {
    const { surfaces, channel, desk } = opened();
    surfaces.open({ identity: ADA })();
    expect(surfaces.report(card.id, ADA.as, "seen")).toBe(false);
    surfaces.open({ identity: ADA });
    const failing = expect(desk.deliver(channel, card)).rejects.toThrow();
    await desk.clock.settle();
    await desk.clock.advance(9000);
    await failing;
  });

  it("gives up when the request ends, or the channel does", async () => {
    const { surfaces, channel, desk } = opened();
    surfaces.open({ identity: ADA });
    const ended = expect(desk.deliver(channel, card)).rejects.toThrow("the request is over");
    await desk.clock.settle();
    desk.stop(card);
    await ended;
    const gone = desk.delivery(channel, card, ADA);
    desk.stop(card);
    await expect(channel.deliver(gone)).rejects.toThrow("the request is over");
    const closed = expect(desk.deliver(channel, { ...card, id: "b" })).rejects.toThrow("the channel was closed");
    await desk.clock.settle();
    await channel[Symbol.asyncDispose]();
    await closed;
  });

  it("reminds the inboxes that showed it, and lets them drop what is over", async () => {
    const { surfaces, channel, desk } = opened();
    const inbox = new OpenInbox(surfaces);
    surfaces.open(inbox);
    surfaces.open({ identity: BEN });
    await channel.remind(card.id, card);
    expect(inbox.told).toEqual([]);
    await desk.deliver(channel, card);
    await channel.remind(card.id, card);
    expect(inbox.told).toEqual([card.id, card.id]);
    await channel.close(card.id, card);
    expect(surfaces.shown(card.id, ADA.as)).toBeUndefined();
  });

  it("forgets the oldest of what a surface said, so that it cannot fill the memory", () => {
    const { surfaces } = opened();
    surfaces.open({ identity: ADA });
    for (let n = 0; n <= 1000; n += 1) surfaces.report(`r${n}`, ADA.as, "listed");
    expect([surfaces.shown("r0", ADA.as), surfaces.shown("r1", ADA.as), surfaces.shown("r1000", ADA.as)]).toEqual([
      undefined,
      "listed",
      "listed",
    ]);
  });

  it.each<[string, unknown]>([
    ["surfaces", {}],
    ["name", { name: " " }],
    ["assurance", { assurance: "sure" }],
    ["within", { within: "soon" }],
  ])("refuses options that cannot be meant: %s", (name, over) => {
    const options = name === "surfaces" ? over : { surfaces: new LiveSurfaces(), ...(over as object) };
    expect(() => inboxChannel(options as InboxOptions)).toThrow(DeclarationError);
    expect(() => inboxChannel(options as InboxOptions)).toThrow(`"${name}"`);
  });
});
