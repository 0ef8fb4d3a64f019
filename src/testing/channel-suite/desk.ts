import type { Ambiguous, Answer, Approvals, Decided, EditAnswer, Identity, Render } from "../../core/approving.ts";
import {
  bug,
  type Card,
  type Channel,
  type ChannelDesk,
  type Delivered,
  type Delivery,
  type Presented,
} from "../../core/index.ts";
import type { ManualClock } from "../manual-clock.ts";

/** One answer as it reached the desk. */
export type Heard =
  | { readonly what: "decide"; readonly id: string; readonly answer: Answer; readonly as: Identity }
  | { readonly what: "edit"; readonly id: string; readonly edit: EditAnswer; readonly as: Identity }
  | { readonly what: "seen"; readonly id: string; readonly view: string; readonly as: Identity }
  | { readonly what: "fault" | "pass" | "endEdit"; readonly id: string; readonly problem?: string };

const nobody = (): never => bug("this desk was asked something that a channel does not ask");

/** What a desk answers when a test does not say: the answer counted. */
const counted = (verdict: Answer["verdict"]): Decided => ({
  found: true,
  status: verdict === "approve" ? "approved" : "rejected",
  counted: true,
});

/**
 * A desk as a channel sees one. It hears everything and decides nothing: what it answers is what the test says next,
 * by default that the answer counted.
 */
export class ListeningDesk {
  readonly heard: Heard[] = [];
  readonly logged: string[] = [];
  readonly clock: ManualClock;
  /** Given out one by one, before the default. A function may throw. */
  readonly answers: (Decided | (() => Decided))[] = [];
  /** The card that is pending now, for a channel that asks again. */
  present: ((id: string, as: Identity, render?: Render) => Presented | Ambiguous | undefined) | undefined;
  readonly #stops = new Map<string, AbortController>();
  editRetries = 1;
  /** What cannot be recorded, as when a store is down. */
  readonly fails: Set<"seen"> = new Set();

  constructor(clock: ManualClock) {
    this.clock = clock;
  }

  /** What the channel gets. */
  get parts(): ChannelDesk {
    const note = (message: string): void => void this.logged.push(message);
    const hear = async (what: "fault" | "pass" | "endEdit", id: string, problem?: string): Promise<void> => {
      this.heard.push({ what, id, ...(problem === undefined ? {} : { problem }) });
    };
    return {
      approvals: this.#approvals(),
      clock: this.clock,
      log: { debug: note, info: note, warn: note, error: note },
      editRetries: this.editRetries,
      fault: (id, problem) => hear("fault", id, problem),
      pass: (id) => hear("pass", id),
      endEdit: (id) => hear("endEdit", id),
    };
  }

  /** Decisions only, as `id verdict reason`. */
  get decisions(): readonly string[] {
    return this.heard.flatMap((one) =>
      one.what === "decide"
        ? [[one.id, one.answer.verdict, one.answer.reason].filter((part) => part !== undefined).join(" ")]
        : [],
    );
  }

  /** A delivery of this card to this person, as the desk makes it. */
  delivery(channel: Channel, card: Card, to: Identity): Delivery {
    const stop = new AbortController();
    this.#stops.set(card.id, stop);
    const { text, complete } = channel.render(card);
    return { card, text, complete, view: complete ? `view of ${card.id}` : "", to, signal: stop.signal };
  }

  async deliver(channel: Channel, card: Card): Promise<Delivered> {
    const [to] = await channel.reaches();
    return channel.deliver(this.delivery(channel, card, to ?? bug("the channel reaches nobody")));
  }

  /** The first half of an end: no answer counts any more, and no channel was told how it ended. */
  stop(card: Card): void {
    this.#stops.get(card.id)?.abort();
  }

  /** Ends a request as the desk does: first the signal, then the final form. */
  async end(channel: Channel, card: Card): Promise<void> {
    this.stop(card);
    await channel.close(card.id, card);
  }

  #next(fallback: Decided): Decided {
    const next = this.answers.shift();
    return typeof next === "function" ? next() : (next ?? fallback);
  }

  #approvals(): Approvals {
    return {
      list: async () => [],
      card: async (id, as, render) => this.present?.(id, as, render),
      decide: async (id, answer, as) => {
        this.heard.push({ what: "decide", id, answer, as });
        return this.#next(counted(answer.verdict));
      },
      edit: async (id, edit, as) => {
        this.heard.push({ what: "edit", id, edit, as });
        return this.#next(counted("approve"));
      },
      seen: async (id, view, as) => {
        if (this.fails.has("seen")) throw new Error("the store is down");
        this.heard.push({ what: "seen", id, view, as });
      },
      revoke: nobody,
      cancel: nobody,
      reconcile: nobody,
      lift: nobody,
      windows: nobody,
      grants: nobody,
      exemptions: nobody,
      end: nobody,
      killed: nobody,
      kill: nobody,
      watch: nobody,
    };
  }
}
