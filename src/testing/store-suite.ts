import { manualClock } from "./manual-clock.ts";
import type { ManualClock } from "./manual-clock.ts";
import { COMMIT_CASES } from "./store-suite/commit-cases.ts";
import { SuiteDesk } from "./store-suite/desk.ts";
import type { StoreCase, StoreUnderTest } from "./store-suite/desk.ts";
import { GUARD_CASES } from "./store-suite/guard-cases.ts";
import { READ_CASES } from "./store-suite/read-cases.ts";
import { WAKE_CASES } from "./store-suite/wake-cases.ts";

export { SuiteDesk } from "./store-suite/desk.ts";
export type { StoreUnderTest } from "./store-suite/desk.ts";

export interface StoreSuite {
  /** Of vitest, node:test, mocha, … */
  readonly describe: (name: string, body: () => void) => unknown;
  readonly it: (name: string, body: () => Promise<void>) => unknown;
  /** A new, empty store whose time is that of `clock`. Called once for each case. */
  readonly makeStore: (clock: ManualClock) => StoreUnderTest | Promise<StoreUnderTest>;
  /** What the store can do; a case that needs more is not registered. Default: both. */
  readonly abilities?: readonly ("reopen" | "second")[];
}

const GROUPS: readonly (readonly [name: string, cases: readonly StoreCase[]])[] = [
  ["commits", COMMIT_CASES],
  ["guards and races", GUARD_CASES],
  ["reads", READ_CASES],
  ["leases and wake-ups", WAKE_CASES],
];

/** The contract of the store port, executable. Every store runs it: ours and those of others. */
export function storeSuite(suite: StoreSuite): void {
  const abilities = suite.abilities ?? ["reopen", "second"];
  for (const [group, cases] of GROUPS) {
    suite.describe(group, () => {
      for (const { name, needs, run } of cases) {
        if (needs === undefined || abilities.includes(needs)) suite.it(name, () => runCase(suite, run));
      }
    });
  }
}

async function runCase(suite: StoreSuite, run: StoreCase["run"]): Promise<void> {
  const clock = manualClock();
  const under = await suite.makeStore(clock);
  try {
    await run(new SuiteDesk(under, clock));
  } finally {
    await under.dispose();
  }
}
