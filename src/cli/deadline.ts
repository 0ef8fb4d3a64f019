import { milliseconds } from "../core/index.ts";
import { usage } from "./exit-codes.ts";

/** How long a person may take is a time: none at all would refuse every call, and read like a gate that is shut. @throws CommandFault */
export function checkDeadline(deadline: string): void {
  let ms: number;
  try {
    ms = milliseconds(deadline);
  } catch (thrown) {
    throw usage(`--deadline: ${thrown instanceof Error ? thrown.message : "is not a duration"}`, thrown);
  }
  if (ms <= 0) throw usage(`--deadline ${deadline}: nobody could answer in no time; give for example 5m`);
}
