import { expect, test } from "vitest";
import { callbackChannel } from "../../channels/callback/index.ts";
import { memoryStore } from "../../stores/memory/index.ts";
import { manualClock } from "../../testing/index.ts";
import { bench, eventsOf, held, holdFor, standing, submissionOf } from "./desk.test-kit.ts";
import { faultyStore, noFaults } from "./faulty-store.test-kit.ts";
import { notes } from "./notes.ts";

/** A desk with one function as the person, and what it commits. */
function asking(answer: Parameters<typeof callbackChannel>[0]) {
  const faults = noFaults();
  const clock = manualClock();
  const store = faultyStore(memoryStore({ clock }), faults);
  const on = bench({ clock, store, channels: [callbackChannel(answer, { as: "ada" })] });
  const commits = () => faults.commits.map(({ entries }) => entries.map(({ event }) => event));
  return { on, faults, commits };
}

test("what an answer at once was shown is journaled with it, in its place", async () => {
  const { on, commits } = asking(() => ({ verdict: "approve" }));
  const id = await held(on, submissionOf(on));
  expect((await standing(on, id)).status).toBe("approved");
  expect(commits().slice(-2)).toEqual([["request.created"], ["request.seen", "request.voted", "request.approved"]]);
});

test("without an answer it is journaled by itself, with no time passing", async () => {
  const { on, commits } = asking(() => new Promise(() => undefined));
  const id = await held(on, submissionOf(on));
  await on.clock.settle();
  expect(commits().slice(-2)).toEqual([["request.created"], ["request.seen"]]);
  expect(await eventsOf(on.store, id)).toEqual(["request.created", "request.seen"]);
  expect(on.clock.waiting).toBe(1);
});

test("a rejection and a withdrawal at once take it along as well", async () => {
  const no = asking(() => ({ verdict: "reject" }));
  await standing(no.on, await held(no.on, submissionOf(no.on)));
  expect(no.commits().at(-1)).toEqual(["request.seen", "request.rejected"]);
  const broken = asking(() => true as never);
  await standing(broken.on, await held(broken.on, submissionOf(broken.on)));
  expect(broken.commits().at(-1)).toEqual(["request.seen", "request.cancelled"]);
});

test("P-15 a delivery that cannot be journaled is given up", async () => {
  const { on, faults } = asking(() => {
    faults.down = true;
    return new Promise(() => undefined);
  });
  await held(on, submissionOf(on));
  await on.clock.settle();
  expect(on.lines.map(({ message }) => message)).toContain("delivering stopped");
});

test("a lost race is tried again with it, and it stands in the journal once", async () => {
  const { on, faults } = asking(() => ({ verdict: "approve" }));
  let lost = 0;
  faults.instead = ({ entries }) =>
    entries.some(({ event }) => event === "request.voted") && lost++ === 0 ? { ok: false, why: "conflict" } : undefined;
  const id = await held(on, submissionOf(on));
  expect((await standing(on, id)).status).toBe("approved");
  await on.clock.settle();
  expect(await eventsOf(on.store, id)).toEqual(["request.created", "request.seen", "request.voted", "request.approved"]);
});

test("two people shown at once stand in the journal together", async () => {
  const clock = manualClock();
  const store = faultyStore(memoryStore({ clock }), noFaults());
  const on = bench({ clock, store, people: ["ada", "bob"] });
  const hold = holdFor({ approvers: ["ada", "bob"], quorum: 2, self: "allow" });
  const id = await held(on, submissionOf(on, { holds: [hold] }));
  await on.clock.settle();
  expect(await eventsOf(on.store, id)).toEqual(["request.created", "request.seen", "request.seen"]);
});

test("what is noted while another note waits goes with it, and both are told", async () => {
  const written: string[] = [];
  const kept = notes(async (id) => void written.push(id));
  const draft = { event: "request.seen", actor: null, data: {} } as const;
  await Promise.all([kept.add("r1", draft), kept.add("r1", draft)]);
  expect(written).toEqual(["r1"]);
});

test("what another commit took along is told, and the rest still waits", async () => {
  const written: string[] = [];
  const kept = notes(async (id) => void written.push(id));
  const [first, second] = [1, 2].map((n) => ({ event: "request.seen", actor: null, data: { n: String(n) } }) as const);
  if (first === undefined || second === undefined) throw new Error("two notes");
  const one = kept.add("r1", first);
  const two = kept.add("r1", second);
  kept.written("r1", [first]);
  await one;
  expect(written).toEqual([]);
  await two;
  expect(written).toEqual(["r1"]);
  kept.written("r2", [first]);
});
