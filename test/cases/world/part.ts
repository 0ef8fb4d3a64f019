import type { Guards, LocalDesk } from "../../../src/core/approving.ts";
import type { Channel, Clock, Desk, Policy, Store } from "../../../src/core/index.ts";

/**
 * Parts of Holdpoint that are built worse than ours, put where ours would be: around its ports, never into it. The sabotage
 * run makes each case run with one of them.
 */
export interface Sabotage {
  readonly name: string;
  readonly guards?: Guards;
  readonly policy?: (policy: Policy) => Policy;
  readonly store?: (inner: Store, clock: Clock) => Store;
  readonly channel?: (inner: Channel) => Channel;
  readonly desk?: (inner: LocalDesk, clock: Clock) => Desk;
  /** What runs is the caller's own object, not the copy that was approved. */
  readonly live?: true;
}
