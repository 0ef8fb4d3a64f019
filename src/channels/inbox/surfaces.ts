import type { Identity } from "../../core/approving.ts";

/**
 * The inboxes that are open in front of somebody, as the process that serves them knows them. The server keeps one
 * {@link LiveSurfaces}, tells it who is there and what they say, and hands it to `inboxChannel`.
 */

/** One open inbox: a connection of an approver to the stream of events. */
export interface Surface {
  /** Who logged in there, as the server proved it. */
  readonly identity: Identity;
  /** This request waits, or still waits. The stream of events says so too; this is for what cannot be in a stream. */
  show?(request: string): void;
  /** This request is over. */
  drop?(request: string): void;
}

/** `listed`: it stands in the list that the person is looking at. `seen`: all of its card was on the screen. */
export type Shown = "listed" | "seen";

/** What a channel needs of the surfaces. */
export interface Surfaces {
  /** Whoever has at least one surface open now, each channel identity once. */
  people(): readonly Identity[];
  /** How far this request got on the surfaces that this identity has open; `undefined`: none of them said anything. */
  shown(request: string, as: string): Shown | undefined;
  /** Tells every surface of this identity that the request waits. */
  show(request: string, as: string): void;
  /** Tells every surface that the request is over, and forgets what was said of it. */
  drop(request: string): void;
  /** Tells every surface on which the request was shown that it still waits. */
  remind(request: string): void;
  /** Called whenever a surface opened, closed, or said something. Returns how to stop. */
  watch(listener: () => void): () => void;
}

/** Requests that one surface is remembered for: what never goes through this channel is never dropped by it. */
const REMEMBERED = 1000;

interface Open {
  readonly surface: Surface;
  readonly said: Map<string, Shown>;
}

function keep(said: Map<string, Shown>, request: string, shown: Shown): void {
  if (said.get(request) !== "seen") said.set(request, shown);
  const [oldest] = said.keys();
  if (said.size > REMEMBERED && oldest !== undefined) said.delete(oldest);
}

/** @see Surfaces; `open` and `report` are the server's. */
export class LiveSurfaces implements Surfaces {
  readonly #open = new Set<Open>();
  readonly #watching = new Set<() => void>();

  /** A surface is there, until the function that is returned is called: when its connection ends. */
  open(surface: Surface): () => void {
    const one: Open = { surface, said: new Map() };
    this.#open.add(one);
    this.#changed();
    return () => {
      if (this.#open.delete(one)) this.#changed();
    };
  }

  /**
   * A surface of this identity says that it shows the request. What nobody has open cannot show anything: false, and
   * nothing is kept.
   */
  report(request: string, as: string, shown: Shown): boolean {
    const theirs = this.#of(as);
    for (const { said } of theirs) keep(said, request, shown);
    if (theirs.length > 0) this.#changed();
    return theirs.length > 0;
  }

  people(): readonly Identity[] {
    return [...new Map([...this.#open].map(({ surface }) => [surface.identity.as, surface.identity])).values()];
  }

  shown(request: string, as: string): Shown | undefined {
    const said = this.#of(as).map((one) => one.said.get(request));
    return said.includes("seen") ? "seen" : said.find((shown) => shown !== undefined);
  }

  show(request: string, as: string): void {
    for (const { surface } of this.#of(as)) surface.show?.(request);
  }

  drop(request: string): void {
    for (const { surface, said } of this.#open) {
      said.delete(request);
      surface.drop?.(request);
    }
  }

  remind(request: string): void {
    for (const { surface, said } of this.#open) if (said.has(request)) surface.show?.(request);
  }

  watch(listener: () => void): () => void {
    this.#watching.add(listener);
    return () => void this.#watching.delete(listener);
  }

  #of(as: string): readonly Open[] {
    return [...this.#open].filter(({ surface }) => surface.identity.as === as);
  }

  #changed(): void {
    for (const listener of this.#watching) listener();
  }
}
