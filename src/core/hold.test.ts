import { describe, expect, it } from "vitest";
import { DeclarationError } from "./errors.ts";
import { confirmationOf, holdOf, LONGEST_DEADLINE } from "./hold.ts";

const hold = (words: Parameters<typeof holdOf>[1], exemptible = false) =>
  holdOf("tool", words, { exemptible, message: undefined });

describe("holdOf", () => {
  it("P-09 gives an ask that names nobody to the person the agent acts for, or the operator", () => {
    expect(hold({})).toEqual({
      by: "tool",
      clause: {
        by: "tool",
        any: [{ of: ["@principal", "@operator"], count: 1 }],
        self: "allow",
        assurance: "local",
        window: 0,
        exemptible: false,
      },
      graded: false,
      deadline: undefined,
      message: undefined,
      editable: undefined,
      channels: undefined,
      offer: undefined,
      remind: undefined,
    });
  });

  it("P-09 excludes the one who asks where approvers are named, or more than one is wanted", () => {
    expect(hold({ approvers: ["group:finance"] }).clause).toMatchObject({
      any: [{ of: ["group:finance"], count: 1 }],
      self: "deny",
      assurance: "account",
    });
    expect(hold({ quorum: 2 }).clause).toMatchObject({ any: [{ of: ["@principal", "@operator"], count: 2 }], self: "deny" });
    expect(hold({ any: [{ of: ["bob"], count: 1 }] }).clause).toMatchObject({ self: "deny", assurance: "account" });
    expect(hold({ quorum: 1 }).clause).toMatchObject({ self: "allow", assurance: "local" });
    expect(hold({ approvers: ["bob"], self: "allow", assurance: "client" })).toMatchObject({
      clause: { self: "allow", assurance: "client" },
      graded: true,
    });
  });

  it("keeps what is said of times, edits, channels", () => {
    expect(
      hold({
        window: "5m",
        deadline: "15m",
        remind: "1m",
        channels: ["slack"],
        offer: "enough",
        editable: ["/a"],
        exemptible: true,
      }),
    ).toMatchObject({
      clause: { window: 300_000, exemptible: true },
      deadline: 900_000,
      remind: 60_000,
      channels: ["slack"],
      offer: "enough",
      editable: ["/a"],
    });
    expect(hold({ edit: false, editable: ["/a"] }).editable).toEqual([]);
    expect(hold({ edit: true, editable: ["/a"] }).editable).toEqual(["/a"]);
    expect(hold({}, true).clause.exemptible).toBe(true);
    expect(hold({ exemptible: false }, true).clause.exemptible).toBe(false);
    expect(hold({ deadline: LONGEST_DEADLINE }).deadline).toBe(7_776_000_000);
  });

  it.each<[string, object, RegExp]>([
    ["both forms", { any: [{ of: ["a"], count: 1 }], quorum: 1 }, /say one of them/],
    ["both forms, the other way", { any: [{ of: ["a"], count: 1 }], approvers: ["a"] }, /say one of them/],
    ["no alternative", { any: [] }, /could never be met/],
    ["an alternative of nobody", { any: [{ of: [], count: 1 }] }, /names nobody/],
    ["no approvers", { approvers: [] }, /names nobody/],
    ["an approver without a name", { approvers: [""] }, /names nobody/],
    ["a quorum of none", { approvers: ["a"], quorum: 0 }, /whole number of 1 or more, not 0/],
    ["half a person", { approvers: ["a"], quorum: 1.5 }, /not 1.5/],
    ["an unknown assurance", { assurance: "sure" }, /"sure" is not an assurance/],
    ["no wait at all", { deadline: 0 }, /at least 1 ms/],
    ["more than 90 days", { deadline: LONGEST_DEADLINE + 1 }, /at most 90 days/],
  ])("P-14 refuses %s", (_what, words, message) => {
    expect(() => hold(words)).toThrow(DeclarationError);
    expect(() => hold(words)).toThrow(message);
  });
});

describe("confirmationOf", () => {
  it("is the long form", () => {
    expect([confirmationOf(undefined), confirmationOf(true), confirmationOf("Sure?"), confirmationOf({ window: 1 })]).toEqual([
      undefined,
      {},
      { message: "Sure?" },
      { window: 1 },
    ]);
  });
});
