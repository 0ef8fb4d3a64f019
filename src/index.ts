import { homedir } from "node:os";
import { join } from "node:path";
import { type Gate, type GateOptions, type Keys, makeGate, type Store } from "./core/index.ts";
import { fileKeys, memoryKeys, nodeRuntime } from "./runtime/node/index.ts";
import { memoryStore } from "./stores/memory/index.ts";

/** `HOLDPOINT_DATA`, else the XDG data folder. */
export function dataFolder(environment: NodeJS.ProcessEnv = process.env): string {
  const { HOLDPOINT_DATA: own, XDG_DATA_HOME: xdg } = environment;
  if (own !== undefined && own !== "") return own;
  return join(xdg !== undefined && xdg !== "" ? xdg : join(homedir(), ".local", "share"), "holdpoint");
}

/** What a durable store remembers must be readable after a restart; what only memory holds needs no key that outlives it. */
const keysFor = (store: Store): Keys =>
  store.capabilities.durable ? fileKeys(join(dataFolder(), "installation.key")) : memoryKeys();

/**
 * A gate: the only door to the execution of its tools. Without a store it remembers in memory; without a channel every
 * ask is refused `no_approver`; nothing approves by itself.
 * @throws DeclarationError naming the option and the fix
 */
export function createGate(options: GateOptions = {}): Gate {
  const clock = options.runtime?.clock;
  const own = (): Store => memoryStore(clock === undefined ? {} : { clock });
  const store = options.store ?? (options.desk === undefined ? own() : undefined);
  const runtime = options.runtime ?? nodeRuntime(store === undefined ? {} : { keys: keysFor(store) });
  return makeGate({ ...options, runtime, store });
}

export { fileKeys, memoryKeys, nodeRuntime } from "./runtime/node/index.ts";
export {
  type Alternative,
  type Assurance,
  type CallOptions,
  canonicalize,
  type Card,
  type Channel,
  type ChannelCapabilities,
  type ChannelDecision,
  type ChannelDesk,
  type Check,
  type ChildOptions,
  type Clause,
  type Clock,
  confirm,
  type Confirmation,
  copyJson,
  DeclarationError,
  type Delivered,
  type Delivery,
  type Directory,
  type Duration,
  type Gate,
  type GatedTool,
  type GateOptions,
  HoldpointError,
  type HoldpointEvent,
  isHoldpointError,
  isRefused,
  isSuspended,
  isUnknown,
  type Log,
  type Opinion,
  type Outcome,
  type Policy,
  readJson,
  Refused,
  type Requester,
  type Rule,
  type Run,
  type RunContext,
  type RunOptions,
  type Runtime,
  type Store,
  Suspended,
  type Tool,
  type ToolDescriptor,
  type Toolkit,
  toolkit,
  Unknown,
} from "./core/index.ts";
