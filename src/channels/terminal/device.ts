import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { StringDecoder } from "node:string_decoder";
import { isatty, ReadStream, WriteStream } from "node:tty";

/** As much of a terminal's reading side as the channel uses: a `tty.ReadStream`, or a stream of the host's own. */
export interface TerminalInput {
  readonly isTTY?: boolean;
  setRawMode?(raw: boolean): unknown;
  on(event: "data", listener: (chunk: Uint8Array | string) => void): unknown;
  off(event: "data", listener: (chunk: Uint8Array | string) => void): unknown;
  resume(): unknown;
  pause(): unknown;
}

/** As much of a terminal's writing side as the channel uses. */
export interface TerminalOutput {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
}

/** Somebody who wants what is typed and hears when the screen may have changed. */
export interface Listener {
  typed(text: string): void;
  /** The window has another size, or the process came back to the foreground. */
  changed(): void;
}

/** A terminal with a person in front of it. */
export interface Device {
  /** Whether one is there, and ours to read. Looked at each time: a process can lose its terminal. */
  present(): boolean;
  /** Takes the terminal: raw mode, so that no single key and no line of the host's own decides. @throws where there is none */
  take(listener: Listener): void;
  /** Gives it back as it was. Safe to call at any time. */
  giveBack(): void;
  write(text: string): void;
  size(): { readonly columns: number; readonly rows: number };
}

const PASTE_ON = "\u001b[?2004h";
/** Ends bracketed paste and every way of drawing that we or others may have left behind. */
const AS_IT_WAS = "\u001b[?2004l\u001b[0m";
const SIZE = { columns: 80, rows: 24 } as const;

/** Chunks as text, whole characters only. */
function texts(listener: Listener): (chunk: Uint8Array | string) => void {
  const decoder = new StringDecoder("utf8");
  return (chunk) => listener.typed(typeof chunk === "string" ? chunk : decoder.write(Buffer.from(chunk)));
}

/** Streams that the host handed over, or that a test plays the person with. */
export function givenDevice(input: TerminalInput, output: TerminalOutput): Device {
  let stop: (() => void) | undefined;
  return {
    present: () => input.isTTY === true,
    take(listener) {
      if (input.isTTY !== true) throw new Error("the given input is no terminal");
      const onChunk = texts(listener);
      input.setRawMode?.(true);
      input.on("data", onChunk);
      input.resume();
      output.write(PASTE_ON);
      stop = () => {
        output.write(AS_IT_WAS);
        input.off("data", onChunk);
        input.pause();
        input.setRawMode?.(false);
      };
    },
    giveBack() {
      stop?.();
      stop = undefined;
    },
    write: (text) => void output.write(text),
    size: () => ({ columns: output.columns ?? SIZE.columns, rows: output.rows ?? SIZE.rows }),
  };
}

const WINDOWS = process.platform === "win32";
const PATHS = WINDOWS ? { input: "\\\\.\\CONIN$", output: "\\\\.\\CONOUT$" } : { input: "/dev/tty", output: "/dev/tty" };

function openTerminal(path: string, flags: string): number {
  const fd = openSync(path, flags);
  if (isatty(fd)) return fd;
  closeSync(fd);
  throw new Error(`${path} is no terminal`);
}

/** In the background a read or a change of mode would stop the whole process; there nobody is in front of it either. */
function inForeground(): boolean {
  if (process.platform !== "linux") return true;
  try {
    // pid (name) state ppid pgrp session tty tpgid: the name may hold anything, so count from its closing bracket.
    const fields = readFileSync("/proc/self/stat", "utf8").split(") ").at(-1)?.split(" ") ?? [];
    return fields[2] === fields[5];
  } catch {
    // Without /proc there is nothing to look at; the terminal itself answers when it is taken.
    return true;
  }
}

/** The process's own standard input when it reads the same terminal: two readers would share the keys between them. */
function pauseHost(): () => void {
  if (!isatty(0) || process.stdin.readableFlowing !== true) return () => undefined;
  process.stdin.pause();
  return () => void process.stdin.resume();
}

class OwnTerminal implements Device {
  #output: WriteStream | undefined;
  #stop: (() => void) | undefined;

  present(): boolean {
    try {
      closeSync(openTerminal(PATHS.input, "r"));
      return process.env.TERM !== "dumb" && inForeground();
    } catch {
      // No controlling terminal: nobody to ask (A62).
      return false;
    }
  }

  take(listener: Listener): void {
    if (!inForeground()) throw new Error("the terminal belongs to another process now");
    const input = new ReadStream(openTerminal(PATHS.input, "r"));
    this.#output = new WriteStream(openTerminal(PATHS.output, "w"));
    const resumeHost = pauseHost();
    const onExit = (): void => this.giveBack();
    const onResize = (): void => {
      this.#measure();
      listener.changed();
    };
    const onContinue = (): void => {
      input.setRawMode(false);
      input.setRawMode(true);
      this.write(PASTE_ON);
      listener.changed();
    };
    this.#stop = () => {
      process.off("exit", onExit);
      process.off("SIGWINCH", onResize);
      process.off("SIGCONT", onContinue);
      try {
        this.write(AS_IT_WAS);
        input.setRawMode(false);
      } finally {
        input.destroy();
        this.#output?.destroy();
        this.#output = undefined;
        resumeHost();
      }
    };
    process.on("exit", onExit);
    if (!WINDOWS) process.on("SIGWINCH", onResize).on("SIGCONT", onContinue);
    // Lost while we ask (the window was closed): the question stays open elsewhere, the process goes on.
    input.on("error", () => this.giveBack());
    input.setRawMode(true);
    input.on("data", texts(listener));
    this.write(PASTE_ON);
  }

  giveBack(): void {
    const stop = this.#stop;
    this.#stop = undefined;
    try {
      stop?.();
    } catch {
      // The terminal is gone: there is nothing left to put in order.
      this.#output = undefined;
    }
  }

  /** Straight to the terminal, so that what is drawn is on it when the call returns. */
  write(text: string): void {
    const fd = openSync(PATHS.output, "w");
    try {
      for (let rest = Buffer.from(text); rest.length > 0; ) rest = rest.subarray(writeSync(fd, rest));
    } finally {
      closeSync(fd);
    }
  }

  size(): { readonly columns: number; readonly rows: number } {
    const { columns, rows } = this.#output ?? SIZE;
    return { columns: columns || SIZE.columns, rows: rows || SIZE.rows };
  }

  /** A stream keeps the size it was opened with. */
  #measure(): void {
    this.#output?.destroy();
    this.#output = new WriteStream(openTerminal(PATHS.output, "w"));
  }
}

/** The terminal that controls this process, opened by itself: never a standard input that may be a pipe (A60). */
export const ownDevice = (): Device => new OwnTerminal();
