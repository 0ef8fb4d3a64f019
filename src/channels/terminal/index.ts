import { AtTerminal, type TerminalChannel } from "./channel.ts";
import { settingsOf, type TerminalOptions } from "./options.ts";

export type { TerminalChannel } from "./channel.ts";
export type { TerminalInput, TerminalOutput } from "./device.ts";
export type { TerminalOptions } from "./options.ts";

/**
 * Asks the person at the terminal that controls this process, one question at a time. It opens that terminal itself: a
 * pipe on standard input answers nothing, and without a terminal nobody is reached.
 * @throws DeclarationError for an option that makes no sense
 */
export const terminalChannel = (options: TerminalOptions = {}): TerminalChannel => new AtTerminal(settingsOf(options));
