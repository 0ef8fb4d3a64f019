import { AsyncLocalStorage } from "node:async_hooks";
import { type Guards, GUARDS, type LocalDesk, localDesk, snapshotOf } from "../../../src/core/approving.ts";
import {
  type Channel,
  type Clock,
  type Desk,
  type Directory,
  type Gate,
  type GateHost,
  groupDirectory,
  type HoldpointEvent,
  type Keys,
  makeGate,
  type Policy,
  type Runtime,
  type Store,
  type Tool,
} from "../../../src/core/index.ts";
import { nodeRuntime } from "../../../src/index.ts";
import "./warm.ts";
import type { Files } from "./files.ts";
import type { Sabotage } from "./part.ts";

/** An execution of a tool, as the tool saw it. */
export interface Effect {
  /** The case's name of the call; `undefined`: nobody called, an attacker ran it. */
  readonly label: string | undefined;
  readonly tool: string;
  readonly arguments: unknown;
  readonly request: string | undefined;
  readonly process: string;
  /** The journal of the request when the tool began. */
  readonly journal: readonly string[];
}

export interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly fields: unknown;
}

export interface ProcessOptions {
  readonly name: string;
  readonly files: Files;
  readonly clock: Clock;
  readonly keys: Keys;
  readonly store: Store;
  readonly policy: Policy;
  readonly channels: readonly Channel[];
  readonly tenant?: string | undefined;
  readonly operator?: string | undefined;
  readonly windows?: "on" | "off" | undefined;
  readonly directory?: Directory | undefined;
  readonly deadline?: number | undefined;
  readonly record?: GateHost["record"];
  readonly listing?: GateHost["listing"];
  /** Its own clock where the caller's differs from the desk's. */
  readonly callerClock?: Clock | undefined;
  readonly sabotage?: Sabotage | undefined;
  /** Takes the desk in hand, to stop a call between two of its steps. */
  readonly hand?: ((desk: Desk) => Desk) | undefined;
  readonly onEvent?: (event: HoldpointEvent) => void;
}

/** The call that the code running now belongs to. */
export const CURRENT: AsyncLocalStorage<string> = new AsyncLocalStorage();

/** One process that holds a desk and a gate: it can die and leave its store behind. */
export class Process {
  readonly name: string;
  readonly gate: Gate;
  readonly desk: LocalDesk;
  readonly store: Store;
  readonly runtime: Runtime;
  readonly channels: readonly Channel[];
  readonly log: LogLine[] = [];
  /** False: nothing that it still does has an effect or a witness. */
  alive = true;
  #closed = false;

  constructor(options: ProcessOptions) {
    this.name = options.name;
    const { sabotage, clock } = options;
    this.store = sabotage?.store?.(options.store, clock) ?? options.store;
    this.channels = options.channels.map((channel) => sabotage?.channel?.(channel) ?? channel);
    this.runtime = this.#runtime(options, clock);
    const policy = sabotage?.policy?.(options.policy) ?? options.policy;
    const guards: Guards = sabotage?.guards ?? GUARDS;
    const inHand = options.hand !== undefined || sabotage?.desk !== undefined || options.callerClock !== undefined;
    if (inHand) {
      this.desk = this.#ownDesk(options, policy, guards);
      const worse = sabotage?.desk?.(this.desk, clock) ?? this.desk;
      const desk = options.hand?.(worse) ?? worse;
      const runtime = options.callerClock === undefined ? this.runtime : this.#runtime(options, options.callerClock);
      this.gate = makeGate({ runtime, store: undefined, desk, ...this.#gateOptions(options) });
    } else {
      const { tenant, operator, directory } = options;
      this.gate = makeGate(
        {
          runtime: this.runtime,
          store: this.store,
          policy,
          channels: this.channels,
          ...this.#gateOptions(options),
          ...(tenant === undefined ? {} : { tenant }),
          ...(operator === undefined ? {} : { operator }),
          ...(directory === undefined ? {} : { directory }),
        },
        this.#host(options, guards),
      );
      this.desk = this.gate.desk as unknown as LocalDesk;
    }
    if (options.onEvent !== undefined) {
      this.gate.on(options.onEvent);
      if (inHand) this.desk.events.subscribe(options.onEvent);
    }
  }

  #host({ record, listing }: ProcessOptions, guards: Guards): GateHost {
    return { guards, ...(record === undefined ? {} : { record }), ...(listing === undefined ? {} : { listing }) };
  }

  #gateOptions({ windows, deadline }: ProcessOptions): { windows: "on" | "off"; deadline: number } {
    return { windows: windows ?? "on", deadline: deadline ?? 86_400_000 };
  }

  #runtime({ keys, files }: ProcessOptions, clock: Clock): Runtime {
    const note =
      (level: string) =>
      (message: string, fields?: object): void => {
        this.log.push({ level, message, fields: fields ?? {} });
      };
    const log = { debug: note("debug"), info: note("info"), warn: note("warn"), error: note("error") };
    return nodeRuntime({ keys, clock, log, surroundings: files.surroundings });
  }

  #ownDesk(options: ProcessOptions, policy: Policy, guards: Guards): LocalDesk {
    const { tenant, operator, listing, record } = options;
    const { runtime, store, channels } = this;
    const desk: LocalDesk = localDesk({
      runtime,
      store,
      channels,
      guards,
      policy: snapshotOf(policy, { runtime, record: record ?? "counts" }),
      directory: options.directory ?? groupDirectory(() => desk.policy().groups),
      ...(tenant === undefined ? {} : { tenant }),
      ...(operator === undefined ? {} : { operator }),
      ...(listing === undefined ? {} : { listing }),
    });
    return desk;
  }

  /** The policy for runs that begin from now on. */
  setPolicy(policy: Policy): Promise<void> {
    return this.desk.setPolicy(snapshotOf(policy, { runtime: this.runtime, record: "counts" }));
  }

  register(tools: readonly Tool[]): void {
    this.gate.tools(tools);
  }

  /** Nothing of it is put in order: it is gone, and what its store has is what is left. */
  async kill(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.alive = false;
    await this.desk.close();
  }
}
