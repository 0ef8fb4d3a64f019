/** LangGraph: a graph of one node that interrupts and is resumed; checkpoints in memory. */
import { Annotation, Command, END, interrupt, MemorySaver, START, StateGraph } from "@langchain/langgraph";
import { ARGS, ran, tool } from "./call.mjs";

export function langgraph() {
  const state = Annotation.Root({ args: Annotation(), out: Annotation() });
  const checkpointer = new MemorySaver();
  const send = async ({ args }) => {
    const answer = interrupt({ tool: "send", args });
    return { out: answer === "approve" ? await tool(args) : "refused" };
  };
  const graph = new StateGraph(state).addNode("send", send).addEdge(START, "send").addEdge("send", END).compile({ checkpointer });
  let threads = 0;
  return async () => {
    const thread_id = `thread-${threads++}`;
    const config = { configurable: { thread_id } };
    const asked = await graph.invoke({ args: ARGS }, config);
    if (asked.__interrupt__?.length !== 1) throw new Error("not interrupted");
    const { out } = await graph.invoke(new Command({ resume: "approve" }), config);
    ran(out);
    // Threads that are over would fill the memory, and their collection would be measured as the peer's.
    await checkpointer.deleteThread(thread_id);
  };
}
