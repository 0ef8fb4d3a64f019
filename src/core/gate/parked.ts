import { problemOf } from "../errors.ts";
import type { Outcome } from "../outcome.ts";
import type { Standing } from "../ports/desk.ts";
import { TIMES } from "../desk/parts.ts";
import { renewing } from "./held.ts";
import type { GateParts } from "./parts.ts";

/** It lives on without its caller: approval does not run it, the call made again does. */
export const isParked = ({ record, status }: Standing): boolean =>
  record.parked && (status === "pending" || status === "approved");

/** The requests of one run whose callers were told to come back: theirs for as long as the run lives. */
export class Parked {
  readonly #parts: GateParts;
  readonly #holder: string;
  /** By the first request of an edit chain. */
  readonly #kept = new Map<string, { readonly id: string; readonly stop: () => void }>();

  constructor(parts: GateParts, holder: string) {
    this.#parts = parts;
    this.#holder = holder;
  }

  add({ record }: Standing, link: string | undefined): Extract<Outcome, { status: "suspended" }> {
    const { id, root } = record;
    this.taken(root);
    const lease = { id, holder: this.#holder, every: TIMES.requesterRenewal };
    const stop = renewing(this.#parts, lease, () => this.#kept.delete(root));
    this.#kept.set(root, { id, stop });
    return { status: "suspended", request: id, token: "", ...(link === undefined ? {} : { link }) };
  }

  /** Its repeat came: from now on that call keeps it. */
  taken(root: string): void {
    this.#kept.get(root)?.stop();
    this.#kept.delete(root);
  }

  /** The run ends; what is parked may be taken up at once by another session of the same agent. */
  async leave(): Promise<void> {
    const left = [...this.#kept.values()];
    this.#kept.clear();
    for (const { stop } of left) stop();
    await Promise.all(left.map(({ id }) => this.#leave(id)));
  }

  async #leave(id: string): Promise<void> {
    try {
      await this.#parts.desk.park(id, this.#holder, true);
    } catch (thrown) {
      this.#parts.runtime.log.error("a parked request could not be let go; its lease runs out by itself", {
        request: id,
        problem: problemOf(thrown),
      });
    }
  }
}
