import { answerAtTerminal, report, requestByDigest } from "../deciding.ts";
import { withDesk } from "../host.ts";
import { output } from "../output.ts";
import { readPolicy } from "../policy-file.ts";
import { type Common, GROUPS, type Verb, verb } from "../verb.ts";

interface Options extends Common {
  readonly digest?: string;
  readonly policy?: string;
}

export const approve: Verb = (program, does) => {
  verb(program, {
    name: "approve",
    says: "shows a request at your terminal and lets it run once you type its code",
    group: GROUPS.decide,
    example: ["holdpoint approve 0193e6a0", 'holdpoint approve 0193e6a0 --json --digest "$DIGEST"'],
    more: "A yes counts for exactly what was shown, once. With --json nobody is asked; the digest says what was looked at.",
  })
    .argument("<id>", "the request, or the beginning of its id where that fits one only")
    .option("--digest <digest>", "with --json: the digest that show printed; another one decides nothing")
    .option("--policy <file>", "the policy whose groups of approvers count")
    .action(
      does(async (id: string, options: Options) => {
        const out = output(options);
        const policy = options.policy === undefined ? undefined : readPolicy(options.policy);
        return withDesk({ ...options, policy }, async (host) => {
          const answering = { host, out, command: "holdpoint approve" };
          if (!out.json && options.digest === undefined) return answerAtTerminal(id, answering);
          const { card, view } = await requestByDigest(id, options.digest, answering);
          return report(
            answering,
            card,
            await host.approvals.decide(card.id, { verdict: "approve", digest: card.digest, view }, host.as),
          );
        });
      }),
    );
};
