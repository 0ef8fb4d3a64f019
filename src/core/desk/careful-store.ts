import { HoldpointError, isHoldpointError } from "../errors.ts";
import type { Store } from "../ports/store.ts";

const faultOf = (thrown: unknown): unknown =>
  isHoldpointError(thrown)
    ? thrown
    : new HoldpointError("store_unavailable", "the store could not be asked; nothing was released", { cause: thrown });

async function asked<T>(question: () => Promise<T>): Promise<T> {
  try {
    return await question();
  } catch (thrown) {
    throw faultOf(thrown);
  }
}

async function* listed<T>(items: () => AsyncIterable<T>): AsyncGenerator<T, void, undefined> {
  try {
    yield* items();
  } catch (thrown) {
    throw faultOf(thrown);
  }
}

/** Whatever a store throws, it could not be asked: the refusal says which part failed, not what a driver calls it (P-15). */
export function carefulStore(store: Store): Store {
  return {
    capabilities: store.capabilities,
    now: () => asked(() => store.now()),
    read: (id) => asked(() => store.read(id)),
    find: (query) => listed(() => store.find(query)),
    rows: (query) => listed(() => store.rows(query)),
    row: (kind, key) => asked(() => store.row(kind, key)),
    journal: (stream) => listed(() => store.journal(stream)),
    commit: (change) => asked(() => store.commit(change)),
    lease: (...which) => asked(() => store.lease(...which)),
    watch: (since, signal) => listed(() => store.watch(since, signal)),
    close: () => asked(() => store.close()),
  };
}
