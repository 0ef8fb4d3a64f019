/** One process of the multi-process tests: does what its parent says, over IPC, on one store file. */
import { setTimeout as sleep } from "node:timers/promises";
import { sqliteStore } from "../../src/stores/sqlite/index.ts";
import { manualClock, SuiteDesk } from "../../src/testing/index.ts";

type Store = ReturnType<typeof sqliteStore>;

export type Order =
  | { readonly do: "claim"; readonly path: string; readonly ids: readonly string[] }
  | { readonly do: "create"; readonly path: string; readonly count: number; readonly pauseMs: number }
  | { readonly do: "edit-for-ever"; readonly path: string; readonly lanes: number }
  | { readonly do: "watch-and-leave"; readonly path: string };

export type Report =
  | { readonly say: "ready" }
  | { readonly say: "won"; readonly ids: readonly string[] }
  | { readonly say: "created"; readonly ids: readonly string[] }
  | { readonly say: "committed"; readonly old: string; readonly next: string }
  | { readonly say: "failed"; readonly code: string; readonly message: string };

const tell = (report: Report): void => void process.send?.(report);

function openDesk(path: string): SuiteDesk {
  const clock = manualClock();
  return new SuiteDesk({ store: sqliteStore({ path, clock, lockedFor: 30_000 }), dispose: async () => undefined }, clock);
}

async function claim(desk: SuiteDesk, ids: readonly string[]): Promise<void> {
  const won: string[] = [];
  // Four at a time, so that a group commit holds claims of several requests.
  const rest = [...ids];
  const executor = async (): Promise<void> => {
    for (let id = rest.shift(); id !== undefined; id = rest.shift()) {
      const { record } = await desk.stored(id);
      if (record.status !== "approved") continue;
      const result = await desk.store.commit(desk.step(record, { status: "claimed", lane: `process ${process.pid}` }));
      if (result.ok) won.push(id);
    }
  };
  await Promise.all([executor(), executor(), executor(), executor()]);
  tell({ say: "won", ids: won });
}

async function create(desk: SuiteDesk, count: number, pauseMs: number): Promise<void> {
  const ids: string[] = [];
  for (let n = 0; n < count; n++) {
    ids.push((await desk.create()).id);
    await sleep(Math.random() * pauseMs);
  }
  tell({ say: "created", ids });
}

/** Edits request after request, each in one commit, and says so only once the store has said yes. */
async function editForEver(desk: SuiteDesk): Promise<never> {
  let old = await desk.create();
  for (;;) {
    const next = desk.request({ root: old.root, supersedes: old.id });
    const end = desk.step(old, { status: "cancelled", supersededBy: next.id });
    const begin = desk.creation(next);
    await desk.must({ ...begin, records: [...end.records, ...begin.records], entries: [...end.entries, ...begin.entries] });
    tell({ say: "committed", old: old.id, next: next.id });
    old = next;
  }
}

async function watchAndLeave(store: Store): Promise<void> {
  void (async () => {
    for await (const hint of store.watch("", new AbortController().signal)) if (hint.ids.length > 0) break;
  })();
  await store.now();
  await store.read("nobody");
  tell({ say: "ready" });
  process.disconnect();
}

async function obey(order: Order): Promise<void> {
  const desk = openDesk(order.path);
  if (order.do === "watch-and-leave") return watchAndLeave(desk.store);
  if (order.do === "claim") await claim(desk, order.ids);
  else if (order.do === "create") await create(desk, order.count, order.pauseMs);
  else await Promise.all(Array.from({ length: order.lanes }, () => editForEver(desk)));
  await desk.store.close();
}

process.on("message", (order: Order) => {
  obey(order).catch((thrown: { code?: string; message?: string }) =>
    tell({ say: "failed", code: thrown.code ?? "", message: thrown.message ?? "" }),
  );
});
process.on("disconnect", () => undefined);
tell({ say: "ready" });
