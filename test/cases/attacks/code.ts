import { confirm, type JsonObject, type Opinion, type Tool } from "../../../src/core/index.ts";
import type { Sabotage } from "../world/part.ts";
import type { AttackCase } from "./shape.ts";
import { Stage } from "./stage.ts";

/**
 * Expressions in the process of the agent. They are given `gate(tool, args)`, `approve()`, `deny()`, a raw tool and what
 * else they name; a `policy` that they assign is put in force as an opinion in code.
 */
const CALL = /gate\('([^']+)'|gate\("([^"]+)"/g;

export async function runCode(one: AttackCase, sabotage?: Sabotage): Promise<Stage> {
  const source = String(one.input.js);
  const opinions: Opinion[] = [];
  const assigned = new Map<string, unknown>();
  const names = new Set([...source.matchAll(CALL)].map((match) => match[1] ?? match[2] ?? "act"));
  const tools: readonly Tool[] = [...names, "act"].map((name) => ({ name, run: () => undefined }));
  const asks = { rules: [{ ask: "**", approvers: ["group:approvers"] }] };
  const policyIsAssigned = /\bpolicy\s*=/.test(source);
  const heard: Opinion = (call) => {
    const said = assigned.get("policy");
    return typeof said === "function" ? (said(call) as ReturnType<Opinion>) : null;
  };
  if (policyIsAssigned) opinions.push(heard);
  const stage = new Stage({
    sabotage,
    tools: tools.filter((tool, at) => tools.findIndex((other) => other.name === tool.name) === at),
    policy: policyIsAssigned ? { opinions } : asks,
  });
  stage.world.start({ name: "main" });
  await evaluate(stage, source, assigned);
  if (policyIsAssigned) await stage.call("act", { a: 1 });
  await stage.settle();
  return stage;
}

async function evaluate(stage: Stage, source: string, assigned: Map<string, unknown>): Promise<void> {
  const gate = async (tool: string, args: unknown): Promise<unknown> => {
    const call = stage.world.make({ label: `call-${stage.world.calls.length + 1}`, tool, args });
    for (let turn = 0; turn < 200 && call.outcome === undefined; turn += 1) await stage.world.clock.settle();
    const { outcome } = call;
    return outcome?.status === "ran" ? outcome.value : outcome;
  };
  const answer = (verdict: "approve" | "reject") => async (): Promise<void> => {
    await stage.world.settle();
    const request = stage.last?.requests.at(-1);
    if (request !== undefined) await stage.world.decide(request, { verdict, by: "ann", via: "chat" });
  };
  const reads: { n?: unknown } = {};
  const scope: Record<string, unknown> = {
    gate,
    approve: answer("approve"),
    deny: answer("reject"),
    rawTool: rawTool(stage),
    Agent: agentOf(stage),
    reads,
  };
  for (const name of ["policy", "sub"])
    Object.defineProperty(scope, name, {
      set: (value: unknown) => void assigned.set(name, value),
      get: () => assigned.get(name),
    });
  // In this process and with this process's own objects, as an agent's code is; a counter called n is read back.
  const body = `with (scope) { return (async () => { ${source}\n; reads.n = typeof n === "undefined" ? undefined : n; })(); }`;
  try {
    await (new Function("scope", body)(scope) as Promise<unknown>);
  } catch (thrown) {
    stage.marks.set("thrown", (thrown as { code?: unknown }).code ?? String(thrown));
  }
  stage.marks.set("reads", reads.n);
  await stage.settle();
}

/** A tool whose author marked it, handed to somebody who does not ask the gate. */
function rawTool(stage: Stage): Tool {
  return confirm({
    name: "raw",
    run: () =>
      void stage.world.effects.push({
        label: undefined,
        tool: "raw",
        arguments: {},
        request: undefined,
        process: "sub-agent",
        journal: [],
      }),
  });
}

/** An agent that runs whatever it is handed, at once. */
function agentOf(stage: Stage): new (options: { tools: readonly Tool[] }) => object {
  return class Agent {
    constructor({ tools }: { tools: readonly Tool[] }) {
      for (const tool of tools) {
        try {
          (tool.run as (args: JsonObject, context: object) => unknown)({}, {});
        } catch (thrown) {
          stage.marks.set("thrown", (thrown as { code?: unknown }).code);
        }
      }
    }
  };
}
