import { describe, expect, it } from "vitest";
import { DeclarationError } from "./errors.ts";
import { prerequisite } from "./grant.ts";

describe("prerequisite", () => {
  it("is the tool's own scope for 15 minutes where nothing else is said", () => {
    expect(prerequisite(true, "pay")).toEqual({ scope: "tool:pay", length: 900_000 });
    expect(prerequisite("deploys", "pay")).toEqual({ scope: "deploys", length: 900_000 });
    expect(prerequisite({ scope: "*", length: "1h" }, "pay")).toEqual({ scope: "*", length: 3_600_000 });
    expect(prerequisite({ scope: "a" }, "pay")).toEqual({ scope: "a", length: 900_000 });
  });

  it("P-14 refuses an empty scope and a grant that would never hold", () => {
    for (const requires of ["", { scope: "" }, { scope: "a", length: 0 }, { scope: "a", length: "0s" }])
      expect(() => prerequisite(requires, "pay")).toThrow(DeclarationError);
    expect(() => prerequisite({ scope: "a", length: -1 }, "pay")).toThrow(/0 or more/);
  });
});
