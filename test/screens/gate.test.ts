import { describe, expect, it } from "vitest";
import { createGate, type Gate, nodeRuntime, type Run } from "../../src/index.ts";
import { memoryStore } from "../../src/stores/memory/index.ts";
import { Person } from "./person.ts";

interface Setting {
  readonly person: Person;
  readonly gate: Gate;
  readonly run: Run;
  readonly ran: string[];
}

/** A gate whose one person sits at a modelled terminal. */
async function setting(play: (setting: Setting) => Promise<void>): Promise<void> {
  await using person = new Person({ gated: true });
  const gate = createGate({
    channels: [person.channel],
    store: memoryStore({ clock: person.clock }),
    runtime: nodeRuntime({ clock: person.clock }),
  });
  const ran: string[] = [];
  gate.tool({
    name: "write_note",
    input: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    tier: "write",
    confirm: "Write {text}?",
    run: ({ text }) => {
      ran.push(String(text));
      return "done";
    },
  });
  await using run = gate.run({ principal: "ada" });
  await play({ person, gate, run, ran });
}

const settled = async (person: Person): Promise<void> => {
  for (let turn = 0; turn < 4; turn += 1) await person.settle();
};

describe("a gate with a terminal", () => {
  it("runs once on a typed yes, and tells the person what became of it", async () => {
    await setting(async ({ person, run, ran }) => {
      const outcome = run.try("write_note", { text: "hello\u001b[2J" });
      await settled(person);
      await person.opened();
      expect(person.text).toContain("message    Write hello\\u001b[2J?");
      expect(ran).toEqual([]);
      await person.types("y\r");
      expect(await outcome).toMatchObject({ status: "ran", value: "done", how: "approved" });
      await settled(person);
      expect(ran).toEqual(["hello\u001b[2J"]);
      expect(person.rows.slice(-2)).toEqual(["You approved it.", "write_note: it ran and succeeded."]);
    });
  });

  it("refuses with the typed reason", async () => {
    await setting(async ({ person, run, ran }) => {
      const outcome = run.try("write_note", { text: "x" });
      await settled(person);
      await person.opened();
      await person.types("no, use staging\r");
      expect(await outcome).toMatchObject({ status: "refused", code: "rejected" });
      await settled(person);
      expect(ran).toEqual([]);
      expect(person.rows.at(-1)).toBe("You refused it.");
    });
  });

  it("lets silence refuse, takes the question away, and leaves a late yes to the host", async () => {
    await setting(async ({ person, run, ran }) => {
      const outcome = run.try("write_note", { text: "x" });
      await settled(person);
      await person.opened();
      await person.clock.advance(300_000);
      expect(await outcome).toMatchObject({ status: "refused", code: "expired" });
      await settled(person);
      expect(person.text).not.toContain("Run it?");
      expect(person.rows.at(-1)).toMatch(/^This question is closed: expired/);
      await person.types("y\r");
      expect([ran, person.keyboard.unread]).toEqual([[], "y\r"]);
    });
  });

  it("refuses where there is no terminal (A62)", async () => {
    await setting(async ({ person, run, ran }) => {
      person.keyboard.isTTY = false;
      const outcome = await run.try("write_note", { text: "x" });
      expect(outcome).toMatchObject({ status: "refused", code: "no_approver" });
      expect(ran).toEqual([]);
    });
  });

  it("asks calls that came together one after the other, each for itself (BR-001, BR-003)", async () => {
    await setting(async ({ person, run, ran }) => {
      const outcomes = ["a", "b", "c"].map((text) => run.try("write_note", { text }));
      await settled(person);
      await person.opened();
      expect(person.text).toContain("(2 more waiting)");
      await person.types("y\r");
      await settled(person);
      await person.opened();
      await person.types("n\r");
      await settled(person);
      await person.opened();
      await person.types("y\r");
      const all = await Promise.all(outcomes);
      expect(all.map(({ status }) => status)).toEqual(["ran", "refused", "ran"]);
      expect(ran).toEqual(["a", "c"]);
    });
  });
});
