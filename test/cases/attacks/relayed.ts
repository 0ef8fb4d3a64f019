import { gateJudge } from "../../../src/gateway/index.ts";
import { type Driven, driveInitialized } from "../../gateway/driver.ts";
import { type Fields, isFields, list, text } from "../faults/shape.ts";
import type { Sabotage } from "../world/part.ts";
import type { AttackCase } from "./shape.ts";
import { Stage } from "./stage.ts";

/** Messages of an MCP client, sent through the real relay with the gate as its judge and a real server process behind it. */

const TOOLS = ["pay", "read", "read_file", "ask", "echo"];
const SERVER = "web";

/** Tools that the server lists: those that the case speaks of, as it describes them. */
function listed(input: Fields): readonly object[] {
  const own = isFields(input.tool) ? [input.tool] : [];
  const names = new Set([...TOOLS, ...serversOf(input).flatMap(([, tools]) => tools)]);
  for (const tool of own) names.delete(String(tool.name));
  return [...own, ...[...names].map((name) => ({ name }))].map((tool) => ({ inputSchema: { type: "object" }, ...tool }));
}

const serversOf = (input: Fields): readonly (readonly [string, readonly string[]])[] =>
  Object.entries(isFields(input.servers) ? input.servers : {}).map(([name, tools]) => [name, list(tools).map(String)] as const);

interface Relayed {
  readonly stage: Stage;
  readonly driven: Driven;
  /** Calls that reached the server. */
  readonly forwarded: readonly string[];
  readonly answers: readonly Fields[];
}

/** What the client got that is no question of the server, as it came. */
const answersIn = (driven: Driven): readonly Fields[] =>
  driven.client.lines.flatMap((line) => {
    const message = JSON.parse(line) as Fields;
    return message.method === undefined && message.id !== "init" && !String(message.id).startsWith("reached-") ? [message] : [];
  });

function messagesOf(one: AttackCase): readonly string[] {
  const { input } = one;
  if (text(input.raw) !== undefined) return [String(input.raw)];
  if (text(input.method) !== undefined && input.method !== "elicitation/create")
    return [JSON.stringify({ jsonrpc: "2.0", id: 1, method: input.method, params: input.params ?? {} })];
  if (input.method === "elicitation/create") return [call(1, "ask")];
  if (isFields(input.params)) return [JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: input.params })];
  const ids = list(input.ids);
  if (ids.length > 0) return ids.map((id, at) => call(id, String(list(input.calls)[at])));
  const named = text(input.call)?.split("/").at(-1) ?? (isFields(input.tool) ? text(input.tool.name) : undefined);
  const next = /^(\w+)\((.*)\)$/.exec(text(input.next) ?? "");
  if (next !== null) return [call(1, "read"), call(2, next[1] ?? "", { to: next[2] })];
  return [call(1, named ?? "pay")];
}

const call = (id: unknown, name: string, args: object = {}): string =>
  JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: args } });

/** Rules of the case; what a server may run without a question is said by name, as a policy would. */
function rulesOf(input: Fields): readonly object[] {
  const given = Object.entries(isFields(input.rule) ? input.rule : {}).map(([tool, effect]) => ({ [String(effect)]: tool }));
  // A case about the result of an earlier call needs one that runs.
  return input.next === undefined ? given : [...given, { allow: `${SERVER}/read` }];
}

export const isRelayed = ({ where }: AttackCase): boolean => where === "mcp";

export async function runRelayed(one: AttackCase, sabotage?: Sabotage): Promise<Stage> {
  const { input } = one;
  const server = text(input.call)?.split("/")[0] ?? SERVER;
  const stage = new Stage({ sabotage, tools: [], policy: { rules: rulesOf(input) } });
  stage.world.start({ name: "main" });
  const judge = gateJudge({
    gate: stage.world.process().gate,
    server,
    command: [server],
    principal: "ann",
    waiting: (tool) => `waiting for ${tool}`,
  });
  const driven = await driveInitialized({ realJudge: judge, tools: [listed(input)] });
  try {
    const before = driven.client.lines.length;
    driven.send(...messagesOf(one));
    await quiet(stage, driven);
    if (input.method === "elicitation/create") await answerElicitation(stage, driven);
    const forwarded = (await driven.reached()).filter((line) => !/initialize|"tools\/list"/.test(line));
    const relayed: Relayed = { stage, driven, forwarded, answers: answersIn(driven) };
    stage.marks.set("relayed", {
      forwarded: relayed.forwarded,
      answers: relayed.answers,
      lines: driven.client.lines.slice(before),
    });
    await stage.look();
  } finally {
    await judge.close();
    await driven.end();
  }
  return stage;
}

/** Until nothing more comes: the relay, its server and the gate each take turns of their own. */
async function quiet(stage: Stage, driven: Driven): Promise<void> {
  for (let still = 0, known = -1; still < 3; ) {
    await driven.reached();
    await stage.world.settle();
    const lines = [...driven.client.lines, ...driven.server.lines].filter((line) => !line.includes("reached-"));
    const seen = lines.length + stage.world.events.length;
    still = seen === known ? still + 1 : 0;
    known = seen;
  }
}

/** The client answers the server's question, and that is all it answers. */
async function answerElicitation(stage: Stage, driven: Driven): Promise<void> {
  const open = (await stage.world.process().desk.pending())[0]?.record.id;
  if (open !== undefined) await stage.world.decide(open, { verdict: "approve", by: "ann", via: "chat" });
  await quiet(stage, driven);
  const asked = driven.client.lines
    .map((line) => JSON.parse(line) as Fields)
    .find((message) => message.method === "elicitation/create");
  stage.marks.set("elicited", asked);
  if (asked === undefined) return;
  driven.send(JSON.stringify({ jsonrpc: "2.0", id: asked.id, result: { action: "accept", content: { approved: true } } }));
  await quiet(stage, driven);
}

export interface RelayedFacts {
  readonly forwarded: readonly string[];
  readonly answers: readonly Fields[];
  readonly lines: readonly string[];
}
export const relayedBy = (stage: Stage): RelayedFacts =>
  (stage.marks.get("relayed") as RelayedFacts | undefined) ?? { forwarded: [], answers: [], lines: [] };
