import { describe, expect, it } from "vitest";
import {
  bench,
  entriesOf,
  evidenceOf,
  held,
  identity,
  nodeEvents,
  rowsOf,
  submissionOf,
  viewOf,
} from "../../src/core/desk/desk.test-kit.ts";
import type { HoldpointEvent } from "../../src/core/desk/events.ts";

const ADA = identity("ada", { proof: "oidc:1" });

describe("the record of a request", () => {
  it("P-18 P-20 has these members when it is asked", async () => {
    const on = bench();
    const id = await held(on, submissionOf(on));
    const { record, payload } = (await on.store.read(id)) ?? {};
    expect(Object.keys(record ?? {}).sort()).toEqual([
      "bindings",
      "call",
      "callKey",
      "createdAt",
      "decideBy",
      "decisions",
      "digest",
      "grade",
      "head",
      "id",
      "impact",
      "kind",
      "lease",
      "masked",
      "nonce",
      "parked",
      "requester",
      "requesterProof",
      "rev",
      "root",
      "status",
      "tenant",
      "terms",
      "termsHash",
      "tier",
      "v",
    ]);
    expect(record).toMatchObject({
      v: 1,
      root: id,
      kind: "call",
      status: "pending",
      grade: "in-process",
      requesterProof: "process",
    });
    expect(Object.keys(record?.requester ?? {}).sort()).toEqual([
      "agent",
      "path",
      "principal",
      "run",
      "session",
      "shared",
      "thread",
    ]);
    expect(Object.keys(record?.terms ?? {}).sort()).toEqual([
      "clauses",
      "decideWithin",
      "editable",
      "escalate",
      "policy",
      "remind",
      "runWithin",
      "type",
    ]);
    expect(Object.keys(payload ?? {}).sort()).toEqual([
      "arguments",
      "effect",
      "message",
      "notes",
      "reasons",
      "request",
      "result",
      "schema",
      "statement",
    ]);
  });

  it("P-02 P-03 has these when it ran, after an edit", async () => {
    const on = bench();
    const submission = submissionOf(on);
    const id = await held(on, submission);
    const done = await on.desk.approvals.edit(id, { ...(await viewOf(on, id, ADA)), arguments: { to: "bob", amount: 1 } }, ADA);
    const next = String(done.id);
    const claimed = await on.desk.claim(next, evidenceOf(submission, { arguments: { to: "bob", amount: 1 } }));
    if (!claimed.ok) throw new Error(claimed.refusal.code);
    await on.desk.complete(next, claimed.token, { status: "succeeded", value: 1, observedBy: "executor" });
    const { record } = (await on.store.read(next)) ?? {};
    expect(Object.keys(record ?? {})).toEqual(expect.arrayContaining(["claim", "outcome", "resolution", "runBy", "supersedes"]));
    expect(Object.keys((await on.store.read(id))?.record ?? {})).toEqual(expect.arrayContaining(["resolution", "supersededBy"]));
    expect(Object.keys(record?.claim ?? {}).sort()).toEqual(["at", "fence", "holder", "tokenHash", "until"]);
    expect(Object.keys(record?.resolution ?? {}).sort()).toEqual(["at", "by", "reason", "status"]);
    expect(Object.keys(record?.decisions[0] ?? {}).sort()).toEqual([
      "as",
      "assurance",
      "at",
      "by",
      "digest",
      "id",
      "mac",
      "proof",
      "rendering",
      "verdict",
      "via",
    ]);
    expect(record?.outcome).toEqual({
      status: "succeeded",
      observedBy: "executor",
      result: { digest: expect.stringMatching(/^sha256:/) },
    });
  });
});

describe("the journal", () => {
  it("P-19 P-20 has entries of this form, with digests, ids, codes and times, and no value", async () => {
    const on = bench({ record: "calls" });
    await on.desk.submit(submissionOf(on, { id: "c0", holds: [], tier: "read" }));
    const id = await held(on, submissionOf(on, { id: "c1" }));
    await on.channel.answer(id, "reject", { reason: "because" });
    const entries = await entriesOf(on.store, `request/${id}`);
    for (const entry of entries)
      expect(Object.keys(entry).sort()).toEqual(["actor", "at", "data", "event", "n", "prev", "rev", "stream", "tenant", "type"]);
    expect(
      entries.map(({ event, data, actor }) => [
        event,
        Object.keys(data).sort(),
        actor === null ? null : Object.keys(actor).sort(),
      ]),
    ).toEqual([
      [
        "request.created",
        ["agent", "call", "decideBy", "definition", "digest", "kind", "policy", "principal", "run", "terms", "tool"],
        null,
      ],
      ["request.seen", ["channel", "state", "to"], null],
      ["request.rejected", ["decision", "reason"], ["as", "principal", "via"]],
    ]);
    expect(entries.at(-1)?.data.reason).toBe("rejected");
    const [allowed] = await nodeEvents(on);
    expect(allowed).toMatchObject({
      type: "holdpoint/entry/v1",
      stream: `node/${on.runtime.ids.process}`,
      rev: null,
      event: "call.allowed",
    });
    expect(Object.keys(allowed?.data ?? {}).sort()).toEqual([
      "agent",
      "by",
      "call",
      "definition",
      "policy",
      "principal",
      "run",
      "tool",
    ]);
    const everything = JSON.stringify([entries, await nodeEvents(on)]);
    for (const value of ["bob", "because", "amount"]) expect(everything).not.toContain(value);
  });
});

describe("what subscribers hear", () => {
  it("P-19 is the journal's vocabulary, and errors", async () => {
    const on = bench();
    const heard: HoldpointEvent[] = [];
    on.desk.events.subscribe((event) => heard.push(event));
    const id = await held(on, submissionOf(on));
    await on.channel.desk.fault(id, "not JSON");
    await on.clock.settle();
    expect(heard.map((event) => [event.type, "event" in event ? event.event : "", Object.keys(event).sort().join(" ")])).toEqual([
      ["journal", "policy.loaded", "actor at data event request type"],
      ["journal", "policy.accepted", "actor at data event request type"],
      ["journal", "request.created", "actor at data event request type"],
      ["journal", "request.seen", "actor at data event request type"],
      ["error", "", "code problem type where"],
      ["journal", "request.cancelled", "actor at data event request type"],
    ]);
  });
});

describe("rows beside the record", () => {
  it("P-07 P-14 have these members", async () => {
    const on = bench();
    const id = await held(on, submissionOf(on, { id: "c1" }));
    await on.channel.answer(id, "reject");
    await on.desk.approvals.kill("all", true, ADA);
    const members = async (kind: Parameters<typeof rowsOf>[1]) =>
      Object.keys((await rowsOf(on.store, kind))[0]?.value ?? {}).sort();
    expect(await members("refusal")).toEqual(["at", "principal", "request", "run", "tool", "until"]);
    expect(await members("streak")).toEqual(["count", "principal", "run", "tool"]);
    expect(await members("call")).toEqual(["callKey", "request"]);
    expect(await members("kill")).toEqual(["at", "by", "on"]);
    expect((await rowsOf(on.store, "kill"))[0]?.key).toBe("all");
  });
});
