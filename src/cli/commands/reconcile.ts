import { refuseBelowAgents } from "../ask.ts";
import { report } from "../deciding.ts";
import { usage } from "../exit-codes.ts";
import { withDesk } from "../host.ts";
import { output } from "../output.ts";
import { requestNamed } from "../requests.ts";
import { type Common, GROUPS, type Verb, verb } from "../verb.ts";

interface Options extends Common {
  readonly ran?: boolean;
  readonly didNotRun?: boolean;
}

export const reconcile: Verb = (program, does) => {
  verb(program, {
    name: "reconcile",
    says: "records what you found out of a call whose end nobody saw",
    group: GROUPS.look,
    example: ["holdpoint reconcile 0193e6a0 --did-not-run"],
    more: "Once for each call; its status stays. Nothing is run or run again by it.",
  })
    .argument("<id>", "the request, or the beginning of its id where that fits one only")
    .option("--ran", "it did run")
    .option("--did-not-run", "it did not")
    .action(
      does(async (id: string, options: Options) => {
        if ((options.ran === true) === (options.didNotRun === true)) throw usage("say exactly one of --ran and --did-not-run");
        refuseBelowAgents("holdpoint reconcile");
        return withDesk(options, async (host) => {
          // A claim whose process died is found out here, where nothing else may be running to do it.
          await host.desk.sweep();
          const { card } = await requestNamed(id, host);
          return report(
            { host, out: output(options) },
            card,
            await host.approvals.reconcile(card.id, options.ran === true, host.as),
          );
        });
      }),
    );
};
