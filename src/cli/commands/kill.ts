import type { KillScope } from "../../core/index.ts";
import { refuseBelowAgents, terminalOf } from "../ask.ts";
import { answerAtTerminal } from "../deciding.ts";
import { EXIT, usage } from "../exit-codes.ts";
import { type DeskHost, withDesk } from "../host.ts";
import { oneLine, output, type Output, table } from "../output.ts";
import { type Common, GROUPS, type Verb, verb } from "../verb.ts";

const SCOPE = /^(?:all|(?:tenant|tool|agent):\S(?:.*\S)?)$/u;
const SCOPES = "say all, tool:<name>, agent:<name> or tenant:<name>";
/** What reads like a pattern. A scope is a name: one that was meant to stop many tools must not quietly stop none. */
const PATTERN = /[*?[\]{}]/u;

function scopeOf(given: string): KillScope {
  if (!SCOPE.test(given)) throw usage(`"${given}" is no scope; ${SCOPES}`);
  if (PATTERN.test(given))
    throw usage(`"${given}" looks like a pattern, and a scope is one exact name: it would stop nothing; ${SCOPES}`);
  return given as KillScope;
}

async function list({ approvals }: DeskHost, out: Output): Promise<number> {
  const killed = await approvals.killed();
  out.result(killed, table(killed.map(({ scope, at, by }) => [oneLine(scope), `since ${at}`, `by ${oneLine(by)}`])));
  if (killed.length === 0) out.note("the kill switch is not on: no call is stopped by it");
  return EXIT.done;
}

const stopped = (scope: KillScope): string =>
  `stopped: ${scope === "all" ? "no call" : `no call under "${scope}"`} runs any more; what waits stays listed and does not run either, approved or not`;

async function on({ approvals, as }: DeskHost, scope: KillScope, out: Output): Promise<number> {
  const { changed } = await approvals.kill(scope, true, as);
  out.result({ scope, on: true, changed }, changed ? stopped(scope) : `"${scope}" was stopped already`);
  return EXIT.done;
}

/** The request that asks this already, so that a second try does not leave a second one open. */
async function asked({ approvals, as }: DeskHost, scope: KillScope): Promise<string | undefined> {
  const open = await approvals.list({}, as);
  return open.find(({ kind, arguments: args }) => kind === "change" && args.kill === scope && args.on === false)?.id;
}

/** Letting calls run again is a change of authority: a request of its own, answered like any other. */
async function off(host: DeskHost, scope: KillScope, out: Output): Promise<number> {
  const command = "holdpoint kill off";
  if (!out.json) {
    refuseBelowAgents(command);
    terminalOf(command, "; a program says --json, and approves the request that is opened then");
  }
  const request = (await asked(host, scope)) ?? (await host.approvals.kill(scope, false, host.as)).request;
  if (request === undefined) {
    out.result({ scope, changed: false }, `"${scope}" is not stopped`);
    return EXIT.done;
  }
  if (out.json) {
    out.result({ scope, changed: false, request }, "");
    return EXIT.done;
  }
  out.note(`this waits for an answer as request ${request}; also: holdpoint approve${host.place.option} ${request}`);
  return answerAtTerminal(request, { host, out, command });
}

export const kill: Verb = (program, does) => {
  verb(program, {
    name: "kill",
    says: "stops all calls at once, or those of one tool, agent or tenant; off lets them run again once you confirm it",
    group: GROUPS.authority,
    example: ["holdpoint kill on", "holdpoint kill on tool:fs/write_file", "holdpoint kill off"],
    more: "on needs nobody and works within two seconds, also on what waits. off opens a request and asks for its code.",
  })
    .argument("[state]", "on, off, or list", "list")
    .argument("[scope]", "all, tool:<name>, agent:<name> or tenant:<name>", "all")
    .action(
      does(async (state: string, given: string, options: Common) => {
        const out = output(options);
        const scope = scopeOf(given);
        if (state !== "on" && state !== "off" && state !== "list") throw usage(`"${state}" is not on, off or list`);
        return withDesk({ ...options, make: state === "on" }, (host) => {
          if (state === "list") return list(host, out);
          return state === "on" ? on(host, scope, out) : off(host, scope, out);
        });
      }),
    );
};
