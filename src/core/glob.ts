import { DeclarationError } from "./errors.ts";

/**
 * Globs over tool names: `*` does not cross `/`, `**` does, every other character stands for itself. Matching walks the
 * name once per pattern position (dynamic programming), so no pattern can make it super-linear in their product.
 */
export interface Glob {
  readonly source: string;
  matches(name: string): boolean;
}

type Piece = { readonly literal: string } | { readonly star: "one" | "many" };

const NAME = /^[\p{ASCII}]+$/u;

function pieces(source: string): readonly Piece[] {
  return source
    .split(/(\*\*|\*)/)
    .filter((part) => part !== "")
    .map((part) => (part === "**" ? { star: "many" } : part === "*" ? { star: "one" } : { literal: part }));
}

/** Positions of the name that a piece can lead to from the given ones. */
function advance(name: string, from: ReadonlySet<number>, piece: Piece): ReadonlySet<number> {
  const next = new Set<number>();
  if ("literal" in piece) {
    for (const at of from) if (name.startsWith(piece.literal, at)) next.add(at + piece.literal.length);
    return next;
  }
  let open = false;
  for (let at = 0; at <= name.length; at++) {
    if (from.has(at)) open = true;
    if (open) next.add(at);
    if (piece.star === "one" && name[at] === "/") open = false;
  }
  return next;
}

/**
 * A compiled glob.
 * @throws DeclarationError on an empty pattern, one with characters no tool name has, or one with an argument pattern
 *   in parentheses, which only the policy file reads: taken as a name it would silently match nothing
 */
export function glob(source: string): Glob {
  if (source === "" || !NAME.test(source))
    throw new DeclarationError(`"${source}" is not a tool pattern: names are ASCII and not empty`);
  if (/[()]/.test(source))
    throw new DeclarationError(
      `"${source}" looks at arguments; in a rule in code use "when", or write the rule in the policy file`,
    );
  const parts = pieces(source);
  if (parts.every((part) => "literal" in part)) return { source, matches: (name) => name === source };
  return {
    source,
    matches: (name) => {
      let at: ReadonlySet<number> = new Set([0]);
      for (const part of parts) {
        at = advance(name, at, part);
        if (at.size === 0) return false;
      }
      return at.has(name.length);
    },
  };
}
