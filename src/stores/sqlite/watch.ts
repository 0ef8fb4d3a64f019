import { utimesSync, watch } from "node:fs";
import type { FSWatcher } from "node:fs";
import { basename, dirname } from "node:path";
import type { Hints } from "../hints.ts";
import type { Written } from "./batch.ts";
import type { Statements } from "./statements.ts";

/**
 * Wake-ups across processes, without a server. The file system tells of a write before SQLite lets anybody see it, and
 * of nothing afterwards, so whoever trusts that event alone sleeps for ever. Therefore three ways, each one enough to
 * lose nothing: a writer touches the database file once its commit is visible; an event of the log starts a short
 * series of looks; and there is a slow look whatever happens.
 */
const LOOKS_AFTER_EVENT_MS: readonly number[] = [1, 2, 4, 8, 16, 32];
const SLOW_LOOK_MS = 250;
/** Commits that one look names; more are "look at everything". */
const MAX_COMMITS = 256;

export class Wakes {
  readonly #path: string;
  readonly #hints: Hints;
  readonly #statements: () => Statements;
  /** The newest commit that watchers have been told of; `undefined` while nobody watches. */
  #seen: number | undefined;
  #folder: FSWatcher | undefined;
  #slow: NodeJS.Timeout | undefined;
  #series: NodeJS.Timeout | undefined;
  #mayTouch = true;

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
    clearTimeout(this.#series);
    this.#folder?.close();
    this.#folder = undefined;
  }

  /** Commits of this process, durable and visible: its own watchers at once, other processes by a touch of the file. */
  written(written: readonly Written[]): void {
    this.#touch();
    if (this.#seen === undefined) return;
    // Another process committed in between: the file knows the order, and both parts.
    if (written[0]?.seq !== this.#seen + 1) this.#look();
    else for (const { seq, ids } of written) this.#tell(seq, ids);
  }

  #tell(seq: number, ids: readonly string[] | null): void {
    this.#seen = seq;
    this.#hints.publish(seq, ids);
  }

  #look(): boolean {
    if (this.#seen === undefined) return false;
    try {
      const news = this.#statements().get("since").all(this.#seen, MAX_COMMITS) as { seq: number; ids: string }[];
      const last = news.at(-1)?.seq;
      if (last === undefined) return false;
      if (news.length === MAX_COMMITS || last - this.#seen !== news.length) this.#tell(this.start(), null);
      else for (const { seq, ids } of news) this.#tell(seq, JSON.parse(ids));
    } catch {
      // Whoever waits must not sleep through a store that cannot be read: their own read meets the fault and names it.
      this.#hints.publish(Math.max(1, this.#seen), null);
    }
    return true;
  }

  #listen(): void {
    const name = basename(this.#path);
    try {
      this.#folder = watch(dirname(this.#path), { persistent: false }, (_event, file) => {
        if (file === null || file === name) this.#look();
        else if (file === `${name}-wal`) this.#lookFor(0);
      });
      this.#folder.on("error", () => this.#folder?.close());
    } catch {
      // No watch on this file system, or no more of them: the slow look remains.
      this.#folder = undefined;
    }
  }

  #lookFor(attempt: number): void {
    clearTimeout(this.#series);
    const ms = LOOKS_AFTER_EVENT_MS[attempt];
    if (this.#look() || ms === undefined) return;
    this.#series = setTimeout(() => this.#lookFor(attempt + 1), ms).unref();
  }

  #touch(): void {
    if (!this.#mayTouch) return;
    try {
      const now = new Date();
      utimesSync(this.#path, now, now);
    } catch {
      // The file is another account's: its log's events must do.
      this.#mayTouch = false;
    }
  }
}
