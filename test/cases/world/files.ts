import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, posix } from "node:path";
import { nodeRuntime, type Runtime } from "../../../src/index.ts";

type Surroundings = Runtime["surroundings"];

/**
 * A case's own file system: a real folder that stands for `/`. Paths of cases are absolute in it, links in it are real
 * links, and what the gate binds is what the platform resolves.
 */
export class Files {
  readonly root: string = realpathSync(mkdtempSync(join(tmpdir(), "holdpoint-case-")));
  readonly env: Map<string, string> = new Map<string, string>();
  cwd = "/srv/proj";
  /** Resolves that wait: for the moment between a ruling and the run. */
  #held: { readonly after: number; readonly until: Promise<void> } | undefined;
  #resolved = 0;
  readonly #under = new Set<Promise<unknown>>();
  readonly #real: Surroundings = nodeRuntime().surroundings;

  constructor() {
    mkdirSync(this.#out(this.cwd), { recursive: true });
  }

  #out(path: string): string {
    return join(this.root, posix.resolve("/", path));
  }

  #in(path: string): string {
    return path === this.root ? "/" : path.slice(this.root.length);
  }

  absolute(path: string): string {
    return posix.resolve(this.cwd, path);
  }

  write(path: string, content: string): void {
    const at = this.#out(this.absolute(path));
    mkdirSync(dirname(at), { recursive: true });
    writeFileSync(at, content);
  }

  folder(path: string): void {
    mkdirSync(this.#out(this.absolute(path)), { recursive: true });
  }

  /** Puts a link there, or moves the one that is. */
  link(path: string, to: string): void {
    const at = this.#out(this.absolute(path));
    mkdirSync(dirname(at), { recursive: true });
    rmSync(at, { force: true, recursive: true });
    symlinkSync(this.#out(posix.resolve(posix.dirname(this.absolute(path)), to.startsWith("/") ? to : this.absolute(to))), at);
  }

  /** Where a path leads, as a rule in code resolves it. */
  resolved(path: string): string {
    const at = this.#out(this.absolute(path));
    try {
      return this.#in(realpathSync(at));
    } catch {
      return this.absolute(path);
    }
  }

  /** From the `after`th resolving on, each waits for `until`. */
  hold(after: number, until: Promise<void>): void {
    this.#held = { after: this.#resolved + after, until };
  }

  async #during<T>(work: Promise<T>): Promise<T> {
    this.#under.add(work);
    try {
      return await work;
    } finally {
      this.#under.delete(work);
    }
  }

  /** Resolves when no look at the disk is under way. True: there was one. */
  async idle(): Promise<boolean> {
    const busy = [...this.#under];
    await Promise.allSettled(busy);
    return busy.length > 0;
  }

  get surroundings(): Surroundings {
    return {
      cwd: () => this.cwd,
      env: (name) => this.env.get(name),
      realPath: async (path, cwd) => {
        this.#resolved += 1;
        if (this.#held !== undefined && this.#resolved > this.#held.after) await this.#held.until;
        const real = await this.#during(this.#real.realPath(this.#out(posix.resolve(cwd, path)), this.root));
        return real === undefined ? undefined : this.#in(real);
      },
      fileHash: (path) => this.#during(this.#real.fileHash(this.#out(path))),
      account: () => "desk",
    };
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}
