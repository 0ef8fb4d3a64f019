import { amount } from "./briefing.ts";
import type { Catalogue, PhraseKey } from "./phrases/catalogue.ts";
import { de } from "./phrases/de.ts";
import { en } from "./phrases/en.ts";
import { he } from "./phrases/he.ts";
import { tr } from "./phrases/tr.ts";

export type { PhraseKey } from "./phrases/catalogue.ts";

/** The languages that people are spoken to in. What a model reads is English always (`refusal.ts`). */
export const LOCALES = ["en", "tr", "de", "he"] as const;
export type Locale = (typeof LOCALES)[number];

const CATALOGUES: Readonly<Record<Locale, Catalogue>> = { en, tr, de, he };

/** The language of a tag such as `tr-TR` or `de_AT`; English where we do not speak it. */
export function localeOf(tag: string | undefined): Locale {
  const language = tag?.toLowerCase().split(/[-_.]/u)[0];
  return LOCALES.find((locale) => locale === language) ?? "en";
}

/** Values are put in as they are: whoever passes text from outside escapes it first. One pass. */
const filled = (text: string, values: Readonly<Record<string, string | number>>): string =>
  !text.includes("{")
    ? text
    : text.replace(/\{(\w+)\}/gu, (place, name: string) => (Object.hasOwn(values, name) ? String(values[name]) : place));

/**
 * What to say to a person.
 * @param values for the phrase's places; `count` chooses the plural form and is written as `{amount}`
 */
export function phrase(locale: Locale, key: PhraseKey, values: Readonly<Record<string, string | number>> = {}): string {
  const found = CATALOGUES[locale][key];
  const count = typeof values.count === "number" ? values.count : 0;
  if (typeof found === "string") return filled(found, values);
  // A category that the language gained with a newer Unicode than ours is spoken like most numbers.
  const text = [found[new Intl.PluralRules(locale).select(count)], found.other].find((one) => one !== undefined) as string;
  return filled(text, { amount: amount(count), ...values });
}
