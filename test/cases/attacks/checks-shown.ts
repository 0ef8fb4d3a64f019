import { createHash } from "node:crypto";
import { canonicalize, GUTTER, phrase, unrenderArguments, visible } from "../../../src/core/index.ts";
import { isFields } from "../faults/shape.ts";
import { must } from "../work.ts";
import type { Check } from "./check.ts";
import {
  argumentsOf,
  cardOf,
  cardsOf,
  CONTROL,
  firstView,
  flagged,
  flagsOf,
  type Seen,
  shows,
  stringsIn,
  surfaces,
} from "./seen.ts";
import { wordsOf } from "./cards.ts";

/** Checks of what people are shown. */

const unquoted = (text: string): string => text.replace(/^['"](.*)['"]$/s, "$1");

/** `where 1=1`, `table customers`: a member and its value, together on one line of the facts. */
function factsAboveWords(seen: Seen): void {
  const args = argumentsOf(seen);
  const words = wordsOf(seen.one.input) ?? "";
  for (const text of surfaces(seen).slice(0, 1)) {
    const claim = text.indexOf(words);
    must(claim > 0, "the agent's words are not shown");
    must(text.indexOf(String(seen.one.input.tool)) < claim, "the tool is not above the agent's words");
    for (const [name, value] of Object.entries(isFields(args) ? args : {})) {
      const line = text
        .split("\n")
        .findIndex((row) => row.startsWith(GUTTER) && row.includes(`"${name}": ${JSON.stringify(value)}`));
      must(line !== -1 && text.split("\n").slice(0, line).join("\n").length < claim, `${name} is not above the agent's words`);
    }
  }
}

/** Nothing on the card but the agent's own box is made from its words. */
function factsAreTheCalls(seen: Seen): void {
  const card = cardOf(seen);
  const words = wordsOf(seen.one.input) ?? "";
  const { statement, ...facts } = card;
  must(statement === words, "the agent's words are kept as something else");
  must(!JSON.stringify(facts).includes(JSON.stringify(words).slice(1, -1)), "a fact of the card is the agent's words");
}

function marked(seen: Seen): void {
  const words = visible(wordsOf(seen.one.input) ?? "");
  const label = phrase("en", "label.statement");
  for (const text of surfaces(seen).slice(0, 1)) {
    const at = text.split("\n").findIndex((row) => row.includes(words));
    must(
      at > 0 &&
        text
          .split("\n")
          .slice(0, at)
          .some((row) => row === label),
      "the agent's words are not marked as its own",
    );
  }
}

function escapedCappedLabelled(seen: Seen): void {
  marked(seen);
  const hostile = `\u001b[2J${"x".repeat(5000)}`;
  const [shown] = seen.stage.shown;
  must(shown !== undefined, "nothing was shown");
  if (shown === undefined) return;
  const channel = seen.stage.world.process().channels[0];
  const { text } = channel?.render({ ...shown.card, statement: hostile }) ?? shown;
  must(!CONTROL.test(text) && text.includes("\\u001b[2J"), "the agent's words are not escaped");
  must(!text.includes("x".repeat(5000)), "the agent's words are not capped");
}

/** Drawn on every surface, letter by letter; a terminal breaks long rows. */
function drawn(seen: Seen, wanted: readonly string[]): void {
  for (const text of surfaces(seen))
    for (const part of wanted) must(text.replaceAll(/\n↳ ?/g, "").includes(part), `${part} is not shown`);
}

/** What a terminal could take for a command, and what follows it. */
const INTRODUCERS = [0x1b, 0x9b].map((code) => String.fromCodePoint(code)).join("");
const ESCAPES = new RegExp(`[${INTRODUCERS}][^${INTRODUCERS}]{0,3}`, "gu");

/** Nothing of the value was sent to the terminal as it is. */
function noRawControl(seen: Seen): void {
  for (const value of stringsIn(argumentsOf(seen)))
    for (const part of value.match(ESCAPES) ?? [])
      must(
        seen.stage.seat === undefined || !seen.stage.seat.written.includes(part),
        `the terminal was sent ${JSON.stringify(part)}`,
      );
  for (const { text } of seen.stage.shown) must(!CONTROL.test(text), "the card's text has a control character");
}

function unescaped(seen: Seen): void {
  for (const { text } of seen.stage.shown)
    must(canonicalize(unrenderArguments(text)) === canonicalize(argumentsOf(seen)), "the shown arguments are not the call's");
}

const hidden = (seen: Seen, chars: RegExp): void => {
  const found = stringsIn(argumentsOf(seen)).flatMap((value) => value.match(chars) ?? []);
  must(found.length > 0, "the case has no such character");
  for (const text of surfaces(seen))
    for (const char of found) {
      must(!text.includes(char), `${visible(char)} is emitted as it is`);
      must(text.includes(visible(char)), `${visible(char)} is not visible`);
    }
};

/** Each line of a value behind the gutter, on the card and on the screen. */
function guttered(seen: Seen): void {
  const lines = stringsIn(argumentsOf(seen))
    .flatMap((value) => value.split("\n"))
    .map((line) => visible(line).trim())
    .filter((line) => line !== "");
  for (const text of surfaces(seen))
    for (const line of lines) {
      const rows = text.split("\n").filter((row) => row.includes(line) && !row.startsWith("message"));
      must(
        rows.length > 0 && rows.every((row) => row.startsWith(GUTTER) || row.startsWith("↳ ")),
        `${JSON.stringify(line)} is drawn without the gutter`,
      );
    }
}

function oneQuestion(seen: Seen): void {
  const question = phrase("en", "terminal.question").slice(0, 12);
  const rows = (seen.stage.seat?.rows ?? []).filter((row) => row.startsWith(question));
  must(rows.length === 1, `${rows.length} questions are on the screen`);
}

const blankRun = (seen: Seen): void => {
  const [, count = ""] = seen.said;
  for (const text of surfaces(seen))
    must(new RegExp(String.raw`\\u\{[0-9a-f]+\*${count}\}`).test(text), `a run of ${count} blanks is not counted`);
  flagged(seen, "blank_run");
};

const KINDS: readonly (readonly [RegExp, Parameters<typeof flagged>[1]])[] = [
  [/control/, "control"],
  [/bidi/, "bidi"],
  [/tag char/, "tag"],
  [/mixed script|confusable|homoglyph/, "mixed_script"],
  [/opaque|not inspectable|encoded/, "opaque"],
  [/redacted|masked/, "masked"],
  [/nfc|normal/i, "not_nfc"],
  [/invisible|zero.width|ignorable|hidden/, "invisible"],
  [/blank|padding|whitespace/, "blank_run"],
  [/magic|prototype|__proto__/, "magic_key"],
  [/reserved/, "reserved_name"],
  [/deep|nest/, "deep"],
  [/long|many/, "long"],
];

function flagOf(seen: Seen): void {
  const [, words = ""] = seen.said;
  const kind = KINDS.find(([pattern]) => pattern.test(words))?.[1];
  must(kind !== undefined, `no flag is known as "${words}"`);
  const count = /^(\d+) /.exec(words)?.[1];
  if (kind !== undefined)
    flagged(seen, kind, count === undefined ? undefined : new RegExp(String.raw`^(?:in the name: )?${count}\b`));
}

function decodedShown(seen: Seen): void {
  const [, words] = seen.said;
  const tags = stringsIn(argumentsOf(seen)).flatMap((value) => [...value].filter((char) => /[\u{e0000}-\u{e007f}]/u.test(char)));
  const expected =
    words === undefined
      ? tags.map((char) => String.fromCodePoint((char.codePointAt(0) ?? 0) - 0xe0000)).join("")
      : unquoted(words);
  must(
    flagsOf(seen).some((flag) => flag.note.includes(expected)),
    `"${expected}" is not shown beside the value`,
  );
}

function maskedOnly(seen: Seen): void {
  const [, secret] = seen.said;
  const text = stringsIn(argumentsOf(seen)).join("\n");
  const wanted = secret === undefined || secret === "the token" ? /sk_\w+|AKIA\w+/.exec(text)?.[0] : unquoted(secret);
  must(wanted !== undefined, "the case has no token");
  const mark = `[masked ${wanted?.length ?? 0} characters]`;
  const shown = JSON.stringify(cardOf(seen).arguments);
  must(shown.includes(mark) && !shown.includes(wanted ?? ""), `the masked span is not the token: ${shown}`);
  must(shown.includes(text.replace(wanted ?? "", mark)), `more than the token is masked: ${shown}`);
}

/** A secret that detectors know, hidden on the card and running as it is. */
function masked(seen: Seen): void {
  const [, secret = ""] = seen.said;
  const wanted = secret === "" ? (/[\w-]+-EXAMPLE/.exec(stringsIn(argumentsOf(seen)).join("\n"))?.[0] ?? "") : secret;
  must(wanted !== "" && cardOf(seen).masked.length > 0, "nothing is masked");
  for (const text of surfaces(seen)) must(!text.includes(wanted), `${wanted} is shown`);
}

/** No place that people or machines read holds the secret: surfaces, logs, events, journal, the model's words. */
async function nowhere(seen: Seen): Promise<void> {
  const [, secret = ""] = seen.said;
  const { world } = seen.stage;
  const places = [
    ...surfaces(seen),
    JSON.stringify(cardsOf(seen)),
    JSON.stringify(world.events),
    ...[...world.processes.values()].map((process) => JSON.stringify(process.log)),
    JSON.stringify(world.calls.map((call) => call.outcome)),
  ];
  for (const call of world.calls) for (const request of call.requests) places.push(JSON.stringify(await world.entries(request)));
  for (const place of places) must(!place.includes(secret), `${secret} is in ${place.slice(0, 80)}`);
}

function hashes(seen: Seen): void {
  const wanted = [...(seen.said[0] ?? "").matchAll(/[0-9a-f]{64}/g)].map(([hash]) => hash);
  const given = (seen.stage.marks.get("canonical") as readonly string[] | undefined) ?? [canonicalize(argumentsOf(seen))];
  const hashed = given.map((text) => createHash("sha256").update(text).digest("hex"));
  for (const hash of wanted) must(hashed.includes(hash), `no value hashes to ${hash}: ${hashed.join(", ")}`);
}

function template(seen: Seen): void {
  const [, words = ""] = seen.said;
  must(cardOf(seen).message === words, `the message is ${JSON.stringify(cardOf(seen).message)}`);
}

function shownWithType(seen: Seen): void {
  const [, name = "", value = ""] = seen.said;
  const shown = cardOf(seen).arguments[name];
  must(JSON.stringify(shown) === value || shown === value, `${name} is shown as ${JSON.stringify(shown)}`);
  for (const text of surfaces(seen)) must(text.includes(`"${name}": ${JSON.stringify(shown)}`), `${name} is not drawn`);
}

export const SHOWN: readonly Check[] = [
  [/^card shows .+ above any agent text$/, "facts stand above the agent's words", factsAboveWords],
  [/^(?:summary|reason|statement) is marked as written by the agent$/, "the agent's words are marked", marked],
  [/^a card whose facts come from (?:summary|reason) fails$/, "facts are made from the call", factsAreTheCalls],
  [
    /^reason is shown escaped, capped, and labelled as untrusted$/,
    "the agent's words are escaped, capped and labelled",
    escapedCappedLabelled,
  ],
  [/^output has no byte 0x1b that came from args$/, "no escape byte of a value", noRawControl],
  [/^no OSC sequence reaches the terminal$/, "no sequence of a value", noRawControl],
  [/^text (\S+) is visible$/, "this text is visible", (seen) => drawn(seen, [seen.said[1] ?? ""])],
  [/^the request is flagged: (.+)$/, "this is pointed out", flagOf],
  [/^(?:\w+ is )?flag(?:ged)?: (.+)$/, "this is pointed out", flagOf],
  [
    /^U\+([0-9A-F]{4,6}) is (?:shown|visible) as an escape(?:, not emitted)?$/,
    "this character is shown as an escape",
    (seen) => hidden(seen, new RegExp(`\\u{${seen.said[1]}}`, "gu")),
  ],
  [
    /^both URLs are visible as text$/,
    "both addresses are visible",
    (seen) => {
      const urls = stringsIn(argumentsOf(seen)).flatMap((value) => value.match(/https?:\/\/[\w./-]+/g) ?? []);
      for (const url of urls) shows(seen, url);
    },
  ],
  [
    /^rendered text contains both '(.+)' and '(.+)' and a visible (\\u[0-9a-f]{4})$/,
    "all parts are visible",
    (seen) => drawn(seen, seen.said.slice(1)),
  ],
  [/^unescape\(rendered\) equals the value$/, "what is shown reads back as the value", unescaped],
  [/^(\\[a-z0]) is shown as text$/, "the escape is visible", escapeShown],
  [/^isolates are visible as escapes$/, "isolates are visible", (seen) => hidden(seen, /[\u2066-\u2069]/gu)],
  [
    /^bidi (?:controls|marks) are visible as escapes$/,
    "bidi controls are visible",
    (seen) => hidden(seen, /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu),
  ],
  [/^decoded tag text is shown$/, "hidden text is spelled out", decodedShown],
  [/^decoded text '(.+)' may be shown next to the raw text$/, "what is encoded is spelled out", decodedShown],
  [/^the added lines carry the value gutter and cannot be taken for fields$/, "a value's lines carry the gutter", guttered],
  [/^every line of the value carries the gutter$/, "a value's lines carry the gutter", guttered],
  [/^only one real question is on screen$/, "one question is on the screen", oneQuestion],
  [
    /^(.+) is visible in the first view$/,
    "it is visible at once",
    (seen) => must(firstView(seen).includes(unquoted(seen.said[1] ?? "")), `${seen.said[1]} is not in the first view`),
  ],
  [
    /^(\w+) and (\w+) are in the first view$/,
    "they are visible at once",
    (seen) => {
      for (const name of seen.said.slice(1)) must(firstView(seen).includes(`"${name}": `), `${name} is not in the first view`);
    },
  ],
  [/^run of (\d+) blanks is shown as a counted mark$/, "a run of blanks is counted", blankRun],
  [/^text is (.+) literally$/, "the message is this text", template],
  [/^text is (.+)$/, "the message is this text", template],
  [
    /^rendered text differs$/,
    "they do not look the same",
    (seen) =>
      must(
        new Set(
          seen.stage.shown.map((shown) =>
            shown.text
              .split("\n")
              .filter((row) => row.startsWith(GUTTER))
              .join("\n"),
          ),
        ).size === seen.stage.shown.length && seen.stage.shown.length > 1,
        "they look the same",
      ),
  ],
  [
    /^raw (\S+) and (\S+) visible; formatted \S+ has no decimals$/,
    "raw values, and no guess beside them",
    (seen) => {
      shows(seen, seen.said[1] ?? "");
      shows(seen, seen.said[2] ?? "");
      for (const text of surfaces(seen))
        must(!/\d[.,]\d{2}\s*(?:[A-Z]{3}|[€$¥£])|[€$¥£]\s*\d/.test(text), "an amount was guessed");
    },
  ],
  [/^masked span is exactly (.+)$/, "only the token is masked", maskedOnly],
  [/^(?:(\S+) )?masked$/, "the secret is masked", masked],
  [/^no channel payload, log or audit row contains (\S+)$/, "the secret is nowhere", nowhere],
  [
    /^space visible in the card$/,
    "a blank at the end is visible",
    (seen) =>
      must(
        seen.stage.shown.some(({ text }) => text.includes('\\u0020"')),
        "the blank is not visible",
      ),
  ],
  [/^jcs_sha256 [0-9a-f]{64}(?: and [0-9a-f]{64})*$/, "the canonical text has this hash", hashes],
  [
    /^canonical text (.+)$/,
    "this is the canonical text",
    (seen) => {
      for (const text of (seen.stage.marks.get("canonical") as string[] | undefined) ?? [])
        must(text === seen.said[1], `it is ${text}`);
    },
  ],
  [/^card shows (\w+): (\S+)(?: \(default\))?$/, "the card shows this value", shownWithType],
  [/^([\w $-]+) is visible$/, "it is visible", (seen) => shows(seen, unquoted(seen.said[1] ?? ""))],
  [/^10,000 guesses do not find it without the salt$/, "a commitment cannot be guessed", guesses],
];

const NAMED: Readonly<Record<string, string>> = {
  "\\b": "\b",
  "\\v": "\v",
  "\\f": "\f",
  "\\0": "\0",
  "\\t": "\t",
  "\\r": "\r",
  "\\n": "\n",
};

/** By the name that the case has for it, or by the escape that we write. */
function escapeShown(seen: Seen): void {
  const [, name = ""] = seen.said;
  const written = visible(`x${NAMED[name] ?? name}x`).slice(1, -1);
  for (const text of surfaces(seen)) must(text.includes(name) || text.includes(written), `${name} is not shown`);
}

/** A commitment to a value that anybody can list is not one that anybody can find. */
function guesses(seen: Seen): void {
  const card = cardOf(seen);
  const name = Object.keys(card.arguments)[0] ?? "";
  const commitment = JSON.stringify(card.arguments[name]);
  must(commitment.includes("$secret"), `the value stands as ${commitment}`);
  const plainForms = (guess: string): readonly string[] => [
    guess,
    JSON.stringify(guess),
    canonicalize({ value: guess }),
    canonicalize({ [name]: guess }),
    canonicalize({ type: "holdpoint/secret/v1", value: guess }),
  ];
  for (let guess = 0; guess < 10_000; guess += 1)
    for (const form of plainForms(String(guess).padStart(4, "0"))) {
      const hash = createHash("sha256").update(form);
      const copy = hash.copy();
      must(
        !commitment.includes(hash.digest("hex")) && !commitment.includes(copy.digest("base64url")),
        `it is the hash of ${form}`,
      );
    }
}
