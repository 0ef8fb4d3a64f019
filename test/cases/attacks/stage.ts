import {
  type Card,
  type Channel,
  type Directory,
  groupDirectory,
  type Policy,
  type Rule,
  type Tool,
} from "../../../src/core/index.ts";
import { recordingChannel } from "../../../src/testing/index.ts";
import { type Fields, isFields, list, number, text } from "../faults/shape.ts";
import { Hand } from "../world/hand.ts";
import type { Sabotage } from "../world/part.ts";
import { Seat } from "../world/seat.ts";
import type { Call } from "../world/call.ts";
import { World } from "../world/world.ts";

/** A card that a person was given, with the request it is of. */
export interface Shown {
  readonly request: string;
  readonly card: Card;
  readonly text: string;
  readonly complete: boolean;
}

export interface StageOptions {
  readonly sabotage?: Sabotage | undefined;
  readonly tools: readonly Tool[];
  /** Default: everything is asked of the approvers. */
  readonly policy?: Policy;
  readonly durable?: boolean;
  readonly inHand?: boolean;
  /** `terminal`: ann sits at a terminal. `recording`: ann and bob are reached by a channel that keeps everything. */
  readonly channel?: "terminal" | "recording" | "none";
  readonly tty?: boolean;
  readonly quorum?: number;
  readonly window?: number;
  readonly deadline?: number;
  /** Channel identities and whose they are. */
  readonly identities?: Fields;
  /** By class of tool: who may approve it. Default: ann and bob. */
  readonly classes?: ReadonlyMap<string, readonly string[]>;
  readonly callerOffset?: number;
  readonly realTime?: boolean;
  readonly record?: "calls" | "counts";
}

const APPROVERS: readonly string[] = ["ann", "bob"];

/** A case on a stage: agents act for lena, ann and bob approve, and everything that was seen is kept for the checks. */
export class Stage {
  readonly world: World;
  readonly hand: Hand = new Hand();
  readonly groups: Map<string, readonly string[]> = new Map<string, readonly string[]>([["group:approvers", APPROVERS]]);
  readonly shown: Shown[] = [];
  readonly marks: Map<string, unknown> = new Map<string, unknown>();
  readonly options: StageOptions;
  seat: Seat | undefined;

  constructor(options: StageOptions) {
    this.options = options;
    for (const [name, people] of options.classes ?? []) this.groups.set(`group:${name}`, people);
    const { deadline, callerOffset } = options;
    this.world = new World({
      principal: "lena",
      sabotage: options.sabotage,
      durable: options.durable === true,
      realTime: options.realTime === true,
      operator: "ops",
      policy: () => options.policy ?? this.#asksAll(),
      tools: () => options.tools,
      channels: () => this.#channels(),
      directory: this.#directory(),
      ...(deadline === undefined ? {} : { deadline }),
      ...(options.record === undefined ? {} : { record: options.record }),
      ...(options.inHand === true ? { hand: (desk) => this.hand.of(desk) } : {}),
      ...(callerOffset === undefined
        ? {}
        : { callerClock: (clock) => ({ now: () => clock.now() + callerOffset, after: (ms, fire) => clock.after(ms, fire) }) }),
    });
  }

  #asksAll(): Policy {
    const { quorum, window, classes } = this.options;
    const words: Partial<Rule> = {
      ...(quorum === undefined ? {} : { quorum }),
      ...(window === undefined ? {} : { window }),
    };
    const named = [...(classes?.keys() ?? [])];
    const rules: Rule[] = named.map((name) => ({ ask: name, approvers: [`group:${name}`], ...words }));
    return {
      rules: [
        ...rules,
        // A call of a class is its approvers' alone.
        { ask: "**", when: (call) => !named.includes(call.tool), approvers: ["group:approvers"], ...words },
      ],
    };
  }

  #directory(): Directory {
    const groups = groupDirectory(() => this.groups);
    const { identities = {} } = this.options;
    return {
      principalOf: async (as, vouched) => text(identities[as]) ?? vouched,
      holds: (selector, person) => groups.holds(selector, person),
      ownerOf: async () => undefined,
    };
  }

  #channels(): readonly Channel[] {
    const { channel = "recording", tty = true, identities = {} } = this.options;
    if (channel === "none") return [];
    if (channel === "terminal") {
      this.seat = new Seat({ as: "ann", clock: this.world.clock, tty });
      return [this.seat.channel];
    }
    const people = [
      ...new Set([...[...this.groups.values()].flat(), ...Object.values(identities).flatMap((name) => text(name) ?? [])]),
    ];
    return [recordingChannel({ name: "chat", people })];
  }

  /** Keeps what the approver is shown of what is open now. */
  async look(): Promise<void> {
    const process = this.world.process();
    if (this.world.stores.some((store) => store.down !== "no")) return;
    for (const { record } of await process.desk.pending().catch(() => [])) {
      if (this.shown.some((shown) => shown.request === record.id)) continue;
      const by = [...this.groups.values()].flat()[0] ?? "ann";
      const presented = await this.world.present(record.id, { by, via: "terminal" });
      if (presented === undefined) continue;
      const { card } = presented;
      const drawn = process.channels[0]?.render(card) ?? presented;
      this.shown.push({ request: record.id, card, text: drawn.text, complete: drawn.complete });
    }
  }

  async settle(): Promise<void> {
    await this.world.settle();
    if (this.seat !== undefined) await this.seat.opened();
    await this.world.settle();
    if ([...this.world.processes.values()].some((process) => process.alive)) await this.look();
  }

  get last(): Call | undefined {
    return this.world.calls.at(-1);
  }

  /** What became of a call before anybody answered. */
  verdictOf(call: Call): "allow" | "ask" | "deny" | "open" {
    if (call.requests.length > 0) return "ask";
    if (call.outcome === undefined) return "open";
    return call.outcome.status === "refused" ? "deny" : "allow";
  }

  async call(tool: string, args: unknown, over: Partial<Call["spec"]> = {}): Promise<Call> {
    const label = `call-${this.world.calls.length + 1}`;
    const call = this.world.make({ label, id: label, tool, args, ...over });
    await this.settle();
    return call;
  }

  async close(): Promise<void> {
    this.seat?.dispose();
    await this.world.close();
  }
}

/** Members of an input that say who may approve which class: `{ "bob": ["read"] }`. */
export function classesOf(approvers: unknown, asked: readonly string[]): ReadonlyMap<string, readonly string[]> | undefined {
  if (!isFields(approvers)) return undefined;
  const entries = Object.entries(approvers).map(([name, of]): [string, readonly string[]] => [name, list(of).map(String)]);
  return new Map(
    [...new Set(asked)].map((name) => {
      const people = entries.filter(([, of]) => of.includes(name)).map(([person]) => person);
      return [name, people.length > 0 ? people : ["ann"]];
    }),
  );
}

export const seconds = (value: unknown): number | undefined => {
  const count = number(value);
  return count === undefined ? undefined : count * 1000;
};
