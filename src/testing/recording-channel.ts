import type { Decided, Identity } from "../core/approving.ts";
import {
  bug,
  cardText,
  type Assurance,
  type Card,
  type CardText,
  type Channel,
  type ChannelCapabilities,
  type ChannelDesk,
  type Delivered,
  type Delivery,
} from "../core/index.ts";

export interface RecordingChannelOptions {
  /** Default `recording`. */
  readonly name?: string;
  /** Principals that it reaches. Default: `ada`. Empty: nobody. */
  readonly people?: readonly string[];
  /** What an answer through it is worth. Default `account`. */
  readonly assurance?: Assurance;
  readonly capabilities?: Partial<ChannelCapabilities>;
  /** How far a delivery gets; a function may throw, as a transport that is down does. Default `seen`. */
  readonly state?: Delivered["state"] | ((delivery: Delivery) => Delivered["state"]);
}

/** A channel that shows nothing and remembers everything. It answers only what a test tells it to. */
export interface RecordingChannel extends Channel {
  readonly deliveries: readonly Delivery[];
  readonly closed: readonly { readonly request: string; readonly card: Card }[];
  readonly reminded: readonly string[];
  /** What the desk gave it. */
  readonly desk: ChannelDesk;
  /**
   * The person who was shown the request answers it, with the digest and view of that delivery.
   * @param by principal; default: whoever it was delivered to last
   */
  answer(
    request: string,
    verdict: "approve" | "reject",
    options?: { readonly reason?: string; readonly by?: string },
  ): Promise<Decided>;
}

class Recording implements RecordingChannel {
  readonly name: string;
  readonly capabilities: ChannelCapabilities;
  readonly deliveries: Delivery[] = [];
  readonly closed: { request: string; card: Card }[] = [];
  readonly reminded: string[] = [];
  readonly #options: RecordingChannelOptions;
  #desk: ChannelDesk | undefined;

  constructor(options: RecordingChannelOptions) {
    this.#options = options;
    this.name = options.name ?? "recording";
    this.capabilities = {
      edit: true,
      reason: true,
      links: true,
      assurance: options.assurance ?? "account",
      reach: "process",
      ...options.capabilities,
    };
  }

  get desk(): ChannelDesk {
    return this.#desk ?? bug("a recording channel was used before the desk opened it");
  }

  open(desk: ChannelDesk): void {
    this.#desk = desk;
  }

  async reaches(): Promise<readonly Identity[]> {
    const { people = ["ada"] } = this.#options;
    return people.map((principal) => ({
      principal,
      as: `${this.name}:${principal}`,
      via: this.name,
      assurance: this.capabilities.assurance,
    }));
  }

  render(card: Card): CardText {
    const { limit } = this.capabilities;
    return cardText(card, limit === undefined ? {} : { limit });
  }

  async deliver(delivery: Delivery): Promise<Delivered> {
    const { state = "seen" } = this.#options;
    const reached = typeof state === "function" ? state(delivery) : state;
    const known = this.deliveries.some(({ card, to }) => card.id === delivery.card.id && to.principal === delivery.to.principal);
    if (!known) this.deliveries.push(delivery);
    return { state: reached };
  }

  async close(request: string, card: Card): Promise<void> {
    this.closed.push({ request, card });
  }

  async remind(request: string): Promise<void> {
    this.reminded.push(request);
  }

  answer(
    request: string,
    verdict: "approve" | "reject",
    options: { readonly reason?: string; readonly by?: string } = {},
  ): Promise<Decided> {
    const { reason, by } = options;
    const shown = this.deliveries.findLast(({ card, to }) => card.id === request && (by === undefined || to.principal === by));
    if (shown === undefined)
      throw new Error(`nothing about ${request} was delivered${by === undefined ? "" : ` to ${by}`} through "${this.name}"`);
    const { card, view, to } = shown;
    return this.desk.approvals.decide(
      request,
      { verdict, digest: card.digest, view, ...(reason === undefined ? {} : { reason }) },
      to,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#desk = undefined;
  }
}

/** @see RecordingChannel */
export const recordingChannel = (options: RecordingChannelOptions = {}): RecordingChannel => new Recording(options);
