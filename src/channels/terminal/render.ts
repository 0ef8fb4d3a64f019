import {
  cardText,
  GUTTER,
  inCommand,
  phrase,
  visible,
  type Card,
  type CardText,
  type Locale,
  type Presented,
} from "../../core/index.ts";

/** Characters of one card that somebody may still look through at a terminal; a longer one is refused or read elsewhere. */
export const LIMIT = 60_000;

export const renderCard = (card: Card, words: { readonly locale: Locale; readonly commandOptions?: string }): CardText =>
  cardText(card, { ...words, limit: LIMIT });

/** Stands in front of a row that continues the one above, so that no value can fill a row up and draw the next one. */
const CONTINUED = "↳ ";
/** The line about what is missing, as `cardText` draws it. */
const CUT = "✂ ";
const VALUE_ROW = /^(?:│ |· |┃ |↳ )/u;
/** Cells of a mark and its blank where the terminal draws box characters wide. */
const MARK_CELLS = 3;
/** Drawn over one cell everywhere. What is not named here is counted as two: too early a break harms nothing. */
const NARROW = /[\u0020-\u02ff\u0370-\u06ff\u0900-\u10ff\u1e00-\u1fff\u2010-\u2027]/u;

const cells = (text: string): number => {
  let sum = 0;
  for (const char of text) sum += NARROW.test(char) ? 1 : 2;
  return sum;
};

/** At most that many cells, wherever the terminal would draw them: exact for the Latin alphabet, else an upper bound. */
export const widthOf: (text: string) => number = cells;

const GRAPHEMES = new Intl.Segmenter("en", { granularity: "grapheme" });

function* clusters(line: string, room: number): Generator<string> {
  for (const { segment } of GRAPHEMES.segment(line)) {
    // Some scripts form clusters without end; those are broken up rather than left to the terminal.
    if (cells(segment) <= room) yield segment;
    else yield* segment;
  }
}

/** One line of a card as rows of a screen. The terminal must never break a line by itself: its new row has no mark. */
export function rowsOf(line: string, columns: number): readonly string[] {
  const room = Math.max(8, columns - 1);
  if (cells(line) + MARK_CELLS <= room) return [line];
  const rows: string[] = [];
  let row = "";
  let left = room - MARK_CELLS;
  for (const part of VALUE_ROW.test(line) ? clusters(line, left) : words(line, left)) {
    const width = cells(part);
    if (width > left) {
      rows.push(row);
      row = CONTINUED;
      left = room - MARK_CELLS;
    }
    row += part;
    left -= width;
  }
  return [...rows, row];
}

/** Sentences break between words; a value breaks where the row ends, so that its blanks stay where they are. */
function* words(line: string, room: number): Generator<string> {
  for (const [word] of line.matchAll(/\S+ *|^ +/gu)) {
    if (cells(word) <= room) yield word;
    else yield* clusters(word, room);
  }
}

const HEAVY = { bold: "\u001b[1m", warn: "\u001b[1;33m", alarm: "\u001b[1;31m" } as const;
const PLAIN = "\u001b[0m";

export type Weight = keyof typeof HEAVY;
export const weighted = (text: string, weight: Weight, colour: boolean): string =>
  colour ? `${HEAVY[weight]}${text}${PLAIN}` : text;

const IMPACT_WEIGHT = { default: undefined, destructive: "warn", irreversible: "alarm" } as const;

export interface Sheet {
  /** What is drawn, part by part. More than one: the values do not fit the screen together. */
  readonly parts: readonly (readonly string[])[];
}

export interface SheetOptions {
  readonly columns: number;
  readonly rows: number;
  readonly colour: boolean;
  readonly locale: Locale;
  readonly commandOptions?: string;
}

/** Rows that the question and its notices take below a card. */
const QUESTION_ROWS = 7;

/** Colour is put on rows that only we can write: the heading, and the impact before any value. */
function coloured(rows: readonly string[], card: Card, options: SheetOptions): readonly string[] {
  const weight = IMPACT_WEIGHT[card.impact];
  const label = phrase(options.locale, "label.impact");
  const word = phrase(options.locale, `impact.${card.impact}`);
  const facts = rows.findIndex((row) => VALUE_ROW.test(row));
  return rows.map((row, index) => {
    if (index === 0) return weighted(row, "bold", options.colour);
    const impact = weight !== undefined && index < facts && row.startsWith(label) && row.endsWith(word);
    return impact ? row.slice(0, -word.length) + weighted(word, weight, options.colour) : row;
  });
}

/** The first look at a call that takes several: what leads up to the arguments, their beginning and their end (A11, A12). */
function overview(rows: readonly string[], size: number, cut: (count: number) => string): readonly string[] {
  const first = rows.findIndex((row) => row.startsWith(GUTTER));
  const after = rows.findIndex((row, index) => index > first && ![GUTTER, CONTINUED, CUT].some((mark) => row.startsWith(mark)));
  const values = rows.slice(first, after);
  const each = Math.max(2, Math.floor((size - first - 1) / 2));
  if (values.length <= 2 * each) return rows.slice(0, after);
  return [...rows.slice(0, first), ...values.slice(0, each), `${CUT}${cut(values.length - 2 * each)}`, ...values.slice(-each)];
}

/** A card's text as it is drawn on this screen. What is not complete cannot be approved here and is not gone through. */
export function sheetOf({ card, text, complete }: Pick<Presented, "card" | "text" | "complete">, options: SheetOptions): Sheet {
  const { locale } = options;
  const rows = coloured(
    text.split("\n").flatMap((line) => rowsOf(line, options.columns)),
    card,
    options,
  );
  const size = Math.max(6, options.rows - QUESTION_ROWS);
  if (rows.filter((row) => VALUE_ROW.test(row)).length <= size) return { parts: [rows] };
  const where = complete
    ? phrase(locale, "terminal.nextParts")
    : phrase(locale, "more.where", { id: inCommand(card.id, options.commandOptions) });
  const parts: (readonly string[])[] = [overview(rows, size, (count) => phrase(locale, "more.rows", { count, where }))];
  if (!complete) return { parts };
  for (let from = 0; from < rows.length; from += size) parts.push(rows.slice(from, from + size));
  return { parts };
}

/** What is typed, on one row: the end of it that has room, with everything that is not a letter escaped. */
export function inputRow(before: string, after: string, columns: number): { readonly row: string; readonly column: number } {
  const room = Math.max(8, columns - 6);
  // Escaped between two letters: a blank at the end is only half typed, and no mark may stand on our own sign.
  const typed = [...visible(`x${before}x`).slice(1, -1)];
  while (cells(typed.join("")) > room) typed.shift();
  const left = typed.join("");
  const rest = [...visible(`x${after}x`).slice(1, -1)];
  while (cells(left) + cells(rest.join("")) > room) rest.pop();
  return { row: `> ${left}${rest.join("")}`, column: 3 + cells(left) };
}
