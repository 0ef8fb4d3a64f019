import type { Presented, JsonObject } from "../../core/index.ts";
import type { DeskHost } from "../host.ts";
import type { Script } from "./story.ts";

const PATIENCE_MS = 30_000;
const LOOK_MS = 50;

/** The card of the next call of this tool, as `holdpoint approve` would be shown it. */
async function nextCard(host: DeskHost, tool: string): Promise<Presented> {
  const { approvals, as } = host;
  const until = performance.now() + PATIENCE_MS;
  while (performance.now() < until) {
    const card = (await approvals.list({}, as)).find((open) => open.tool.name === tool);
    const presented = card === undefined ? undefined : await approvals.card(card.id, as);
    if (presented !== undefined && !("ambiguous" in presented)) return presented;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  throw new Error(`the call of ${tool} was not held within ${PATIENCE_MS} ms`);
}

/** Plays the person: the same way as the command line answers, on the same data folder, with no other power. */
export async function playPerson(host: DeskHost, tool: string, script: Script): Promise<void> {
  const { card, view } = await nextCard(host, tool);
  const shown = { digest: card.digest, view };
  const { approvals, as } = host;
  if (script.does === "wait") return;
  const decided =
    script.does === "edit"
      ? await approvals.edit(card.id, { ...shown, arguments: script.arguments as JsonObject }, as)
      : await approvals.decide(
          card.id,
          { ...shown, verdict: script.does, ...(script.does === "reject" ? { reason: script.reason } : {}) },
          as,
        );
  if (!decided.counted)
    throw new Error(`the scripted person's answer did not count: ${decided.code ?? ""} ${decided.note ?? ""}`);
}
