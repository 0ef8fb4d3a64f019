import type { Check } from "./check.ts";
import { DONE } from "./checks-done.ts";
import { LATER } from "./checks-later.ts";
import { SHOWN } from "./checks-shown.ts";

const CHECKS: readonly Check[] = [...LATER.filter(([, , how]) => how === "policy file"), ...SHOWN, ...DONE, ...LATER];

export interface Mapped {
  readonly name: string;
  readonly how: Check[2];
  readonly said: readonly string[];
}

/** The named assertion of a check's words; `undefined`: none, and the run fails. */
export function mapped(words: string): Mapped | undefined {
  for (const [pattern, name, how] of CHECKS) {
    const match = pattern.exec(words);
    if (match !== null) return { name, how, said: [...match] };
  }
  return undefined;
}
