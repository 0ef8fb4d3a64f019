import type { SqliteClient } from "./client.ts";
import { fault, isBusy } from "./faults.ts";
import { rollback } from "./open.ts";
import type { Patience } from "./patience.ts";
import type { Statements } from "./statements.ts";

/** Jobs of one transaction: more would hold the lock so long that other processes starve. */
const MAX_JOBS = 256;

/** What a job may know of the transaction it is part of. */
export interface Turn {
  /** The commit that this job would be, if it is one. */
  readonly seq: number;
}

/** A write, run under the write lock. `keep: false`: whatever it wrote is taken back. */
export type Write<T> = (turn: Turn) => { readonly keep: boolean; readonly result: T; readonly ids?: readonly string[] };

export interface Written {
  readonly seq: number;
  readonly ids: readonly string[];
}

interface Job {
  readonly write: Write<unknown>;
  readonly resolve: (result: never) => void;
  readonly reject: (reason: unknown) => void;
  readonly since: number;
}

interface Database {
  readonly client: SqliteClient;
  readonly statements: Statements;
}

interface BatchOptions {
  readonly path: string;
  readonly patience: Patience;
  readonly database: () => Promise<Database>;
  /** Hears of the commits of each transaction once they are durable. */
  readonly onWritten: (written: readonly Written[]) => void;
}

/**
 * Group commit: all writes that are submitted in one turn of the event loop share one transaction and one sync of the
 * disk. Each has a savepoint of its own, so that one that does not fit takes back only itself; each caller hears of
 * its result only when the shared transaction is durable.
 */
export class Batch {
  readonly #options: BatchOptions;
  #jobs: Job[] = [];
  #draining: Promise<void> | undefined;

  constructor(options: BatchOptions) {
    this.#options = options;
  }

  submit<T>(write: Write<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#jobs.push({ write, resolve, reject, since: performance.now() });
      this.#draining ??= this.#drain();
    });
  }

  /** Resolves when everything submitted so far is durable or refused. */
  async drained(): Promise<void> {
    await this.#draining;
  }

  async #drain(): Promise<void> {
    let failures = 0;
    while (this.#jobs.length > 0) {
      await endOfTurn();
      const busy = await this.#attempt();
      if (busy === undefined) failures = 0;
      else {
        this.#giveUp(busy);
        await this.#options.patience.pause(failures++);
      }
    }
    this.#draining = undefined;
  }

  /** Writes what is waiting. @returns the error that says another process holds the lock */
  async #attempt(): Promise<unknown> {
    try {
      const database = await this.#options.database();
      database.statements.get("begin").run();
      this.#writeAll(database, this.#jobs.splice(0, MAX_JOBS));
    } catch (thrown) {
      if (isBusy(thrown)) return thrown;
      for (const job of this.#jobs.splice(0)) job.reject(fault(thrown, this.#options.path));
    }
    return undefined;
  }

  /** Refuses what has waited for the lock as long as anybody should. */
  #giveUp(busy: unknown): void {
    const { patience } = this.#options;
    const waited = this.#jobs.filter((job) => patience.isOver(job.since));
    this.#jobs = this.#jobs.filter((job) => !waited.includes(job));
    for (const job of waited) job.reject(patience.exhausted(busy));
  }

  #writeAll({ client, statements }: Database, jobs: readonly Job[]): void {
    const written: Written[] = [];
    const settle: (() => void)[] = [];
    try {
      let seq = (statements.get("head").get() as { seq: number }).seq;
      for (const job of jobs) {
        const outcome = this.#runOne(statements, job, seq + 1);
        settle.push(outcome.settle);
        if (outcome.ids !== undefined) written.push({ seq: ++seq, ids: outcome.ids });
      }
      statements.get("commit").run();
    } catch (thrown) {
      rollback(client);
      for (const job of jobs) job.reject(fault(thrown, this.#options.path));
      return;
    }
    for (const tell of settle) tell();
    if (written.length > 0) this.#options.onWritten(written);
  }

  /** @throws the job's own error where SQLite has taken the whole transaction back, as it may on a full disk */
  #runOne(statements: Statements, job: Job, seq: number): { settle: () => void; ids?: readonly string[] } {
    statements.get("savepoint").run();
    let outcome: ReturnType<typeof job.write>;
    try {
      outcome = job.write({ seq });
    } catch (thrown) {
      if (!takeBack(statements)) throw thrown;
      return { settle: () => job.reject(fault(thrown, this.#options.path)) };
    }
    if (!outcome.keep) statements.get("undo").run();
    statements.get("release").run();
    const settle = (): void => job.resolve(outcome.result as never);
    return outcome.keep && outcome.ids !== undefined ? { settle, ids: outcome.ids } : { settle };
  }
}

/** False where there is no savepoint left to go back to. */
function takeBack(statements: Statements): boolean {
  try {
    statements.get("undo").run();
    statements.get("release").run();
    return true;
  } catch {
    return false;
  }
}

const endOfTurn = (): Promise<void> => new Promise((done) => setImmediate(done));
