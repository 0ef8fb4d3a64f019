import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach } from "vitest";
import { sqliteStore } from "../../src/stores/sqlite/index.ts";
import type { SqliteStoreOptions } from "../../src/stores/sqlite/index.ts";
import { manualClock, SuiteDesk } from "../../src/testing/index.ts";
import type { Order, Report } from "./worker.ts";

const undo: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const one of undo.splice(0).reverse()) await one();
});

/** A folder that goes with the test, with a file name in it that nothing has made yet. */
export function newPath(): string {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-stores-"));
  undo.push(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "holdpoint.db");
}

/** A desk of this process on the file, closed with the test. */
export function deskOn(path: string, options: Omit<SqliteStoreOptions, "path" | "clock"> = {}): SuiteDesk {
  const clock = manualClock();
  const store = sqliteStore({ path, clock, ...options });
  undo.push(() => store.close());
  return new SuiteDesk({ store, dispose: () => store.close() }, clock);
}

/** A worker process, killed with the test. */
export class Worker {
  readonly process: ChildProcess;
  readonly reports: Report[] = [];
  readonly exited: Promise<void>;

  private constructor(child: ChildProcess) {
    this.process = child;
    child.on("message", (report: Report) => this.reports.push(report));
    this.exited = new Promise((resolve) => child.once("exit", () => resolve()));
    undo.push(async () => {
      child.kill("SIGKILL");
      await this.exited;
    });
  }

  /** @param uid the account that the process runs as, where this one may choose it */
  static async start(uid?: number): Promise<Worker> {
    const execArgv = ["--disable-warning=ExperimentalWarning"];
    const worker = new Worker(
      fork(join(import.meta.dirname, "worker.ts"), { execArgv, ...(uid === undefined ? {} : { uid, gid: uid }) }),
    );
    await worker.report((report) => report.say === "ready");
    worker.reports.length = 0;
    return worker;
  }

  /** Gives an order and waits for the report that ends it. */
  async obey(order: Order): Promise<Report> {
    this.process.send(order);
    return this.report((report) => report.say !== "committed");
  }

  /** The first report that fits. @throws where the process ends without one */
  async report(fits: (report: Report) => boolean): Promise<Report> {
    for (;;) {
      const found = this.reports.find(fits);
      if (found !== undefined) return found;
      const message = new Promise<void>((resolve) => this.process.once("message", () => resolve()));
      const over = this.exited.then(() => {
        if (!this.reports.some(fits))
          throw new Error(`a worker ended without a word (exit ${this.process.exitCode ?? this.process.signalCode})`);
      });
      await Promise.race([message, over]);
    }
  }
}
