/**
 * What is made of a value that nobody can change any more is made once: the same object is the same bytes for as long as
 * it lives. A record that is read six times in the life of a call would else be hashed and looked through six times.
 */

/** Frozen, and so is everything in it: a store's records and our own copies are, a caller's object hardly ever. */
export function isFrozenWhole(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return typeof value !== "function";
  return Object.isFrozen(value) && Object.values(value).every(isFrozenWhole);
}

/** Freezes our own value in place, whole, and gives it back: what is handed out more than once must not be changed by one of its readers. */
export function freezeWhole<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const member of Object.values(value)) freezeWhole(member);
  return Object.freeze(value);
}

/** `make`, remembered for as long as its subject lives; of a subject that can still change nothing is remembered. */
export function lasting<Subject extends object, Made>(make: (subject: Subject) => Made): (subject: Subject) => Made {
  const known = new WeakMap<Subject, { readonly made: Made }>();
  return (subject) => {
    const before = known.get(subject);
    if (before !== undefined) return before.made;
    const made = make(subject);
    if (isFrozenWhole(subject)) known.set(subject, { made });
    return made;
  };
}
