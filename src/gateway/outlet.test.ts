import { PassThrough, Writable } from "node:stream";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Outlet } from "./outlet.ts";
import type { Place } from "./outlet.ts";

const broke = (cause: Error): void => {
  throw cause;
};

/** A stream that takes one write at a time, when the test lets it. */
class Gate extends Writable {
  readonly taken: string[] = [];
  #next: (() => void) | undefined;

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.taken.push(chunk.toString("utf8"));
    this.#next = done;
  }
  take(): void {
    this.#next?.();
  }
}

describe("order", () => {
  it("what is sent after a place waits for it, whatever is released first", () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { minLength: 1, maxLength: 12 }), fc.infiniteStream(fc.nat()), (kinds, picks) => {
        const stream = new PassThrough();
        const outlet = new Outlet(stream, broke);
        const open: [Place, string][] = [];
        kinds.forEach((later, index) => {
          if (later) open.push([outlet.place(), `${index};`]);
          else outlet.send(`${index};`);
        });
        while (open.length > 0) {
          const [place, text] = open.splice((picks.next().value as number) % open.length, 1)[0] as [Place, string];
          place.write(text, true);
        }
        expect((stream.read() as Buffer).toString()).toBe(kinds.map((_, index) => `${index};`).join(""));
      }),
    );
  });

  it("an open place is written as it fills and nothing comes between", () => {
    const stream = new PassThrough();
    const outlet = new Outlet(stream, broke);
    const place = outlet.place();
    place.write("a", false);
    outlet.send("|next");
    expect((stream.read() as Buffer).toString()).toBe("a");
    place.write("b", false);
    place.write("", true);
    expect((stream.read() as Buffer).toString()).toBe("b|next");
  });
});

describe("pressure", () => {
  it("is felt above 256 KiB that nobody took, and relieved once", () => {
    const gate = new Gate();
    const outlet = new Outlet(gate, broke);
    let relieved = 0;
    outlet.send("x".repeat(262_144));
    expect(outlet.pressed).toBe(false);
    outlet.send("y");
    expect(outlet.pressed).toBe(true);
    outlet.whenRelieved(() => {
      relieved += 1;
    });
    expect(relieved).toBe(0);
    gate.take();
    expect([outlet.pressed, relieved]).toEqual([false, 1]);
    gate.take();
    expect(relieved).toBe(1);
  });

  it("counts what waits behind a place", () => {
    const outlet = new Outlet(new PassThrough(), broke);
    outlet.place();
    outlet.send("x".repeat(262_145));
    expect(outlet.pressed).toBe(true);
  });

  it("ends when the stream breaks, and says so once", async () => {
    const gate = new Gate();
    const causes: string[] = [];
    const outlet = new Outlet(gate, ({ message }) => causes.push(message));
    outlet.send("x".repeat(300_000));
    const flushed = outlet.flushed();
    const relieved = new Promise<void>((resolve) => outlet.whenRelieved(resolve));
    gate.destroy(new Error("EPIPE"));
    await Promise.all([flushed, relieved]);
    outlet.send("more");
    outlet.end();
    await outlet.flushed();
    expect([outlet.pressed, causes]).toEqual([false, ["EPIPE"]]);
  });

  it("flushed waits for the last byte", async () => {
    const gate = new Gate();
    const outlet = new Outlet(gate, broke);
    outlet.send("a");
    outlet.send("b");
    let done = false;
    const flushed = outlet.flushed().then(() => {
      done = true;
    });
    gate.take();
    await Promise.resolve();
    expect(done).toBe(false);
    gate.take();
    await flushed;
    expect(gate.taken).toEqual(["a", "b"]);
  });
});
