import type { GatedCall } from "./gated-call.ts";
import type { Withdrawal } from "./port.ts";
import type { Id } from "./message.ts";

/** A request of the client that has no answer yet. */
export type Pending =
  | { readonly type: "call"; readonly id: Id; readonly call: GatedCall }
  | { readonly type: "list"; readonly id: Id; readonly asked: number; readonly first: boolean }
  | { readonly type: "other"; readonly id: Id };

/** The client's requests in flight, by id. */
export class Calls {
  readonly #pending = new Map<string, Pending>();

  has(id: Id): boolean {
    return this.#pending.has(id.key);
  }

  get(id: Id): Pending | undefined {
    return this.#pending.get(id.key);
  }

  add(pending: Pending): void {
    this.#pending.set(pending.id.key, pending);
  }

  delete(id: Id): void {
    this.#pending.delete(id.key);
  }

  get heldCalls(): readonly GatedCall[] {
    return this.#gated().filter((call) => call.held);
  }

  get runningCalls(): readonly GatedCall[] {
    return this.#gated().filter((call) => !call.held);
  }

  /** Requests that are not gated calls. */
  get others(): readonly Id[] {
    return [...this.#pending.values()].filter(({ type }) => type !== "call").map(({ id }) => id);
  }

  withdrawHeld(why: Withdrawal): void {
    for (const call of this.heldCalls) call.withdraw(why);
  }

  #gated(): readonly GatedCall[] {
    return [...this.#pending.values()].flatMap((pending) => (pending.type === "call" ? [pending.call] : []));
  }
}
