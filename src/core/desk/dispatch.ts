import { problemOf } from "../errors.ts";
import type { Identity } from "../ports/approvals.ts";
import type { Channel, Delivered } from "../ports/channel.ts";
import type { Aborter } from "../ports/runtime.ts";
import type { Stored } from "../ports/store.ts";
import type { Standing } from "../quorum.ts";
import { type ApprovalRequest, type CancelReason, hasEnded, type Status } from "../request.ts";
import { channelNamed, type DeliveryPlan, planDelivery, type PlanQuestion, reachedBy } from "./delivery-plan.ts";
import { look } from "./look.ts";
import { ableAmong, enough, personOf, standingOf } from "./people.ts";
import { type DeskParts, TIMES } from "./parts.ts";
import { cardOf, present } from "./present.ts";

/** Delivers, closes, reminds; it never decides. */
export interface Dispatcher {
  /** `undefined`: nobody who could be asked. */
  plan(question: PlanQuestion): Promise<DeliveryPlan | undefined>;
  /** Starts delivering a stored request. */
  begin(stored: Stored, plan: DeliveryPlan): void;
  /** It is shown, or being shown, by this process. */
  knows(id: string): boolean;
  /** A complete view was shown to this person. */
  seen(id: string, identity: Identity): Promise<void>;
  /** The channel's person passes the question on. */
  pass(id: string): Promise<void>;
  /** Brings every surface to the form it has from now on: once when it is decided, again when it has ended. */
  close(id: string): Promise<void>;
  /** Takes the deliveries of an edited request over to its successor. */
  follow(from: string, successor: Stored): Promise<void>;
  /** Ends everything that is under way: the desk closes. */
  stop(): void;
}

/** What the dispatcher needs the desk for. */
export interface DispatchDesk {
  cancel(id: string, reason: CancelReason): Promise<void>;
  park(id: string): Promise<void>;
  note(id: string, event: DeliveryEvent, facts: Record<string, string>): Promise<void>;
  /** The same, together with a decision that is given at once. */
  noteSoon(id: string, event: DeliveryEvent, facts: Record<string, string>): Promise<void>;
}
export type DeliveryEvent = "request.delivered" | "request.undelivered" | "request.seen" | "request.reminded";

interface Underway {
  readonly plan: DeliveryPlan;
  readonly stop: Aborter;
  readonly reached: Map<string, Standing>;
  /** By channel: whom it showed the request. */
  readonly shown: Map<string, Set<string>>;
  /** What its surfaces were told already: whoever decided, and whoever waited, both say so. */
  readonly told: Set<Status>;
  /** Place in the plan of the first channel not yet passed over. */
  readonly next: number;
  /** Milliseconds since the epoch: whom it was not shown to by then it does not reach. */
  readonly until: number;
}

const clausesOf = (record: Pick<ApprovalRequest, "terms" | "requester">) => ({
  clauses: record.terms.clauses,
  requester: record.requester,
});
/** Made once: the platform's own reason takes a stack along, which costs more than all the rest of ending a delivery. */
const OVER: unknown = Object.assign(new Error("the request is over"), { name: "AbortError" });
const satisfied = ({ record }: Stored, state: Underway): boolean => enough(record.terms.clauses, state.reached);

class Dispatching implements Dispatcher {
  readonly #partsOf: () => DeskParts;
  readonly #desk: DispatchDesk;
  readonly #underway = new Map<string, Underway>();

  constructor(parts: () => DeskParts, desk: DispatchDesk) {
    this.#partsOf = parts;
    this.#desk = desk;
  }

  get #parts(): DeskParts {
    return this.#partsOf();
  }

  plan(question: PlanQuestion): Promise<DeliveryPlan | undefined> {
    return planDelivery(this.#parts, question);
  }

  begin(stored: Stored, plan: DeliveryPlan): void {
    this.#start(stored, { plan, next: 0 });
  }

  knows(id: string): boolean {
    return this.#underway.has(id);
  }

  #start(stored: Stored, from: { plan: DeliveryPlan; next: number }): void {
    const { clock } = this.#parts.runtime;
    const until = clock.now() + TIMES.deliverWithin;
    const state: Underway = {
      ...from,
      until,
      stop: this.#parts.runtime.aborter(),
      reached: new Map(),
      shown: new Map(),
      told: new Set(),
    };
    this.#underway.set(stored.record.id, state);
    this.#remindLater(stored, state);
    void this.#run(stored, state);
  }

  async #run(stored: Stored, state: Underway): Promise<void> {
    try {
      await this.#delivering(stored, state);
    } catch (thrown) {
      this.#parts.runtime.log.error("delivering stopped", { request: stored.record.id, problem: problemOf(thrown) });
      await this.#giveUp(stored.record.id);
    }
  }

  /** Not enough people could be shown it in time: refused, with a code of its own, rather than waited out (P-06). */
  async #giveUp(id: string): Promise<void> {
    try {
      await this.#desk.cancel(id, "undeliverable");
    } catch (thrown) {
      this.#parts.runtime.log.error("an undeliverable request could not be withdrawn; its deadline ends it", {
        request: id,
        problem: problemOf(thrown),
      });
    }
  }

  async #delivering(stored: Stored, state: Underway): Promise<void> {
    const { clock } = this.#parts.runtime;
    const { until } = state;
    const settled = (): boolean => state.stop.signal.aborted || satisfied(stored, state);
    const parks = state.plan.offered && stored.record.grade === "structural" && stored.record.lease !== undefined;
    const unasked = state.plan.channels.length === 0;
    for (;;) {
      await this.#round(stored, state);
      if (settled() || (state.plan.offered && unasked && !parks)) return;
      if (clock.now() >= until) break;
      await this.#pause(unasked ? until - clock.now() : Math.min(TIMES.deliverAgain, until - clock.now()), state);
      if (settled()) return;
    }
    if (parks) await this.#desk.park(stored.record.id);
    else if (!state.plan.offered) await this.#giveUp(stored.record.id);
  }

  #pause(ms: number, state: Underway): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#parts.runtime.clock.after(ms, resolve);
      state.stop.signal.addEventListener("abort", () => {
        cancel();
        resolve();
      });
    });
  }

  /** What a channel does, awaited for so long at most: one that never finishes must keep nobody else. */
  #within<T>(ms: number, work: Promise<T>, stop?: Aborter): Promise<T | undefined> {
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        cancel();
        resolve(undefined);
      };
      const cancel = this.#parts.runtime.clock.after(ms, () => resolve(undefined));
      stop?.signal.addEventListener("abort", giveUp);
      const over = (): void => {
        cancel();
        stop?.signal.removeEventListener("abort", giveUp);
      };
      work.then(resolve, reject).finally(over);
    });
  }

  async #round(stored: Stored, state: Underway): Promise<void> {
    for (const name of state.plan.channels.slice(state.next)) {
      const channel = channelNamed(this.#parts, name);
      if (channel !== undefined) await this.#deliverOn(stored, channel, state);
      if (satisfied(stored, state)) return;
    }
  }

  /** To all people of one channel who could approve, once each. */
  async #deliverOn(stored: Stored, channel: Channel, state: Underway): Promise<void> {
    for (const identity of await reachedBy(this.#parts, channel)) {
      const person = await personOf(this.#parts, identity);
      if (state.stop.signal.aborted || state.shown.get(channel.name)?.has(person.principal) === true) continue;
      if ((await ableAmong(this.#parts, clausesOf(stored.record), [identity])).size > 0)
        await this.#deliverTo(stored, { channel, identity, state });
    }
  }

  async #deliverTo(stored: Stored, to: { channel: Channel; identity: Identity; state: Underway }): Promise<void> {
    const { channel, identity, state } = to;
    try {
      const presented = await present(this.#parts, stored, { as: identity, render: (card) => channel.render(card) });
      const left = Math.max(1, Math.min(TIMES.deliverTry, state.until - this.#parts.runtime.clock.now()));
      const delivering = channel.deliver({ ...presented, to: identity, signal: state.stop.signal });
      const delivered = await this.#within(left, delivering, state.stop);
      if (delivered === undefined && state.stop.signal.aborted) return;
      if (delivered === undefined) throw new Error("the channel did not answer in time");
      const how = channel.capabilities.reach === "process" ? "noteSoon" : "note";
      await this.#count(stored.record, { identity, channel: channel.name, state: delivered.state, how });
    } catch (thrown) {
      this.#parts.runtime.log.error("a delivery failed", {
        request: stored.record.id,
        channel: channel.name,
        problem: problemOf(thrown),
      });
      await this.#desk.note(stored.record.id, "request.undelivered", { channel: channel.name });
    }
  }

  async #count(
    record: ApprovalRequest,
    reached: { identity: Identity; channel: string; state: Delivered["state"]; how: "note" | "noteSoon" },
  ): Promise<void> {
    const state = this.#underway.get(record.id);
    const person = await personOf(this.#parts, reached.identity);
    if (state !== undefined) {
      const known = state.shown.get(reached.channel) ?? new Set();
      state.shown.set(reached.channel, known.add(person.principal));
      if (reached.state !== "offered")
        state.reached.set(person.principal, await standingOf(this.#parts, clausesOf(record), person));
    }
    const event = reached.state === "seen" ? "request.seen" : "request.delivered";
    await this.#desk[reached.how](record.id, event, { channel: reached.channel, to: person.principal, state: reached.state });
  }

  #remindLater({ record }: Stored, state: Underway): void {
    const { remind } = record.terms;
    if (remind === null) return;
    const cancel = this.#parts.runtime.clock.after(remind, () => void this.#remind(record.id, state));
    state.stop.signal.addEventListener("abort", cancel);
  }

  async #remind(id: string, state: Underway): Promise<void> {
    try {
      const stored = await look(this.#parts, id);
      if (stored === undefined || stored.record.status !== "pending" || state.stop.signal.aborted) return;
      const card = await cardOf(this.#parts, stored);
      for (const name of state.shown.keys()) {
        await channelNamed(this.#parts, name)?.remind(id, card);
        await this.#desk.note(id, "request.reminded", { channel: name });
      }
      this.#remindLater(stored, state);
    } catch (thrown) {
      this.#parts.runtime.log.error("a reminder failed", { request: id, problem: problemOf(thrown) });
    }
  }

  async seen(id: string, identity: Identity): Promise<void> {
    const stored = await look(this.#parts, id);
    if (stored?.record.status !== "pending") return;
    await this.#count(stored.record, { identity, channel: identity.via, state: "seen", how: "note" });
  }

  async pass(id: string): Promise<void> {
    const state = this.#underway.get(id);
    const stored = await look(this.#parts, id);
    if (state === undefined || stored === undefined || hasEnded(stored.record.status)) return;
    state.stop.abort(OVER);
    const next = state.next + 1;
    if (next >= state.plan.channels.length) return this.#desk.cancel(id, "no_approver");
    await this.#closeSoon(stored, state);
    this.#start(stored, { plan: state.plan, next });
  }

  async close(id: string): Promise<void> {
    const state = this.#underway.get(id);
    if (state === undefined) return;
    state.stop.abort(OVER);
    const stored = await look(this.#parts, id);
    if (stored === undefined || hasEnded(stored.record.status)) this.#underway.delete(id);
    if (stored === undefined || state.told.has(stored.record.status)) return;
    state.told.add(stored.record.status);
    await this.#closeAll(stored, state);
  }

  /** First the old form, then what takes its place; but a surface that never closes must not keep it from being asked about. */
  async #closeSoon(stored: Stored, state: Underway): Promise<void> {
    await this.#within(TIMES.deliverAgain, this.#closeAll(stored, state));
  }

  async #closeAll(stored: Stored, state: Underway): Promise<void> {
    const card = await cardOf(this.#parts, stored);
    await Promise.all(
      [...state.shown.keys()].map(async (name) => {
        try {
          await channelNamed(this.#parts, name)?.close(stored.record.id, card);
        } catch (thrown) {
          this.#parts.runtime.log.error("a surface was not brought to its final form", {
            request: stored.record.id,
            channel: name,
            problem: problemOf(thrown),
          });
        }
      }),
    );
  }

  stop(): void {
    for (const state of this.#underway.values()) state.stop.abort(OVER);
    this.#underway.clear();
  }

  async follow(from: string, successor: Stored): Promise<void> {
    const state = this.#underway.get(from);
    this.#underway.delete(from);
    if (state === undefined) return;
    state.stop.abort(OVER);
    const old = await look(this.#parts, from);
    if (old !== undefined) await this.#closeSoon(old, state);
    if (successor.record.status === "pending") this.#start(successor, { plan: state.plan, next: state.next });
  }
}

export const dispatcher = (parts: () => DeskParts, desk: DispatchDesk): Dispatcher => new Dispatching(parts, desk);
