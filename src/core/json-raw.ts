/** A number of a message that JavaScript cannot hold exactly: kept as its own text, so that it can be forwarded. */
export class RawNumber {
  /** The token as it was written. */
  readonly text: string;
  constructor(text: string) {
    this.text = text;
    Object.freeze(this);
  }
}
