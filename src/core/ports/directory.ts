import type { Selector } from "../requirement.ts";

/** Who is who, and who belongs to what. Errors refuse with `directory_unavailable`. */
export interface Directory {
  /** The principal behind a channel identity; itself where nothing else is known; `undefined`: not an approver at all. */
  principalOf(identity: string): Promise<string | undefined>;
  /** True where the selector (a group, role, principal or channel identity) holds this principal or identity. */
  holds(selector: Selector, person: { readonly principal: string; readonly as: string }): Promise<boolean>;
  /** The owner of an agent, who never counts where separation of duties holds. */
  ownerOf(agent: string): Promise<string | undefined>;
}
