import { HoldpointError } from "../errors.ts";
import type { KillScope, Row, Store } from "../ports/store.ts";
import type { Clock, Log } from "../ports/runtime.ts";
import { TIMES } from "./parts.ts";

/**
 * Whether anything is switched off. A claim looks inside its own commit; calls that policy frees look here, at what was
 * last read, and are refused when that could not be confirmed for too long.
 */
export interface KillSwitch {
  /** A fresh look. @throws HoldpointError `store_unavailable` */
  look(): Promise<void>;
  /** The last look was longer ago than a freed call may rely on. */
  readonly due: boolean;
  /** Nothing at all is off, by a look that is not due again. */
  readonly clear: boolean;
  /** @throws HoldpointError `store_unavailable` where the last look is too old to rely on */
  isKilled(scopes: readonly KillScope[]): boolean;
}

/** Every switch that could stop this call. */
export const killScopes = (
  tenant: string,
  tool: string,
  requester: { readonly agent?: string | null | undefined },
): readonly KillScope[] => [
  "all",
  `tenant:${tenant}`,
  `tool:${tool}`,
  ...(requester.agent == null ? [] : ([`agent:${requester.agent}`] as const)),
];

export const isOn = (row: Row | undefined): boolean => row !== undefined && row.value.on !== false;

export function killSwitch(parts: { readonly store: Store; readonly clock: Clock; readonly log: Log }): KillSwitch {
  const { store, clock, log } = parts;
  let on: ReadonlySet<string> = new Set();
  let looked: number | undefined;
  let looking: Promise<void> | undefined;

  const read = async (): Promise<void> => {
    const found = new Set<string>();
    const began = clock.now();
    for await (const row of store.rows({ kind: "kill" })) if (isOn(row)) found.add(row.key);
    on = found;
    looked = began;
  };
  const age = (): number => (looked === undefined ? Number.POSITIVE_INFINITY : Math.abs(clock.now() - looked));
  return {
    look: async () => {
      looking ??= read().finally(() => {
        looking = undefined;
      });
      try {
        await looking;
      } catch (thrown) {
        log.error("the kill switch could not be read", { age: age() });
        throw new HoldpointError("store_unavailable", "the kill switch could not be confirmed; nothing is let through", {
          cause: thrown,
        });
      }
    },
    get due() {
      return age() >= TIMES.killFresh;
    },
    get clear() {
      return on.size === 0 && age() < TIMES.killFresh;
    },
    isKilled: (scopes) => {
      if (age() > TIMES.killStale)
        throw new HoldpointError("store_unavailable", "the kill switch was not confirmed lately; nothing is let through");
      return on.size > 0 && scopes.some((scope) => on.has(scope));
    },
  };
}
