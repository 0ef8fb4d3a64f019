import { createContext, Script } from "node:vm";
import { HoldpointError } from "../../core/index.ts";

/** Far above what any honest check takes, and short enough that a hostile one does not stop the other calls for long. */
const LONGEST = 500;

const room: { work: (() => unknown) | undefined } = createContext({ work: undefined }) as { work: (() => unknown) | undefined };
const script = new Script("work()");

/**
 * Runs synchronous work that a hostile value could make endless, such as a regular expression, and stops it after 500 ms.
 * The watchdog costs about 0.2 ms.
 * @throws HoldpointError `policy_error` when the time is up; else what the work throws
 */
export function withDeadline<T>(work: () => T): T {
  room.work = work;
  try {
    return script.runInContext(room, { timeout: LONGEST }) as T;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw thrown;
    throw new HoldpointError(
      "policy_error",
      `a JSON Schema took more than ${LONGEST} ms to check; bound what it looks at (maxLength, maxItems), or simplify its patterns`,
    );
  } finally {
    room.work = undefined;
  }
}
