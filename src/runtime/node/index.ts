/** The platform seam on Node: built-in modules, and one package that is loaded when a JSON Schema is first used. */
import type { Aborter, Clock, Keys, Log, Runtime, Schemas, Surroundings } from "../../core/index.ts";
import { systemClock } from "./clock.ts";
import { nodeCrypto } from "./crypto.ts";
import { randomIds } from "./ids.ts";
import { checkedKeys, memoryKeys } from "./keys.ts";
import { jsonSchemas } from "./schemas.ts";
import { nodeSurroundings } from "./surroundings.ts";

export { fileKeys, memoryKeys } from "./keys.ts";

export interface NodeRuntimeOptions {
  /** Keys of this installation. Default `memoryKeys()`: what this process decided cannot be checked by the next one. */
  readonly keys?: Keys;
  /** Default: the machine's clock. */
  readonly clock?: Clock;
  /** Default: silent. */
  readonly log?: Log;
  /** Default: this process and its file system. */
  readonly surroundings?: Surroundings;
  /** Default: JSON Schema by `@cfworker/json-schema`. */
  readonly schemas?: Schemas;
}

/**
 * A runtime on Node's built-ins. Each one is a process of its own in the record: make one per process.
 * @throws DeclarationError on keys that are too short, or the same for two purposes
 */
export function nodeRuntime(options: NodeRuntimeOptions = {}): Runtime {
  const clock = options.clock ?? systemClock();
  return Object.freeze({
    clock,
    ids: randomIds(clock),
    crypto: nodeCrypto(),
    keys: checkedKeys(options.keys ?? memoryKeys()),
    schemas: options.schemas ?? jsonSchemas(),
    surroundings: options.surroundings ?? nodeSurroundings(),
    log: options.log ?? SILENT,
    aborter,
  });
}

const nothing = (): undefined => undefined;
const SILENT: Log = Object.freeze({ debug: nothing, info: nothing, warn: nothing, error: nothing });

function aborter(): Aborter {
  const controller = new AbortController();
  return { signal: controller.signal, abort: (reason) => controller.abort(reason) };
}
