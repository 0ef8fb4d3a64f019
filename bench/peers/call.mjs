/** The one tool call that every contender makes: the same arguments, a tool that costs nothing. */
import { ARGS } from "../store-lib.mjs";

export { ARGS };
export const ARGS_TEXT = JSON.stringify(ARGS);

export const tool = async () => "ok";

/** The result of a cycle, checked: a contender that did not run the tool must not win. */
export function ran(value) {
  if (value !== "ok") throw new Error(`the tool did not run: ${JSON.stringify(value)}`);
}
