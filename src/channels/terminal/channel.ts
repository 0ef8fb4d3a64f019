import type { Approvals, Decided, Identity } from "../../core/approving.ts";
import {
  bug,
  hasEnded,
  phrase,
  visible,
  type AnswerCode,
  type Card,
  type CardText,
  type Channel,
  type ChannelCapabilities,
  type ChannelDesk,
  type Delivered,
  type Delivery,
  type PhraseKey,
  type Presented,
  type TerminalLine,
} from "../../core/index.ts";
import { Cursor } from "./cursor.ts";
import type { Settings } from "./options.ts";
import { Question, type Settled } from "./receive.ts";
import { LIMIT, renderCard, rowsOf } from "./render.ts";

/** The channel of the person at this process's terminal. */
export interface TerminalChannel extends Channel {
  /** Says that something else has written on the terminal: the question on it is drawn anew before any answer counts. */
  redraw(): void;
}

/** A person who pressed Ctrl-C wants out; if the process lives on, what else waits is asked after this time. */
const AFTER_INTERRUPT_MS = 1000;
/** `close` follows an abort and says how it ended; where it does not, the question says only that it is closed. */
const AFTER_ABORT_MS = 200;

/** Requests whose outcome may still be told here; a desk that never closes one must not fill the memory. */
const REMEMBERED = 1000;

type Decisive = Exclude<TerminalLine, { answer: "unclear" }>;

const WHY: ReadonlySet<string> = new Set<AnswerCode>([
  "self_approval",
  "not_eligible",
  "assurance_too_low",
  "already_voted",
  "stale_view",
  "late",
  "not_found",
  "ambiguous_id",
]);

export class AtTerminal implements TerminalChannel {
  readonly name = "terminal";
  readonly capabilities: ChannelCapabilities = {
    edit: false,
    reason: true,
    links: false,
    assurance: "local",
    reach: "process",
    limit: LIMIT,
  };
  readonly #settings: Settings;
  readonly #cursor: Cursor;
  #desk: ChannelDesk | undefined;
  #queue: Delivery[] = [];
  #active: { readonly delivery: Delivery; readonly question: Question } | undefined;
  /** Left open by Ctrl-C, until somebody is reminded of them. */
  readonly #aside = new Map<string, Delivery>();
  /** Requests shown here whose end is still to be told, with the status that was told last. */
  readonly #told = new Map<string, string>();
  #later: string[] = [];
  #taken = false;

  constructor(settings: Settings) {
    this.#settings = settings;
    this.#cursor = new Cursor(
      (text) => settings.device.write(text),
      () => this.#parts().clock.now(),
    );
  }

  open(desk: ChannelDesk): void {
    this.#desk = desk;
  }

  async reaches(): Promise<readonly Identity[]> {
    const { principal, device } = this.#settings;
    return device.present() ? [{ principal, as: `${this.name}:${principal}`, via: this.name, assurance: "local" }] : [];
  }

  render(card: Card): CardText {
    return renderCard(card, this.#settings);
  }

  async deliver(delivery: Delivery): Promise<Delivered> {
    const { id } = delivery.card;
    if (this.#told.has(id)) return { state: delivery.complete ? "seen" : "delivered" };
    if (this.#queue.some(({ card }) => card.id === id)) return { state: "delivered" };
    if (delivery.signal.aborted) throw new Error("the request is over");
    this.#watch(delivery);
    if (this.#active === undefined) return { state: this.#show(delivery, "deliver") ? "seen" : "delivered" };
    this.#queue.push(delivery);
    this.#active.question.refresh();
    return { state: "delivered" };
  }

  async close(request: string, card: Card): Promise<void> {
    this.#aside.delete(request);
    this.#unqueue(request);
    if (this.#active?.delivery.card.id === request && !this.#active.question.over) this.#withdraw(request, card);
    else if (this.#told.has(request) && card.ending !== null && this.#told.get(request) !== card.status) this.#tell(card);
    if (hasEnded(card.status)) this.#told.delete(request);
    else if (this.#told.has(request)) this.#told.set(request, card.status);
  }

  async remind(request: string, _card: Card): Promise<void> {
    const aside = this.#aside.get(request);
    if (this.#active?.delivery.card.id === request) this.#active.question.refresh(this.#say("terminal.reminder"));
    if (aside === undefined) return;
    this.#aside.delete(request);
    this.#queue.push(aside);
    this.#next();
  }

  redraw(): void {
    this.#active?.question.redraw(this.#say("terminal.redrawn"));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#queue = [];
    this.#aside.clear();
    await this.#active?.question.abandon(this.#say("terminal.closed", { ending: this.#say("terminal.withdrawn") }));
    this.#release();
  }

  #parts(): ChannelDesk {
    return this.#desk ?? bug("a terminal was used before the desk opened it");
  }

  #say(key: PhraseKey, values: Readonly<Record<string, string | number>> = {}): string {
    return phrase(this.#settings.locale, key, values);
  }

  /** The request ended while we ask: at once no line counts any more; `close` then says how. */
  #watch(delivery: Delivery): void {
    delivery.signal.addEventListener("abort", () => {
      const { id } = delivery.card;
      this.#aside.delete(id);
      this.#unqueue(id);
      const isShown = (): boolean => this.#active?.delivery === delivery;
      if (isShown()) this.#parts().clock.after(AFTER_ABORT_MS, () => isShown() && this.#withdraw(id));
    });
  }

  #remember(request: string, status: string): void {
    this.#told.delete(request);
    this.#told.set(request, status);
    if (this.#told.size > REMEMBERED) this.#told.delete(this.#told.keys().next().value ?? "");
  }

  #unqueue(request: string): void {
    const left = this.#queue.filter(({ card }) => card.id !== request);
    if (left.length === this.#queue.length) return;
    this.#queue = left;
    this.#active?.question.refresh();
  }

  #withdraw(request: string, card?: Card): void {
    this.#told.delete(request);
    const plain = this.#say(
      card?.status === "approved" || card?.status === "claimed" ? "terminal.elsewhere" : "terminal.withdrawn",
    );
    this.#active?.question.withdraw(
      this.#say("terminal.closed", { ending: card?.ending == null ? plain : visible(card.ending) }),
    );
  }

  /**
   * @param told who tells the desk that a card was seen whole: its delivery, if it is by then, else a report
   * @throws where the terminal cannot be taken: the desk then knows that nobody saw it
   */
  #show(delivery: Delivery, told: "deliver" | "report"): boolean {
    let reported: string | undefined;
    const { device, locale, colour, guard, commandOptions } = this.#settings;
    const { clock, approvals, log } = this.#parts();
    const question: Question = new Question(delivery, {
      device,
      cursor: this.#cursor,
      clock,
      locale,
      colour,
      commandOptions,
      guard,
      waiting: () => this.#queue.length,
      decide: (said, presented) => (delivery.signal.aborted ? this.#tooLate() : this.#decide(said, presented, delivery.to)),
      seen: ({ card, view }) => {
        if (reported === view) return;
        reported = view;
        approvals
          .seen(card.id, view, delivery.to)
          .catch(() => log.warn("could not record that a card was seen", { request: card.id }));
      },
      ended: (how, last) => (how === "settled" ? this.#ended(question, last) : this.#interrupted(delivery, last)),
    });
    this.#active = { delivery, question };
    try {
      if (!this.#taken)
        device.take({ typed: (text) => this.#active?.question.typed(text), changed: () => this.#active?.question.redraw() });
      this.#taken = true;
      const whole = question.start();
      if (whole && told === "deliver") reported = delivery.view;
      this.#remember(delivery.card.id, "pending");
      return whole;
    } catch (thrown) {
      this.#active = undefined;
      this.#release();
      throw thrown;
    }
  }

  #ended(question: Question, last: string): void {
    if (this.#active?.question !== question) return;
    this.#active = undefined;
    if (this.#queue.length === 0) this.#release();
    this.#write(last);
    for (const line of this.#later.splice(0)) this.#print(line);
    this.#next();
  }

  #next(): void {
    if (this.#active !== undefined) return;
    const delivery = this.#queue.shift();
    if (delivery === undefined) {
      this.#release();
      return;
    }
    try {
      this.#show(delivery, "report");
    } catch {
      this.#parts().log.error("the terminal could not show a request that waited for it", { request: delivery.card.id });
      this.#next();
    }
  }

  #release(): void {
    this.#taken = false;
    this.#settings.device.giveBack();
  }

  #interrupted(delivery: Delivery, last: string): void {
    this.#active = undefined;
    this.#aside.set(delivery.card.id, delivery);
    this.#told.delete(delivery.card.id);
    this.#release();
    this.#write(last);
    this.#parts().clock.after(AFTER_INTERRUPT_MS, () => this.#next());
    this.#settings.interrupt();
  }

  async #tooLate(): Promise<Settled> {
    return { over: true, lines: [this.#say("terminal.uncounted", { why: this.#say("answer.late") })] };
  }

  async #decide(said: Decisive, presented: Presented, to: Identity): Promise<Settled> {
    const { card, view } = presented;
    const { approvals, log } = this.#parts();
    const reason = said.answer === "reject" && said.reason !== undefined ? { reason: said.reason } : {};
    try {
      const decided = await approvals.decide(card.id, { verdict: said.answer, digest: card.digest, view, ...reason }, to);
      if (!decided.counted && decided.code === "stale_view") return await this.#afresh(approvals, card.id, to);
      return { over: true, lines: this.#became(card, said.answer, decided) };
    } catch {
      // A store that is down decides nothing: the question stays and is asked again.
      log.error("an answer at the terminal could not be recorded", { request: card.id });
      return { over: false, notice: this.#say("terminal.failed") };
    }
  }

  #became(card: Card, verdict: "approve" | "reject", decided: Decided): readonly string[] {
    const note = decided.note === undefined ? [] : [visible(decided.note)];
    if (decided.counted) {
      this.#remember(card.id, decided.status ?? "");
      return [this.#say(verdict === "approve" ? "terminal.approved" : "terminal.rejected"), ...note];
    }
    const code = decided.code ?? "not_found";
    const why = WHY.has(code) ? this.#say(`answer.${code as AnswerCode}`) : this.#say("answer.other", { code });
    return [this.#say("terminal.uncounted", { why }), ...note];
  }

  /** The card has changed since it was drawn: it is shown as it is now, and nothing was decided. */
  async #afresh(approvals: Approvals, id: string, to: Identity): Promise<Settled> {
    const fresh = await approvals.card(id, to, (card) => this.render(card));
    const why = this.#say("terminal.uncounted", { why: this.#say("answer.stale_view") });
    return fresh === undefined || "ambiguous" in fresh ? { over: true, lines: [why] } : { over: false, notice: why, fresh };
  }

  /** What became of a call that was asked about here. A question on the screen is not written into. */
  #tell(card: Card): void {
    const line = this.#say("terminal.afterwards", { tool: visible(card.tool.name), ending: visible(card.ending ?? "") });
    if (this.#active === undefined) this.#print(line);
    else this.#later.push(line);
  }

  #print(line: string): void {
    const rows = rowsOf(line, this.#settings.device.size().columns);
    this.#write(rows.map((row) => `${row}\r\n`).join(""));
  }

  /** Last words: a terminal that is gone by then is no fault of the request's. */
  #write(text: string): void {
    try {
      this.#settings.device.write(text);
    } catch {
      this.#parts().log.debug("the terminal is gone; an outcome was not told there");
    }
  }
}
