import { type Card, msOf } from "../../core/index.ts";
import { EXIT } from "../exit-codes.ts";
import { withDesk } from "../host.ts";
import { oneLine, output, span, table } from "../output.ts";
import { isFurnished, placeOf } from "../place.ts";
import { type Common, GROUPS, type Verb, verb } from "../verb.ts";

/** Characters of a message that one row of a list has room for; `show` has all of it. */
const ROOM = 100;
const short = (text: string): string => (text.length > ROOM ? `${text.slice(0, ROOM - 1)}…` : text);

function row(card: Card, now: number): readonly string[] {
  const left = span(msOf(card.decideBy) - now);
  return [card.id, oneLine(card.tool.name), `${left} left`, short(oneLine(card.message))];
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
        out.result(cards, table(cards.map((card) => row(card, now))));
        if (cards.length === 0) out.note("nothing waits");
        return EXIT.done;
      });
    }),
  );
};
