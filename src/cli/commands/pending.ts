import { type Card, msOf } from "../../core/index.ts";
import { EXIT } from "../exit-codes.ts";
import { withDesk } from "../host.ts";
import { oneLine, output, span, table } from "../output.ts";
import { isFurnished, placeOf } from "../place.ts";
import { type Common, GROUPS, type Verb, verb } from "../verb.ts";

/** Characters of a message that one row of a list has room for; `show` has all of it. */
const ROOM = 100;
/** With less room than this beside the other columns, a message has a row of its own. */
const LEAST_ROOM = 30;
const short = (text: string, room: number): string => (text.length > room ? `${text.slice(0, room - 1)}…` : text);

/** One row for each request; on a terminal too narrow for that, the message below its request. */
function listed(cards: readonly Card[], now: number): string {
  const { isTTY, columns } = process.stdout;
  const facts = cards.map((card) => [
    card.id,
    oneLine(card.tool.name),
    `${span(msOf(card.decideBy) - now)} left${card.presence === "gone" ? ", agent gone" : ""}`,
  ]);
  const messages = cards.map((card) => oneLine(card.message));
  const width = isTTY === true && columns > 0 ? columns : Number.MAX_SAFE_INTEGER;
  const heads = table(facts).split("\n");
  const room = width - Math.max(...heads.map((head) => head.length)) - 2;
  if (room < LEAST_ROOM) return heads.map((head, at) => `${head}\n  ${short(messages[at] ?? "", width - 2)}`).join("\n");
  return table(facts.map((row, at) => [...row, short(messages[at] ?? "", Math.min(ROOM, room))]));
}

export const pending: Verb = (program, does) => {
  verb(program, {
    name: "pending",
    says: "lists what waits for you, oldest first",
    group: GROUPS.decide,
    example: ["holdpoint pending", "holdpoint pending --json"],
  }).action(
    does(async (options: Common) => {
      const out = output(options);
      const place = placeOf(options.data);
      if (!isFurnished(place)) {
        out.result([], "");
        out.note(`nothing waits: nothing was ever asked in ${place.folder}`);
        return EXIT.done;
      }
      return withDesk(options, async ({ approvals, as, store }) => {
        const cards = await approvals.list({}, as);
        const now = msOf(await store.now());
        out.result(cards, cards.length === 0 ? "" : listed(cards, now));
        if (cards.length === 0) out.note("nothing waits");
        return EXIT.done;
      });
    }),
  );
};
