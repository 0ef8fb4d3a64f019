import type { Remembered } from "../../core/approving.ts";
import { CommandFault, EXIT, usage } from "../exit-codes.ts";
import { type DeskHost, withDesk } from "../host.ts";
import { oneLine, output, type Output, table } from "../output.ts";
import { isFurnished, placeOf } from "../place.ts";
import { type Common, GROUPS, type Verb, verb } from "../verb.ts";

type Kind = Remembered["kind"];

const row = ({ id, covers, principal, agent, until, uses, by }: Remembered): readonly string[] => [
  id,
  oneLine(covers),
  `for ${oneLine(principal)}${agent === null ? "" : ` by ${oneLine(agent)}`}`,
  until === null ? "no end" : `until ${until}`,
  `used ${uses} ${uses === 1 ? "time" : "times"}`,
  `from ${oneLine(by)}`,
];

const listOf = ({ approvals, as }: DeskHost, kind: Kind): Promise<readonly Remembered[]> =>
  ({ window: approvals.windows, grant: approvals.grants, exemption: approvals.exemptions })[kind](as);

/** Exemptions are code: they live in the process that declares them and end with it. */
const ELSEWHERE =
  "exemptions are declared in code and live in that process alone: ask it (gate.desk.approvals.exemptions), or end it. No command-line desk has any";

async function list(host: DeskHost, kind: Kind, out: Output): Promise<number> {
  const all = await listOf(host, kind);
  out.result(all, table(all.map(row)));
  if (all.length === 0) out.note(kind === "exemption" ? ELSEWHERE : `no ${kind} is live`);
  return EXIT.done;
}

async function revoke(host: DeskHost, ending: { kind: Kind; id: string }, out: Output): Promise<number> {
  const { kind, id } = ending;
  const fitting = (await listOf(host, kind)).filter((one) => one.id === id || (id.length >= 4 && one.id.startsWith(id)));
  if (fitting.length > 1)
    throw new CommandFault(`"${id}" fits several [ambiguous_id]: ${fitting.map((one) => one.id).join(", ")}`, EXIT.refused);
  const ended = fitting[0] !== undefined && (await host.approvals.end(kind, fitting[0].id, host.as));
  if (!ended) {
    const result = { id, ended: false };
    throw new CommandFault(kind === "exemption" ? ELSEWHERE : `no live ${kind} has the id "${id}" [not_found]`, EXIT.failed, {
      result,
    });
  }
  out.result({ id: fitting[0]?.id, ended }, `ended: ${fitting[0]?.id}`);
  return EXIT.done;
}

const verbFor =
  (kind: Kind, words: { readonly says: string; readonly example: readonly string[] }): Verb =>
  (program, does) => {
    verb(program, { name: `${kind}s`, group: GROUPS.authority, ...words })
      .argument("[what]", "list or revoke", "list")
      .argument("[id]", "with revoke: which one")
      .action(
        does(async (what: string, id: string | undefined, options: Common) => {
          const out = output(options);
          if (what !== "list" && what !== "revoke") throw usage(`"${what}" is not list or revoke`);
          if (what === "revoke" && id === undefined) throw usage(`say which: holdpoint ${kind}s revoke <id>`);
          if (what === "list" && !isFurnished(placeOf(options.data))) {
            out.result([], "");
            out.note(`no ${kind} is live`);
            return EXIT.done;
          }
          return withDesk(options, (host) =>
            id === undefined || what === "list" ? list(host, kind, out) : revoke(host, { kind, id }, out),
          );
        }),
      );
  };

export const windows: Verb = verbFor("window", {
  says: "lists or ends windows: a yes that answers the same call again for a while",
  example: ["holdpoint windows", "holdpoint windows revoke <id>"],
});
export const grants: Verb = verbFor("grant", {
  says: "lists or ends grants: authority that was given ahead, with an end",
  example: ["holdpoint grants", "holdpoint grants revoke <id>"],
});
export const exemptions: Verb = verbFor("exemption", {
  says: "lists or ends exemptions: reasons in code not to ask",
  example: ["holdpoint exemptions"],
});
