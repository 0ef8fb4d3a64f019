import { relay } from "./relay.ts";
import type { RelayEnd, RelayOptions } from "./relay.ts";

export type StdioOptions = Pick<RelayOptions, "server" | "command" | "judge" | "log">;

/** Signals with which clients and terminals end a server. */
const ENDING = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Relays between this process's own input and output and the server, until either side ends. What went wrong is written to
 * standard error; the caller exits with `code`.
 */
export async function relayOverStdio(options: StdioOptions): Promise<RelayEnd> {
  const stop = new AbortController();
  const end = (): void => stop.abort();
  for (const signal of ENDING) process.on(signal, end);
  // A client that no longer reads our errors is no reason to end.
  const ignored = (): void => undefined;
  process.stderr.on("error", ignored);
  try {
    const result = await relay({
      ...options,
      client: { input: process.stdin, output: process.stdout },
      environment: process.env,
      errors: process.stderr,
      stop: stop.signal,
    });
    if (result.problem !== undefined) process.stderr.write(`holdpoint: ${result.problem}\n`);
    return result;
  } finally {
    for (const signal of ENDING) process.removeListener(signal, end);
  }
}
