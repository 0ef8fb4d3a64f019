import type { Decided } from "../core/approving.ts";
import type { Card, Presented } from "../core/index.ts";
import { decidedWords, exitOf, exitOfEnded, statusWords } from "./answers.ts";
import { type Asked, askAtTerminal, forTerminal, refuseBelowAgents, terminalOf } from "./ask.ts";
import { CommandFault, EXIT, usage } from "./exit-codes.ts";
import type { DeskHost } from "./host.ts";
import { oneLine, type Output } from "./output.ts";
import { isDigest, requestNamed, uncounted } from "./requests.ts";

/** What a decided request is called in a result. */
const named = (card: Card): string => `${card.id} ${oneLine(card.tool.name)}`;

/** An approval runs nothing by itself: who takes it up, and until when. Empty where that is done, or not to come. */
async function whenItRuns({ store }: DeskHost, decided: Decided, id: string): Promise<string> {
  if (!decided.counted || decided.status !== "approved") return "";
  const record = (await store.read(id))?.record;
  if (record?.status !== "approved" || record.runBy === undefined) return "";
  return `\nit runs when the agent takes it up, and expires unless that is before ${record.runBy.slice(0, 19).replace("T", " ")} UTC`;
}

/** Prints what became of an answer. @returns the exit code */
export async function report({ host, out }: Pick<Answering, "host" | "out">, card: Card, decided: Decided): Promise<number> {
  const successor = decided.id !== undefined && decided.id !== card.id ? `\nthe call goes on as request ${decided.id}` : "";
  const then = await whenItRuns(host, decided, decided.id ?? card.id);
  if (decided.counted) out.result(decided, `${named(card)}: ${decidedWords(decided)}${successor}${then}`);
  else {
    if (out.json) out.result({ ...decided, error: { code: decided.code ?? "not_found", message: decidedWords(decided) } }, "");
    out.note(`${named(card)}: ${decidedWords(decided)}`);
  }
  return exitOf(decided);
}

/** A request that can still be answered. @throws CommandFault saying how it ended */
export function refuseEnded({ card }: Presented): void {
  if (card.status === "pending") return;
  throw new CommandFault(
    `${named(card)} cannot be answered any more [late]; ${card.ending ?? statusWords(card.status)}`,
    exitOfEnded(card.status),
    { result: uncounted("late", card.status) },
  );
}

/** Watches one request until it is no longer pending. */
export async function ending(host: DeskHost, id: string, signal: AbortSignal): Promise<string | undefined> {
  const look = async (): Promise<string | undefined> => {
    const found = await host.approvals.card(id, host.as);
    if (found === undefined || "ambiguous" in found) return "This question is closed.";
    const { status, ending: how, decideBy } = found.card;
    if (status === "pending" && (await host.store.now()) >= decideBy) return "This question is closed: nobody answered in time.";
    return status === "pending" ? undefined : `This question is closed: ${how ?? statusWords(status)}.`;
  };
  const again = setInterval(() => wake(), LOOK_AGAIN_MS);
  let wake = (): void => undefined;
  const hints = (async (): Promise<void> => {
    for await (const { ids } of host.approvals.watch(signal)) if (ids.length === 0 || ids.includes(id)) wake();
  })();
  hints.catch(() => undefined);
  signal.addEventListener("abort", () => wake());
  try {
    while (!signal.aborted) {
      const next = new Promise<void>((resolve) => {
        wake = resolve;
      });
      const over = await look();
      if (over !== undefined) return over;
      await next;
    }
    return undefined;
  } finally {
    clearInterval(again);
  }
}

/** Hints may be lost, and time gives none. */
const LOOK_AGAIN_MS = 1000;

/** Who answers, how. */
export interface Answering {
  readonly host: DeskHost;
  readonly out: Output;
  readonly command: string;
}

/** Shows a request at the controlling terminal, asks for its code, and reports. @returns the exit code */
export async function answerAtTerminal(id: string, { host, out, command }: Answering): Promise<number> {
  refuseBelowAgents(command);
  const device = terminalOf(command);
  const { approvals, as, runtime } = host;
  const presented = await requestNamed(id, { approvals, as, place: host.place, render: forTerminal(host.place) });
  refuseEnded(presented);
  const { card, view } = presented;
  let refused = false;
  const asked = await askAtTerminal({
    device,
    runtime,
    place: host.place,
    presented,
    decide: ({ verdict, reason }) => {
      refused = verdict === "reject";
      return approvals.decide(card.id, { verdict, digest: card.digest, view, ...(reason === undefined ? {} : { reason }) }, as);
    },
    seen: () => approvals.seen(card.id, view, as),
    over: (signal) => ending(host, card.id, signal),
  });
  return reportAsked({ host, out }, card, { asked, refused });
}

/** What a question at the terminal came to. @returns the exit code @throws CommandFault where nothing was decided here */
export async function reportAsked(
  { host, out }: Pick<Answering, "host" | "out">,
  card: Card,
  { asked, refused, kept = "" }: { readonly asked: Asked; readonly refused: boolean; readonly kept?: string },
): Promise<number> {
  if (asked === undefined) throw new CommandFault(`${named(card)}: nothing was decided; it still waits${kept}`);
  if ("ended" in asked) {
    const now = await host.approvals.card(card.id, host.as);
    const status = now === undefined || "ambiguous" in now ? null : now.card.status;
    throw new CommandFault(`${named(card)}: ${asked.ended} Nothing was decided here [late]${kept}`, exitOfEnded(status));
  }
  const exit = await report({ host, out }, card, asked.decided);
  // Whoever waits for a yes must be able to tell a no from it.
  return exit === EXIT.done && refused ? EXIT.refused : exit;
}

/** The request as a program answers it: only with the digest that it was shown. @throws CommandFault */
export async function requestByDigest(id: string, digest: string | undefined, { host, command }: Answering): Promise<Presented> {
  refuseBelowAgents(command);
  if (digest === undefined)
    throw usage(`${command} --json needs --digest, as "holdpoint show --json" printed it: an answer is to what was shown`);
  const presented = await requestNamed(id, host);
  refuseEnded(presented);
  if (isDigest(digest, presented.card.digest)) return presented;
  throw new CommandFault(
    `${named(presented.card)}: the digest is not that of what is pending now [stale_view]; nothing was decided. Look again: holdpoint show${host.place.option} ${presented.card.id}`,
    EXIT.refused,
    { result: uncounted("stale_view", presented.card.status) },
  );
}
