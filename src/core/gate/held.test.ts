import { describe, expect, it } from "vitest";
import { memoryStore } from "../../stores/memory/index.ts";
import { manualClock } from "../../testing/index.ts";
import { identity } from "../desk/desk.test-kit.ts";
import { faultyStore, noFaults } from "../desk/faulty-store.test-kit.ts";
import { HoldpointError } from "../errors.ts";
import type { Desk } from "../ports/desk.ts";
import type { Status } from "../request.ts";
import { type GateBench, gateBench, recorder } from "./gate.test-kit.ts";
import { outcomeOfRepeat } from "./held.ts";

const PAY = { to: "bob", amount: 7 };

/** A gate before the desk of another one, some of whose answers are changed on the way. */
function gateBefore(on: GateBench, over: (desk: Desk) => Partial<Desk>) {
  const desk: Desk = on.gate.desk;
  const own = (name: keyof Desk) => (desk[name] as (...args: unknown[]) => unknown).bind(desk);
  const all: Desk = {
    snapshot: own("snapshot") as Desk["snapshot"],
    submit: own("submit") as Desk["submit"],
    await: own("await") as Desk["await"],
    standing: own("standing") as Desk["standing"],
    renew: own("renew") as Desk["renew"],
    park: own("park") as Desk["park"],
    resume: own("resume") as Desk["resume"],
    claim: own("claim") as Desk["claim"],
    complete: own("complete") as Desk["complete"],
    cancel: own("cancel") as Desk["cancel"],
    ran: own("ran") as Desk["ran"],
    reachable: own("reachable") as Desk["reachable"],
  };
  return gateBench({ desk: { ...all, ...over(all) }, clock: on.clock });
}

describe("an approved call", () => {
  it("does not run when its caller went away with the yes on its way, and is withdrawn", async () => {
    const on = gateBench();
    const caller = on.runtime.aborter();
    const far = gateBefore(on, (desk) => ({
      await: async (...asked) => {
        const standing = await desk.await(...asked);
        caller.abort("requester");
        return standing;
      },
    }));
    const tool = recorder();
    far.gate.tools([tool]);
    const call = far.run.try("pay", PAY, { signal: caller.signal });
    const id = await on.answer("approve");
    expect(await call).toMatchObject({ status: "refused", code: "cancelled", request: id });
    expect((await on.store.read(id))?.record.resolution).toMatchObject({ status: "cancelled", reason: "requester" });
    expect(tool.ran).toEqual([]);
  });

  it("P-02 does not run under a claim of another digest", async () => {
    const on = gateBench();
    const far = gateBefore(on, (desk) => ({
      claim: async (...asked) => {
        const claimed = await desk.claim(...asked);
        return claimed.ok ? { ...claimed, digest: `sha256:${"0".repeat(64)}` } : claimed;
      },
    }));
    const tool = recorder();
    far.gate.tools([tool]);
    const call = far.run.try("pay", PAY);
    const id = await on.answer("approve");
    expect(await call).toMatchObject({ status: "refused", code: "context_changed" });
    expect((await on.store.read(id))?.record.status).toBe("failed");
    expect(tool.ran).toEqual([]);
  });

  it.each<[Status, string, string | undefined]>([
    ["succeeded", "unknown", undefined],
    ["claimed", "unknown", undefined],
    ["cancelled", "refused", "cancelled"],
  ])("P-03 that is %s already is not run here: %s", async (status, outcome, code) => {
    const on = gateBench();
    const far = gateBefore(on, () => ({ claim: async () => ({ ok: false, status, refusal: { code: "cancelled" } }) }));
    const tool = recorder();
    far.gate.tools([tool]);
    const call = far.run.try("pay", PAY);
    await on.answer("approve");
    expect(await call).toMatchObject({ status: outcome, ...(code === undefined ? {} : { code }) });
    expect(tool.ran).toEqual([]);
  });
});

describe("a grant that a call needs first", () => {
  it.each<Status>(["failed", "indeterminate"])("P-15 lets nothing run once it is %s", async (status) => {
    const on = gateBench();
    const far = gateBefore(on, (desk) => ({
      await: async (...asked) => ({ ...(await desk.await(...asked)), status }),
    }));
    const tool = recorder({ requires: true });
    far.gate.tools([tool]);
    const call = far.run.try("pay", PAY);
    await on.answer("approve");
    expect(await call).toMatchObject({ status: "refused", code: "not_granted" });
    expect(tool.ran).toEqual([]);
  });

  it("P-15 lets nothing run where waiting for it failed", async () => {
    const on = gateBench();
    const far = gateBefore(on, () => ({ await: async () => Promise.reject(new Error("lost")) }));
    const tool = recorder({ requires: true });
    far.gate.tools([tool]);
    expect(await far.run.try("pay", PAY)).toMatchObject({ status: "refused", code: "policy_error" });
    expect(tool.ran).toEqual([]);
  });
});

describe("a call whose desk fails", () => {
  it.each<[string, unknown, string]>([
    ["an error of ours", new HoldpointError("journal_unavailable", "full"), "journal_unavailable"],
    ["another error", new TypeError("/home/ada/secret"), "policy_error"],
    ["what is no error", "gone", "policy_error"],
  ])("P-15 P-19 is refused on %s, and no word of another is logged", async (_what, thrown, code) => {
    const on = gateBench();
    const far = gateBefore(on, () => ({ submit: () => Promise.reject(thrown) }));
    const tool = recorder();
    far.gate.tools([tool]);
    expect(await far.run.try("pay", PAY)).toMatchObject({ status: "refused", code });
    expect(tool.ran).toEqual([]);
    expect(JSON.stringify(far.lines)).not.toContain("secret");
  });

  it("is told it was cancelled where its caller left and the desk no longer knows it", async () => {
    const on = gateBench();
    const caller = on.runtime.aborter();
    const far = gateBefore(on, () => ({ standing: async () => undefined }));
    far.gate.tools([recorder()]);
    const call = far.run.try("pay", PAY, { signal: caller.signal });
    await on.shown();
    caller.abort("requester");
    expect(await call).toMatchObject({ status: "refused", code: "cancelled" });
  });

  it("leaves open what was only submitted, and tells whoever waits for it", async () => {
    const on = gateBench();
    const far = gateBefore(on, () => ({ await: () => Promise.reject(new Error("lost")) }));
    far.gate.tools([recorder()]);
    const { id, settled } = await far.run.submit("pay", PAY);
    await expect(settled).rejects.toThrow("lost");
    expect((await on.store.read(id))?.record.status).toBe("pending");
  });

  it("P-08 opens nothing for what policy denies", async () => {
    const on = gateBench({ policy: { rules: [{ deny: "pay" }] } });
    on.gate.tools([recorder()]);
    await expect(on.run.submit("pay", PAY)).rejects.toMatchObject({ code: "denied" });
  });

  it("belongs to no run where it is said to have none", async () => {
    const on = gateBench();
    expect(on.gate.run({ principal: "ada", run: null }).requester.run).toBeUndefined();
  });
});

describe("an edit that was taken elsewhere", () => {
  it("P-02 P-09 does not run where this gate now wants somebody who was not asked", async () => {
    const clock = manualClock();
    const capabilities = { durable: true, shared: true, wake: "poll" as const };
    const store = { ...faultyStore(memoryStore({ clock }), noFaults()), capabilities };
    let wants: unknown = null;
    const on = gateBench({ clock, store, policy: { opinions: [() => wants as never] } });
    const other = gateBench({ clock, store });
    const tool = recorder({ confirm: { approvers: ["ada", "bob"], self: "allow" } });
    on.gate.tools([tool]);
    const call = on.run.try("pay", PAY);
    const id = await on.shown();
    const ada = identity("ada");
    const presented = await other.gate.desk.approvals?.card(id, ada);
    if (presented === undefined || "ambiguous" in presented) throw new Error("not seen");
    wants = { verdict: "ask" };
    const { card, view } = presented;
    const taken = await other.gate.desk.approvals?.edit(
      id,
      { arguments: { to: "bob", amount: 3 }, digest: card.digest, view },
      ada,
    );
    expect(taken).toMatchObject({ counted: true, status: "approved" });
    await clock.settle();
    await clock.advance(6000);
    expect(await call).toMatchObject({ status: "refused", code: "invalid_edit" });
    expect(tool.ran).toEqual([]);
  });
});

describe("a repeat of a call", () => {
  const standing = (status: Status, more: object = {}) => ({ record: { id: "r1" }, status, arguments: null, ...more }) as never;

  it.each<[Status, object, object]>([
    ["rejected", { refusal: { code: "rejected" } }, { status: "refused", code: "rejected" }],
    ["failed", {}, { status: "unknown" }],
    ["approved", {}, { status: "refused", code: "duplicate_id" }],
  ])("P-03 of one that is %s is told what became of it", (status, more, told) => {
    expect(outcomeOfRepeat("pay", standing(status, more))).toMatchObject(told);
  });
});
