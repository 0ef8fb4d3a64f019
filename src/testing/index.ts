export { manualClock } from "./manual-clock.ts";
export type { ManualClock } from "./manual-clock.ts";
export { storeSuite, SuiteDesk } from "./store-suite.ts";
export type { StoreSuite, StoreUnderTest } from "./store-suite.ts";
