import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import type { SuiteDesk } from "../../src/testing/index.ts";
import { deskOn, newPath, Worker } from "./crew.ts";
import type { Report } from "./worker.ts";

const idsOf = (report: Report, say: "won" | "created"): readonly string[] => {
  if (report.say !== say) throw new Error(`a worker failed: ${JSON.stringify(report)}`);
  return report.ids;
};

/** Keeps all hints of a watch until it is stopped. */
function keepHints(desk: SuiteDesk): { hints: { readonly ids: readonly string[] }[]; ended: Promise<void>; stop: () => void } {
  const abort = new AbortController();
  const hints: { readonly ids: readonly string[] }[] = [];
  const listen = async (): Promise<void> => {
    for await (const hint of desk.store.watch("", abort.signal)) hints.push(hint);
  };
  return { hints, ended: listen(), stop: () => abort.abort() };
}

describe("many processes on one SQLite file", () => {
  it("lets exactly one of 8 processes win each of 200 claims (A99, P-03)", { timeout: 60_000 }, async () => {
    const path = newPath();
    const desk = deskOn(path);
    const made = await Promise.all(Array.from({ length: 200 }, () => desk.create({ status: "approved" })));
    const ids = made.map(({ id }) => id);
    const workers = await Promise.all(Array.from({ length: 8 }, () => Worker.start()));
    const reports = await Promise.all(workers.map((worker) => worker.obey({ do: "claim", path, ids })));
    const won = reports.flatMap((report) => idsOf(report, "won"));
    expect([...won].sort()).toEqual([...ids].sort());
    for (const [at, report] of reports.entries()) {
      for (const id of idsOf(report, "won")) {
        const { record } = await desk.stored(id);
        expect([record.status, record.rev, record.lane]).toEqual(["claimed", 2, `process ${workers[at]?.process.pid}`]);
      }
    }
  });

  it("makes one schema of a file that several processes open first, at once", { timeout: 60_000 }, async () => {
    const path = newPath();
    const workers = await Promise.all(Array.from({ length: 6 }, () => Worker.start()));
    const reports = await Promise.all(workers.map((worker) => worker.obey({ do: "create", path, count: 5, pauseMs: 0 })));
    const created = reports.flatMap((report) => idsOf(report, "created"));
    const found: string[] = [];
    for await (const { record } of deskOn(path).store.find({})) found.push(record.id);
    expect(found.sort()).toEqual([...created].sort());
    expect(found).toHaveLength(30);
  });

  it("wakes a watcher for every commit of two other processes", { timeout: 60_000 }, async () => {
    const path = newPath();
    const desk = deskOn(path);
    await desk.create();
    const watch = keepHints(desk);
    const workers = await Promise.all([Worker.start(), Worker.start()]);
    const reports = await Promise.all(workers.map((worker) => worker.obey({ do: "create", path, count: 200, pauseMs: 3 })));
    const unseen = new Set(reports.flatMap((report) => idsOf(report, "created")));
    expect(unseen.size).toBe(400);
    await expect
      .poll(
        () => {
          for (const { ids } of watch.hints.slice(1)) {
            if (ids.length === 0) unseen.clear();
            for (const id of ids) unseen.delete(id);
          }
          return unseen.size;
        },
        { timeout: 10_000 },
      )
      .toBe(0);
    // The slow look alone would have merged all of it into a handful.
    expect(watch.hints.length).toBeGreaterThan(100);
    watch.stop();
    await watch.ended;
  });

  it("keeps every acknowledged commit whole, and none by halves, over kill -9 in the middle of commits (P-11)", {
    timeout: 60_000,
  }, async () => {
    const path = newPath();
    const acknowledged: (readonly [old: string, next: string])[] = [];
    for (const commits of [1, 7, 40, 120]) {
      const worker = await Worker.start();
      worker.process.send({ do: "edit-for-ever", path, lanes: 8 });
      await worker.report(() => worker.reports.length >= commits);
      worker.process.kill("SIGKILL");
      await worker.exited;
      for (const report of worker.reports) if (report.say === "committed") acknowledged.push([report.old, report.next]);
    }
    expect(acknowledged.length).toBeGreaterThan(150);
    await expectWhole(path, acknowledged);
  });

  it("holds no process that is done: a watch, its timers and the open file do not keep it alive", {
    timeout: 20_000,
  }, async () => {
    const worker = await Worker.start();
    await worker.obey({ do: "watch-and-leave", path: newPath() });
    await worker.exited;
    expect(worker.process.exitCode).toBe(0);
  });
});

async function expectWhole(path: string, acknowledged: readonly (readonly [old: string, next: string])[]): Promise<void> {
  const raw = new DatabaseSync(path);
  expect({ ...raw.prepare("PRAGMA integrity_check").get() }).toEqual({ integrity_check: "ok" });
  raw.close();
  const desk = deskOn(path);
  for (const [old, next] of acknowledged) {
    expect((await desk.stored(old)).record.supersededBy).toBe(next);
    expect((await desk.stored(next)).record.supersedes).toBe(old);
  }
  for await (const { record } of desk.store.find({})) {
    const entries: number[] = [];
    for await (const entry of desk.store.journal(`request/${record.id}`)) entries.push(entry.n);
    expect(entries).toEqual(Array.from({ length: record.rev }, (_, n) => n));
    expect((await desk.stored(record.id)).payload?.request).toBe(record.id);
    if (record.supersededBy !== undefined) expect((await desk.stored(record.supersededBy)).record.supersedes).toBe(record.id);
    if (record.supersedes !== undefined) expect((await desk.stored(record.supersedes)).record.supersededBy).toBe(record.id);
  }
}
