import type { Approvals, Decided, Identity } from "../../core/approving.ts";
import {
  ANSWER_CODES,
  bug,
  canonicalize,
  type Card,
  type CardText,
  type Channel,
  type ChannelCapabilities,
  type ChannelDecision,
  type ChannelDesk,
  type Delivered,
  type Delivery,
  thaw,
} from "../../core/index.ts";
import { readDecision } from "./receive.ts";
import type { Settings } from "./options.ts";

/** Made once: the platform's own reason takes a stack along. */
const OVER: unknown = Object.assign(new Error("the request is over"), { name: "AbortError" });

/** A function that stands for a person. `null`: somebody else should answer. */
export type Answerer = (
  card: Card,
  context: { readonly signal: AbortSignal },
) => ChannelDecision | null | Promise<ChannelDecision | null>;

/** A rendering may end up in front of people: nothing in it may steer what shows it. */
const BEYOND_ASCII = /[\u007f-\uffff]/g;
const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;

export class Callback implements Channel {
  readonly name: string;
  readonly capabilities: ChannelCapabilities;
  readonly #answer: Answerer;
  readonly #settings: Settings;
  readonly #asked = new Map<string, AbortController>();
  #desk: ChannelDesk | undefined;

  constructor(answer: Answerer, settings: Settings) {
    this.#answer = answer;
    this.#settings = settings;
    this.name = settings.name;
    const { assurance, deadline } = settings;
    this.capabilities = {
      edit: true,
      reason: true,
      links: false,
      assurance,
      reach: "process",
      ...(deadline === undefined ? {} : { deadline }),
    };
  }

  open(desk: ChannelDesk): void {
    this.#desk = desk;
  }

  async reaches(): Promise<readonly Identity[]> {
    const { principal, assurance } = this.#settings;
    return [{ principal, as: `${this.name}:${principal}`, via: this.name, assurance }];
  }

  /** A function is shown the card itself, whole: that, and no text made for a reader, is what its decision was made on. */
  render(card: Card): CardText {
    return { text: canonicalize(card).replace(BEYOND_ASCII, escaped), complete: true };
  }

  async deliver(delivery: Delivery): Promise<Delivered> {
    const { card, signal } = delivery;
    if (this.#asked.has(card.id)) return { state: "seen" };
    if (signal.aborted) throw new Error("the request is over");
    const stop = new AbortController();
    this.#asked.set(card.id, stop);
    signal.addEventListener("abort", () => stop.abort(OVER));
    void this.#ask(delivery, stop.signal);
    return { state: "seen" };
  }

  async close(request: string): Promise<void> {
    this.#asked.get(request)?.abort(OVER);
    this.#asked.delete(request);
  }

  /** The function has the question already; it cannot be told twice. */
  async remind(): Promise<void> {
    await Promise.resolve();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const stop of this.#asked.values()) stop.abort(OVER);
    this.#asked.clear();
  }

  #parts(): ChannelDesk {
    return this.#desk ?? bug("a callback channel was used before the desk opened it");
  }

  /** Asks, and asks again where an edit could not be taken, as often as the gate allows. */
  async #ask(delivery: Delivery, signal: AbortSignal): Promise<void> {
    const { log, editRetries, endEdit } = this.#parts();
    const { id } = delivery.card;
    try {
      let refused = await this.#once(delivery, delivery.card, signal);
      for (let retry = 0; refused !== undefined && retry < editRetries; retry += 1) {
        const note = `the changed arguments were not taken: ${refused.note ?? refused.code ?? "no reason given"}`;
        refused = await this.#once(delivery, { ...delivery.card, notes: [...delivery.card.notes, note] }, signal);
      }
      if (refused !== undefined && !signal.aborted) await endEdit.call(this.#parts(), id, delivery.to);
    } catch {
      log.error("an answer could not be recorded; the request's deadline ends it", { request: id, channel: this.name });
    }
  }

  /** @returns the refusal of an edit; `undefined`: nothing more to ask */
  async #once(delivery: Delivery, card: Card, signal: AbortSignal): Promise<Decided | undefined> {
    const { id } = card;
    let value: unknown;
    try {
      // A copy each time: nothing that only looks at a card can change what is approved.
      value = await this.#answer(thaw(card), { signal });
    } catch {
      if (!signal.aborted) await this.#parts().fault(id, `the function of channel "${this.name}" threw`);
      return undefined;
    }
    if (signal.aborted) return undefined;
    const said = readDecision(value);
    if (said.said === "pass") await this.#parts().pass(id);
    if (said.said === "nonsense")
      await this.#parts().fault(id, `the function of channel "${this.name}" gave no decision: ${said.problem}`);
    return said.said === "decision" ? this.#decide(delivery, said.decision) : undefined;
  }

  async #decide(delivery: Delivery, decision: ChannelDecision): Promise<Decided | undefined> {
    const { approvals, log } = this.#parts();
    const isEdit = decision.arguments !== undefined;
    const decided = isEdit ? await edit(approvals, delivery, decision) : await decide(approvals, delivery, decision);
    if (decided.counted) return undefined;
    log.warn("an answer was not counted", { request: delivery.card.id, channel: this.name, code: decided.code ?? null });
    return isEdit && !isAboutTheAnswer(decided) ? decided : undefined;
  }
}

/** Asking again cannot help: it is the person, the moment or the view that was refused, not the arguments. */
const isAboutTheAnswer = ({ code }: Decided): boolean => ANSWER_CODES.some((known) => known === code);

const reasonOf = ({ reason }: ChannelDecision): { reason?: string } => (reason === undefined ? {} : { reason });

const decide = (approvals: Approvals, { card, view, to }: Delivery, decision: ChannelDecision): Promise<Decided> =>
  approvals.decide(card.id, { verdict: decision.verdict, digest: card.digest, view, ...reasonOf(decision) }, to);

const edit = (approvals: Approvals, { card, view, to }: Delivery, decision: ChannelDecision): Promise<Decided> =>
  approvals.edit(card.id, { arguments: decision.arguments ?? null, digest: card.digest, view, ...reasonOf(decision) }, to);
