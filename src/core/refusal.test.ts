import { describe, expect, it } from "vitest";
import { REFUSAL_CODES } from "./errors.ts";
import { instant } from "./instant.ts";
import { codeOf, refusalSentence } from "./refusal.ts";
import { CANCEL_REASONS, type Resolution } from "./request.ts";

const ended = (status: Resolution["status"], reason: string): Resolution => ({ status, reason, by: null, at: instant(0) });

describe("codeOf", () => {
  it("P-07 is the reason itself where the sentences list it, else what it amounts to", () => {
    expect(Object.fromEntries(CANCEL_REASONS.map((reason) => [reason, codeOf(ended("cancelled", reason), "call")]))).toEqual({
      requester: "cancelled",
      requester_gone: "cancelled",
      abort: "cancelled",
      operator: "cancelled",
      kill_switch: "killed",
      revoked: "rejected",
      superseded: "cancelled",
      tool_changed: "tool_changed",
      context_changed: "context_changed",
      policy_changed: "denied",
      undeliverable: "undeliverable",
      no_approver: "no_approver",
      channel_fault: "channel_fault",
      invalid_edit: "invalid_edit",
    });
    expect(codeOf(ended("rejected", "rejected"), "call")).toBe("rejected");
    expect(codeOf(ended("expired", "not_claimed"), "change")).toBe("expired");
    for (const status of ["rejected", "expired", "cancelled"] as const)
      expect(codeOf(ended(status, "x"), "grant")).toBe("not_granted");
  });
});

describe("refusalSentence", () => {
  it("P-07 has one sentence for each code, on one line", () => {
    for (const code of REFUSAL_CODES) {
      expect(refusalSentence("pay", { code })).toMatch(/^\S.*\.$/);
      expect(refusalSentence("pay", { code, reason: "why", pointer: "/a", problem: "must be" })).not.toContain("undefined");
    }
  });
});
