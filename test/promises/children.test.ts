import { describe, expect, it } from "vitest";
import { createGate, type Policy } from "../../src/index.ts";
import { callbackChannel } from "../../src/channels/callback/index.ts";
import { snapshotOf } from "../../src/core/approving.ts";
import { nodeRuntime } from "../../src/runtime/node/index.ts";

const runtime = nodeRuntime();
const policyOf = (policy: Policy) => snapshotOf(policy, { runtime, record: "counts" });

/** A person who says yes and writes down what was asked, on a channel of a name. */
function person(name: string, asked: string[]) {
  return callbackChannel(
    async (card) => {
      asked.push(`${name}:${card.requester.path.join("/")}`);
      return { verdict: "approve" };
    },
    { name, as: "ada" },
  );
}

function family(parent: Policy, channels: readonly string[] = ["parent", "child"]) {
  const asked: string[] = [];
  const gate = createGate({
    runtime,
    policy: parent,
    channels: channels.map((name) => person(name, asked)),
    defaultChannel: "parent",
  });
  const ran: string[] = [];
  gate.tool({ name: "note", tier: "write", run: () => ran.push("note") });
  gate.tool({ name: "floor", tier: "write", confirm: true, run: () => ran.push("floor") });
  return { gate, asked, ran, run: gate.run({ principal: "ada" }) };
}

describe("P-17: children cannot weaken parents", () => {
  it("denies what the parent denies, whatever the child allows (A3-041)", async () => {
    const { run, ran } = family({ rules: [{ deny: "note" }] });
    const child = run.child({ path: "researcher", asks: "parent", policy: policyOf({ rules: [{ allow: "**" }] }) });
    expect(await child.try("note", {})).toMatchObject({ status: "refused", code: "denied" });
    expect(ran).toEqual([]);
  });

  it("asks what the parent asks, and only the parent's people, where the child allows (A3-042)", async () => {
    const { run, asked, ran } = family({ rules: [{ ask: "note" }] });
    const child = run.child({
      path: "researcher",
      asks: "own",
      channels: ["child"],
      policy: policyOf({ rules: [{ allow: "note" }] }),
    });
    expect((await child.try("note", {})).status).toBe("ran");
    expect(asked).toEqual(["parent:researcher"]);
    expect(ran).toEqual(["note"]);
  });

  it("does not take a child's word for a tier that the parent would ask about", async () => {
    const { run, asked } = family({});
    const child = run.child({
      path: "researcher",
      asks: "parent",
      policy: policyOf({ tools: [{ match: "note", tier: "read" }] }),
    });
    expect((await child.try("note", {})).status).toBe("ran");
    expect(asked).toEqual(["parent:researcher"]);
  });

  it("keeps a demand that the parent's entries put on the tool", async () => {
    const { run, asked } = family({ unmatched: "allow", tools: [{ match: "note", confirm: "note?" }] });
    const child = run.child({ path: "researcher", asks: "parent", policy: policyOf({ unmatched: "allow" }) });
    expect((await child.try("note", {})).status).toBe("ran");
    expect(asked).toEqual(["parent:researcher"]);
  });

  it("keeps the parent's prerequisite", async () => {
    const { run, asked } = family({ rules: [{ allow: "note", requires: "notes" }] });
    const child = run.child({ path: "researcher", asks: "parent", policy: policyOf({ rules: [{ allow: "note" }] }) });
    expect((await child.try("note", {})).status).toBe("ran");
    expect(asked).toEqual(["parent:researcher"]);
  });

  it("denies where the child may not ask, and disturbs nobody (A3-044)", async () => {
    const { run, asked } = family({ rules: [{ allow: "note" }] });
    const child = run.child({ path: "researcher", asks: "deny", policy: policyOf({ rules: [{ ask: "note" }] }) });
    expect(await child.try("note", {})).toMatchObject({ status: "refused", code: "denied" });
    expect(asked).toEqual([]);
  });

  it("holds for a grandchild below one that may not ask", async () => {
    const { run, asked } = family({ rules: [{ allow: "note" }] });
    const child = run.child({ path: "researcher", asks: "deny", policy: policyOf({ rules: [{ ask: "note" }] }) });
    const grandchild = child.child({ path: "reader", asks: "parent", policy: policyOf({ rules: [{ allow: "note" }] }) });
    expect(await grandchild.try("note", {})).toMatchObject({ status: "refused", code: "denied" });
    expect(asked).toEqual([]);
  });

  it("refuses before anything is shown where a scope asks and has nobody", async () => {
    const { run, asked, gate } = family({ rules: [{ ask: "note", channels: ["nowhere"] }] });
    const child = run.child({
      path: "researcher",
      asks: "own",
      channels: ["child"],
      policy: policyOf({ rules: [{ allow: "note" }] }),
    });
    expect(await child.try("note", {})).toMatchObject({ status: "refused", code: "no_approver" });
    expect(asked).toEqual([]);
    expect(await gate.pending()).toEqual([]);
  });

  it("gives the tool's own floor, with both allowing, to the parent's people (A3-048)", async () => {
    const { run, asked } = family({ rules: [{ allow: "floor" }] });
    const child = run.child({ path: "researcher", asks: "parent" });
    expect((await child.try("floor", {})).status).toBe("ran");
    expect(asked).toEqual(["parent:researcher"]);
  });
});
