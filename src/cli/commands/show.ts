import { onOutput } from "../ask.ts";
import { EXIT } from "../exit-codes.ts";
import { withDesk } from "../host.ts";
import { output } from "../output.ts";
import { requestNamed } from "../requests.ts";
import { type Common, GROUPS, type Verb, verb } from "../verb.ts";

export const show: Verb = (program, does) => {
  verb(program, {
    name: "show",
    says: "shows one request whole: what would run, for whom, who may answer, how it ended",
    group: GROUPS.decide,
    example: ["holdpoint show 0193e6a0", "holdpoint show 0193e6a0 --json | jq .digest"],
  })
    .argument("<id>", "the request, or the beginning of its id where that fits one only")
    .action(
      does(async (id: string, options: Common) =>
        withDesk(options, async (host) => {
          const presented = await requestNamed(id, host);
          output(options).result(presented.card, onOutput(presented));
          return EXIT.done;
        }),
      ),
    );
};
