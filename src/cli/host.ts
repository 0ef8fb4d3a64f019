import { existsSync } from "node:fs";
import { userInfo } from "node:os";
import { type Approvals, type Identity, type LocalDesk, localDesk, snapshotOf } from "../core/approving.ts";
import {
  type Channel,
  type Duration,
  type Gate,
  groupDirectory,
  type Log,
  makeGate,
  type Policy,
  type Runtime,
  type Store,
  type Surroundings,
} from "../core/index.ts";
import { terminalChannel } from "../channels/terminal/index.ts";
import { fileKeys, nodeRuntime } from "../runtime/node/index.ts";
import { sqliteStore } from "../stores/sqlite/index.ts";
import { agentHostAbove } from "./agent-host.ts";
import { CommandFault } from "./exit-codes.ts";
import { stderrLog } from "./log.ts";
import { isFurnished, type Place, placeOf } from "./place.ts";

/** The account that runs us, asked of the system: the operator of every desk of this data folder. */
export function operator(): string {
  try {
    return `os:${userInfo().username}`;
  } catch {
    return `os:uid-${process.getuid?.() ?? "unknown"}`;
  }
}

/** The person at the command line: the same account as the agent's, so no more than `local`. */
const commandLine = (principal: string = operator()): Identity => ({
  principal,
  as: `cli:${principal}`,
  via: "cli",
  assurance: "local",
});

interface Seams {
  readonly runtime: Runtime;
  readonly store: Store;
}

/**
 * A key made beside a database that knows another is no key: what people approved under the old one would be refused as
 * forged, and blamed on policy.
 */
async function mustHaveItsKey({ store, key }: Place): Promise<void> {
  if (!existsSync(store) || existsSync(key)) return;
  // A file that is no store, or another's, has a fault of its own to tell first.
  const opened = sqliteStore({ path: store });
  try {
    await opened.row("kill", "all");
  } finally {
    await opened.close();
  }
  throw new CommandFault(
    `${store} is here and its key ${key} is not, and no new one is made beside it: put the key back, or name with --data the folder that has both. Without its key what waits there cannot be taken up; to start anew, move the database away`,
  );
}

/**
 * What a desk on this data folder stands on. The store is looked at once, so that a file that cannot be used is said now
 * and not at the first call.
 */
async function seamsOf(place: Place, log: Log, surroundings?: (plain: Surroundings) => Surroundings): Promise<Seams> {
  await mustHaveItsKey(place);
  const plain = nodeRuntime({ keys: fileKeys(place.key), log });
  const runtime = surroundings === undefined ? plain : { ...plain, surroundings: surroundings(plain.surroundings) };
  const store = sqliteStore({ path: place.store, clock: runtime.clock });
  try {
    await store.row("kill", "all");
  } catch (thrown) {
    await store.close();
    throw thrown;
  }
  return { runtime, store };
}

export interface DeskOptions {
  readonly data?: string | undefined;
  readonly policy?: Policy | undefined;
  /** Makes a folder, key and store where there are none. Default: says that nothing was asked here. */
  readonly make?: boolean;
  readonly quiet?: boolean | undefined;
}

/** A desk of this command's own, for as long as it runs. Many of them share one data folder. */
export interface DeskHost extends Seams {
  readonly desk: LocalDesk;
  readonly approvals: Approvals;
  readonly as: Identity;
  readonly place: Place;
}

const nothingHere = (place: Place): CommandFault =>
  new CommandFault(
    `there is no data folder of Holdpoint at ${place.folder} yet; name another with --data or HOLDPOINT_DATA, or put a server behind "holdpoint mcp" first`,
  );

/** @throws CommandFault where there is nothing at the place and nothing may be made */
export async function withDesk<T>(options: DeskOptions, use: (host: DeskHost) => Promise<T>): Promise<T> {
  const place = placeOf(options.data);
  if (options.make !== true && !isFurnished(place)) throw nothingHere(place);
  const { runtime, store } = await seamsOf(place, stderrLog({ quiet: options.quiet, errorsOnly: true }));
  const as = commandLine();
  const desk = localDesk({
    runtime,
    store,
    policy: snapshotOf(options.policy ?? {}, { runtime, record: "calls" }),
    directory: groupDirectory(() => desk.policy().groups),
    listing: [as],
  });
  try {
    return await use({ runtime, store, desk, approvals: desk.approvals, as, place });
  } finally {
    await desk.close();
  }
}

export interface GateHostOptions {
  readonly place: Place;
  readonly log: Log;
  readonly policy: Policy | undefined;
  readonly deadline: Duration | undefined;
  /** May the controlling terminal be used to ask? */
  readonly terminal: boolean;
  /** Is a listing (`holdpoint pending`, `approve`) somebody to ask? */
  readonly listing: boolean;
  /** What calls are bound to, where that is more than files and folders. */
  readonly surroundings?: (plain: Surroundings) => Surroundings;
}

export interface HostedGate {
  readonly gate: Gate;
  readonly runtime: Runtime;
  /** Asks on the terminal of this process now. */
  readonly asksHere: boolean;
}

/**
 * Channels of a process that hosts a gate. Below an agent's own program the terminal belongs to that program: two readers
 * would share the keys between them, and what answers there may be the agent.
 */
async function channelsOf(options: GateHostOptions): Promise<{ channels: readonly Channel[]; asksHere: boolean }> {
  if (!options.terminal || agentHostAbove() !== undefined) return { channels: [], asksHere: false };
  const channel = terminalChannel({ commandOptions: options.place.option });
  return { channels: [channel], asksHere: (await channel.reaches()).length > 0 };
}

/** A gate in this process, in front of what the process relays or runs, with a desk of its own on the data folder. */
export async function hostGate(options: GateHostOptions): Promise<HostedGate> {
  const { runtime, store } = await seamsOf(options.place, options.log, options.surroundings);
  const { channels, asksHere } = await channelsOf(options);
  const gate = makeGate(
    {
      runtime,
      store,
      channels,
      ...(options.policy === undefined ? {} : { policy: options.policy }),
      ...(options.deadline === undefined ? {} : { deadline: options.deadline }),
    },
    { listing: options.listing ? [commandLine()] : [], grade: "structural", proof: "claimed", record: "calls" },
  );
  return { gate, runtime, asksHere };
}
