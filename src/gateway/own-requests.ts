import { randomUUID } from "node:crypto";
import type { Id, ServerMessage } from "./message.ts";

/** Requests that we send to the server for ourselves. The client never sees their answers. */
export class OwnRequests {
  /** Not to be guessed, so that no client can send a request whose answer we would keep. */
  readonly #prefix = `holdpoint:${randomUUID()}:`;
  readonly #open = new Map<string, (answer: ServerMessage | undefined) => void>();
  #count = 0;

  isOwn(id: Id): boolean {
    return id.key.startsWith(`s${this.#prefix}`);
  }

  /**
   * @param send is given the id of the request
   * @returns the answer; `undefined` when none came in time
   */
  ask(send: (id: string) => void, within: number): Promise<ServerMessage | undefined> {
    this.#count += 1;
    const id = `${this.#prefix}${this.#count}`;
    return new Promise((resolve) => {
      const settle = (answer: ServerMessage | undefined): void => {
        clearTimeout(timer);
        this.#open.delete(`s${id}`);
        resolve(answer);
      };
      const timer = setTimeout(settle, within, undefined);
      this.#open.set(`s${id}`, settle);
      send(id);
    });
  }

  /** A second answer to the same request, or one that came too late, changes nothing. */
  answered(id: Id, answer: ServerMessage): void {
    this.#open.get(id.key)?.(answer);
  }

  /** The server is gone: nothing will be answered. */
  end(): void {
    for (const settle of [...this.#open.values()]) settle(undefined);
  }
}
