import { CODE } from "./briefing.ts";
import type { Locale } from "./phrases.ts";

/**
 * What people say, in text. Reading starts from "it decides nothing": a yes must be the whole line, and anything that
 * only contains one is asked about again (A59; BR-211, BR-216).
 */

/** Approve in every language. Never "ok", "sure" or "go ahead": people say those to other things. */
const YES: readonly string[] = ["y", "yes", "e", "evet"];
const NO: readonly string[] = ["n", "no", "nope", "reject", "deny", "disapprove", "h", "hayır", "hayir"];
const MORE: Readonly<Record<Locale, { readonly yes: readonly string[]; readonly no: readonly string[] }>> = {
  en: { yes: [], no: [] },
  tr: { yes: [], no: ["reddet", "reddediyorum", "onaylamıyorum", "olmaz"] },
  de: { yes: ["j", "ja"], no: ["nein", "ablehnen", "abgelehnt"] },
  he: { yes: ["כן"], no: ["לא"] },
};
/** Words of consent that decide nothing. A line with one is not taken for a no either: it is asked about again. */
const LEANING =
  /(?<![\p{L}\p{M}])(?:approv\w*|allow\w*|accept\w*|confirm\w*|ok|okay|okey|sure|fine|proceed|go|do it|yep|yeah|yup|onay\p{L}*|tamam|olur|genehmig\w*|einverstanden|klar|מאשר|בסדר)(?![\p{L}\p{M}])/iu;

/** Lower case of the language of no country: with Turkish rules `YIELD` and `yield` would differ, and ours would move with the host's locale. */
const plain = (word: string): string => word.toLowerCase();
/** Only what a keyboard or a mail program adds around a word; an invisible character makes it another word. */
const trimmed = (line: string): string => line.replace(/^[ \t\r\n\u00a0]+|[ \t\r\n\u00a0]+$/gu, "");

const isYes = (word: string, locale: Locale): boolean => YES.includes(plain(word)) || MORE[locale].yes.includes(plain(word));
const isNo = (word: string, locale: Locale): boolean => NO.includes(plain(word)) || MORE[locale].no.includes(plain(word));

/** At the terminal a line answers the prompt on screen: a yes-word approves, any other line, an empty one too, rejects. @internal */
export const terminalAnswer = (line: string, locale: Locale = "en"): "approve" | "reject" =>
  isYes(trimmed(line), locale) ? "approve" : "reject";

/** A first word set off by punctuation. A hyphen that touches the next word joins them: `no-one`, `no --force`. */
const SET_OFF = /^([\p{L}\p{M}']+)(?:\s*[,.;:!–—]|\s*-(?=\s|$))[\s,.;:!–—-]*/u;

/**
 * What a line says beyond a plain no; `undefined`: nothing. A no-word goes only where punctuation sets it off: "no
 * backups exist" without it says the opposite. Control characters are keys, not words. @internal
 */
export function reasonOf(line: string, locale: Locale = "en"): string | undefined {
  const said = trimmed(line.replace(/\p{Cc}/gu, ""));
  const [opening = "", word = ""] = SET_OFF.exec(said) ?? [];
  const reason = isNo(said, locale) ? "" : isNo(word, locale) ? said.slice(opening.length) : said;
  return reason === "" ? undefined : reason;
}

export interface TerminalQuestion {
  /** The code on the card. */
  readonly code: string;
  /** A yes must carry the code: the deliberate act that a destructive call asks for. */
  readonly needsCode: boolean;
  readonly locale?: Locale;
}

export type TerminalLine =
  | { readonly answer: "approve" }
  | { readonly answer: "reject"; readonly reason: string | undefined }
  | { readonly answer: "unclear"; readonly why: "needs_code" | "other_code" };

/**
 * What a whole line says to the one prompt on screen. A yes or no that names the code of another question decides
 * nothing: an answer decides the one request it names (P-05).
 */
export function terminalLine(line: string, question: TerminalQuestion): TerminalLine {
  const { code, needsCode, locale = "en" } = question;
  const said = trimmed(line);
  const [word = "", given, ...rest] = said.split(/[ \t\u00a0]+/u);
  const coded = given !== undefined && rest.length === 0 && CODE.test(given) && (isYes(word, locale) || isNo(word, locale));
  if (coded && given.toUpperCase() !== code) return { answer: "unclear", why: "other_code" };
  if (coded && isYes(word, locale)) return { answer: "approve" };
  if (coded) return { answer: "reject", reason: undefined };
  if (terminalAnswer(said, locale) === "reject") return { answer: "reject", reason: reasonOf(line, locale) };
  return needsCode ? { answer: "unclear", why: "needs_code" } : { answer: "approve" };
}

/** How a text reached us. Whoever calls has made sure that a person wrote it, and when. */
export interface TextSetting {
  /** Codes of the prompts that are open for this person in this thread. */
  readonly open: readonly string[];
  /** The code of the prompt whose own message this text replies to. */
  readonly replyTo?: string | undefined;
  /** Exactly one prompt is open here, and it is the last thing that we or the agent said: a bare yes names it. */
  readonly last?: boolean;
  /** `reject`: other words are a no with a reason. Default `none`. */
  readonly otherReplies?: "reject" | "none";
  readonly locale?: Locale;
}

export type TextAnswer =
  | { readonly answer: "approve" | "reject"; readonly code: string; readonly reason?: string }
  /** It decides nothing, and the thread is told which codes are open. */
  | { readonly answer: "unclear"; readonly why: "near_miss" | "needs_code" | "other_code" }
  /** It has nothing to do with any prompt. */
  | { readonly answer: "none" };

const HISTORY =
  /^(?:>|-{2,} ?(?:original message|ursprüngliche nachricht|özgün ileti)|_{5,}|from: |von: |kimden: )|(?:wrote|schrieb|yazdı|כתב):$/iu;

/** The line that answers: the first that is not empty, unless quoted history begins before it. @internal */
export function answeringLine(text: string): string {
  for (const line of text.split(/\r\n|[\n\r]/u).map(trimmed)) {
    if (HISTORY.test(line)) return "";
    if (line !== "") return line;
  }
  return "";
}

const wordsOf = (line: string): readonly string[] => line.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];

/** The prompt that a bare word names, if it names one. */
const namedBy = ({ replyTo, last, open }: TextSetting): string | undefined =>
  replyTo ?? (last === true && open.length === 1 ? open[0] : undefined);

function byCode(verdict: "approve" | "reject", given: string, setting: TextSetting): TextAnswer {
  const code = setting.open.find((open) => open === given.toUpperCase());
  const elsewhere = setting.replyTo !== undefined && setting.replyTo !== code;
  return code === undefined || elsewhere || setting.open.filter((open) => open === code).length > 1
    ? { answer: "unclear", why: "other_code" }
    : { answer: verdict, code };
}

function other(line: string, setting: TextSetting, locale: Locale): TextAnswer {
  const code = namedBy(setting);
  const [first = ""] = wordsOf(line);
  const reason = reasonOf(line, locale);
  const withReason = reason === undefined ? {} : { reason };
  if (isNo(first, locale))
    return code === undefined ? { answer: "unclear", why: "needs_code" } : { answer: "reject", code, ...withReason };
  if (LEANING.test(line) || line.endsWith("?"))
    return code === undefined && !LEANING.test(line) ? { answer: "none" } : { answer: "unclear", why: "near_miss" };
  return setting.otherReplies === "reject" && code !== undefined ? { answer: "reject", code, ...withReason } : { answer: "none" };
}

/**
 * What a message in a chat or a mail says about the prompts that are open. A yes decides only with a code, or where a
 * bare word can name one prompt only; a yes or a code among other words decides nothing.
 */
export function textAnswer(text: string, setting: TextSetting): TextAnswer {
  const { locale = "en", open } = setting;
  const line = answeringLine(text);
  if (line === "" || open.length === 0) return { answer: "none" };
  const [word = "", given, ...rest] = line.split(/[ \t\u00a0]+/u);
  const verdict = isYes(word, locale) ? "approve" : isNo(word, locale) ? "reject" : undefined;
  if (verdict !== undefined && given !== undefined && rest.length === 0 && CODE.test(given))
    return byCode(verdict, given, setting);
  if (isYes(line, locale)) {
    const code = namedBy(setting);
    return code !== undefined && open.includes(code) ? { answer: "approve", code } : { answer: "unclear", why: "needs_code" };
  }
  const words = wordsOf(line);
  const coded = words.some((said) => open.includes(said.toUpperCase()));
  return coded || words.some((said) => isYes(said, locale))
    ? { answer: "unclear", why: "near_miss" }
    : other(line, setting, locale);
}
