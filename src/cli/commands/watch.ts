import type { Card, ChannelDesk } from "../../core/index.ts";
import { terminalChannel, type TerminalChannel } from "../../channels/terminal/index.ts";
import { agentHostAbove } from "../agent-host.ts";
import { EXIT } from "../exit-codes.ts";
import { type DeskHost, withDesk } from "../host.ts";
import { oneLine, output, type Output } from "../output.ts";
import { type Common, GROUPS, type Verb, verb } from "../verb.ts";

/** Hints may be lost; everybody also looks by themselves. */
const LOOK_AGAIN_MS = 2000;

/** What a watcher is told: a request that waits, and one that does no longer. */
interface Watcher {
  opened(card: Card): Promise<void>;
  closed(card: Card): Promise<void>;
}

/** A line for each event, for programs or for a terminal on which nobody may be asked. */
const lines = (out: Output): Watcher => ({
  opened: async (card) =>
    out.result({ event: "opened", card }, `waits   ${card.id}  ${oneLine(card.tool.name)}  ${oneLine(card.message)}`),
  closed: async (card) =>
    out.result(
      { event: "closed", card },
      `closed  ${card.id}  ${oneLine(card.tool.name)}  ${oneLine(card.ending ?? card.status)}`,
    ),
});

const nothing = async (): Promise<void> => undefined;

/** Each request as a question at this terminal, one after the other. */
function questions(host: DeskHost, channel: TerminalChannel): Watcher {
  const stops = new Map<string, AbortController>();
  const desk: ChannelDesk = {
    approvals: host.approvals,
    clock: host.runtime.clock,
    log: host.runtime.log,
    editRetries: 0,
    fault: nothing,
    endEdit: nothing,
    pass: nothing,
  };
  channel.open(desk);
  return {
    opened: async ({ id }) => {
      const [to] = await channel.reaches();
      const presented = to === undefined ? undefined : await host.approvals.card(id, to, (card) => channel.render(card));
      if (to === undefined || presented === undefined || "ambiguous" in presented) return;
      const stop = new AbortController();
      stops.set(id, stop);
      await channel.deliver({ ...presented, to, signal: stop.signal });
    },
    closed: async (card) => {
      stops.get(card.id)?.abort();
      stops.delete(card.id);
      await channel.close(card.id, card);
    },
  };
}

/** Compares what waits with what waited, whenever something may have changed, until `signal` aborts. */
async function follow(host: DeskHost, watcher: Watcher, signal: AbortSignal): Promise<void> {
  const { approvals, as } = host;
  const known = new Set<string>();
  const look = async (): Promise<void> => {
    const waiting = await approvals.list({}, as);
    for (const card of waiting) {
      if (known.has(card.id)) continue;
      known.add(card.id);
      await watcher.opened(card);
    }
    for (const id of [...known].filter((open) => !waiting.some((card) => card.id === open))) {
      known.delete(id);
      const found = await approvals.card(id, as);
      if (found !== undefined && !("ambiguous" in found)) await watcher.closed(found.card);
    }
  };
  let wake = (): void => undefined;
  const again = setInterval(() => wake(), LOOK_AGAIN_MS);
  const hints = (async (): Promise<void> => {
    for await (const _hint of approvals.watch(signal)) wake();
  })();
  hints.catch(() => host.runtime.log.warn("wake-ups stopped; looking every two seconds"));
  signal.addEventListener("abort", () => wake());
  try {
    while (!signal.aborted) {
      const next = new Promise<void>((resolve) => {
        wake = resolve;
      });
      await look();
      if (!signal.aborted) await next;
    }
  } finally {
    clearInterval(again);
  }
}

/** Whom to tell: a person at this terminal, or whoever reads our lines. */
async function watcherFor(host: DeskHost, out: Output, stop: AbortController) {
  if (out.json || agentHostAbove() !== undefined) return { watcher: lines(out), channel: undefined };
  const channel = terminalChannel({ interrupt: () => stop.abort(), commandOptions: host.place.option });
  if ((await channel.reaches()).length === 0) return { watcher: lines(out), channel: undefined };
  out.note("each request that waits is asked here, one after the other; Ctrl-C ends it and leaves them open");
  return { watcher: questions(host, channel), channel };
}

export const watch: Verb = (program, does) => {
  verb(program, {
    name: "watch",
    says: "stays and asks you at this terminal whatever comes; without one, or with --json, a line for each event",
    group: GROUPS.decide,
    example: ["holdpoint watch", "holdpoint watch --json"],
  }).action(
    does(async (options: Common) =>
      withDesk({ ...options, make: true }, async (host) => {
        const out = output(options);
        const stop = new AbortController();
        const end = (): void => stop.abort();
        process.on("SIGINT", end).on("SIGTERM", end);
        const { watcher, channel } = await watcherFor(host, out, stop);
        try {
          await follow(host, watcher, stop.signal);
        } finally {
          await channel?.[Symbol.asyncDispose]();
          process.off("SIGINT", end).off("SIGTERM", end);
        }
        return EXIT.done;
      }),
    ),
  );
};
