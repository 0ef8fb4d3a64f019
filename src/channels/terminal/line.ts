import type { Key } from "./keys.ts";

/** A line that is being typed; `at` counts characters before the cursor. */
export interface Line {
  readonly before: readonly string[];
  readonly after: readonly string[];
}

export const EMPTY_LINE: Line = { before: [], after: [] };

/** No answer and no reason is longer; a stuck key must not grow without end. */
const LONGEST = 1000;

export const textOf = (line: Line): string => [...line.before, ...line.after].join("");

const word = /\S*\s*$/u;

/** The line after one key. Keys that do not edit leave it as it is; a typed Escape is part of it, so that it is no yes. */
export function edited(line: Line, key: Key): Line {
  const { before, after } = line;
  switch (key.key) {
    case "text":
      return before.length + after.length >= LONGEST ? line : { before: [...before, ...key.text], after };
    case "escape":
      return { before: [...before, "\u001b"], after };
    case "backspace":
      return { before: before.slice(0, -1), after };
    case "delete":
      return { before, after: after.slice(1) };
    case "left":
      return { before: before.slice(0, -1), after: [...before.slice(-1), ...after] };
    case "right":
      return { before: [...before, ...after.slice(0, 1)], after: after.slice(1) };
    case "home":
      return { before: [], after: [...before, ...after] };
    case "end":
      return { before: [...before, ...after], after: [] };
    case "clear":
      return { before: [], after };
    case "word":
      return { before: [...before.join("").replace(word, "")], after };
    default:
      return line;
  }
}
