import type { Directory } from "./ports/directory.ts";

/** Groups nested deeper than this are a circle. */
const DEPTH = 8;

/** A set of people, never a person: nobody belongs to it because of how they are called. */
export const isGroup = (selector: string): boolean => selector.startsWith("group:") || selector.startsWith("role:");

/**
 * The directory that a policy's `approvers` are: groups of principals, channel identities and other groups. A group
 * that nobody defined holds nobody (P-14).
 */
export function groupDirectory(groups: () => ReadonlyMap<string, readonly string[]>): Directory {
  const inside = (selector: string, person: { readonly principal: string; readonly as: string }, depth: number): boolean => {
    if (!isGroup(selector) && (selector === person.principal || selector === person.as)) return true;
    if (depth > DEPTH) return false;
    return (groups().get(selector) ?? []).some((member) => inside(member, person, depth + 1));
  };
  return {
    principalOf: async (_identity, vouched) => vouched,
    holds: async (selector, person) => inside(selector, person, 0),
    ownerOf: async () => undefined,
  };
}
