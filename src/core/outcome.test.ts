import { describe, expect, it } from "vitest";
import { bug, DeclarationError, HoldpointError, isHoldpointError, problemOf } from "./errors.ts";
import {
  isRefused,
  isSuspended,
  isUnknown,
  type Outcome,
  Refused,
  refusedOutcome,
  Suspended,
  Unknown,
  unknownOutcome,
  unwrap,
} from "./outcome.ts";

const refused = refusedOutcome("pay", { code: "rejected", reason: "too much" }, "r1");
const thrownBy = (outcome: Outcome): unknown => {
  try {
    return unwrap(outcome);
  } catch (thrown) {
    return thrown;
  }
};

describe("outcomes", () => {
  it("P-07 carry the one sentence, the code and the words of a person", () => {
    expect(refused).toEqual({
      status: "refused",
      code: "rejected",
      reason: "too much",
      request: "r1",
      sentence:
        'Not run: a person rejected "pay". Reason given: "too much". This is final: do not retry or rephrase it and do not reach the same end another way. Tell the user briefly.',
    });
    expect(refusedOutcome("pay", { code: "no_gate" })).toEqual({
      status: "refused",
      code: "no_gate",
      sentence: 'Not run: "pay" could not be checked (no_gate). Tell the user briefly.',
    });
    expect(unknownOutcome("pay")).toEqual({
      status: "unknown",
      sentence: '"pay" may or may not have run; do not repeat it. Tell the user briefly.',
    });
    expect(unknownOutcome("pay", "r1")).toMatchObject({ request: "r1" });
  });

  it("are unwrapped to the tool's own value, or the error that says why there is none", () => {
    expect(unwrap({ status: "ran", value: 7, how: "allowed" })).toBe(7);
    const own = new Error("the tool's own");
    expect(thrownBy({ status: "failed", error: own, how: "allowed" })).toBe(own);
    expect(thrownBy(refused)).toMatchObject({ name: "Refused", code: "rejected", reason: "too much", request: "r1" });
    expect(thrownBy(unknownOutcome("pay", "r1"))).toMatchObject({ name: "Unknown", request: "r1" });
    expect(thrownBy({ status: "suspended", request: "r1", token: "t" })).toMatchObject({
      name: "Suspended",
      request: "r1",
      token: "t",
    });
    expect(thrownBy({ status: "deferred", request: "r1" })).toMatchObject({ name: "Suspended", request: "r1", token: "" });
  });

  it("are recognised across two copies of the package, and never in what only looks alike", () => {
    const copy = Object.assign(new Error("x"), { name: "Refused" });
    Object.defineProperty(copy, Symbol.for("holdpoint/error"), { value: true });
    expect([isRefused(copy), isSuspended(copy), isUnknown(copy)]).toEqual([true, false, false]);
    expect(isRefused(Object.assign(new Error("x"), { name: "Refused" }))).toBe(false);
    expect([isRefused(null), isRefused("Refused"), isRefused(undefined)]).toEqual([false, false, false]);
    expect(isRefused(new Refused(refused))).toBe(true);
    expect(isUnknown(new Unknown({ status: "unknown", sentence: "s" }))).toBe(true);
    expect(isSuspended(new Suspended({ status: "suspended", request: "r", token: "t" }))).toBe(true);
  });
});

describe("errors", () => {
  it("say code, cause and next step, and which are ours", () => {
    const cause = new Error("disk");
    const ours = new HoldpointError("store_unavailable", "the store is down", { cause });
    expect(ours).toMatchObject({ code: "store_unavailable", message: "the store is down", cause, name: "HoldpointError" });
    expect([isHoldpointError(ours), isHoldpointError(cause), isHoldpointError(new DeclarationError("x"))]).toEqual([
      true,
      false,
      false,
    ]);
    expect(new DeclarationError("x", { cause })).toMatchObject({ name: "DeclarationError", code: "declaration", cause });
    expect([problemOf(cause), problemOf("a text"), problemOf(undefined)]).toEqual(["disk", "not an error", "not an error"]);
    expect(() => bug("two ends")).toThrow("two ends (this is a bug in Holdpoint)");
  });
});
