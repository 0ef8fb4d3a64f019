import type { Gate } from "../core/index.ts";
import type { LogOptions } from "./log.ts";
import { oneLine } from "./output.ts";
import type { Place } from "./place.ts";

export interface Telling {
  readonly place: Place;
  readonly log: LogOptions;
}

/** Says on standard error which command answers each held call, where nobody is asked at a terminal of this process. */
export function tellOfHeld(gate: Gate, { place, log }: Telling): void {
  if (log.quiet === true) return;
  gate.on((event) => {
    if (event.type !== "journal" || event.event !== "request.created" || event.request === null) return;
    const tool = typeof event.data.tool === "string" ? event.data.tool : "a call";
    const answer = `holdpoint approve${place.option} ${event.request}`;
    process.stderr.write(
      log.json === true
        ? `${JSON.stringify({ held: event.request, tool, answer })}\n`
        : `holdpoint: ${oneLine(tool)} waits for a person. In another terminal: ${answer}\n`,
    );
  });
}
