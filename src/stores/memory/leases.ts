import type { Leased } from "../../core/index.ts";
import { instant } from "../../core/index.ts";

interface Lease {
  owner: string;
  until: number;
  fence: number;
}

/** Who works on what, until when. Fences grow over all leases, so that a late holder is told apart by its number alone. */
export class Leases {
  readonly #held = new Map<string, Lease>();
  #fence = 0;

  /** Takes up to `max` of the names that no other owner holds at `now`; its own are prolonged and keep their fence. */
  take(kind: string, names: Iterable<string>, want: { owner: string; max: number; now: number; ms: number }): readonly Leased[] {
    const taken: Leased[] = [];
    const until = want.now + want.ms;
    for (const key of names) {
      if (taken.length >= want.max) break;
      const fence = this.#takeOne(`${kind} ${key}`, want.owner, { now: want.now, until });
      if (fence !== undefined) taken.push({ key, until: instant(until), fence });
    }
    return taken;
  }

  /** Ends the lease of what there is nothing left to do with. */
  forget(kind: string, key: string): void {
    this.#held.delete(`${kind} ${key}`);
  }

  #takeOne(name: string, owner: string, time: { now: number; until: number }): number | undefined {
    const held = this.#held.get(name);
    const live = held !== undefined && held.until > time.now;
    if (live && held.owner !== owner) return undefined;
    const fence = live ? held.fence : ++this.#fence;
    this.#held.set(name, { owner, until: time.until, fence });
    return fence;
  }
}
