import type { Runtime } from "../ports/runtime.ts";
import type { AbortLike } from "../tool-call.ts";

export interface Joined {
  readonly signal: AbortLike;
  /** The call has ended. */
  readonly release: () => void;
}

/** The caller's signal and the run's own in one; released when the call has ended, or a long run would gather listeners. */
export function joined(runtime: Runtime, own: AbortLike, given: AbortLike | undefined): Joined {
  if (given === undefined) return { signal: own, release: () => undefined };
  const both = runtime.aborter();
  const listeners = [given, own].map((signal) => {
    const end = (): void => both.abort(signal.reason);
    if (signal.aborted) end();
    signal.addEventListener("abort", end);
    return () => signal.removeEventListener("abort", end);
  });
  const release = (): void => {
    for (const stop of listeners) stop();
  };
  return { signal: both.signal, release };
}
