/** Mastra: a workflow of one step that suspends, and is resumed; state in memory. */
import { Mastra } from "@mastra/core";
import { InMemoryStore } from "@mastra/core/storage";
import { createStep, createWorkflow } from "@mastra/core/workflows";
import { z } from "zod";
import { ARGS, tool } from "./call.mjs";

export function mastraWorkflow() {
  const input = z.object({ args: z.looseObject({}) });
  const output = z.object({ out: z.string() });
  const step = createStep({
    id: "send",
    inputSchema: input,
    outputSchema: output,
    resumeSchema: z.object({ approved: z.boolean() }),
    suspendSchema: z.object({ tool: z.string() }),
    execute: async ({ inputData, resumeData, suspend }) =>
      resumeData?.approved === true ? { out: await tool(inputData.args) } : suspend({ tool: "send" }),
  });
  const made = createWorkflow({ id: "approve", inputSchema: input, outputSchema: output }).then(step).commit();
  const mastra = new Mastra({ workflows: { made }, storage: new InMemoryStore(), logger: false });
  const workflow = mastra.getWorkflow("made");
  return async () => {
    const run = await workflow.createRun();
    const asked = await run.start({ inputData: { args: ARGS } });
    if (asked.status !== "suspended") throw new Error(`not suspended: ${asked.status}`);
    const ended = await run.resume({ step: "send", resumeData: { approved: true } });
    if (ended.status !== "success") throw new Error(`not ended: ${ended.status}`);
  };
}
