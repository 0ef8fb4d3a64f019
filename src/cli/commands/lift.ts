import { refuseBelowAgents } from "../ask.ts";
import { CommandFault, EXIT } from "../exit-codes.ts";
import { withDesk } from "../host.ts";
import { output } from "../output.ts";
import { requestNamed } from "../requests.ts";
import { type Common, GROUPS, type Verb, verb } from "../verb.ts";

const ID = /^[0-9a-f]{4,8}(?:-[0-9a-f-]*)?$/u;

export const lift: Verb = (program, does) => {
  verb(program, {
    name: "lift",
    says: "lets a refused call, or a tool that was refused too often, be asked again",
    group: GROUPS.authority,
    example: ["holdpoint lift 0193e6a0", "holdpoint lift fs/write_file"],
    more: "It approves nothing: the agent may ask again, and somebody decides again.",
  })
    .argument("<target>", "a request that was rejected, or the name of a tool")
    .action(
      does(async (given: string, options: Common) => {
        refuseBelowAgents("holdpoint lift");
        return withDesk(options, async (host) => {
          const target = ID.test(given) ? (await requestNamed(given, host)).card.id : given;
          const ended = await host.approvals.lift(target, host.as);
          if (ended === 0)
            throw new CommandFault(`nothing about "${given}" is remembered as refused`, EXIT.failed, {
              result: { target, ended },
            });
          output(options).result({ target, ended }, `${target} may be asked again`);
          return EXIT.done;
        });
      }),
    );
};
