import type { Commit, Committed, Store } from "../ports/store.ts";

/** What goes wrong with a store, changed while it runs. */
export interface Faults {
  /** Nothing answers. */
  down: boolean;
  /** So many commits are made and their answer is lost. */
  lost: number;
  /** What a commit answers instead of being made. */
  instead: ((change: Commit) => Committed | undefined) | undefined;
  /** Changes what is committed: a store that does not keep its word. */
  change: ((change: Commit) => Commit) | undefined;
  readonly commits: Commit[];
}

export const noFaults = (): Faults => ({ down: false, lost: 0, instead: undefined, change: undefined, commits: [] });

/** A real store behind a line that can fail. */
export function faultyStore(inner: Store, faults: Faults): Store {
  const up = (): void => {
    if (faults.down) throw new Error("the store does not answer");
  };
  async function* listed<T>(items: () => AsyncIterable<T>): AsyncGenerator<T, void, undefined> {
    up();
    yield* items();
  }
  return {
    capabilities: inner.capabilities,
    now: async () => {
      up();
      return inner.now();
    },
    read: async (id) => {
      up();
      return inner.read(id);
    },
    row: async (kind, key) => {
      up();
      return inner.row(kind, key);
    },
    find: (query) => listed(() => inner.find(query)),
    rows: (query) => listed(() => inner.rows(query)),
    journal: (stream) => listed(() => inner.journal(stream)),
    commit: async (change) => {
      up();
      faults.commits.push(change);
      const instead = faults.instead?.(change);
      if (instead !== undefined) return instead;
      const committed = await inner.commit(faults.change?.(change) ?? change);
      if (faults.lost > 0) {
        faults.lost -= 1;
        throw new Error("the answer was lost");
      }
      return committed;
    },
    lease: (...which) => inner.lease(...which),
    watch: (since, signal) => inner.watch(since, signal),
    close: () => inner.close(),
  };
}
