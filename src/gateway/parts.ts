import type { Log } from "../core/index.ts";
import type { Calls } from "./calls.ts";
import type { Definitions } from "./definitions.ts";
import type { Outlet } from "./outlet.ts";
import type { OwnRequests } from "./own-requests.ts";
import type { Judge, Timing } from "./port.ts";

/** What the two directions of one relay share. */
export interface Parts {
  readonly server: string;
  readonly judge: Judge;
  readonly log: Log;
  readonly timing: Timing;
  readonly toClient: Outlet;
  readonly toServer: Outlet;
  readonly calls: Calls;
  readonly definitions: Definitions;
  readonly own: OwnRequests;
  readonly open: OpenWork;
  readonly client: { name: string | undefined; initialized: boolean };
}

/** Promises that the relay waits for before it ends, so that what they record is not cut off. */
export class OpenWork {
  readonly #open = new Set<Promise<void>>();

  /** @param work must not reject */
  add(work: Promise<void>): void {
    this.#open.add(work);
    void work.finally(() => this.#open.delete(work));
  }

  async done(): Promise<void> {
    while (this.#open.size > 0) await Promise.all(this.#open);
  }
}

/** Resolves when `work` does, or after `ms` milliseconds: false. */
export async function within(work: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, ms, false);
  });
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** A name that the client chose, short enough for a log. */
export const brief = (text: string): string => (text.length <= 200 ? text : `${text.slice(0, 200)}…`);
