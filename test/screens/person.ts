import { EventEmitter } from "node:events";
import xterm from "@xterm/headless";
import {
  terminalChannel,
  type TerminalChannel,
  type TerminalInput,
  type TerminalOptions,
  type TerminalOutput,
} from "../../src/channels/terminal/index.ts";
import { ListeningDesk, manualClock, type sampleCard } from "../../src/testing/index.ts";

export type Card = ReturnType<typeof sampleCard>;
type Delivered = Awaited<ReturnType<ListeningDesk["deliver"]>>;

type Listener = (chunk: Uint8Array | string) => void;

/** A terminal's keyboard: what nobody reads stays in it, and the next reader gets it. */
class Keyboard implements TerminalInput {
  isTTY = true;
  raw = false;
  readonly #events = new EventEmitter();
  #flowing = false;
  #unread = "";

  setRawMode(raw: boolean): void {
    this.raw = raw;
  }

  on(event: "data", listener: Listener): void {
    this.#events.on(event, listener);
  }

  off(event: "data", listener: Listener): void {
    this.#events.off(event, listener);
  }

  resume(): void {
    this.#flowing = true;
    queueMicrotask(() => this.press(""));
  }

  pause(): void {
    this.#flowing = false;
  }

  press(text: string): void {
    this.#unread += text;
    if (!this.#flowing || this.#unread === "") return;
    const chunk = this.#unread;
    this.#unread = "";
    this.#events.emit("data", Buffer.from(chunk));
  }

  /** What the host would read now. */
  get unread(): string {
    return this.#unread;
  }
}

/** A person at a terminal whose screen is a model of a real one, and a desk behind the channel that only listens. */
export class Person {
  readonly keyboard: Keyboard = new Keyboard();
  readonly clock: ReturnType<typeof manualClock> = manualClock();
  readonly desk: ListeningDesk = new ListeningDesk(this.clock);
  readonly channel: TerminalChannel;
  readonly size: { columns: number; rows: number };
  /** Everything that was written, byte for byte. */
  written = "";
  interrupts = 0;
  /** The window was closed: nothing can be written any more. */
  gone = false;
  readonly #screen: InstanceType<typeof xterm.Terminal>;

  constructor(
    options: Partial<TerminalOptions> & {
      readonly columns?: number;
      readonly rows?: number;
      readonly silent?: boolean;
      /** The size is known only while the terminal is taken, as with one that the channel opens itself. */
      readonly lateSize?: boolean;
      /** A gate opens the channel. Default: the listening desk. */
      readonly gated?: boolean;
    } = {},
  ) {
    const { columns = 80, rows = 40, silent = false, lateSize = false, gated = false, ...rest } = options;
    this.size = { columns, rows };
    this.#screen = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true, scrollback: 5000 });
    if (!silent) this.#screen.onData((answer) => this.keyboard.press(answer));
    const { keyboard } = this;
    const output = {
      isTTY: true,
      get columns(): number {
        return lateSize && !keyboard.raw ? 80 : columns;
      },
      get rows(): number {
        return lateSize && !keyboard.raw ? 24 : rows;
      },
      write: (text: string): void => this.write(text),
    } satisfies TerminalOutput;
    this.channel = terminalChannel({
      as: "ada",
      locale: "en",
      colour: false,
      input: this.keyboard,
      output,
      interrupt: () => {
        this.interrupts += 1;
      },
      ...rest,
    });
    if (!gated) this.channel.open(this.desk.parts);
  }

  /** Writes on the screen; also what other programs do. */
  write(text: string): void {
    if (this.gone) throw new Error("EIO");
    this.written += text;
    this.#screen.write(text);
  }

  /** Lets the terminal catch up and everything that follows from it happen. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < 3; turn += 1) {
      await new Promise<void>((resolve) => this.#screen.write("", resolve));
      await this.clock.settle();
    }
  }

  async shown(card: Card): Promise<Delivered> {
    const delivered = await this.desk.deliver(this.channel, card);
    await this.settle();
    return delivered;
  }

  /** Delivers, and waits until the question is open. */
  async asked(card: Card): Promise<void> {
    await this.shown(card);
    await this.opened();
  }

  async opened(): Promise<void> {
    await this.settle();
    await this.clock.advance(400);
    await this.settle();
  }

  async types(text: string): Promise<void> {
    this.keyboard.press(text);
    await this.settle();
  }

  /** The rows of the screen, ends trimmed, down to the last that is not empty. */
  get rows(): readonly string[] {
    const buffer = this.#screen.buffer.active;
    const rows: string[] = [];
    for (let row = 0; row < buffer.length; row += 1) rows.push(buffer.getLine(row)?.translateToString(true) ?? "");
    while (rows.at(-1) === "") rows.pop();
    return rows;
  }

  /** Rows that the screen shows now, without what has scrolled off. */
  get visibleRows(): readonly string[] {
    const { baseY } = this.#screen.buffer.active;
    return this.rows.slice(baseY);
  }

  get text(): string {
    return this.rows.join("\n");
  }

  /** Counted from 0, in the rows above. */
  get cursor(): { readonly row: number; readonly column: number } {
    const { baseY, cursorY, cursorX } = this.#screen.buffer.active;
    return { row: baseY + cursorY, column: cursorX };
  }

  /** True where a cell is drawn in any way but plainly. */
  isPainted(row: number): boolean {
    const line = this.#screen.buffer.active.getLine(row);
    for (let column = 0; column < this.size.columns; column += 1) {
      const cell = line?.getCell(column);
      if (cell !== undefined && !cell.isAttributeDefault()) return true;
    }
    return false;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.channel[Symbol.asyncDispose]();
    this.#screen.dispose();
  }
}
