/**
 * Freezes in place, whole, and gives the same value back. What is frozen already counts as frozen whole: the desk
 * hands over values that it froze itself, so the usual cost is one look. Frozen values can be kept and given out
 * without a copy, and nobody who holds one can change what the store says.
 */
export function frozen<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const member of Object.values(value)) frozen(member);
  return Object.freeze(value);
}
