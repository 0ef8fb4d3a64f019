import type { Clock, Commit, Committed, Store, Stored } from "../../../src/core/index.ts";

/** A store that can be taken away, slowed down or changed behind its desk's back, as disks, networks and people do. */
export interface SteeredStore extends Store {
  /** `store`: nothing is answered. `journal`: nothing can be written. */
  down: "no" | "store" | "journal";
  /** Milliseconds between a commit and its answer. */
  slow: number;
  /** The next commit that fits is durable, and its answer is lost. */
  loseAnswerOf: ((change: Commit) => boolean) | undefined;
  /** What a hand on the database makes of a record that is read. */
  tamper: ((stored: Stored) => Stored) | undefined;
}

const gone = (what: string): never => {
  throw new Error(`${what} does not answer`);
};

export function steered(inner: Store, clock: Clock, shared = false): SteeredStore {
  const pause = (ms: number): Promise<void> => new Promise((resolve) => clock.after(ms, resolve));
  const up = (): void => {
    if (store.down === "store") gone("the store");
  };
  const answered = async (change: Commit, committed: Committed): Promise<Committed> => {
    if (store.loseAnswerOf?.(change) === true) {
      store.down = "store";
      return gone("the store");
    }
    if (store.slow > 0) await pause(store.slow);
    return committed;
  };
  const store: SteeredStore = {
    down: "no",
    slow: 0,
    loseAnswerOf: undefined,
    tamper: undefined,
    capabilities: inner.capabilities,
    now: async () => {
      up();
      return inner.now();
    },
    read: async (id) => {
      up();
      const stored = await inner.read(id);
      return stored === undefined ? undefined : (store.tamper?.(stored) ?? stored);
    },
    find: (query) => {
      up();
      return inner.find(query);
    },
    rows: (query) => {
      up();
      return inner.rows(query);
    },
    row: async (kind, key) => {
      up();
      return inner.row(kind, key);
    },
    journal: (stream) => {
      up();
      return inner.journal(stream);
    },
    commit: async (change) => {
      up();
      if (store.down === "journal" && change.entries.length > 0) gone("the journal");
      return answered(change, await inner.commit(change));
    },
    lease: (...asked) => inner.lease(...asked),
    watch: (since, signal) => inner.watch(since, signal),
    close: async () => {
      if (!shared) await inner.close();
    },
  };
  return store;
}
