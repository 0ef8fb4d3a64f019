import type { Selector } from "../requirement.ts";

/** Who is who, and who belongs to what. Errors refuse with `directory_unavailable`. */
export interface Directory {
  /**
   * The principal behind a channel identity.
   * @param vouched what the channel itself says: the answer where nothing else is known
   * @returns `undefined`: not an approver at all, whatever a channel says
   */
  principalOf(identity: string, vouched: string): Promise<string | undefined>;
  /** True where the selector (a group, role, principal or channel identity) holds this principal or identity. */
  holds(selector: Selector, person: { readonly principal: string; readonly as: string }): Promise<boolean>;
  /** The owner of an agent, who never counts where separation of duties holds. */
  ownerOf(agent: string): Promise<string | undefined>;
}
