import { gateJudge, relayOverStdio } from "../../gateway/index.ts";
import type { Gate, Log, Policy } from "../../core/index.ts";
import { Option } from "commander";
import { checkDeadline } from "../deadline.ts";
import { usage } from "../exit-codes.ts";
import { hostGate, operator } from "../host.ts";
import { stderrLog } from "../log.ts";
import { type Place, placeOf } from "../place.ts";
import { readPolicy } from "../policy-file.ts";
import { serverName } from "../server-name.ts";
import { tellOfHeld } from "../held.ts";
import { type Common, GROUPS, type Verb, verb } from "../verb.ts";

interface Options extends Common {
  readonly name?: string;
  readonly policy?: string;
  readonly start: boolean;
  readonly terminal: boolean;
  readonly deadline: string;
  readonly quiet?: boolean;
  readonly server?: string;
  readonly url?: string;
}

/** A person may take an hour over a call of a server (design, section 14). */
const DEADLINE = "1h";

const NAME = /^[A-Za-z0-9_.@-]{1,64}$/u;

function checkOptions({ server, url, name, deadline }: Options): void {
  if (server !== undefined)
    throw usage("--server is not in this version: every holdpoint mcp runs its own desk on the data folder; leave it out");
  if (url !== undefined)
    throw usage("--url is not in this version: it relays servers that are started by a command; give one after --");
  if (name !== undefined && !NAME.test(name))
    throw usage(`--name "${name}": a server's name is at most 64 ASCII letters, digits and _ . @ -`);
  checkDeadline(deadline);
}

interface Relayed {
  readonly command: readonly [string, ...string[]];
  readonly server: string;
  readonly place: Place;
  readonly log: Log;
}

/** Expires what nobody was there to expire, and finds out claims whose process died; nothing is run by it. */
function sweepBehind(gate: Gate, log: Log): void {
  gate.sweep().catch((thrown: unknown) => {
    log.warn("what is overdue could not be swept", { problem: thrown instanceof Error ? thrown.message : "unknown" });
  });
}

async function relayed({ command, server, place, log }: Relayed, options: Options, policy: Policy | undefined): Promise<number> {
  const { gate, asksHere } = await hostGate({
    place,
    log,
    policy,
    deadline: options.deadline,
    terminal: options.terminal && options.start,
    listing: options.start,
  });
  if (!asksHere) tellOfHeld(gate, { place, log: options });
  sweepBehind(gate, log);
  const judge = gateJudge({
    gate,
    server,
    command,
    principal: operator(),
    link: (request) => `holdpoint show ${request}${place.option}`,
    waiting: (tool) => `${tool} waits for a person: holdpoint pending${place.option}`,
  });
  try {
    const [file, ...args] = command;
    return (await relayOverStdio({ server, command: { file, args }, judge, log })).code;
  } finally {
    await judge.close();
    await gate[Symbol.asyncDispose]();
  }
}

export const mcp: Verb = (program, does) => {
  verb(program, {
    name: "mcp",
    says: "runs an MCP server behind the gate: each tool call waits here for your policy or for a person",
    group: GROUPS.gate,
    json: "what is said on standard error, as JSON, a line each",
    example: [
      "holdpoint mcp -- npx -y @modelcontextprotocol/server-filesystem /srv/notes",
      "holdpoint mcp --name notes --policy notes.json -- node server.js",
    ],
    more: [
      "Put it where your MCP client's configuration has the server's command. A call that policy does not allow by itself is asked at the terminal that controls this process, if it has one, and can be answered from any other: holdpoint pending, holdpoint approve.",
      "Tools are named <name>/<tool>. Where --name does not say, the name is the first word of the command that says which server it is, without scope, version, server- and mcp-: npx -y @modelcontextprotocol/server-filesystem@2026.8.31 /srv is filesystem.",
      "A policy is JSON in this version: mode, unmatched, record, tools, rules, approvers.",
    ].join("\n"),
  })
    .argument("<command...>", "the server's command, after --")
    .option("--name <name>", "what the server is called in tool names")
    .option("--policy <file>", "a policy as JSON; without one, tools ask by their tier (no tier: ask)")
    .option("--deadline <duration>", "how long a person may take", DEADLINE)
    .option("--no-start", "ask nobody: a call that needs a person is refused, no_approver")
    .option("--no-terminal", "do not ask at this terminal, where the client draws on it itself")
    .option("--quiet", "no warnings and errors of the desk on standard error")
    .addOption(new Option("--server <url>").hideHelp())
    .addOption(new Option("--url <url>").hideHelp())
    .passThroughOptions()
    .action(
      does(async (words: string[], options: Options) => {
        checkOptions(options);
        const [file, ...args] = words;
        if (file === undefined || file === "") throw usage("give the server's command after --");
        const command = [file, ...args] as const;
        const policy = options.policy === undefined ? undefined : readPolicy(options.policy);
        const log = stderrLog(options);
        const relaying = { command, server: options.name ?? serverName(command), place: placeOf(options.data), log };
        return relayed(relaying, options, policy);
      }),
    );
};
