import type { Entry } from "../journal.ts";
import { setMember } from "../json-rules.ts";
import type { JsonValue } from "../json-value.ts";
import type { Log } from "../ports/runtime.ts";

/** What subscribers hear: the journal's vocabulary, and what no journal needs. */
export type HoldpointEvent =
  | {
      readonly type: "journal";
      readonly event: Entry["event"];
      readonly at: string;
      readonly request: string | null;
      readonly actor: Entry["actor"];
      readonly data: Entry["data"];
    }
  | {
      readonly type: "call";
      readonly tool: string;
      readonly tier: string | null;
      readonly status: string;
      readonly summary: string;
      readonly how: string | null;
      readonly duration: number;
      readonly who: string;
      readonly request: string | null;
    }
  | { readonly type: "turn.limit"; readonly turns: number }
  | { readonly type: "error"; readonly where: string; readonly code: string; readonly problem: string };

export type Listener = (event: HoldpointEvent) => unknown;

export interface EventStream {
  /** @returns ends the subscription */
  subscribe(listener: Listener): () => void;
  emit(event: HoldpointEvent): void;
  /** False: nobody would hear, so nothing need be made. */
  readonly heard: boolean;
}

/** A copy that its receiver may change as it likes without changing anyone else's. */
export function thaw<T extends JsonValue | object>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => thaw(item as JsonValue)) as unknown as T;
  const copy: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) setMember(copy, key, thaw(item as JsonValue));
  return copy as T;
}

/** Subscribers get their own copies, later and one by one: one that throws or is slow changes nothing of a call. */
export function eventStream(log: Log): EventStream {
  const listeners = new Set<Listener>();
  const tell = async (listener: Listener, event: HoldpointEvent): Promise<void> => {
    try {
      await listener(thaw(event));
    } catch (thrown) {
      log.warn("a subscriber threw", { problem: thrown instanceof Error ? thrown.name : "not an error" });
    }
  };
  return {
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    emit: (event) => {
      for (const listener of listeners) void tell(listener, event);
    },
    get heard() {
      return listeners.size > 0;
    },
  };
}
