import { milliseconds } from "../duration.ts";
import type { JsonObject } from "../json-value.ts";
import { isUnknown } from "../outcome.ts";
import type { Runtime } from "../ports/runtime.ts";
import type { AbortLike, Requester, RunContext, Tool } from "../tool-call.ts";

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
  const { tool, signal, requester, request } = execution;
  const source = runtime.aborter();
  const end = (): void => source.abort(signal.reason);
  if (signal.aborted) return { as: "failed", error: signal.reason };
  signal.addEventListener("abort", end);
  let cancel = (): void => undefined;
  try {
    const context: RunContext = { signal: source.signal, requester, ...(request === undefined ? {} : { request }) };
    const running = Promise.resolve(tool.run(execution.arguments as never, context));
    const over =
      tool.timeout === undefined
        ? undefined
        : new Promise<typeof LOST>((resolve) => {
            cancel = runtime.clock.after(milliseconds(tool.timeout as string | number), () => {
              // First, or what the tool says of its abort would pass for knowing what it did.
              resolve(LOST);
              source.abort(new Error(`"${tool.name}" took longer than ${String(tool.timeout)}`));
            });
          });
    const value = await (over === undefined ? running : Promise.race([running, over]));
    if (value === LOST) running.catch(() => undefined);
    return value === LOST ? { as: "lost" } : { as: "ran", value };
  } catch (error) {
    return isUnknown(error) ? { as: "lost" } : { as: "failed", error };
  } finally {
    cancel();
    signal.removeEventListener("abort", end);
  }
}
