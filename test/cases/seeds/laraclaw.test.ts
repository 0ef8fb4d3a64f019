import { describe, expect, it } from "vitest";
import { textAnswer, type TextSetting } from "../../../src/core/approving.ts";
import { createGate, nodeRuntime } from "../../../src/index.ts";
import { memoryStore } from "../../../src/stores/memory/index.ts";
import { manualClock, recordingChannel } from "../../../src/testing/index.ts";
import { Seat } from "../world/seat.ts";
import { steered } from "../world/stores.ts";
import { asking, bench, ending } from "./bench.ts";

describe("what people write", () => {
  const OPEN: TextSetting = { open: ["K7Q2"], last: true, otherReplies: "reject" };

  it.each([
    ["LC-007", "Yes", { open: [] }, { answer: "none" }],
    [
      "LC-009",
      "use the staging server instead",
      OPEN,
      { answer: "reject", code: "K7Q2", reason: "use the staging server instead" },
    ],
    ["LC-010", "Yes\n\nOn Monday ada wrote:\n> Delete /tmp? Reply yes or no", OPEN, { answer: "approve", code: "K7Q2" }],
  ])("%s: the text %j is read as it is meant", (...[, text, setting, answer]) => {
    expect(textAnswer(text, setting as TextSetting)).toEqual(answer);
  });
});

it("LC-012: a held call is stored with its id, and its question says why and how to answer", async () => {
  const clock = manualClock();
  const seat = new Seat({ as: "ada", clock });
  const at = bench({ channels: [seat.channel], gate: { runtime: nodeRuntime({ clock }) } });
  at.tools(asking("delete_path", { confirm: "Delete {path}? It cannot be undone." }));
  const call = await at.begin("delete_path", { path: "/tmp/report" });
  await seat.opened();
  expect((await at.desk.standing(call.request))?.status).toBe("pending");
  expect(seat.text).toContain("Delete /tmp/report? It cannot be undone.");
  expect(seat.text).toContain("Type y or yes and press Enter");
  seat.dispose();
});

it("LC-015: a fault of another kind leaves the question as it is, and the caller is told", async () => {
  const clock = manualClock();
  const store = steered(memoryStore({ clock }), clock);
  const person = recordingChannel();
  const gate = createGate({ runtime: nodeRuntime({ clock }), store, channels: [person] });
  gate.tools([{ name: "delete", confirm: true, run: () => "done" }]);
  const run = gate.run({ principal: "ada", run: "run-1" });
  const waiting = run.try("delete", {}, { id: "call-1" });
  for (let turn = 0; turn < 4; turn += 1) await clock.settle();
  store.down = "store";
  const other = await run.try("delete", { again: true }, { id: "call-2" });
  expect(other).toMatchObject({ status: "refused", code: "store_unavailable" });
  store.down = "no";
  const [open] = await gate.pending();
  expect(open?.record.call.id).toBe("call-1");
  await person.answer(open?.record.id ?? "", "approve");
  expect(await waiting).toMatchObject({ status: "ran", how: "approved" });
  await gate[Symbol.asyncDispose]();
});

it("LC-021: what an opinion holds is asked, with its reason", async () => {
  const at = bench({
    policy: {
      opinions: [(call) => (call.tool === "list" ? { verdict: "ask", reason: "the list is confidential today" } : null)],
    },
  });
  at.tools({ name: "list", tier: "read" }, { name: "look", tier: "read" });
  expect(ending(await at.begin("look", {}))).toBe("ran: allowed");
  const call = await at.begin("list", {});
  const shown = await at.card(call.request);
  expect(shown === undefined || "ambiguous" in shown ? "" : shown.card.message).toBe("the list is confidential today");
});
