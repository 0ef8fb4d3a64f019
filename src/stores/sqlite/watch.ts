import { closeSync, constants, openSync, statSync, watch, writeSync } from "node:fs";
import type { FSWatcher } from "node:fs";
import type { Hints } from "../hints.ts";
import type { Written } from "./batch.ts";
import type { Statements } from "./statements.ts";

/**
 * Wake-ups across processes, without a server. The file system tells of a write to SQLite's log before SQLite lets
 * anybody see it, and of nothing afterwards: whoever trusts that event sleeps for ever. So a writer rings a bell, one
 * byte in a file of its own beside the database, once its commit can be seen; whoever watches looks at each ring, and
 * slowly whatever happens, for a writer that was killed before it rang. (A touch of the database file would ring too,
 * and make the next sync of the log half as slow again.)
 */
const BELL = "-bell";
const RING = Buffer.from("!");
const SLOW_LOOK_MS = 250;
/** Commits that one look names; more are "look at everything". */
const MAX_COMMITS = 256;

export class Wakes {
  readonly #path: string;
  readonly #hints: Hints;
  readonly #statements: () => Statements;
  /** The newest commit that watchers have been told of; `undefined` while nobody watches. */
  #seen: number | undefined;
  #slow: NodeJS.Timeout | undefined;
  #bell: number | undefined;
  #rings: FSWatcher | undefined;

  constructor(path: string, hints: Hints, statements: () => Statements) {
    this.#path = path;
    this.#hints = hints;
    this.#statements = statements;
  }

  /** Begins to look, for the first watcher. @returns the newest commit */
  start(): number {
    const head = (this.#statements().get("head").get() as { seq: number }).seq;
    // The last watcher may have gone while the file was being opened.
    if (this.#seen === undefined && this.#hints.watched) {
      this.#seen = head;
      this.#slow = setInterval(() => this.#look(), SLOW_LOOK_MS).unref();
      this.#listen();
    }
    return head;
  }

  stop(): void {
    this.#seen = undefined;
    clearInterval(this.#slow);
    this.#rings?.close();
    this.#rings = undefined;
  }

  close(): void {
    this.stop();
    this.#closeBell();
  }

  /** Commits of this process, durable and visible: its own watchers at once, other processes by the bell. */
  written(written: readonly Written[]): void {
    this.#ring();
    if (this.#seen === undefined) return;
    // Another process committed in between: the file knows the order, and both parts.
    if (written[0]?.seq !== this.#seen + 1) this.#look();
    else for (const { seq, ids } of written) this.#tell(seq, ids);
  }

  #tell(seq: number, ids: readonly string[] | null): void {
    this.#seen = seq;
    this.#hints.publish(seq, ids);
  }

  #look(): void {
    if (this.#seen === undefined) return;
    try {
      const news = this.#statements().get("since").all(this.#seen, MAX_COMMITS) as { seq: number; ids: string }[];
      const last = news.at(-1)?.seq;
      if (last === undefined) return;
      if (news.length === MAX_COMMITS || last - this.#seen !== news.length) this.#tell(this.start(), null);
      else for (const { seq, ids } of news) this.#tell(seq, JSON.parse(ids));
    } catch {
      // Whoever waits must not sleep through a store that cannot be read: their own read meets the fault and names it.
      this.#hints.publish(Math.max(1, this.#seen), null);
    }
  }

  #listen(): void {
    try {
      this.#openBell();
      this.#rings = watch(this.#path + BELL, { persistent: false }, () => this.#look());
      this.#rings.on("error", () => this.#rings?.close());
    } catch {
      // No watch on this file system, or no more of them: the slow look remains.
      this.#rings = undefined;
    }
  }

  #ring(): void {
    try {
      writeSync(this.#openBell(), RING, 0, 1, 0);
    } catch {
      // A full disk, or an account that may not: a commit that is done stays done, and the others' slow look remains.
      this.#closeBell();
    }
  }

  #closeBell(): void {
    if (this.#bell !== undefined) closeSync(this.#bell);
    this.#bell = undefined;
  }

  /** Kept open, and with the rights of the database: whoever may write the one may ring the other. */
  #openBell(): number {
    this.#bell ??= openSync(this.#path + BELL, constants.O_WRONLY | constants.O_CREAT, statSync(this.#path).mode & 0o777);
    return this.#bell;
  }
}
