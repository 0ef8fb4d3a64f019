import { milliseconds } from "../duration.ts";
import type { JsonObject } from "../json-value.ts";
import { isUnknown } from "../outcome.ts";
import type { Runtime } from "../ports/runtime.ts";
import type { AbortLike, Requester, Signal, Tool } from "../tool-call.ts";

/** How a tool ended. `lost`: its time was over while it still ran, or it says so itself by throwing `Unknown`. */
export type Ran =
  | { readonly as: "ran"; readonly value: unknown }
  | { readonly as: "failed"; readonly error: unknown }
  | { readonly as: "lost" };

export interface Execution {
  readonly tool: Tool;
  readonly arguments: JsonObject;
  readonly requester: Requester;
  readonly request: string | undefined;
  readonly signal: AbortLike;
}

const LOST = Symbol("lost");

/** Station 10: the frozen copy runs, and only now the tool's own time begins (P-12). */
export async function execute(runtime: Runtime, execution: Execution): Promise<Ran> {
  if (execution.signal.aborted) return { as: "failed", error: execution.signal.reason };
  try {
    const { timeout } = execution.tool;
    return timeout === undefined
      ? { as: "ran", value: await started(execution, execution.signal as Signal) }
      : await inTime(runtime, execution, milliseconds(timeout));
  } catch (error) {
    return isUnknown(error) ? { as: "lost" } : { as: "failed", error };
  }
}

function started({ tool, arguments: args, requester, request }: Execution, signal: Signal): unknown {
  return tool.run(args as never, request === undefined ? { signal, requester } : { signal, requester, request });
}

/** A tool whose time can be over has a signal of its own; any other one is handed the call's. */
async function inTime(runtime: Runtime, execution: Execution, ms: number): Promise<Ran> {
  const { tool, signal } = execution;
  const source = runtime.aborter();
  const end = (): void => source.abort(signal.reason);
  signal.addEventListener("abort", end);
  let cancel = (): void => undefined;
  try {
    const running = Promise.resolve(started(execution, source.signal));
    const over = new Promise<typeof LOST>((resolve) => {
      cancel = runtime.clock.after(ms, () => {
        // First, or what the tool says of its abort would pass for knowing what it did.
        resolve(LOST);
        source.abort(new Error(`"${tool.name}" took longer than ${String(tool.timeout)}`));
      });
    });
    const value = await Promise.race([running, over]);
    if (value !== LOST) return { as: "ran", value };
    running.catch(() => undefined);
    return { as: "lost" };
  } finally {
    cancel();
    signal.removeEventListener("abort", end);
  }
}
