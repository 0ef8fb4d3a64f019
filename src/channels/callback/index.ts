import { DeclarationError, type Channel } from "../../core/index.ts";
import { Callback, type Answerer } from "./channel.ts";
import { settingsOf, type CallbackOptions } from "./options.ts";

export type { Answerer } from "./channel.ts";
export type { CallbackOptions } from "./options.ts";

/**
 * One function as the person `as`. It gets a copy of the card and answers `{ verdict, reason?, arguments? }`, where
 * `arguments` on an approval are an edit; `null` passes the question on. Anything else, and a throw, ends the request
 * (`channel_fault`): a function that says `true` has not said what it approves.
 * @throws DeclarationError for something that is no function, or without `as`
 */
export function callbackChannel(answer: Answerer, options: CallbackOptions): Channel {
  if (typeof answer !== "function")
    throw new DeclarationError("callbackChannel: the first argument must be a function of a card");
  return new Callback(answer, settingsOf(options));
}
