import { memoryStore } from "../../stores/memory/index.ts";
import { manualClock, type ManualClock, recordingChannel, type RecordingChannel } from "../../testing/index.ts";
import { benchRuntime, type Line } from "../desk/desk.test-kit.ts";
import type { JsonObject } from "../json-value.ts";
import type { Runtime, Surroundings } from "../ports/runtime.ts";
import type { Store } from "../ports/store.ts";
import type { Tool } from "../tool-call.ts";
import { type Gate, type GateHost, type GateOptions, makeGate } from "./gate.ts";
import type { Run } from "./run-port.ts";

/** The validator is loaded when a schema is first used: here, so that no test waits for a disk. */
await benchRuntime(manualClock()).schemas.check({ type: "object" }, {});

export interface GateBench {
  readonly gate: Gate;
  readonly run: Run;
  readonly channel: RecordingChannel;
  readonly clock: ManualClock;
  readonly runtime: Runtime;
  readonly store: Store;
  readonly lines: Line[];
  /** The newest request that a person was shown. */
  shown(): Promise<string>;
  /** A person answers the newest request. */
  answer(verdict: "approve" | "reject", options?: { reason?: string; by?: string }): Promise<string>;
}

export interface GateBenchOptions extends Omit<GateOptions, "runtime" | "store"> {
  readonly people?: readonly string[];
  readonly store?: Store;
  readonly clock?: ManualClock;
  readonly surroundings?: Partial<Surroundings>;
  readonly runtime?: Partial<Runtime>;
  readonly host?: GateHost;
}

/** A gate over a real desk and a real store, with a person who answers what a test says. */
export function gateBench(options: GateBenchOptions = {}): GateBench {
  const { people = ["ada", "bob"], store: given, clock = manualClock(), surroundings, runtime: parts, host, ...rest } = options;
  const lines: Line[] = [];
  const made = benchRuntime(clock, lines, parts);
  const runtime = { ...made, surroundings: { ...made.surroundings, ...surroundings } };
  const store = given ?? memoryStore({ clock });
  const channel = recordingChannel({ people });
  const own = rest.desk === undefined ? { channels: [channel] } : {};
  const gate = makeGate({ ...own, ...rest, runtime, store: rest.desk === undefined ? store : undefined }, host);
  const shown = async (): Promise<string> => {
    await clock.settle();
    const id = channel.deliveries.at(-1)?.card.id;
    if (id === undefined) throw new Error("nobody was shown anything");
    return id;
  };
  return {
    gate,
    run: gate.run({ principal: "ada", agent: "bot" }),
    channel,
    clock,
    runtime,
    store,
    lines,
    shown,
    answer: async (verdict, answer = {}) => {
      const id = await shown();
      await channel.answer(id, verdict, answer);
      await clock.settle();
      return id;
    },
  };
}

/** A tool that remembers what it was run with. */
export function recorder(over: Partial<Tool> = {}): Tool & { readonly ran: JsonObject[] } {
  const ran: JsonObject[] = [];
  return {
    name: "pay",
    tier: "write",
    run: ((args: JsonObject) => {
      ran.push(args);
      return { paid: true };
    }) as Tool["run"],
    ...over,
    ran,
  };
}
