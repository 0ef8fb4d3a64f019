import type { JsonObject } from "../../../src/core/index.ts";
import type { GatewayCall } from "../../../src/gateway/index.ts";

/** A call as the relay hands it to its judge. */
export const relayedCall = (tool: string, args: JsonObject, definition: object): GatewayCall => ({
  tool,
  arguments: args,
  argumentsText: JSON.stringify(args),
  definition,
  current: async () => definition,
  progress: () => undefined,
  progresses: false,
  waited: () => 0,
  left: new AbortController().signal,
  given: () => undefined,
  beside: [],
  clientName: undefined,
});
