import type { Card, Flag } from "../../../src/core/index.ts";
import { plain } from "../faults/common.ts";
import { must } from "../work.ts";
import type { AttackCase } from "./shape.ts";
import type { Stage } from "./stage.ts";

/** What a check looks at: the case, what happened, and the parts of its own sentence. */
export interface Seen {
  readonly one: AttackCase;
  readonly stage: Stage;
  /** Groups of the check's own pattern. */
  readonly said: readonly string[];
}
export type Assertion = (seen: Seen) => void | Promise<void>;

export const cardsOf = ({ stage }: Seen): readonly Card[] => stage.shown.map((shown) => shown.card);

export function cardOf(seen: Seen): Card {
  const card = cardsOf(seen)[0];
  must(card !== undefined, "nobody was shown a card");
  return card as Card;
}

/** Every surface on which the call was shown: its text, and the terminal's screen. */
export function surfaces({ stage }: Seen): readonly string[] {
  const texts = stage.shown.map((shown) => shown.text);
  const screen = stage.seat === undefined ? [] : [stage.seat.text];
  must(texts.length > 0, "nothing was shown");
  return [...texts, ...screen];
}

const unbroken = (text: string): string => text.replaceAll(/\n↳ ?/g, "");

/** Shown somewhere on every surface, as it is or behind an escape that stands for it. */
export function shows(seen: Seen, wanted: string): void {
  for (const text of surfaces(seen)) {
    const whole = unbroken(text);
    must(whole.includes(wanted) || plain(whole).includes(wanted), `${JSON.stringify(wanted)} is not shown`);
  }
}

/** What the terminal draws before anybody turns a page. */
export const firstView = ({ stage }: Seen): string => unbroken(stage.seat?.text ?? stage.shown[0]?.text ?? "");

export const flagsOf = (seen: Seen): readonly Flag[] => cardsOf(seen).flatMap((card) => card.flags);

export function flagged(seen: Seen, kind: Flag["kind"], note?: RegExp): void {
  const found = flagsOf(seen).filter((flag) => flag.kind === kind && (note === undefined || note.test(flag.note)));
  must(found.length > 0, `no flag ${kind}${note === undefined ? "" : ` with ${String(note)}`}: ${JSON.stringify(flagsOf(seen))}`);
}

/** Characters that only a value could have brought: everything below a blank but the line feed, DEL and the C1 block. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
export const CONTROL: RegExp = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/u;

/** Strings of a call's arguments, at any depth. */
export function stringsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(stringsIn);
}

/** What was asked for, unchanged. */
export const argumentsOf = ({ stage }: Seen): unknown => stage.world.calls[0]?.spec.args;

export const refusalOf = ({ stage }: Seen): string | undefined => {
  const { outcome } = stage.last ?? {};
  return outcome?.status === "refused" ? outcome.code : undefined;
};
export const sentenceOf = ({ stage }: Seen): string => {
  const { outcome } = stage.last ?? {};
  return outcome?.status === "refused" ? outcome.sentence : "";
};
