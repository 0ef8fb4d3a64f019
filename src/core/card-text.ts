import { amount, headAndTail } from "./briefing.ts";
import type { Ask, Card, Flag } from "./card.ts";
import { shortHash } from "./hash.ts";
import type { JsonValue } from "./json-value.ts";
import { maskText } from "./mask.ts";
import { phrase, type Locale, type PhraseKey } from "./phrases.ts";
import { readShownJson, shownJson } from "./shown-json.ts";
import { unseenIn, visible } from "./visible.ts";

export interface CardTextOptions {
  /** Colours for the words that we say, never for a value. Default false. */
  readonly colour?: boolean;
  /** Most characters of the text; what is left out is counted. Default: no limit. */
  readonly limit?: number;
  /** The first line. Default: what is asked. */
  readonly heading?: string;
  /** Default `en`. */
  readonly locale?: Locale;
  /** Options that go with each command the text names, such as `--data /srv/desk`. Default: none. */
  readonly commandOptions?: string;
}

/** A request as a command names it, with the options that command needs to find it. */
export const inCommand = (id: string, commandOptions = ""): string =>
  [commandOptions.trim(), visible(id)].filter((word) => word !== "").join(" ");

export interface CardText {
  readonly text: string;
  /** The whole call is in `text`. Without it nobody may approve by what they saw there. */
  readonly complete: boolean;
}

/** Stands in front of every line of the arguments. A value cannot draw it at the start of a line: each of its lines has it already. */
export const GUTTER = "│ ";
const BINDING = "· ";
const CLAIM = "┃ ";
const CUT = "✂ ";

/** The sentences of a declaration are short; a listing in the place of one repeats the call, which stands below it whole. */
const LONGEST_SENTENCE = 600;
const LONGEST_STATEMENT = 2000;
/** A flood of small flags must not push the few that matter out of sight; how many more there are is said. */
const MOST_FLAGS = 20;
const MOST_NOTES = 12;

const COLOURS = { bold: "\u001b[1m", warn: "\u001b[1;33m", alarm: "\u001b[1;31m", end: "\u001b[0m" } as const;
type Colour = Exclude<keyof typeof COLOURS, "end">;

interface Pen {
  readonly say: (key: PhraseKey, values?: Readonly<Record<string, string | number>>) => string;
  readonly paint: (text: string, colour: Colour | undefined) => string;
  /** Columns of the labels. */
  readonly width: number;
  readonly commandOptions: string | undefined;
}

const LABELS: readonly PhraseKey[] = [
  "label.tool",
  "label.tier",
  "label.impact",
  "label.effect",
  "label.message",
  "label.arguments",
  "label.bindings",
  "label.requester",
  "label.approvers",
  "label.flags",
  "label.notes",
  "label.digest",
  "label.code",
  "label.deadline",
  "label.ending",
];

const widths = new Map<Locale, number>();

function widthOf(locale: Locale): number {
  const width = widths.get(locale) ?? Math.max(...LABELS.map((label) => phrase(locale, label).length)) + 2;
  widths.set(locale, width);
  return width;
}

const penOf = ({ colour = false, locale = "en", commandOptions }: CardTextOptions): Pen => ({
  say: (key, values) => phrase(locale, key, values),
  paint: (text, name) => (colour && name !== undefined ? `${COLOURS[name]}${text}${COLOURS.end}` : text),
  width: widthOf(locale),
  commandOptions,
});

const fact = (pen: Pen, label: PhraseKey, text: string): string => `${pen.say(label).padEnd(pen.width)}${text}`;

/** Words of a declaration or of a person: one line, secrets masked, escaped; a long one shows both ends. */
const sentence = (text: string): string => headAndTail(visible(maskText(text)), LONGEST_SENTENCE);

/** A note is ours and escaped already; one that is not would steer the terminal it is shown on. */
const ownLine = (note: string): string => {
  for (const { char } of unseenIn(note)) if (char !== " " && char !== "\\") return visible(note);
  return note;
};

const IMPACT_COLOUR = { default: undefined, destructive: "warn", irreversible: "alarm" } as const;

function facts(card: Card, pen: Pen): readonly string[] {
  const tier = pen.paint(
    pen.say(`tier.${card.tier ?? "none"}`),
    card.tier === "physical" || card.tier === null ? "warn" : undefined,
  );
  return [
    ...(card.ending === null ? [] : [fact(pen, "label.ending", sentence(card.ending))]),
    fact(pen, "label.tool", `${pen.paint(visible(card.tool.name), "bold")} (${visible(card.tool.origin)})`),
    fact(pen, "label.tier", tier),
    fact(pen, "label.impact", pen.paint(pen.say(`impact.${card.impact}`), IMPACT_COLOUR[card.impact])),
    ...(card.effect === null ? [] : [fact(pen, "label.effect", sentence(card.effect))]),
    fact(pen, "label.message", sentence(card.message)),
  ];
}

const bindings = (card: Card, pen: Pen): readonly string[] => {
  const names = Object.keys(card.bindings).sort();
  if (names.length === 0) return [];
  return [
    pen.say("label.bindings"),
    ...names.map((name) => `${BINDING}${visible(name)} = ${visible(card.bindings[name] as string)}`),
  ];
};

function requester(card: Card, pen: Pen): string {
  const { principal, agent, path, claimed } = card.requester;
  const who =
    agent === null
      ? pen.say("requester.direct", { principal: visible(principal) })
      : pen.say("requester.agent", { agent: visible(agent), principal: visible(principal) });
  const parts = [who];
  if (path.length > 0) parts.push(pen.say("requester.path", { path: path.map((step) => visible(step)).join(" > ") }));
  if (claimed) parts.push(pen.say("requester.claimed"));
  if (card.presence === "parked") parts.push(pen.say("requester.parked"));
  if (card.presence === "gone") parts.push(pen.paint(pen.say("requester.gone"), "warn"));
  return fact(pen, "label.requester", parts.join("; "));
}

function selector(name: string, pen: Pen): string {
  if (name === "@principal") return pen.say("who.principal");
  return name === "@operator" ? pen.say("who.operator") : visible(name);
}

/** One clause in words, as `2 of group:finance; asked for by rule:pay; the answer must …`. */
function askLine(ask: Ask, pen: Pen): string {
  const ways = ask.of.map(({ selectors, count }) => {
    const people = selectors.map((name) => selector(name, pen)).join(", ");
    if (count > 1) return pen.say("ask.several", { count, people });
    return pen.say(selectors.length === 1 ? "ask.one" : "ask.oneOf", { people });
  });
  const parts = [
    ways.join(` ${pen.say("ask.or")} `),
    pen.say("ask.by", { by: visible(ask.by) }),
    ...(ask.approvedBy.length === 0
      ? []
      : [pen.say("ask.approvedBy", { people: ask.approvedBy.map((name) => visible(name)).join(", ") })]),
    ...(ask.met ? [pen.say("ask.met")] : []),
    pen.say(`assurance.${ask.assurance}`),
  ];
  return parts.join("; ");
}

const listed = (pen: Pen, label: PhraseKey, lines: readonly string[]): readonly string[] =>
  lines.map((line, index) => (index === 0 ? fact(pen, label, line) : `${" ".repeat(pen.width)}${line}`));

function kindsOf(flags: readonly Flag[]): string {
  const counts = new Map<string, number>();
  for (const { kind } of flags) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return [...counts].map(([kind, count]) => `${kind} ${amount(count)}`).join(", ");
}

/** The first of each kind before the second of any: one kind in numbers hides no other. */
function foremost(flags: readonly Flag[]): ReadonlySet<Flag> {
  const seen = new Map<string, number>();
  const ranked = flags.map((flag) => {
    const rank = seen.get(flag.kind) ?? 0;
    seen.set(flag.kind, rank + 1);
    return { flag, rank };
  });
  return new Set(
    ranked
      .sort((a, b) => a.rank - b.rank)
      .slice(0, MOST_FLAGS)
      .map(({ flag }) => flag),
  );
}

function flagLines(card: Card, pen: Pen): readonly string[] {
  const first = foremost(card.flags);
  const rest = card.flags.filter((flag) => !first.has(flag));
  const shown = [...first].map(({ pointer, note }) => `! ${pointer === "" ? "" : `${visible(pointer)}: `}${ownLine(note)}`);
  const lines =
    card.flags.length === shown.length ? shown : [...shown, pen.say("more.flags", { count: rest.length, kinds: kindsOf(rest) })];
  return listed(
    pen,
    "label.flags",
    lines.map((line) => pen.paint(line, "warn")),
  );
}

function noteLines(card: Card, pen: Pen): readonly string[] {
  const shown = card.notes.slice(0, MOST_NOTES).map(sentence);
  const rest = card.notes.length - shown.length;
  return listed(pen, "label.notes", rest === 0 ? shown : [...shown, pen.say("more.notes", { count: rest })]);
}

const where = (card: Card, pen: Pen): string => pen.say("more.where", { id: inCommand(card.id, pen.commandOptions) });

/** The agent's own words come last, in a box of their own: they can claim anything (A01, A02). */
function statement(card: Card, pen: Pen): readonly string[] {
  if (card.statement === null) return [];
  const whole = maskText(card.statement);
  const left = whole.length - LONGEST_STATEMENT;
  const lines = visible(whole.slice(0, LONGEST_STATEMENT), "block")
    .split("\n")
    .map((line) => `${CLAIM}${line}`);
  return [
    pen.say("label.statement"),
    ...lines,
    ...(left > 0 ? [`${CUT}${pen.say("more.characters", { count: left, where: where(card, pen) })}`] : []),
  ];
}

function foot(card: Card, pen: Pen): readonly string[] {
  return [
    fact(pen, "label.digest", shortHash(card.digest)),
    fact(pen, "label.code", pen.paint(card.code, "bold")),
    fact(pen, "label.deadline", `${card.decideBy.slice(0, 10)} ${card.decideBy.slice(11, 19)} UTC`),
  ];
}

/** The beginning and the end of a block that does not fit, each line in its gutter, and between them how much is missing. */
function cutBlock(lines: readonly string[], room: number, missing: (count: number) => string): readonly string[] {
  const body = lines.map((line) => line.slice(GUTTER.length)).join("\n");
  const gutters = (text: string): readonly string[] => text.split("\n").map((line) => GUTTER + line);
  const size = (text: string): number => gutters(text).join("\n").length;
  const first = (length: number): string => body.slice(0, length).replace(/[\ud800-\udbff]$/u, "");
  const last = (length: number): string => body.slice(body.length - length).replace(/^[\udc00-\udfff]/u, "");
  let half = Math.floor(body.length / 2);
  while (half > 0 && size(first(half)) + size(last(half)) > room) half = Math.floor(half * 0.9);
  const [head, tail] = [first(half), last(half)];
  return [...gutters(head), `${CUT}${missing(body.length - head.length - tail.length)}`, ...gutters(tail)];
}

/** A question only while there is one: whoever looks at what is over must not take it for something to answer. */
function headingOf({ kind, status }: Card): PhraseKey {
  if (status === "pending") return `heading.${kind}`;
  if (status === "approved") return "heading.approved";
  return status === "claimed" ? "heading.running" : "heading.over";
}

/** Room that the line about what is missing takes at most, in any language, with the id in it. */
const CUT_LINE = 160;

/**
 * A card as plain text, for the terminal, the command line and whatever has no rendering of its own. Facts come first
 * and are made from the call; every line of every value stands behind a gutter, so that no value can draw a line of
 * ours; nothing is cut without a count.
 */
export function cardText(card: Card, options: CardTextOptions = {}): CardText {
  const pen = penOf(options);
  const args = shownJson(card.arguments).map((line) => GUTTER + line);
  const build = (block: readonly string[]): string =>
    [
      pen.paint(options.heading ?? pen.say(headingOf(card)), "bold"),
      ...facts(card, pen),
      pen.say("label.arguments"),
      ...block,
      ...bindings(card, pen),
      requester(card, pen),
      ...listed(
        pen,
        "label.approvers",
        card.asks.map((ask) => askLine(ask, pen)),
      ),
      ...flagLines(card, pen),
      ...noteLines(card, pen),
      ...statement(card, pen),
      ...foot(card, pen),
    ].join("\n");
  const whole = build(args);
  const limit = options.limit ?? Number.POSITIVE_INFINITY;
  if (whole.length <= limit) return { text: whole, complete: true };
  const room = limit - (whole.length - args.join("\n").length) - CUT_LINE;
  const cut = build(cutBlock(args, Math.max(0, room), (count) => pen.say("more.characters", { count, where: where(card, pen) })));
  return { text: cut.length <= limit ? cut : headAndTail(cut, limit), complete: false };
}

/** The arguments that a complete text of {@link cardText} shows, exactly. @throws RangeError where it shows none */
export function unrenderArguments(text: string): JsonValue {
  const lines = text
    .split("\n")
    .filter((line) => line.startsWith(GUTTER))
    .map((line) => line.slice(GUTTER.length));
  return readShownJson(lines.join("\n"));
}
