import type { Card, Hash, Instant } from "../core/index.ts";

/** A card with something in every place, for tests of what shows cards. */
export const sampleCard = (over: Partial<Card> = {}): Card => ({
  id: "0190a1b2-0000-7000-8000-000000000001",
  kind: "call",
  status: "pending",
  digest: `sha256:0123456789ab${"0".repeat(52)}` as Hash,
  code: "K7Q2",
  tool: { name: "delete_path", origin: "code" },
  tier: "physical",
  impact: "default",
  message: "Delete /tmp/report?",
  effect: null,
  arguments: { path: "/tmp/report" },
  masked: [],
  bindings: {},
  requester: { principal: "ada", agent: "janitor", path: [], claimed: false },
  presence: "waiting",
  statement: null,
  notes: [],
  flags: [],
  asks: [
    { by: "tool", of: [{ selectors: ["@principal", "@operator"], count: 1 }], approvedBy: [], met: false, assurance: "local" },
  ],
  createdAt: "2030-01-01T00:00:00.000Z" as Instant,
  decideBy: "2030-01-01T00:05:00.000Z" as Instant,
  editable: [],
  schema: null,
  ending: null,
  ...over,
});
