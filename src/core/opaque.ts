/** Text that people cannot read although they see it: what it decodes to, where that is one thing only (A21). */

export interface Opaque {
  readonly form: "base64" | "percent" | "hexadecimal";
  readonly length: number;
  /** What it says; `null`: it decodes to something that is no text. */
  readonly text: string | null;
}

/** Shorter runs are words and names far more often than payloads. */
const BASE64 = /(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{12,}={0,2}(?![A-Za-z0-9+/=_-])/gu;
const HEX = /(?<![0-9A-Za-z])(?:0x)?(?:[0-9a-f]{2}){8,}(?![0-9A-Za-z])/giu;
const PERCENT = /(?:%[0-9a-f]{2}[^%\s]{0,3}){3,}/giu;
/** An unreadable run of this length is worth a word even when it decodes to nothing legible; digests are shorter. */
const LONG_RUN = 160;
/** As much of a decoded text as a note can carry. */
const EXCERPT = 200;

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const SIX_BITS: ReadonlyMap<string, number> = new Map([
  ...[...ALPHABET].map((char, index): [string, number] => [char, index]),
  ["-", 62],
  ["_", 63],
]);

function base64Bytes(text: string): number[] | undefined {
  const digits = text.replace(/=+$/u, "");
  if (digits.length % 4 === 1 || (text.endsWith("=") && text.length % 4 !== 0)) return undefined;
  const bytes: number[] = [];
  let bits = 0;
  let held = 0;
  for (const char of digits) {
    held = ((held << 6) | (SIX_BITS.get(char) as number)) & 0xfff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push((held >> bits) & 0xff);
  }
  return bytes;
}

const percentText = (bytes: readonly number[]): string => bytes.map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");

/** UTF-8 text of the bytes, if it is text that a person could have written. */
function legible(bytes: readonly number[]): string | null {
  try {
    const text = decodeURIComponent(percentText(bytes));
    return /^[\p{L}\p{N}\p{P}\p{S}\p{M} \t\r\n]+$/u.test(text) ? text : null;
  } catch {
    return null;
  }
}

/** A word, a path or an identifier is base64 by accident and decodes to Latin-looking rubbish now and then. */
const likeCode = (text: string): boolean => /^[\x20-\x7e\t\r\n]+$/u.test(text) && /[a-z]{2}/iu.test(text);

function* base64In(text: string): Generator<Opaque> {
  for (const [run] of text.matchAll(BASE64)) {
    const bytes = base64Bytes(run.slice(0, 4 * EXCERPT));
    const said = bytes === undefined ? null : legible(bytes);
    if (said !== null && likeCode(said)) yield { form: "base64", length: run.length, text: said.slice(0, EXCERPT) };
    else if (run.length >= LONG_RUN && /\d/u.test(run) && /[A-Z]/u.test(run) && /[a-z]/u.test(run)) {
      yield { form: "base64", length: run.length, text: null };
    }
  }
}

function* hexIn(text: string): Generator<Opaque> {
  for (const [run] of text.matchAll(HEX)) {
    const digits = run.replace(/^0x/iu, "").slice(0, 2 * EXCERPT);
    const bytes = (digits.match(/../gu) as string[]).map((pair) => Number.parseInt(pair, 16));
    const said = legible(bytes);
    if (said !== null && likeCode(said)) yield { form: "hexadecimal", length: run.length, text: said };
    else if (run.length >= LONG_RUN) yield { form: "hexadecimal", length: run.length, text: null };
  }
}

function* percentIn(text: string): Generator<Opaque> {
  for (const [run] of text.matchAll(PERCENT)) {
    let said: string | null = null;
    try {
      said = decodeURIComponent(run).slice(0, EXCERPT);
    } catch {
      // Not UTF-8: there is no one text behind it, and the flag says so.
      said = null;
    }
    yield { form: "percent", length: run.length, text: said };
  }
}

/** Every payload in `text` that a reader could take for noise. Linear: each run is decoded up to a fixed length. */
export function* opaqueIn(text: string): Generator<Opaque> {
  yield* base64In(text);
  yield* hexIn(text);
  yield* percentIn(text);
}
