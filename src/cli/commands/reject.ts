import { report } from "../deciding.ts";
import { withDesk } from "../host.ts";
import { output } from "../output.ts";
import { readPolicy } from "../policy-file.ts";
import { requestNamed } from "../requests.ts";
import { type Common, GROUPS, type Verb, verb } from "../verb.ts";

interface Options extends Common {
  readonly reason?: string;
  readonly policy?: string;
}

/** A no needs no ceremony: it lets nothing run. It also takes back a yes that has not run yet. */
export const reject: Verb = (program, does) => {
  verb(program, {
    name: "reject",
    says: "refuses a request, or takes an approval back before it runs",
    group: GROUPS.decide,
    example: ['holdpoint reject 0193e6a0 --reason "wrong folder; use /srv/notes"'],
    more: "The model reads the reason, word for word.",
  })
    .argument("<id>", "the request, or the beginning of its id where that fits one only")
    .option("--reason <text>", "what the model is told beside the refusal")
    .option("--policy <file>", "the policy whose groups of approvers count")
    .action(
      does(async (id: string, options: Options) => {
        const { reason } = options;
        const policy = options.policy === undefined ? undefined : readPolicy(options.policy);
        return withDesk({ ...options, policy }, async (host) => {
          const { card, view } = await requestNamed(id, host);
          const words = reason === undefined ? {} : { reason };
          const answer = { verdict: "reject" as const, digest: card.digest, view, ...words };
          return report({ host, out: output(options) }, card, await host.approvals.decide(card.id, answer, host.as));
        });
      }),
    );
};
