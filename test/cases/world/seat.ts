import { EventEmitter } from "node:events";
import xterm from "@xterm/headless";
import {
  type TerminalChannel,
  type TerminalInput,
  type TerminalOutput,
  terminalChannel,
} from "../../../src/channels/terminal/index.ts";
import type { ManualClock } from "../../../src/testing/index.ts";

class Keyboard implements TerminalInput {
  isTTY: boolean;
  readonly #events = new EventEmitter();
  #flowing = false;
  #unread = "";

  constructor(isTTY: boolean) {
    this.isTTY = isTTY;
  }

  setRawMode(): void {
    // The model of a terminal echoes nothing by itself.
  }

  on(event: "data", listener: (chunk: Uint8Array | string) => void): void {
    this.#events.on(event, listener);
  }

  off(event: "data", listener: (chunk: Uint8Array | string) => void): void {
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
}

/** Names of keys as the case files write them. */
const KEYS: Readonly<Record<string, string>> = {
  Enter: "\r",
  Escape: "\u001b",
  Tab: "\t",
  Space: " ",
  Backspace: "\u007f",
  Delete: "\u001b[3~",
  Left: "\u001b[D",
  Right: "\u001b[C",
  Up: "\u001b[A",
  Down: "\u001b[B",
  Home: "\u001b[H",
  End: "\u001b[F",
  "Ctrl+C": "\u0003",
  "Ctrl+D": "\u0004",
  "Ctrl+L": "\u000c",
  "Ctrl+Enter": "\r",
};

/** Milliseconds of silence after a card before its question counts a key, and a little more. */
const QUESTION_OPENS = 400;

/** A person in front of the real terminal channel, with a model of a screen. */
export class Seat {
  readonly channel: TerminalChannel;
  readonly keyboard: Keyboard;
  readonly #screen: InstanceType<typeof xterm.Terminal>;
  readonly #clock: ManualClock;
  written = "";

  constructor(options: { readonly as: string; readonly clock: ManualClock; readonly tty?: boolean }) {
    const { as, clock, tty = true } = options;
    this.#clock = clock;
    this.keyboard = new Keyboard(tty);
    this.#screen = new xterm.Terminal({ cols: 100, rows: 50, allowProposedApi: true, scrollback: 5000 });
    this.#screen.onData((answer) => this.keyboard.press(answer));
    const output: TerminalOutput = { isTTY: tty, columns: 100, rows: 50, write: (text) => this.write(text) };
    this.channel = terminalChannel({ as, locale: "en", colour: false, input: this.keyboard, output, interrupt: () => undefined });
  }

  /** Writes on the screen; other programs do that too. */
  write(text: string): void {
    this.written += text;
    this.#screen.write(text);
  }

  async settle(): Promise<void> {
    for (let turn = 0; turn < 3; turn += 1) {
      await new Promise<void>((resolve) => this.#screen.write("", resolve));
      await this.#clock.settle();
    }
  }

  /** Waits until the question below the card counts keys. */
  async opened(): Promise<void> {
    await this.settle();
    await this.#clock.advance(QUESTION_OPENS);
    await this.settle();
  }

  async types(text: string): Promise<void> {
    this.keyboard.press(text);
    await this.settle();
  }

  key(name: string): Promise<void> {
    return this.types(KEYS[name] ?? name);
  }

  get rows(): readonly string[] {
    const buffer = this.#screen.buffer.active;
    const rows: string[] = [];
    for (let row = 0; row < buffer.length; row += 1) rows.push(buffer.getLine(row)?.translateToString(true) ?? "");
    while (rows.at(-1) === "") rows.pop();
    return rows;
  }

  get text(): string {
    return this.rows.join("\n");
  }

  dispose(): void {
    this.#screen.dispose();
  }
}
