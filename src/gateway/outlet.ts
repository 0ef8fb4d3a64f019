/** A place in the order of an outlet. Bytes wait until they are released and everything before them is written. */
export interface Place {
  /** Writes `bytes` here; without `last` the place stays open and what follows waits behind it. */
  write(bytes: Uint8Array | string, last: boolean): void;
}

interface Slot extends Place {
  readonly parts: (Uint8Array | string)[];
  closed: boolean;
}

/**
 * Bytes that were taken in and that the other side has not yet read, above which we stop reading. Some slack, so that
 * one slow reader of long lines does not also keep us from seeing a cancel or the end of the other stream.
 */
const PRESSED_AT = 262_144;

/** Ordered writing to one stream, with back pressure counted in bytes. */
export class Outlet {
  readonly #stream: NodeJS.WritableStream;
  readonly #slots: Slot[] = [];
  readonly #relieved = new Set<() => void>();
  #waiting = 0;
  #broken = false;

  /** @param broke the stream failed: nothing more can be written to it */
  constructor(stream: NodeJS.WritableStream, broke: (cause: Error) => void) {
    this.#stream = stream;
    stream.on("error", (cause: Error) => {
      this.#broken = true;
      this.#relieve();
      broke(cause);
    });
  }

  /** True while the other side reads slower than we write. */
  get pressed(): boolean {
    return !this.#broken && this.#waiting > PRESSED_AT;
  }

  /** Calls `relieved` once, when it is no longer pressed. */
  whenRelieved(relieved: () => void): void {
    this.#relieved.add(relieved);
  }

  /** Resolves when everything given so far is written, or cannot be. */
  async flushed(): Promise<void> {
    if (this.#waiting === 0 || this.#broken) return;
    await new Promise<void>((resolve) => {
      const look = (): void => {
        if (this.#waiting === 0 || this.#broken) resolve();
        else this.#relieved.add(look);
      };
      this.#relieved.add(look);
    });
  }

  send(bytes: Uint8Array | string): void {
    if (this.#slots.length === 0) this.#put(bytes);
    else this.place().write(bytes, true);
  }

  /** Keeps a place for bytes that come later. What is sent after it waits for it. */
  place(): Place {
    const slot: Slot = {
      parts: [],
      closed: false,
      write: (bytes, last) => {
        slot.parts.push(bytes);
        this.#waiting += bytes.length;
        slot.closed = last;
        this.#advance();
      },
    };
    this.#slots.push(slot);
    return slot;
  }

  end(): void {
    if (!this.#broken) this.#stream.end();
  }

  #advance(): void {
    for (let slot = this.#slots[0]; slot !== undefined; slot = this.#slots[0]) {
      for (const bytes of slot.parts.splice(0)) {
        this.#waiting -= bytes.length;
        this.#put(bytes);
      }
      if (!slot.closed) return;
      this.#slots.shift();
    }
  }

  #put(bytes: Uint8Array | string): void {
    if (this.#broken || bytes.length === 0) return;
    this.#waiting += bytes.length;
    this.#stream.write(bytes, () => {
      this.#waiting -= bytes.length;
      this.#relieve();
    });
  }

  #relieve(): void {
    if (this.pressed) return;
    const relieved = [...this.#relieved];
    this.#relieved.clear();
    for (const tell of relieved) tell();
  }
}
