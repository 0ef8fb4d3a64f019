import { describe, expect, it } from "vitest";
import { sampleCard } from "../../src/testing/index.ts";
import { type Card, Person } from "./person.ts";

const A = sampleCard({ id: "a", code: "A2B3" });
const B = sampleCard({ id: "b", code: "C4D5", tool: { name: "send_mail", origin: "code" } });
const C = sampleCard({ id: "c", code: "E6F7" });
const ended = (card: Card, status: Card["status"], ending: string): Card => ({ ...card, status, ending });

describe("a question at the terminal, and what happens around it", () => {
  it("asks one question at a time and says how many wait", async () => {
    await using person = new Person();
    expect(await person.shown(A)).toEqual({ state: "seen" });
    expect(await person.shown(B)).toEqual({ state: "delivered" });
    await person.opened();
    expect(person.text).toContain("(1 more waiting)");
    await person.shown(C);
    expect(person.text).toContain("(2 more waiting)");
    expect(person.text).not.toContain("send_mail");
    await person.desk.end(person.channel, ended(C, "cancelled", "withdrawn; it was not run"));
    await person.settle();
    expect(person.text).toContain("(1 more waiting)");
    await person.types("y\ry\r");
    await person.opened();
    await person.opened();
    expect(person.text).toContain("send_mail");
    expect(person.desk.decisions).toEqual(["a approve"]);
    await person.types("no\r");
    expect(person.desk.decisions).toEqual(["a approve", "b reject"]);
    expect(person.desk.heard.filter((one) => one.what === "seen").map((one) => one.id)).toEqual(["b"]);
  });

  it.each([40, 60, 200])("lays the first card out for a terminal that is %i columns wide (P-13)", async (columns) => {
    const card = { ...A, arguments: { text: "word ".repeat(60) }, message: "speak ".repeat(40) };
    const options = { columns, rows: 60 };
    await using known = new Person(options);
    await using person = new Person({ ...options, lateSize: true });
    await known.asked(card);
    await person.asked(card);
    expect(person.rows).toEqual(known.rows);
    for (const row of person.rows) expect(row.length).toBeLessThan(columns);
  });

  it("waits for the terminal's last answer when all is closed, so that the host's shell reads none of it", async () => {
    await using person = new Person();
    await person.asked(A);
    const press = person.keyboard.press.bind(person.keyboard);
    person.keyboard.press = (text) => void (text.endsWith("R") ? setTimeout(() => press(text), 30) : press(text));
    await person.types("n\r");
    expect(person.desk.decisions).toEqual(["a reject"]);
    await person.channel[Symbol.asyncDispose]();
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(person.keyboard.unread).toBe("");
    expect(person.keyboard.raw).toBe(false);
  });

  it("takes the question away when it ends, and leaves the next line to the host", async () => {
    await using person = new Person();
    await person.asked(A);
    await person.types("ye");
    await person.desk.end(person.channel, ended(A, "expired", "expired; it was not run"));
    await person.settle();
    expect(person.rows.at(-1)).toBe("This question is closed: expired; it was not run.");
    expect(person.text).not.toContain("Run it?");
    expect(person.keyboard.raw).toBe(false);
    await person.types("yes\r");
    expect(person.keyboard.unread).toBe("yes\r");
    expect(person.desk.decisions).toEqual([]);
  });

  it("takes no answer from the moment on that the request has ended, told or not", async () => {
    for (const typed of ["y\r", ""]) {
      await using person = new Person();
      await person.asked(A);
      person.desk.stop(A);
      await person.types(typed);
      await person.clock.advance(200);
      await person.settle();
      expect(person.desk.decisions).toEqual([]);
      expect(person.rows.at(-1)).toBe(
        typed === "" ? "This question is closed: it was withdrawn." : "Your answer did not count: it came too late.",
      );
      expect(person.keyboard.raw).toBe(false);
    }
  });

  it("paints over nothing that others wrote since: the ending goes on a new line", async () => {
    await using person = new Person();
    await person.asked(A);
    await person.types("y");
    person.write("\r\nlog: first\r\nlog: second");
    await person.desk.end(person.channel, ended(A, "expired", "expired; it was not run"));
    await person.settle();
    expect(person.rows.slice(-4)).toEqual([
      "> y",
      "log: first",
      "log: second",
      "This question is closed: expired; it was not run.",
    ]);
  });

  it("ends the typed line before anything else is printed, and leaves alone what is", async () => {
    await using person = new Person();
    person.desk.answers.push(() => {
      person.write("holdpoint: rejected\r\n");
      return { found: true, status: "rejected", counted: true };
    });
    await person.asked(A);
    await person.types("no backups exist\r");
    expect(person.rows.slice(-3)).toEqual(["> no backups exist", "holdpoint: rejected", "You refused it."]);
    expect(person.desk.decisions).toEqual(["a reject no backups exist"]);
  });

  it("says that it was approved elsewhere", async () => {
    await using person = new Person();
    await person.asked(A);
    await person.desk.end(person.channel, { ...A, status: "approved" });
    await person.settle();
    expect(person.rows.at(-1)).toBe("This question is closed: it was approved elsewhere.");
  });

  it("tells what became of a call that was asked about here, and not into another question", async () => {
    await using person = new Person();
    await person.asked(A);
    await person.types("y\r");
    await person.channel.close("a", { ...A, status: "approved" });
    await person.asked(B);
    await person.channel.close("a", ended(A, "succeeded", "it ran and succeeded\u001b[2J"));
    await person.settle();
    expect(person.text).not.toContain("it ran and succeeded");
    await person.types("n\r");
    await person.channel.close("b", ended(B, "rejected", "rejected; it was not run"));
    await person.settle();
    expect(person.rows.slice(-2)).toEqual(["You refused it.", "delete_path: it ran and succeeded\\u001b[2J."]);
  });

  it("takes no yes after somebody else has drawn on the screen (A61)", async () => {
    await using person = new Person();
    await person.asked(A);
    person.write("\u001b[2J Continue? [y/n] ");
    await person.types("y\r");
    expect(person.desk.decisions).toEqual([]);
    expect(person.text).not.toContain("Continue?");
    await person.opened();
    expect(person.text).toContain("Something else wrote on this terminal.");
    expect(person.text).toContain("delete_path");
    await person.types("y\r");
    expect(person.desk.decisions).toEqual(["a approve"]);
  });

  it("takes no yes from a terminal that stops answering", async () => {
    await using person = new Person();
    await person.asked(A);
    person.channel.redraw();
    await person.opened();
    const press = person.keyboard.press.bind(person.keyboard);
    person.keyboard.press = (text) => (text.endsWith("R") ? undefined : press(text));
    await person.types("y\r");
    await person.clock.advance(1000);
    expect(person.desk.decisions).toEqual([]);
    await person.opened();
    expect(person.text).toContain("Something else wrote on this terminal.");
  });

  it("asks a terminal that does not tell its cursor all the same", async () => {
    await using person = new Person({ silent: true });
    await person.asked(A);
    await person.types("y\r");
    expect(person.desk.decisions).toEqual([]);
    await person.clock.advance(300);
    expect(person.desk.decisions).toEqual(["a approve"]);
    await person.settle();
    await person.asked(B);
    await person.types("y\r");
    expect(person.desk.decisions).toEqual(["a approve", "b approve"]);
  });

  it("does not wait for the cursor of a terminal that had the time to tell it", async () => {
    await using person = new Person({ silent: true });
    await person.asked(A);
    await person.clock.advance(300);
    await person.types("y\r");
    expect(person.desk.decisions).toEqual(["a approve"]);
  });

  it("draws all of it again when it is told of foreign output, and counts no line from before", async () => {
    await using person = new Person();
    await person.asked(A);
    await person.types("ye");
    person.channel.redraw();
    await person.types("s\r");
    await person.opened();
    await person.opened();
    expect(person.desk.decisions).toEqual([]);
    expect(person.rows.filter((row) => row.includes("delete_path")).length).toBe(1);
  });

  it("takes no yes before all of a long call was shown (A11)", async () => {
    await using person = new Person({ rows: 24 });
    const card = { ...A, arguments: { text: `${"line\n".repeat(40)}HIDDEN-TAIL` } };
    expect(await person.shown(card)).toEqual({ state: "delivered" });
    await person.opened();
    expect(person.visibleRows.join("\n")).toContain("HIDDEN-TAIL");
    await person.types("yes\r");
    expect(person.text).toContain("Nothing was decided: not all of it was shown yet.");
    expect(person.desk.heard).toEqual([]);
    for (let part = 2; part < 20 && !person.text.includes("Run it?"); part += 1) {
      expect(person.text).toContain(`Part ${part - 1} of `);
      await person.types(" ");
      await person.opened();
    }
    expect(person.desk.heard.map((one) => one.what)).toEqual(["seen"]);
    await person.types("yes\r");
    expect(person.desk.decisions).toEqual(["a approve"]);
  });

  it("refuses, and never approves, what is too long for it", async () => {
    await using person = new Person();
    const card = { ...A, arguments: { text: "x".repeat(100_000) } };
    await person.asked(card);
    expect(person.text).toContain("cannot be approved here");
    expect(person.text).toContain("rows are not shown here. All of it: holdpoint show a");
    await person.types("yes\r");
    expect(person.desk.decisions).toEqual([]);
    await person.types("too long\r");
    expect(person.desk.decisions).toEqual(["a reject too long"]);
  });

  it("says where a call can be changed", async () => {
    await using person = new Person();
    await person.asked({ ...A, editable: [""] });
    expect(person.text).toContain("To change it first: holdpoint edit a");
  });

  it("reminds on the question", async () => {
    await using person = new Person();
    await person.asked(A);
    await person.channel.remind("a", A);
    await person.settle();
    expect(person.text).toContain("This question still waits for you.");
  });

  it("says why an answer did not count", async () => {
    await using person = new Person();
    person.desk.answers.push({
      found: true,
      status: "pending",
      counted: false,
      code: "self_approval",
      note: "somebody\u001b else must decide it",
    });
    await person.asked(A);
    await person.types("y\r");
    expect(person.rows.slice(-2)).toEqual([
      "Your answer did not count: the one who asked cannot approve it.",
      "somebody\\u001b else must decide it",
    ]);
  });

  it("keeps the question when an answer could not be recorded", async () => {
    await using person = new Person();
    person.desk.answers.push(() => {
      throw new Error("store down");
    });
    await person.asked(A);
    await person.types("y\r");
    expect(person.text).toContain("Your answer could not be recorded, so nothing was decided.");
    expect(person.desk.logged).toEqual(["an answer at the terminal could not be recorded"]);
    await person.types("y\r");
    expect(person.desk.decisions).toEqual(["a approve", "a approve"]);
    expect(person.rows.at(-1)).toBe("You approved it.");
  });

  it("shows the card as it is now when the old one is stale, and takes a new line", async () => {
    await using person = new Person();
    const changed = { ...A, message: "Delete something else?", digest: B.digest };
    person.desk.answers.push({ found: true, status: "pending", counted: false, code: "stale_view" });
    person.desk.present = (_id, _as, render) => ({
      card: changed,
      view: "view of now",
      text: render?.(changed).text ?? "",
      complete: true,
    });
    await person.asked(A);
    await person.types("y\r");
    await person.opened();
    expect(person.text).toContain("Delete something else?");
    await person.types("y\r");
    expect(person.desk.heard).toMatchObject([
      { answer: { view: "view of a" } },
      { what: "seen" },
      { answer: { view: "view of now", digest: B.digest } },
    ]);
  });

  it("is over when a stale request is gone", async () => {
    await using person = new Person();
    person.desk.answers.push({ found: false, status: null, counted: false, code: "stale_view" });
    await person.asked(A);
    await person.types("y\r");
    expect(person.rows.at(-1)).toBe("Your answer did not count: it has changed since it was shown.");
  });

  it("reaches nobody without a terminal, and fails a delivery that loses it (A62)", async () => {
    await using person = new Person();
    person.keyboard.isTTY = false;
    expect(await person.channel.reaches()).toEqual([]);
    person.keyboard.isTTY = true;
    const [to] = await person.channel.reaches();
    person.keyboard.isTTY = false;
    if (to === undefined) throw new Error("nobody");
    await expect(person.channel.deliver(person.desk.delivery(person.channel, A, to))).rejects.toThrow("no terminal");
    person.keyboard.isTTY = true;
    await person.asked(A);
    await person.types("y\r");
    expect(person.desk.decisions).toEqual(["a approve"]);
  });

  it("fails a delivery that it cannot draw, and logs one that waited in vain", async () => {
    await using person = new Person();
    person.gone = true;
    await expect(person.shown(A)).rejects.toThrow("EIO");
    person.gone = false;
    await person.asked(B);
    await person.shown(C);
    await person.types("n");
    person.gone = true;
    await person.channel.close("b", ended(B, "expired", "expired; it was not run")).catch(() => undefined);
    await person.clock.advance(1000);
    expect(person.desk.logged).toContain("the terminal could not show a request that waited for it");
    expect(person.desk.decisions).toEqual([]);
    person.gone = false;
  });

  it("lives on when the desk cannot record that a card was seen", async () => {
    await using person = new Person();
    person.desk.fails.add("seen");
    await person.asked(A);
    await person.shown(B);
    await person.types("n\r");
    await person.opened();
    expect(person.desk.logged).toEqual(["could not record that a card was seen"]);
    await person.types("y\r");
    expect(person.desk.decisions).toEqual(["a reject", "b approve"]);
  });
});
