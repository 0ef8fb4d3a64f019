import type { Channel } from "../../core/index.ts";
import { Inbox } from "./channel.ts";
import { type InboxOptions, settingsOf } from "./options.ts";

export type { InboxOptions } from "./options.ts";
export { LiveSurfaces, type Shown, type Surface, type Surfaces } from "./surfaces.ts";

/**
 * Everybody who has an inbox of this desk's server open. A delivery resolves when one of their surfaces said that it
 * shows the request: `delivered` where it stands in the list being looked at, `seen` where all of the card was shown.
 * @throws DeclarationError naming the option
 */
export const inboxChannel = (options: InboxOptions): Channel => new Inbox(settingsOf(options));
