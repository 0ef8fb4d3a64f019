/** AI SDK 7: the model calls the tool, the run ends with an approval request, a second run brings the response. */
import { generateText, isStepCount, tool as aiTool } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { z } from "zod";
import { ARGS_TEXT, tool } from "./call.mjs";

const USAGE = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

/** Answers at once: one call first, a text once the tool has answered. */
function stubModel() {
  const model = new MockLanguageModelV4({
    doGenerate: async ({ prompt }) => {
      // The stub keeps every call it got; what it keeps would be measured as the peer's.
      model.doGenerateCalls.length = 0;
      const done = prompt.at(-1).role === "tool";
      return {
        content: done
          ? [{ type: "text", text: "done" }]
          : [{ type: "tool-call", toolCallId: "call", toolName: "send", input: ARGS_TEXT }],
        finishReason: { unified: done ? "stop" : "tool-calls", raw: undefined },
        usage: USAGE,
        warnings: [],
      };
    },
  });
  return model;
}

export function aiSdk() {
  const tools = { send: aiTool({ description: "send", inputSchema: z.looseObject({}), execute: tool }) };
  const common = { model: stubModel(), tools, stopWhen: isStepCount(5), toolApproval: { send: "user-approval" } };
  return async () => {
    const asked = await generateText({ ...common, messages: [{ role: "user", content: "go" }] });
    const requests = asked.content.filter(({ type }) => type === "tool-approval-request");
    if (requests.length !== 1) throw new Error("no approval request");
    const content = requests.map(({ approvalId }) => ({ type: "tool-approval-response", approvalId, approved: true }));
    const messages = [{ role: "user", content: "go" }, ...asked.response.messages, { role: "tool", content }];
    const { text } = await generateText({ ...common, messages });
    if (text !== "done") throw new Error(`the run did not end: ${text}`);
  };
}
