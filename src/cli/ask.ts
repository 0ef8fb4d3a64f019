import type { Decided } from "../core/approving.ts";
import { type Locale, localeOf, type Presented, type Runtime, type TerminalLine, visible } from "../core/index.ts";
import { Cursor } from "../channels/terminal/cursor.ts";
import { type Device, ownDevice } from "../channels/terminal/device.ts";
import { Question, type Settled } from "../channels/terminal/receive.ts";
import { LIMIT, renderCard, sheetOf } from "../channels/terminal/render.ts";
import type { Render } from "../core/approving.ts";
import { decidedWords } from "./answers.ts";
import { agentHostAbove } from "./agent-host.ts";
import { CommandFault, EXIT } from "./exit-codes.ts";
import type { Place } from "./place.ts";

/** Silence between card and question in which no key counts (A60). */
const GUARD_MS = 400;

const locale = (): Locale => localeOf(process.env.LC_ALL ?? process.env.LC_MESSAGES ?? process.env.LANG);
const colour = (): boolean => (process.env.NO_COLOR ?? "") === "";

/** A card as the terminal shows it: its text decides whether all of it was shown. */
export const forTerminal =
  ({ option }: Place): Render =>
  (card) =>
    renderCard(card, { locale: locale(), commandOptions: option });

/** A card on standard output. On a terminal its rows are broken by us, so that no value can draw a line of ours. */
export function onOutput({ card, text, complete }: Pick<Presented, "card" | "text" | "complete">): string {
  const { isTTY, columns } = process.stdout;
  if (isTTY !== true) return text;
  const { parts } = sheetOf(
    { card, text, complete },
    { columns, rows: Number.MAX_SAFE_INTEGER, colour: colour(), locale: locale() },
  );
  return parts.flat().join("\n");
}

/** Does any text of this card fit a terminal? */
export const terminalLimit: number = LIMIT;

/** A yes that would be the agent's own is refused on the plain way. @throws CommandFault */
export function refuseBelowAgents(command: string): void {
  const host = agentHostAbove();
  if (host === undefined) return;
  throw new CommandFault(
    `${command} was started below "${host}", in which an agent runs commands: no agent approves a call. Run it in a terminal of your own`,
    EXIT.refused,
  );
}

/** Somebody may be at a terminal that controls this process. */
export const hasTerminal = (): boolean => ownDevice().present();

const WITHOUT_TERMINAL = ', or give --json with the --digest that "holdpoint show --json" printed';

/** The controlling terminal, never a standard input that may be a pipe. @throws CommandFault where nobody is at one */
export function terminalOf(command: string, without: string = WITHOUT_TERMINAL): Device {
  const device = ownDevice();
  if (device.present()) return device;
  throw new CommandFault(
    `${command} asks at the terminal that controls it, and there is none here. Run it in a terminal${without}`,
    EXIT.noApprover,
  );
}

type Said = Exclude<TerminalLine, { answer: "unclear" }>;

export interface Asking {
  readonly device: Device;
  readonly runtime: Runtime;
  readonly place: Place;
  readonly presented: Presented;
  decide(said: { readonly verdict: "approve" | "reject"; readonly reason?: string }): Promise<Decided>;
  /** All of it was shown. */
  seen(): Promise<void>;
  /** Resolves with a sentence when somebody else, or time, has ended the request. */
  over(signal: AbortSignal): Promise<string | undefined>;
}

/** `undefined`: nothing was decided here. */
export type Asked = { readonly decided: Decided } | { readonly ended: string } | undefined;

/** The command always asks for the code: whoever types it has the card in front of them. */
const coded = (presented: Presented): Presented =>
  presented.card.impact === "default" ? { ...presented, card: { ...presented.card, impact: "destructive" } } : presented;

/** Half an answer: whoever types the code alone may mean either, and the screen asks for more. */
const isCodeAlone = (said: Said, { card }: Presented): boolean =>
  said.answer !== "approve" && said.reason?.toUpperCase() === card.code;

/** Shows the card at the controlling terminal and asks for its code; any other line refuses, as the question says. */
export async function askAtTerminal(asking: Asking): Promise<Asked> {
  const { device, runtime, presented } = asking;
  const stop = new AbortController();
  let asked: Asked;
  const decide = async (said: Said): Promise<Settled> => {
    if (isCodeAlone(said, presented)) return { over: false, notice: "Nothing was decided: to run it, type yes and the code." };
    const reason = said.answer === "approve" ? undefined : said.reason;
    try {
      const decided = await asking.decide({ verdict: said.answer, ...(reason === undefined ? {} : { reason }) });
      asked = { decided };
      return { over: true, lines: [visible(decidedWords(decided))] };
    } catch (thrown) {
      runtime.log.error("the answer could not be recorded", { problem: thrown instanceof Error ? thrown.message : "unknown" });
      return { over: false, notice: "Your answer could not be recorded, so nothing was decided. Try again." };
    }
  };
  try {
    await new Promise<void>((resolve, reject) => {
      let question: Question | undefined;
      // Taken first: only then the device knows the size of its screen.
      device.take({ typed: (text) => question?.typed(text), changed: () => question?.redraw() });
      question = new Question(coded(presented), {
        device,
        cursor: new Cursor(
          (text) => device.write(text),
          () => runtime.clock.now(),
        ),
        clock: runtime.clock,
        locale: locale(),
        colour: colour(),
        commandOptions: asking.place.option,
        guard: GUARD_MS,
        waiting: () => 0,
        decide,
        seen: () => {
          asking.seen().catch(() => runtime.log.warn("could not record that the card was seen"));
        },
        ended: () => resolve(),
      });
      asking.over(stop.signal).then((ended) => {
        if (ended === undefined || question?.over !== false) return;
        asked ??= { ended };
        question.withdraw(visible(ended));
      }, reject);
      question.start();
    });
  } finally {
    stop.abort();
    device.giveBack();
  }
  return asked;
}
