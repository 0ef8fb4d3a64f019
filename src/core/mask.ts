import type { JsonObject, JsonValue } from "./json-value.ts";
import { freezeWhole, lasting } from "./lasting.ts";
import { isSecretFlag, isSecretName, secretSpans, wordSpans, type SecretSpan } from "./mask-spans.ts";
import { formatPointer } from "./pointer.ts";

/** What stands on a card in the place of a masked span; its length is kept, its content is not. @internal */
export const maskMark = (length: number): string => `[masked ${length} ${length === 1 ? "character" : "characters"}]`;
/** Finds the marks of {@link maskMark}. A value may spell one out: only the card's `masked` list says what is masked. @internal */
export const MASK: RegExp = /\[masked \d+ characters?\]/gu;

export interface Masked {
  /** The arguments as people see them. The same object where nothing was masked. */
  readonly shown: JsonObject;
  /** Pointers of the values that are masked here and run unmasked. */
  readonly masked: readonly string[];
}

type Scan = (text: string) => readonly SecretSpan[];

function withMarks(text: string, spans: readonly SecretSpan[]): string {
  let out = "";
  let from = 0;
  for (const { start, end } of spans) {
    out += text.slice(from, start) + maskMark(end - start);
    from = end;
  }
  return out + text.slice(from);
}

function scanned(text: string, scan: Scan): string {
  try {
    return withMarks(text, scan(text));
  } catch {
    // A scanner that fails has found nothing out: the value is hidden whole rather than shown (A114).
    return maskMark(text.length);
  }
}

/**
 * `text` with its secrets masked, for whatever is made from arguments: a message, an effect, the agent's own words.
 * A text in which a scan fails is masked whole.
 */
export const maskText = (text: string, scan: Scan = secretSpans): string => scanned(text, scan);

interface Walk {
  readonly scan: Scan;
  readonly masked: string[];
}

interface Place {
  readonly path: readonly (string | number)[];
  /** The value stands under a name, or after a flag, that announces a secret. */
  readonly secret: boolean;
}

/** `{"$secret": …}` stands for a value that is not here: nothing is left to mask. */
const isCommitment = (value: object): boolean => Object.keys(value).join() === "$secret";

function leaf(value: string | number, place: Place, walk: Walk): JsonValue {
  const text = String(value);
  const shown = place.secret ? scanned(text, wordSpans) : typeof value === "string" ? scanned(text, walk.scan) : text;
  if (shown === text) return value;
  walk.masked.push(formatPointer(place.path));
  return shown;
}

function branch(value: JsonValue, place: Place, walk: Walk): JsonValue {
  if (typeof value === "string" || typeof value === "number") return leaf(value, place, walk);
  if (typeof value !== "object" || value === null || isCommitment(value)) return value;
  if (Array.isArray(value)) {
    return value.map((item: JsonValue, index) => {
      const before: unknown = value[index - 1];
      const secret = place.secret || (typeof before === "string" && isSecretFlag(before));
      return branch(item, { path: [...place.path, index], secret }, walk);
    });
  }
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      const secret = place.secret || isSecretName(key);
      return [key, branch(item, { path: [...place.path, key], secret }, walk)];
    }),
  );
}

/**
 * The arguments as a card shows them: bearer tokens, keys of known makes, private keys, passwords in members, command
 * lines, JSON within strings and URLs are replaced by a mark that keeps their length; everything around them stays.
 * Only cards: the digest, the approval and the run are over the unmasked value. Linear in the size of `args`.
 */
export const maskSecrets = (args: JsonObject, scan?: Scan): Masked => (scan === undefined ? asShown(args) : maskedBy(args, scan));

const asShown = lasting((args: JsonObject) => freezeWhole(maskedBy(args, secretSpans)));

function maskedBy(args: JsonObject, scan: Scan): Masked {
  const walk: Walk = { scan, masked: [] };
  const shown = branch(args, { path: [], secret: false }, walk) as JsonObject;
  return walk.masked.length === 0 ? { shown: args, masked: [] } : { shown, masked: walk.masked };
}
