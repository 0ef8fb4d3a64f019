import { describe, expect, it } from "vitest";
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
