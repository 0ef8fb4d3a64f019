import type { SqliteClient } from "./client.ts";
import { fault, isBusy } from "./faults.ts";
import { rollback } from "./open.ts";
import type { Patience } from "./patience.ts";
import type { Statements } from "./statements.ts";

/** Jobs of one transaction: more would hold the lock so long that other processes starve. */
const MAX_JOBS = 256;

/** A write, run under the write lock. */
export type Write<T> = () => Outcome<T>;

export interface Outcome<T> {
  readonly result: T;
  /** False: whatever it wrote is taken back. */
  readonly keep: boolean;
  /** What watchers are told, where it is a commit. */
  readonly written?: Written;
}

export interface Written {
  readonly seq: number;
  readonly ids: readonly string[];
}

interface Failed {
  readonly keep: false;
  readonly error: Error;
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
    const { path, onWritten } = this.#options;
    const refuse = (thrown: unknown): Failed => ({ keep: false, error: fault(thrown, path) });
    let outcomes: readonly (Outcome<unknown> | Failed)[];
    try {
      // Who is alone is taken back with the transaction: a savepoint would be two more statements.
      outcomes = jobs.length === 1 ? jobs.map((job) => job.write()) : jobs.map((job) => guarded(statements, job, refuse));
      if (outcomes.some(({ keep }) => keep)) statements.get("commit").run();
      else rollback(client);
    } catch (thrown) {
      rollback(client);
      outcomes = jobs.map(() => refuse(thrown));
    }
    for (const [at, job] of jobs.entries()) settle(job, outcomes[at] ?? refuse(undefined));
    const written = outcomes.flatMap((outcome) => (outcome.keep && outcome.written !== undefined ? [outcome.written] : []));
    if (written.length > 0) onWritten(written);
  }
}

/** @throws the job's own error where SQLite has taken the whole transaction back, as it may on a full disk */
function guarded(statements: Statements, job: Job, refuse: (thrown: unknown) => Failed): Outcome<unknown> | Failed {
  statements.get("savepoint").run();
  try {
    const outcome = job.write();
    if (!outcome.keep) statements.get("undo").run();
    statements.get("release").run();
    return outcome;
  } catch (thrown) {
    if (!takeBack(statements)) throw thrown;
    return refuse(thrown);
  }
}

function settle(job: Job, outcome: Outcome<unknown> | Failed): void {
  if ("error" in outcome) job.reject(outcome.error);
  else job.resolve(outcome.result as never);
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
