import assert from "node:assert/strict";
import { ASSURANCES, suffices, type Card, type Channel } from "../core/index.ts";
import { ListeningDesk } from "./channel-suite/desk.ts";
import { manualClock, type ManualClock } from "./manual-clock.ts";
import { sampleCard } from "./sample-card.ts";

export { ListeningDesk } from "./channel-suite/desk.ts";
export type { Heard } from "./channel-suite/desk.ts";

/** A channel as a suite needs it, with a person at its other end. */
export interface ChannelUnderTest {
  readonly channel: Channel;
  /**
   * The person answers this request, by the deliberate act that the channel asks for. Resolves when the channel has had
   * the answer; an answer that the channel does not take is no error.
   */
  answer(card: Card, verdict: "approve" | "reject", reason?: string): Promise<void>;
  dispose(): Promise<void>;
}

export interface ChannelSuite {
  /** Of vitest, node:test, mocha, … */
  readonly describe: (name: string, body: () => void) => unknown;
  readonly it: (name: string, body: () => Promise<void>) => unknown;
  /** A new channel that reaches one person. Called once for each case. */
  readonly makeChannel: (clock: ManualClock) => ChannelUnderTest | Promise<ChannelUnderTest>;
}

interface Stage {
  readonly under: ChannelUnderTest;
  readonly channel: Channel;
  readonly desk: ListeningDesk;
  /** Lets what is under way happen. */
  readonly settle: () => Promise<void>;
}

type Case = (stage: Stage) => Promise<void>;

const A = sampleCard({ id: "0190a1b2-0000-7000-8000-00000000000a", code: "A2B3" });
const B = sampleCard({
  id: "0190a1b2-0000-7000-8000-00000000000b",
  code: "C4D5",
  digest: `sha256:${"b".repeat(64)}`,
  message: "Delete /tmp/b?",
});
const ENDED: Card = { ...A, status: "expired", ending: "expired; it was not run" };

const HOSTILE = "\u001b[2J\u001b[1;1H\r\b\u009b1A\u202e\u2028\u200b\u{e0041}";
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
const STEERS = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b\u2028\u2029\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/u;

const CASES: Readonly<Record<string, Case>> = {
  "vouches for the people it reaches, and for no more than it can": async ({ channel }) => {
    const people = await channel.reaches();
    assert.equal(people.length, 1, "the channel under test reaches exactly one person");
    for (const { principal, as, via, assurance } of people) {
      assert.notEqual(principal, "");
      assert.notEqual(as, "");
      assert.equal(via, channel.name);
      assert.ok(ASSURANCES.includes(assurance) && suffices(channel.capabilities.assurance, assurance));
    }
  },
  "shows the whole call, the same each time": async ({ channel }) => {
    const shown = channel.render(A);
    assert.deepEqual(channel.render(A), shown);
    assert.equal(shown.complete, true);
    for (const part of ["delete_path", "/tmp/report"]) assert.ok(shown.text.includes(part), `${part} is shown`);
  },
  "lets no value steer, reorder or hide": async ({ channel }) => {
    const { text } = channel.render({
      ...A,
      message: HOSTILE,
      effect: HOSTILE,
      statement: HOSTILE,
      notes: [HOSTILE],
      arguments: { [HOSTILE]: HOSTILE },
      bindings: { cwd: HOSTILE },
    });
    assert.doesNotMatch(text, STEERS);
    assert.ok(text.includes("001b") && text.includes("202e"), "what is escaped stays to be seen");
  },
  "calls nothing complete that leaves a part out": async ({ channel }) => {
    const { text, complete } = channel.render({ ...A, arguments: { text: "0123456789".repeat(100_000) } });
    assert.equal(complete, text.length >= 1_000_000);
    assert.ok(channel.capabilities.limit === undefined || text.length <= channel.capabilities.limit);
  },
  "answers nothing by itself": async ({ channel, desk, settle }) => {
    const { state } = await desk.deliver(channel, A);
    assert.ok(["offered", "delivered", "seen"].includes(state));
    await settle();
    assert.deepEqual(desk.decisions, []);
  },
  "carries a yes with what was shown, once, by the person it was shown to": async ({ under, channel, desk, settle }) => {
    const [person] = await channel.reaches();
    await desk.deliver(channel, A);
    await under.answer(A, "approve");
    await settle();
    const decided = desk.heard.filter((one) => one.what === "decide");
    assert.equal(decided.length, 1);
    const [one] = decided;
    assert.deepEqual(one?.answer.verdict, "approve");
    assert.equal(one?.answer.digest, A.digest);
    assert.equal(one?.answer.view, `view of ${A.id}`);
    assert.equal(one?.as.principal, person?.principal);
    assert.equal(one?.as.via, channel.name);
    await under.answer(A, "approve");
    await settle();
    assert.equal(desk.decisions.length, 1, "a second press is no second answer");
  },
  "carries a no with its reason": async ({ under, channel, desk, settle }) => {
    await desk.deliver(channel, A);
    await under.answer(A, "reject", "use staging");
    await settle();
    assert.deepEqual(desk.decisions, [channel.capabilities.reason ? `${A.id} reject use staging` : `${A.id} reject`]);
  },
  "answers the one request that is meant": async ({ under, channel, desk, settle }) => {
    await desk.deliver(channel, A);
    await desk.deliver(channel, B);
    await under.answer(A, "reject");
    await settle();
    await under.answer(B, "approve");
    await settle();
    assert.deepEqual(desk.decisions, [`${A.id} reject`, `${B.id} approve`]);
    const digests = desk.heard.flatMap((one) => (one.what === "decide" ? [one.answer.digest] : []));
    assert.deepEqual(digests, [A.digest, B.digest]);
  },
  "shows a request once, however often it is delivered": async ({ under, channel, desk, settle }) => {
    const [person] = await channel.reaches();
    assert.ok(person);
    const delivery = desk.delivery(channel, A, person);
    await channel.deliver(delivery);
    await channel.deliver(delivery);
    await under.answer(A, "approve");
    await settle();
    await under.answer(A, "reject");
    await settle();
    assert.deepEqual(desk.decisions, [`${A.id} approve`]);
  },
  "takes no answer once the request has ended": async ({ under, channel, desk, settle }) => {
    await desk.deliver(channel, A);
    await settle();
    await desk.end(channel, ENDED);
    await settle();
    await under.answer(A, "approve");
    await settle();
    assert.deepEqual(
      desk.decisions.filter((one) => one.includes("approve")),
      [],
    );
  },
  "brings what it never showed, or closed before, to a final form without a word": async ({ channel, desk }) => {
    await channel.close(A.id, ENDED);
    await desk.deliver(channel, B);
    await channel.close(B.id, { ...B, status: "cancelled", ending: "withdrawn; it was not run" });
    await channel.close(B.id, { ...B, status: "cancelled", ending: "withdrawn; it was not run" });
    await channel.remind(A.id, A);
  },
};

/** The contract of the channel port, executable. Every channel runs it: ours and those of others. */
export function channelSuite(suite: ChannelSuite): void {
  suite.describe("channel port", () => {
    for (const [name, run] of Object.entries(CASES)) suite.it(name, () => runCase(suite, run));
  });
}

async function runCase(suite: ChannelSuite, run: Case): Promise<void> {
  const clock = manualClock();
  const under = await suite.makeChannel(clock);
  const desk = new ListeningDesk(clock);
  under.channel.open(desk.parts);
  try {
    await run({ under, channel: under.channel, desk, settle: () => clock.settle() });
  } finally {
    await under.channel[Symbol.asyncDispose]();
    await under.dispose();
  }
}
