import { listing, visible } from "../../../src/core/index.ts";

import { must } from "../work.ts";
import { type Expectation, plain, said } from "./common.ts";
import type { Scene } from "./scene.ts";
import { isFields, list, text } from "./shape.ts";
import { codePointsIn } from "./words.ts";

/** What people were shown. Every surface that was drawn must do it. */

const everyCard = (scene: Scene, check: (shown: string) => void): void => {
  must(scene.rendered.length > 0, "nothing was shown");
  for (const { text: shown } of scene.rendered) check(shown);
  if (scene.seat !== undefined) check(scene.seat.text);
};

const contains = (shown: string, wanted: string): boolean => {
  const marks = codePointsIn(wanted);
  if (marks.length > 0) return marks.every((char) => shown.includes(visible(char)));
  // A terminal breaks long rows; what is broken is still there.
  const whole = plain(shown.replaceAll(/\n↳ /g, ""));
  return shown.includes(wanted) || whole.includes(wanted);
};

const shows: Expectation = (scene, value) =>
  everyCard(scene, (shown) => {
    for (const wanted of list(value)) must(contains(shown, String(wanted)), `${said(wanted)} is not shown`);
  });

const hides: Expectation = (scene, value) =>
  everyCard(scene, (shown) => {
    for (const secret of list(value)) must(!shown.includes(String(secret)), `${said(secret)} is shown`);
  });

/** The line a card is headed by: what will be done, made from the call. */
const headline = (scene: Scene): string =>
  scene.rendered.map(({ card }) => card.message ?? listing(card.tool.name, card.arguments)).join("\n");

export const shownChecks: Readonly<Record<string, Expectation>> = {
  shown_contains: shows,
  shown_not_contains: hides,
  headline_contains: (scene, value) => must(headline(scene).includes(String(value)), `the headline is ${said(headline(scene))}`),
  not_headline: (scene, value) => must(headline(scene) !== value, "the headline says nothing"),
  headline: (scene) => {
    const { args } = scene.world.calls[0]?.spec ?? { args: {} };
    const command = isFields(args) ? String(args.command) : "";
    must(headline(scene).includes(command), `the headline is ${said(headline(scene))}`);
  },
  // No authority beyond the call is offered on a card: an approval opens at most the window that its terms state.
  offered_grant_never: (scene, value) =>
    everyCard(scene, (shown) => must(!shown.includes(String(value)), `${said(value)} is offered`)),
  depends_on_verbosity: (scene, value) => {
    const texts = new Set(scene.rendered.filter(({ via }) => via !== "terminal").map(({ text: shown }) => shown));
    must(value === false && texts.size <= 1, "what is shown is not one thing");
  },
  runs_of_space: (scene) =>
    everyCard(scene, (shown) =>
      must(/\\u\{[0-9a-f]+\*\d+\}/.test(shown) && !/[ \u2003]{41}/u.test(shown), "a run of blanks is not counted"),
    ),
  warning: (scene) => {
    const kinds = scene.rendered.flatMap(({ card }) => card.flags.map((flag) => flag.kind));
    must(
      kinds.some((kind) => kind === "invisible" || kind === "bidi" || kind === "tag"),
      "hidden characters are not pointed out",
    );
  },
  agent_path_shown: (scene) => {
    for (const call of scene.world.calls) {
      const path = call.spec.path ?? [];
      const card = scene.marks.get(`card:${call.label}`) as { requester: { path: readonly string[] } } | undefined;
      must(said(card?.requester.path) === said(path), `the path on the card of ${call.label} is ${said(card?.requester.path)}`);
    }
  },
  request_args: (scene, value) => {
    const { card } = scene.rendered[0] ?? {};
    for (const [name, wanted] of Object.entries(isFields(value) ? value : {}))
      must(said(card?.arguments[name]) === said(wanted), `the request shows ${name} = ${said(card?.arguments[name])}`);
  },
  request_notes: (scene, value) => {
    const notes = scene.rendered[0]?.card.notes ?? [];
    must(text(value) !== undefined && notes.some((note) => /changed/.test(note)), `the notes are ${said(notes)}`);
  },
};
