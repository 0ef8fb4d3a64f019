/**
 * Where secrets stand in a text. Detectors only mask on cards: what they miss is shown, what they find still runs, so
 * they find exactly the secret and nothing after it (A24, A114). Every pattern is linear: a bounded prefix, then one
 * run of one class of characters.
 */

/** UTF-16 offsets, `end` exclusive. */
export interface SecretSpan {
  readonly start: number;
  readonly end: number;
}

const NAMES =
  "pass(?:word|wd|phrase|code)|pwd|secret|token|api[-_]?key|(?:access|secret|private|auth|signing|encryption)[-_]?key|credentials?|authorization|cookie";
const NAMED_SECRET = new RegExp(NAMES, "giu");
const NAME_AT_END = new RegExp(`(?:${NAMES})$`, "iu");
const FLAG_AT_END = new RegExp(`^--?[\\w-]{0,40}(?:${NAMES})$`, "iu");

/** True for a member's name whose value is a secret: `password`, `accessToken`, `X-Api-Key`; not `max_tokens`. */
export const isSecretName = (name: string): boolean => NAME_AT_END.test(name);
/** True for an argument of a command line whose successor is a secret: `--token`. */
export const isSecretFlag = (text: string): boolean => FLAG_AT_END.test(text);

/** What ends a word of a command or of data. These stay visible inside a masked value: they are what can do something. */
const WORD = /(?:[^\s"'`;|&<>()${}\\,]|,(?![\s"']|[\w-]{1,40}[:=]))+/gu;

/** The words between two offsets, so that what separates them stays in sight. */
export function wordSpans(text: string, start = 0, end: number = text.length): readonly SecretSpan[] {
  return [...text.slice(start, end).matchAll(WORD)].map((word) => ({
    start: start + word.index,
    end: start + word.index + word[0].length,
  }));
}

const KNOWN = new RegExp(
  [
    "(?<![A-Za-z0-9])(?:sk|rk|pk|whsec)[-_][A-Za-z0-9_-]{8,}",
    "(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{12,}",
    "(?<![A-Za-z0-9])(?:gh[opusr]_|github_pat_|glpat-|npm_|hf_|xox[abeoprs]-)[A-Za-z0-9_-]{10,}",
    "(?<![A-Za-z0-9])AIza[A-Za-z0-9_-]{30,}",
    "(?<![A-Za-z0-9])ya29\\.[A-Za-z0-9_-]{20,}",
    "(?<![A-Za-z0-9])SG\\.[A-Za-z0-9_-]{10,}\\.[A-Za-z0-9_-]{10,}",
    "(?<![A-Za-z0-9_-])hp1\\.[A-Za-z0-9-]{8,}\\.[A-Za-z0-9_-]{20,}",
    "(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{5,}\\.[A-Za-z0-9_-]{5,}(?:\\.[A-Za-z0-9_-]*)?",
  ].join("|"),
  "gu",
);
/** A word such as `sk-learn-tutorial` has the shape of a key and no digit. */
const LIKE_A_KEY = /\d|[a-z][A-Z]|=/u;

const knownSpans = (text: string): SecretSpan[] =>
  [...text.matchAll(KNOWN)]
    .filter((match) => LIKE_A_KEY.test(match[0]))
    .map((match) => ({ start: match.index, end: match.index + match[0].length }));

const SCHEME = /\b(?:bearer|basic)[ \t]{1,3}([A-Za-z0-9._~+/=-]{6,})/giu;

const schemeSpans = (text: string): SecretSpan[] =>
  [...text.matchAll(SCHEME)]
    .filter((match) => LIKE_A_KEY.test(match[1] as string))
    .map((match) => ({ start: match.index + match[0].length - (match[1] as string).length, end: match.index + match[0].length }));

const AUTHORITY = /[^\s/?#"'`<>;|\\]{1,2048}/uy;

/** The password of `scheme://name:password@host`, or the whole of `scheme://token@host`. */
function userinfoSpans(text: string): SecretSpan[] {
  const spans: SecretSpan[] = [];
  for (let at = text.indexOf("://"); at >= 0; at = text.indexOf("://", at + 3)) {
    AUTHORITY.lastIndex = at + 3;
    const authority = AUTHORITY.exec(text)?.[0] ?? "";
    const end = authority.lastIndexOf("@");
    if (end <= 0) continue;
    const colon = authority.indexOf(":");
    const start = colon >= 0 && colon < end ? colon + 1 : 0;
    if (start < end) spans.push({ start: at + 3 + start, end: at + 3 + end });
  }
  return spans;
}

const KEY_BEGIN = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----/gu;
const KEY_LINE = /(?:\s|\\n|\\r)*([A-Za-z0-9+/=]{16,}|[A-Za-z0-9+/=]{1,}(?=(?:\s|\\n|\\r)*-----END))/uy;

/** The lines of a private key's body. A line that is not base64 stays visible: a command may stand there. */
function privateKeySpans(text: string): SecretSpan[] {
  const spans: SecretSpan[] = [];
  for (const begin of text.matchAll(KEY_BEGIN)) {
    KEY_LINE.lastIndex = begin.index + begin[0].length;
    for (let line = KEY_LINE.exec(text); line !== null; line = KEY_LINE.exec(text)) {
      const end = line.index + line[0].length;
      spans.push({ start: end - (line[1] as string).length, end });
    }
  }
  return spans;
}

const QUOTE = /\\{0,15}["']/uy;
const SEPARATOR = /[ \t]{0,3}(?:=>|[:=])[ \t]{0,3}/uy;
const FLAG_GAP = /[ \t]{1,3}(?!-)/uy;
const OF_A_TYPE = /^(?:string|number|boolean|bool|str|int|null|none|nil|undefined|true|false|any|unknown|object)$/iu;

function stickyMatch(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}

/**
 * Where a quotation ends that was opened by `quote`, at any depth of JSON in JSON: quotes of the same depth carry the
 * same number of backslashes, deeper ones carry more.
 */
function endOfQuotation(text: string, from: number, quote: string): number | undefined {
  const slashes = quote.length - 1;
  const mark = quote.slice(-1);
  for (let at = text.indexOf(mark, from); at >= 0; at = text.indexOf(mark, at + 1)) {
    let count = 0;
    while (at - count - 1 >= from && text[at - count - 1] === "\\") count += 1;
    if (count % (2 * (slashes + 1)) === slashes) return at - slashes;
  }
  return undefined;
}

/** `name = value` in prose and code is no secret; with a digit, or alone on its line as in YAML, it is taken for one. */
function isPlainWord(text: string, word: SecretSpan): boolean {
  const value = text.slice(word.start, word.end);
  if (OF_A_TYPE.test(value)) return true;
  const next = text[word.end];
  return !/\d/u.test(value) && next !== undefined && next !== "\n" && next !== "\r";
}

function unquotedSpan(text: string, start: number, spaced: boolean): readonly SecretSpan[] {
  const from = start + (stickyMatch(/(?:bearer|basic|digest|token)[ \t]{1,3}/iuy, text, start)?.length ?? 0);
  const word = new RegExp(WORD.source, "uy");
  const length = stickyMatch(word, text, from)?.length ?? 0;
  const span = { start: from, end: from + length };
  return length === 0 || (spaced && isPlainWord(text, span)) ? [] : [span];
}

function valueSpans(text: string, nameStart: number, nameEnd: number): readonly SecretSpan[] {
  const closing = stickyMatch(QUOTE, text, nameEnd)?.length ?? 0;
  const separator = stickyMatch(SEPARATOR, text, nameEnd + closing);
  if (separator === undefined) {
    const flag = /--?[\w-]{0,40}$/u.test(text.slice(Math.max(0, nameStart - 42), nameStart));
    const gap = flag ? stickyMatch(FLAG_GAP, text, nameEnd) : undefined;
    return gap === undefined ? [] : valueAt(text, nameEnd + gap.length, false);
  }
  return valueAt(text, nameEnd + closing + separator.length, /[ \t]/u.test(separator));
}

function valueAt(text: string, start: number, spaced: boolean): readonly SecretSpan[] {
  const quote = stickyMatch(QUOTE, text, start);
  if (quote === undefined) return unquotedSpan(text, start, spaced);
  const end = endOfQuotation(text, start + quote.length, quote);
  if (end === undefined) return unquotedSpan(text, start + quote.length, false);
  return wordSpans(text, start + quote.length, end);
}

function namedSpans(text: string): SecretSpan[] {
  const spans: SecretSpan[] = [];
  let covered = 0;
  for (const name of text.matchAll(NAMED_SECRET)) {
    if (name.index < covered) continue;
    const found = valueSpans(text, name.index, name.index + name[0].length);
    spans.push(...found);
    // A value is looked at once: names inside it would make the whole quadratic.
    covered = found.at(-1)?.end ?? covered;
  }
  return spans;
}

/** Overlapping spans joined, in order. */
function joined(spans: readonly SecretSpan[]): readonly SecretSpan[] {
  const out: { start: number; end: number }[] = [];
  for (const span of [...spans].sort((a, b) => a.start - b.start)) {
    const last = out.at(-1);
    if (last !== undefined && span.start < last.end) last.end = Math.max(last.end, span.end);
    else out.push({ ...span });
  }
  return out;
}

/** Every secret that we can tell in `text`, in order, none overlapping. */
export const secretSpans = (text: string): readonly SecretSpan[] =>
  joined([...knownSpans(text), ...schemeSpans(text), ...userinfoSpans(text), ...privateKeySpans(text), ...namedSpans(text)]);
