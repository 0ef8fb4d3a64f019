import type { ApprovalRequest } from "../request.ts";
import { type Draft, transition } from "../transition.ts";

/**
 * What became of deliveries within this process and is not in the journal yet. It changes no state: a commit of its own
 * for each would let every approval wait for one more sync of the disk. So it goes along with the decision where that is
 * given at once, and by itself where it is not.
 */
export interface Notes {
  /**
   * Resolves when it is journaled, or when the request has ended without it.
   * @throws HoldpointError `store_unavailable` where it could not be
   */
  add(id: string, draft: Draft): Promise<void>;
  /** The request as it is once all that waits for it is journaled. */
  onto(record: ApprovalRequest): Noted;
  /** These are in the journal now. */
  written(id: string, drafts: readonly Draft[]): void;
}

export interface Noted {
  readonly record: ApprovalRequest;
  readonly drafts: readonly Draft[];
}

interface Note {
  readonly draft: Draft;
  readonly done: () => void;
  readonly failed: (reason: unknown) => void;
}

/** Steps within the current turn of the event loop, no timer and no other turn: a decision takes about half as many. */
const PATIENCE = 100;

class Waiting implements Notes {
  readonly #write: (id: string) => Promise<void>;
  readonly #notes = new Map<string, readonly Note[]>();

  constructor(write: (id: string) => Promise<void>) {
    this.#write = write;
  }

  add(id: string, draft: Draft): Promise<void> {
    const before = this.#notes.get(id);
    return new Promise((done, failed) => {
      this.#notes.set(id, [...(before ?? []), { draft, done, failed }]);
      if (before === undefined) void this.#soon(id);
    });
  }

  async #soon(id: string): Promise<void> {
    for (let step = 0; step < PATIENCE; step++) await Promise.resolve();
    if (!this.#notes.has(id)) return;
    try {
      await this.#write(id);
      for (const { done } of this.#take(id)) done();
    } catch (thrown) {
      for (const { failed } of this.#take(id)) failed(thrown);
    }
  }

  #take(id: string): readonly Note[] {
    const all = this.#notes.get(id) ?? [];
    this.#notes.delete(id);
    return all;
  }

  onto(record: ApprovalRequest): Noted {
    let noted: Noted = { record, drafts: [] };
    for (const { draft } of this.#notes.get(record.id) ?? []) {
      const moved = transition(noted.record, { type: "note", draft });
      if (moved.ok) noted = { record: moved.next, drafts: [...noted.drafts, draft] };
    }
    return noted;
  }

  written(id: string, drafts: readonly Draft[]): void {
    const all = this.#notes.get(id) ?? [];
    const left = all.filter(({ draft }) => !drafts.includes(draft));
    if (left.length > 0) this.#notes.set(id, left);
    else this.#notes.delete(id);
    for (const { draft, done } of all) if (drafts.includes(draft)) done();
  }
}

/** @param write commits what waits for one request */
export const notes = (write: (id: string) => Promise<void>): Notes => new Waiting(write);
