import type { Decided } from "../../core/approving.ts";
import { type Card, cardText, differences, flagsOf, listing, localeOf, maskSecrets, type Presented } from "../../core/index.ts";
import { askAtTerminal, forTerminal, refuseBelowAgents, terminalLimit, terminalOf } from "../ask.ts";
import { type Answering, ending, refuseEnded, report, reportAsked, requestByDigest } from "../deciding.ts";
import { type Edited, editInEditor, type EditorAnswer, readEdited, readEditedFile, withoutMasks } from "../edited.ts";
import { CommandFault, usage } from "../exit-codes.ts";
import { withDesk } from "../host.ts";
import { output } from "../output.ts";
import { quoted } from "../place.ts";
import { readPolicy } from "../policy-file.ts";
import { requestNamed } from "../requests.ts";
import { type Common, GROUPS, type Verb, verb } from "../verb.ts";

interface Options extends Common {
  readonly arguments?: string;
  readonly file?: string;
  readonly digest?: string;
  readonly policy?: string;
}

function given(options: Options): Edited | undefined {
  if (options.arguments !== undefined && options.file !== undefined) throw usage("say one of --arguments and --file");
  if (options.arguments !== undefined) return readEdited(options.arguments, "--arguments");
  return options.file === undefined ? undefined : readEditedFile(options.file);
}

/** The real arguments behind a card's masks, which only the desk's own store has. */
async function realArguments(card: Card, { host }: Answering) {
  return (await host.store.read(card.id))?.payload?.arguments ?? {};
}

function sendEdit(
  { card, view }: Presented,
  edit: { readonly edited: Edited; readonly reason?: string },
  { host }: Answering,
): Promise<Decided> {
  const words = edit.reason === undefined ? {} : { reason: edit.reason };
  return host.approvals.edit(card.id, { arguments: edit.edited, digest: card.digest, view, ...words }, host.as);
}

/** The card as it would be with the edit: what is approved by its code is what was written. */
function editedCard(presented: Presented, edited: Exclude<Edited, null | false>): Presented {
  const { shown: args, masked } = maskSecrets(edited);
  const before = presented.card;
  const changed = differences(before.arguments, args).map((pointer) => (pointer === "" ? "the whole" : pointer));
  const card: Card = {
    ...before,
    arguments: args,
    editable: [],
    masked,
    message: listing(before.tool.name, args),
    flags: flagsOf(edited),
    notes: [...before.notes, changed.length === 0 ? "you changed nothing" : `you changed ${changed.join(", ")}`],
  };
  const locale = localeOf(process.env.LC_ALL ?? process.env.LANG);
  const shown = cardText(card, {
    locale,
    limit: terminalLimit,
    heading: changed.length === 0 ? "You changed nothing. Run it as it is?" : "You changed the call. Run it like this?",
  });
  return { card, text: shown.text, complete: shown.complete && presented.complete, view: presented.view };
}

async function editAtTerminal(id: string, options: Options, answering: Answering): Promise<number> {
  refuseBelowAgents(answering.command);
  const device = terminalOf(answering.command);
  const { host, out } = answering;
  const presented = await requestNamed(id, { ...host, render: forTerminal(host.place) });
  refuseEnded(presented);
  const { card } = presented;
  if (card.editable.length === 0) throw new CommandFault(`nothing of ${card.id} may be changed; approve or reject it as it is`);
  const ready = given(options);
  const fromEditor: EditorAnswer | undefined = ready === undefined ? editInEditor(card, host.place) : undefined;
  const edited = withoutMasks(ready ?? fromEditor?.edited ?? null, card, await realArguments(card, answering));
  if (edited === null || edited === false) return report(answering, card, await sendEdit(presented, { edited }, answering));
  let refused = false;
  const asked = await askAtTerminal({
    device,
    runtime: host.runtime,
    place: host.place,
    presented: editedCard(presented, edited),
    decide: ({ verdict, reason }) => {
      refused = verdict === "reject";
      const words = reason === undefined ? {} : { reason };
      return sendEdit(presented, refused ? { edited: null, ...words } : { edited }, answering);
    },
    seen: async () => undefined,
    over: (signal) => ending(host, card.id, signal),
  });
  const kept =
    fromEditor === undefined
      ? ""
      : `. Your text is kept: holdpoint edit${host.place.option} ${card.id} --file ${quoted(fromEditor.path)}`;
  const decided = asked !== undefined && "decided" in asked ? asked.decided : undefined;
  if (decided?.counted === true) fromEditor?.discard();
  else if (decided !== undefined && kept !== "") out.note(kept.slice(2));
  return reportAsked(answering, card, { asked, refused, kept });
}

async function editByDigest(id: string, options: Options, answering: Answering): Promise<number> {
  const ready = given(options);
  if (ready === undefined) throw usage("holdpoint edit --json needs --arguments or --file");
  const presented = await requestByDigest(id, options.digest, answering);
  const edited = withoutMasks(ready, presented.card, await realArguments(presented.card, answering));
  if (edited !== null && edited !== false && flagsOf(edited).length > flagsOf(presented.card.arguments).length)
    answering.out.note(
      flagsOf(edited)
        .map(({ pointer, note }) => `${pointer}: ${note}`)
        .join("; "),
    );
  return report(answering, presented.card, await sendEdit(presented, { edited }, answering));
}

export const edit: Verb = (program, does) => {
  verb(program, {
    name: "edit",
    says: "changes the arguments of a call before it runs, and lets the changed call run once you type its code",
    group: GROUPS.decide,
    example: ["holdpoint edit 0193e6a0", `holdpoint edit 0193e6a0 --arguments '{"path":"/srv/notes/b.txt"}'`],
    more: "Opens $EDITOR on the arguments. The changed call is checked as the agent's own was, and the agent is told.",
  })
    .argument("<id>", "the request, or the beginning of its id where that fits one only")
    .option("--arguments <json>", "the whole arguments, in place of the editor; null refuses")
    .option("--file <file>", "a file with the whole arguments; - is standard input")
    .option("--digest <digest>", "with --json: the digest that show printed; another one decides nothing")
    .option("--policy <file>", "the policy whose groups of approvers and denials count")
    .action(
      does(async (id: string, options: Options) => {
        const out = output(options);
        const policy = options.policy === undefined ? undefined : readPolicy(options.policy);
        return withDesk({ ...options, policy }, (host) => {
          const answering = { host, out, command: "holdpoint edit" };
          return out.json || options.digest !== undefined
            ? editByDigest(id, options, answering)
            : editAtTerminal(id, options, answering);
        });
      }),
    );
};
