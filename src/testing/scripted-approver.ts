import type { Identity } from "../core/approving.ts";
import {
  bug,
  cardText,
  type Assurance,
  type Card,
  type CardText,
  type Channel,
  type ChannelCapabilities,
  type ChannelDecision,
  type ChannelDesk,
  type Delivered,
  type Delivery,
} from "../core/index.ts";

/** One scripted answer; a function is asked with the card, `null` leaves this request unanswered. */
export type ScriptedDecision = ChannelDecision | ((card: Card) => ChannelDecision | null);

export interface ScriptedApproverOptions {
  /** Default `scripted`. */
  readonly name?: string;
  /** The principal who answers. Default `ada`. */
  readonly as?: string;
  /** Default `account`. */
  readonly assurance?: Assurance;
}

/**
 * A person who gives the answers of a script, one for each request in the order they are delivered, and then no more.
 * There is no double that approves whatever it is asked: each yes in a test is written down by it.
 */
export interface ScriptedApprover extends Channel {
  /** The cards that were shown, in order. */
  readonly shown: readonly Card[];
  /** What the desk made of each answer. */
  readonly decided: readonly { readonly request: string; readonly counted: boolean; readonly code?: string }[];
  /** Answers of the script that nobody has asked for yet. */
  readonly left: number;
  /** Resolves when every answer given so far has been taken or refused by the desk. */
  idle(): Promise<void>;
}

class Scripted implements ScriptedApprover {
  readonly name: string;
  readonly capabilities: ChannelCapabilities;
  readonly shown: Card[] = [];
  readonly decided: { request: string; counted: boolean; code?: string }[] = [];
  readonly #script: ScriptedDecision[];
  readonly #as: string;
  #desk: ChannelDesk | undefined;
  #answering: Promise<void> = Promise.resolve();

  constructor(script: readonly ScriptedDecision[], options: ScriptedApproverOptions) {
    this.#script = [...script];
    this.#as = options.as ?? "ada";
    this.name = options.name ?? "scripted";
    this.capabilities = { edit: true, reason: true, links: false, assurance: options.assurance ?? "account", reach: "process" };
  }

  get left(): number {
    return this.#script.length;
  }

  idle(): Promise<void> {
    return this.#answering;
  }

  open(desk: ChannelDesk): void {
    this.#desk = desk;
  }

  async reaches(): Promise<readonly Identity[]> {
    return [{ principal: this.#as, as: `${this.name}:${this.#as}`, via: this.name, assurance: this.capabilities.assurance }];
  }

  render(card: Card): CardText {
    return cardText(card);
  }

  async deliver(delivery: Delivery): Promise<Delivered> {
    if (this.shown.some(({ id }) => id === delivery.card.id)) return { state: "seen" };
    this.shown.push(delivery.card);
    const next = this.#script.shift();
    const decision = typeof next === "function" ? next(delivery.card) : (next ?? null);
    if (decision !== null) this.#answering = this.#answering.then(() => this.#answer(delivery, decision));
    return { state: "seen" };
  }

  async #answer({ card, view, to }: Delivery, decision: ChannelDecision): Promise<void> {
    const { approvals } = this.#desk ?? bug("a scripted approver was used before the desk opened it");
    const { verdict, reason, arguments: edited } = decision;
    const said = { digest: card.digest, view, ...(reason === undefined ? {} : { reason }) };
    const decided =
      edited === undefined
        ? await approvals.decide(card.id, { verdict, ...said }, to)
        : await approvals.edit(card.id, { arguments: edited, ...said }, to);
    this.decided.push({
      request: card.id,
      counted: decided.counted,
      ...(decided.code === undefined ? {} : { code: decided.code }),
    });
  }

  async close(): Promise<void> {
    await Promise.resolve();
  }

  async remind(): Promise<void> {
    await Promise.resolve();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#answering;
  }
}

/** @see ScriptedApprover */
export const scriptedApprover = (script: readonly ScriptedDecision[], options: ScriptedApproverOptions = {}): ScriptedApprover =>
  new Scripted(script, options);
