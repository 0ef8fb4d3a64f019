import type { Identity } from "../../core/approving.ts";
import {
  bug,
  type Card,
  type CardText,
  cardText,
  type Channel,
  type ChannelCapabilities,
  type ChannelDesk,
  type Delivered,
  type Delivery,
  suffices,
} from "../../core/index.ts";
import type { Settings } from "./options.ts";
import type { Shown } from "./surfaces.ts";

const STATES = { listed: "delivered", seen: "seen" } as const satisfies Record<Shown, Delivered["state"]>;

/**
 * Delivers to inboxes that are open. What they show comes from the server, and so do the answers; here is only who is
 * there, and whether a request was really in front of them (P-06).
 */
export class Inbox implements Channel {
  readonly name: string;
  readonly capabilities: ChannelCapabilities;
  readonly #settings: Settings;
  readonly #stops = new Set<() => void>();
  #desk: ChannelDesk | undefined;

  constructor(settings: Settings) {
    this.#settings = settings;
    this.name = settings.name;
    this.capabilities = { edit: true, reason: true, links: true, assurance: settings.assurance, reach: "process" };
  }

  open(desk: ChannelDesk): void {
    this.#desk = desk;
  }

  async reaches(): Promise<readonly Identity[]> {
    return this.#settings.surfaces.people().map((person) => this.#vouched(person));
  }

  /** A session never counts for more than this channel was set up for, nor as another channel's. */
  #vouched(person: Identity): Identity {
    const { assurance } = this.capabilities;
    const capped = suffices(assurance, person.assurance) ? person.assurance : assurance;
    return { ...person, via: this.name, assurance: capped };
  }

  render(card: Card): CardText {
    return cardText(card, { locale: this.#settings.locale });
  }

  async deliver({ card, to, signal }: Delivery): Promise<Delivered> {
    const { surfaces } = this.#settings;
    if (signal.aborted) throw new Error("the request is over");
    surfaces.show(card.id, to.as);
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const shown = surfaces.shown(card.id, to.as);
        if (shown === undefined) return;
        over();
        resolve({ state: STATES[shown] });
      };
      const fail = (problem: string) => (): void => {
        over();
        reject(new Error(problem));
      };
      const ended = fail("the request is over");
      const closed = fail("the channel was closed");
      const cancel = this.#parts().clock.after(this.#settings.within, fail("no open inbox said that it shows the request"));
      const unwatch = surfaces.watch(look);
      const over = (): void => {
        cancel();
        unwatch();
        signal.removeEventListener("abort", ended);
        this.#stops.delete(closed);
      };
      this.#stops.add(closed);
      signal.addEventListener("abort", ended);
      look();
    });
  }

  async close(request: string): Promise<void> {
    this.#settings.surfaces.drop(request);
  }

  async remind(request: string): Promise<void> {
    this.#settings.surfaces.remind(request);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const stop of [...this.#stops]) stop();
  }

  #parts(): ChannelDesk {
    return this.#desk ?? bug("an inbox channel was used before the desk opened it");
  }
}
