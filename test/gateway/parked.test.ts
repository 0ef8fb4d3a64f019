import { afterEach, describe, expect, it } from "vitest";
import { type Gate, makeGate, type Store } from "../../src/core/index.ts";
import { gateJudge } from "../../src/gateway/index.ts";
import { nodeRuntime } from "../../src/runtime/node/index.ts";
import { memoryStore } from "../../src/stores/memory/index.ts";
import { manualClock, type ManualClock, recordingChannel, type RecordingChannel } from "../../src/testing/index.ts";
import { call, type Driven, driveInitialized, type DriveOptions } from "./driver.ts";

const FINAL = "This is final: do not retry or rephrase it and do not reach the same end another way. Tell the user briefly.";
const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of open.splice(0).reverse()) await end();
});

/** Of one installation, so that one gateway can follow another. */
const KEYS = { call: "c".repeat(40), view: "v".repeat(40), decision: "d".repeat(40), seal: null };

interface Parking {
  readonly driven: Driven;
  readonly person: RecordingChannel;
  readonly gate: Gate;
  readonly close: () => Promise<void>;
  /** Calls that reached the server. */
  calls(): Promise<readonly string[]>;
  /** The newest request that a person was shown, once there are that many. */
  shown(count?: number): Promise<string>;
}

interface Options extends DriveOptions {
  readonly hold?: { readonly plain: number; readonly withProgress: number };
  readonly gate?: { readonly gate: Gate; readonly person: RecordingChannel };
  readonly link?: (request: string) => string;
}

function gateOver(store: Store, clock?: ManualClock): { gate: Gate; person: RecordingChannel } {
  const person = recordingChannel({ people: ["ada"] });
  const runtime = nodeRuntime({ keys: KEYS, ...(clock === undefined ? {} : { clock }) });
  const policy = { tools: [{ match: "test/*", tier: "write" as const }], rules: [{ ask: "test/*" }] };
  const options = { runtime, store, policy, channels: [person], operator: "ada", deadline: "1h" as const };
  return { gate: makeGate(options, { grade: "structural", proof: "claimed", record: "calls" }), person };
}

/** The relay before a real gate, in front of a real server; a call waits for as long as `hold` says. */
async function parking(options: Options = {}): Promise<Parking> {
  const { hold = { plain: 30, withProgress: 60_000 }, gate: given, link, ...rest } = options;
  const { gate, person } = given ?? gateOver(memoryStore());
  const judge = gateJudge({
    gate,
    server: "test",
    command: ["echo-server"],
    principal: "ada",
    hold,
    waiting: (tool) => `Waiting for ${tool}.`,
    ...(link === undefined ? {} : { link }),
  });
  const tools = [["echo", "wait"].map((name) => ({ name, inputSchema: { type: "object" } }))];
  const driven = await driveInitialized({ realJudge: judge, tools, ...rest });
  const close = async (): Promise<void> => {
    await driven.end();
    await judge.close();
  };
  open.push(close);
  return {
    driven,
    person,
    gate,
    close,
    calls: async () => (await driven.reached()).filter((line) => line.includes('"tools/call"')),
    shown: async (count = 1) => {
      await expect.poll(() => person.deliveries.length).toBeGreaterThanOrEqual(count);
      return person.deliveries.at(-1)?.card.id ?? "";
    },
  };
}

let ids = 100;
const ask = async (on: Parking, tool = "echo", args: object = { to: "x" }) => {
  ids += 1;
  return (await on.driven.ask(call(ids, tool, args))).result;
};
const pendingText = (link: string, tool = "echo"): string =>
  `Not run yet: "test/${tool}" waits for a person (${link}). Do not assume a result; the same call made again brings the answer.`;

async function parkedCall(on: Parking, tool = "echo"): Promise<string> {
  const result = await ask(on, tool);
  const id = await on.shown();
  expect(result).toEqual({
    content: [{ type: "text", text: pendingText(`holdpoint show ${id}`, tool) }],
    isError: true,
    _meta: { "holdpoint/request": id },
  });
  return id;
}
const record = async (on: Parking, id: string) => (await on.gate.desk.standing(id))?.record;
const LONG = { plain: 60_000, withProgress: 60_000 };

describe("a call whose person takes longer than the client waits", () => {
  it("is answered that it waits, and its request lives on", async () => {
    const on = await parking();
    const id = await parkedCall(on);
    expect(await record(on, id)).toMatchObject({ status: "pending", parked: true });
    expect(await on.calls()).toEqual([]);
  });

  it("is told where the desk or its host says that a person finds it", async () => {
    const on = await parking({ link: (id) => `see ${id}` });
    const result = await ask(on);
    expect(result?.content?.[0]?.text).toBe(pendingText(`see ${await on.shown()}`));
  });

  it("P-03 runs in the bytes of the repeat when that comes after the yes, and not before", async () => {
    const on = await parking();
    const id = await parkedCall(on);
    await on.person.answer(id, "approve");
    expect(await on.calls()).toEqual([]);
    const again = JSON.stringify({ jsonrpc: "2.0", ...call(9, "echo", { to: "x" }) });
    on.driven.send(again);
    expect((await on.driven.answer(9)).result?.content?.[0]?.text).toBe('{"to":"x"}');
    expect(await on.calls()).toEqual([again]);
    expect(await record(on, id)).toMatchObject({ status: "succeeded" });
    expect(on.person.deliveries).toHaveLength(1);
  });

  it("is taken up by the repeat, which waits with it", async () => {
    const on = await parking();
    const id = await parkedCall(on);
    const patient = await parking({ gate: on, hold: LONG });
    await on.close();
    const again = ask(patient);
    await expect.poll(async () => (await record(on, id))?.parked).toBe(false);
    await on.person.answer(id, "approve");
    expect((await again)?.content?.[0]?.text).toBe('{"to":"x"}');
    expect(on.person.deliveries).toHaveLength(1);
  });

  it("P-07 reads the no when it is made again", async () => {
    const on = await parking();
    const id = await parkedCall(on);
    await on.person.answer(id, "reject", { reason: "not today" });
    expect(await ask(on)).toEqual({
      content: [{ type: "text", text: `Not run: a person rejected "test/echo". Reason given: "not today". ${FINAL}` }],
      isError: true,
      _meta: { "holdpoint/request": id },
    });
    expect((await ask(on))?.content?.[0]?.text).toBe(`Not run: "test/echo" was already refused in this run. ${FINAL}`);
  });

  it("with other arguments is another request, and so is a second one while the first is held", async () => {
    const on = await parking();
    await parkedCall(on);
    await ask(on, "echo", { to: "y" });
    expect(on.person.deliveries).toHaveLength(2);
    const patient = await parking({ hold: LONG });
    const both = [ask(patient), ask(patient)];
    await patient.shown(2);
    for (const { card } of patient.person.deliveries) await patient.person.answer(card.id, "approve");
    expect((await Promise.all(both)).map((result) => result?.isError)).toEqual([undefined, undefined]);
    expect(await patient.calls()).toHaveLength(2);
  });

  it("waits for longer where the client asked for progress", async () => {
    const on = await parking();
    on.driven.send(
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"n":1},"_meta":{"progressToken":7}}}',
    );
    await on.shown();
    await ask(on);
    expect(on.driven.client.lines.some((line) => line.includes('"id":1,'))).toBe(false);
    const [first] = on.person.deliveries;
    await on.person.answer(first?.card.id ?? "", "approve");
    expect((await on.driven.answer(1)).result?.content?.[0]?.text).toBe('{"n":1}');
  });

  it("waits for longer no more where progress did not keep the client from giving up", async () => {
    const on = await parking();
    const asking = (id: number): string =>
      `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"echo","arguments":{"n":${id}},"_meta":{"progressToken":${id}}}}`;
    on.driven.send(asking(1));
    await on.shown();
    await ask(on);
    on.driven.send('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}', asking(2));
    expect((await on.driven.answer(2)).result?.content?.[0]?.text).toContain("Not run yet");
  });

  it("is withdrawn by the client's cancel of exactly that call", async () => {
    const on = await parking({ hold: LONG });
    on.driven.send(...[1, 2].map((id) => JSON.stringify({ jsonrpc: "2.0", ...call(id, "echo", { n: id }) })));
    await on.shown(2);
    on.driven.send('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}');
    const [one, two] = on.person.deliveries.toSorted((a, b) => Number(a.card.arguments.n) - Number(b.card.arguments.n));
    await expect
      .poll(async () => (await record(on, one?.card.id ?? ""))?.resolution)
      .toMatchObject({ status: "cancelled", reason: "requester" });
    await on.person.answer(two?.card.id ?? "", "approve");
    expect((await on.driven.answer(2)).result?.content?.[0]?.text).toBe('{"n":2}');
  });
});

describe("a gateway that ends", () => {
  it("A105 withdraws what is held at once, and leaves what is parked to the next one", async () => {
    const on = await parking();
    const parkedId = await parkedCall(on);
    on.driven.send(
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"n":1},"_meta":{"progressToken":7}}}',
    );
    const heldId = await on.shown(2);
    await on.close();
    expect((await record(on, heldId))?.resolution).toMatchObject({ status: "cancelled", reason: "requester_gone" });
    expect(await record(on, parkedId)).toMatchObject({ status: "pending", parked: true });
    await on.person.answer(parkedId, "approve");
    const next = await parking({ gate: on });
    expect((await ask(next))?.content?.[0]?.text).toBe('{"to":"x"}');
    expect(await record(on, parkedId)).toMatchObject({ status: "succeeded" });
  });

  it("A105 that was killed leaves its requests to the next one, over the same store, once they are seen to be lost", async () => {
    const clock = manualClock();
    const store = memoryStore({ clock });
    // Its own clock stands still, as that of a process that is no more.
    const killed = await parking({ gate: gateOver(store, manualClock()), hold: LONG });
    killed.driven.send(JSON.stringify({ jsonrpc: "2.0", ...call(1, "echo", { to: "x" }) }));
    const id = await killed.shown();
    await clock.advance(60_000);
    const next = await parking({ gate: gateOver(store, clock), hold: LONG });
    const again = ask(next);
    expect(await next.shown()).toBe(id);
    await next.person.answer(id, "approve");
    expect((await again)?.content?.[0]?.text).toBe('{"to":"x"}');
    expect(await killed.calls()).toEqual([]);
  });
});

describe("a call that runs while its client goes away", () => {
  const cancel = (id: number): string =>
    JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } });
  const RELEASE = '{"jsonrpc":"2.0","method":"notifications/progress","params":{}}';
  /** Runs `wait`, which the server ends when it is told, and lets the client give up meanwhile. */
  async function runUnseen(on: Parking, args: object): Promise<string> {
    on.driven.send(JSON.stringify({ jsonrpc: "2.0", ...call(1, "wait", args) }));
    const id = await on.shown();
    await on.person.answer(id, "approve");
    await on.driven.server.until((line) => line.includes("tools/call"));
    return id;
  }
  const ended = (on: Parking, id: string) => expect.poll(async () => (await record(on, id))?.resolution?.status);

  it("P-03 gives its repeat what the server answered, once, and is unknown to it until then", async () => {
    const on = await parking({ hold: LONG });
    const id = await runUnseen(on, { to: "x" });
    on.driven.send(cancel(1));
    await expect.poll(async () => (await record(on, id))?.parked).toBe(true);
    expect((await ask(on, "wait"))?.content?.[0]?.text).toBe(
      '"test/wait" may or may not have run; do not repeat it. Tell the user briefly.',
    );
    on.driven.send(RELEASE);
    await ended(on, id).toBe("succeeded");
    expect(await ask(on, "wait")).toEqual({ content: [{ type: "text", text: "released" }] });
    expect(await on.calls()).toHaveLength(1);
    const third = ask(on, "wait");
    const other = await on.shown(2);
    expect(other).not.toBe(id);
    await on.person.answer(other, "reject");
    expect((await third)?.isError).toBe(true);
  });

  it("P-03 gives it to a repeat by the next gateway where the client left", async () => {
    const on = await parking({ hold: LONG });
    const id = await runUnseen(on, { to: "x" });
    await on.close();
    await ended(on, id).toBe("succeeded");
    const next = await parking({ gate: on, hold: LONG });
    expect(await ask(next, "wait")).toEqual({ content: [{ type: "text", text: "released" }] });
    expect(await next.calls()).toEqual([]);
  });

  it.each([
    ["fail", { result: { content: [{ type: "text", text: "no" }], isError: true } }],
    ["error", { error: { code: -32050, message: "broken" } }],
    [
      "lone",
      {
        result: {
          content: [{ type: "text", text: '"test/wait" may or may not have run; do not repeat it. Tell the user briefly.' }],
          isError: true,
          _meta: { "holdpoint/request": expect.any(String) },
        },
      },
    ],
  ])("gives it an answer of the kind %s as the server gave it, where that can be kept", async (as, given) => {
    const on = await parking({ hold: LONG });
    const id = await runUnseen(on, { as });
    on.driven.send(cancel(1), RELEASE);
    await ended(on, id).toMatch(/succeeded|failed/);
    const { id: _own, ...answer } = await on.driven.ask(call(2, "wait", { as }));
    expect(answer).toEqual({ jsonrpc: "2.0", ...given });
    expect(await on.calls()).toHaveLength(1);
  });

  it("gives it with what a person had made of the call", async () => {
    const on = await parking({ hold: LONG });
    on.driven.send(JSON.stringify({ jsonrpc: "2.0", ...call(1, "wait", { to: "x" }) }));
    const id = await on.shown();
    const [delivery] = on.person.deliveries;
    if (delivery === undefined) throw new Error("nobody was shown it");
    const { digest } = delivery.card;
    await on.gate.desk.approvals?.edit(id, { digest, view: delivery.view, arguments: { to: "y" } }, delivery.to);
    await on.driven.server.until((line) => line.includes("tools/call"));
    on.driven.send(cancel(1), RELEASE);
    await ended(on, id).toBe("succeeded");
    expect((await ask(on, "wait"))?.content?.map((part) => part.text)).toEqual([
      'A person changed the arguments of "test/wait" before it ran. It ran with: {"to":"y"}',
      "released",
    ]);
  });
});
