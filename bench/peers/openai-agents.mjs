/** OpenAI Agents: a run that is interrupted, approved, and run on; its state stays in memory, which is its cheaper way. */
import { Agent, Runner, setTracingDisabled, tool as agentTool, Usage } from "@openai/agents";
import { ARGS_TEXT, tool } from "./call.mjs";

const message = {
  type: "message",
  id: "m",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text: "done" }],
};
const call = { type: "function_call", id: "call", callId: "call", name: "send", status: "completed", arguments: ARGS_TEXT };

const stubModel = {
  async getResponse({ input }) {
    const done = Array.isArray(input) && input.some(({ type }) => type === "function_call_result");
    return { usage: new Usage(), responseId: "r", output: [done ? message : call] };
  },
  getStreamedResponse() {
    throw new Error("not streamed here");
  },
};

export function openaiAgents() {
  setTracingDisabled(true);
  const send = agentTool({
    name: "send",
    description: "send",
    strict: false,
    parameters: { type: "object", properties: {}, required: [], additionalProperties: true },
    needsApproval: true,
    execute: tool,
  });
  const agent = new Agent({ name: "bench", instructions: "send", model: stubModel, tools: [send] });
  const runner = new Runner({ tracingDisabled: true });
  return async () => {
    const { state, interruptions } = await runner.run(agent, "go");
    if (interruptions.length !== 1) throw new Error("not interrupted");
    for (const interruption of interruptions) state.approve(interruption);
    const { finalOutput } = await runner.run(agent, state);
    if (finalOutput !== "done") throw new Error(`the run did not end: ${finalOutput}`);
  };
}
