/** What becomes of the bytes between two newlines. Every piece keeps its own bytes, the newline included. */
export interface LineSink {
  /** One whole line. The last one of a stream may lack its newline. */
  line(bytes: Buffer): void;
  /** Part of a line that is longer than the limit; `last` with its final piece. */
  piece(bytes: Buffer, last: boolean): void;
}

const NEWLINE = 0x0a;

/** Cuts a byte stream into lines, wherever its chunks end: a chunk may split a character, a CRLF or hold many lines. */
export class Lines {
  readonly #limit: number;
  readonly #sink: LineSink;
  #parts: Buffer[] = [];
  #held = 0;
  #long = false;

  /** @param limit bytes of a line that are kept in memory at most */
  constructor(limit: number, sink: LineSink) {
    this.#limit = limit;
    this.#sink = sink;
  }

  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.#take(chunk.subarray(start, end + 1));
      this.#finish();
      start = end + 1;
    }
    if (start < chunk.length) this.#take(chunk.subarray(start));
  }

  /** The stream is over: what is left is a line without a newline. */
  end(): void {
    if (this.#held > 0 || this.#long) this.#finish();
  }

  #take(bytes: Buffer): void {
    this.#parts.push(bytes);
    this.#held += bytes.length;
    if (this.#held <= this.#limit && !this.#long) return;
    this.#long = true;
    this.#sink.piece(this.#drain(), false);
  }

  #finish(): void {
    const long = this.#long;
    this.#long = false;
    if (long) this.#sink.piece(this.#drain(), true);
    else this.#sink.line(this.#drain());
  }

  #drain(): Buffer {
    const parts = this.#parts;
    this.#parts = [];
    this.#held = 0;
    return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
  }
}
