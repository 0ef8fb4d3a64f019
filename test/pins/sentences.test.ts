import { describe, expect, it } from "vitest";
import { deferredSentence, pendingSentence, refusalSentence, unknownSentence } from "../../src/core/refusal.ts";

const FINAL = "This is final: do not retry or rephrase it and do not reach the same end another way. Tell the user briefly.";
const said = (code: Parameters<typeof refusalSentence>[1]["code"], more: object = {}): string =>
  refusalSentence("fs/delete", { code, ...more });

describe("what a model reads", () => {
  it("P-07 of a rejection, with and without a person's words", () => {
    expect(said("rejected")).toBe(`Not run: a person rejected "fs/delete". ${FINAL}`);
    expect(said("rejected", { reason: "" })).toBe(`Not run: a person rejected "fs/delete". ${FINAL}`);
    expect(said("rejected", { reason: "use staging" })).toBe(
      `Not run: a person rejected "fs/delete". Reason given: "use staging". ${FINAL}`,
    );
  });

  it("P-04 P-07 of a timeout", () => {
    expect(said("expired")).toBe(`Not run: nobody answered for "fs/delete" in time, and silence is not consent. ${FINAL}`);
  });

  it.each(["no_approver", "undeliverable"] as const)("P-06 P-07 of %s", (code) => {
    expect(said(code)).toBe(`Not run: "fs/delete" needs a person and nobody could be reached. ${FINAL}`);
  });

  it.each(["denied", "not_granted", "killed"] as const)("P-07 of %s, with and without a rule's words", (code) => {
    expect(said(code)).toBe(`Not run: policy does not allow "fs/delete" with these arguments. ${FINAL}`);
    expect(said(code, { reason: "never" })).toBe(
      `Not run: policy does not allow "fs/delete" with these arguments. Reason: "never". ${FINAL}`,
    );
  });

  it.each(["already_refused", "too_many_refusals"] as const)("P-07 of %s", (code) => {
    expect(said(code)).toBe(`Not run: "fs/delete" was already refused in this run. ${FINAL}`);
  });

  it.each(["cancelled", "invalid_edit", "context_changed", "tool_changed"] as const)("P-07 of %s", (code) => {
    expect(said(code)).toBe(`Not run: the request for "fs/delete" was withdrawn. ${FINAL}`);
  });

  it("P-07 of a tool that is not known, and of arguments that are not valid", () => {
    expect(said("unknown_tool")).toBe('Tool "fs/delete" is not registered; it was not run.');
    expect(said("invalid_arguments", { pointer: "/path", problem: "must be a string" })).toBe(
      "Not run: /path: must be a string. Correct the arguments and call again.",
    );
    expect(said("invalid_arguments", { pointer: "" })).toBe(
      "Not run: the arguments: not valid. Correct the arguments and call again.",
    );
    expect(said("invalid_arguments")).toBe("Not run: the arguments: not valid. Correct the arguments and call again.");
  });

  it.each([
    "schema_not_stable",
    "duplicate_id",
    "no_gate",
    "cannot_seal",
    "policy_error",
    "channel_fault",
    "store_unavailable",
    "journal_unavailable",
    "directory_unavailable",
    "clock_skew",
    "limit",
    "invalid_token",
  ] as const)("P-07 P-15 of %s", (code) => {
    expect(said(code)).toBe(`Not run: "fs/delete" could not be checked (${code}). Tell the user briefly.`);
  });

  it("P-07 of what waits, is queued, or may have run", () => {
    expect(pendingSentence("fs/delete", "http://127.0.0.1:4650/r/1")).toBe(
      'Not run yet: "fs/delete" waits for a person (http://127.0.0.1:4650/r/1). Do not assume a result; the same call made again brings the answer.',
    );
    expect(deferredSentence("fs/delete")).toBe(
      'Not run yet: "fs/delete" is queued for approval. Go on without its result; do not retry it and do not read back its effects.',
    );
    expect(unknownSentence("fs/delete")).toBe('"fs/delete" may or may not have run; do not repeat it. Tell the user briefly.');
  });
});
