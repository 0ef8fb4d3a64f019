import { posix } from "node:path";
import type { Files } from "../world/files.ts";
import { type Fields, isFields, list, number, text } from "./shape.ts";

/**
 * Conditions of a case's rules as predicates in code. A command is matched whole: one that is more than a plain list of
 * words has parts that only a shell grammar could tell apart, so no allow matches it, an ask holds it, and a deny cannot
 * be judged. The grammar belongs to the policy file.
 */

const PLAIN = /^[\w@%+:,./~^-]+(?: +[\w@%+:,./~^=-]+)*$/;
const isPlain = (command: string): boolean => PLAIN.test(command);

/** Patterns without a special meaning of any character but `*`, `**` and `?`. */
function globOf(pattern: string, crosses: boolean): RegExp {
  const source = pattern.replaceAll(/\*\*\/|\*\*|\*|\?|[^*?]+/g, (part) => {
    if (part === "**/") return "(?:.*/)?";
    if (part === "**") return ".*";
    if (part === "*") return crosses ? ".*" : "[^/]*";
    if (part === "?") return crosses ? "." : "[^/]";
    return part.replaceAll(/[.+^${}()|[\]\\/]/g, String.raw`\$&`);
  });
  return new RegExp(`^${source}$`, "su");
}

type Effect = "allow" | "ask" | "deny";
export type Matcher = (args: Fields) => boolean;

const folded = (value: string): string => value.normalize("NFC").toLowerCase();

/** True where the call's command fits. @throws where a deny cannot be judged, which denies */
export function commandMatcher(pattern: string, effect: Effect): Matcher {
  const glob = globOf(pattern, true);
  return (args) => {
    const command = text(args.command) ?? text(args.cmd) ?? list(args.argv).join(" ");
    if (pattern === "*" || pattern === "**") return true;
    if (isPlain(command)) return glob.test(command);
    if (effect === "deny") throw new Error("a command with parts cannot be matched whole");
    return effect === "ask";
  };
}

/** What of a call is a path: the argument of that name, or the words of a plain command that look like one. */
function pathsIn(args: Fields): readonly string[] {
  const named = [args.path, args.file, args.filename, args.file_path].flatMap((value) => text(value) ?? []);
  const command = text(args.command);
  if (named.length > 0 || command === undefined) return named;
  return command
    .split(/ +/)
    .slice(1)
    .filter((word) => !word.startsWith("-"));
}

export function pathMatcher(pattern: string, effect: Effect, files: Files): Matcher {
  const inside = (path: string): boolean => `${files.resolved(path)}/`.startsWith(`${files.cwd}/`);
  if (pattern === "outside:cwd") return (args) => pathsIn(args).some((path) => !inside(path));
  if (pattern === "inside:cwd") return (args) => pathsIn(args).length > 0 && pathsIn(args).every(inside);
  const absolute = pattern.startsWith("/") || pattern.startsWith("**") ? pattern : posix.join(files.cwd, pattern);
  const exact = globOf(absolute, false);
  const loose = globOf(folded(absolute), false);
  const fits = (path: string): boolean => {
    const [said, real] = [files.absolute(path), files.resolved(path)];
    return effect === "allow" ? exact.test(real) : [said, real].some((one) => loose.test(folded(one)));
  };
  return (args) => pathsIn(args).some(fits);
}

type Compare = (value: unknown, bound: unknown) => boolean;
const numbers =
  (test: (a: number, b: number) => boolean): Compare =>
  (value, bound) => {
    const [a, b] = [number(value), number(bound)];
    return a !== undefined && b !== undefined && test(a, b);
  };

const COMPARE: Readonly<Record<string, Compare>> = {
  gt: numbers((a, b) => a > b),
  gte: numbers((a, b) => a >= b),
  lt: numbers((a, b) => a < b),
  lte: numbers((a, b) => a <= b),
  eq: (value, bound) => value === bound,
  ne: (value, bound) => value !== bound,
  in: (value, bound) => list(bound).includes(value),
  not_in: (value, bound) => !list(bound).includes(value),
  glob: (value, bound) => globOf(String(bound), true).test(String(value)),
  prefix: (value, bound) => text(value)?.startsWith(String(bound)) === true,
};

/** `{ amount: { gt: 1000 } }`, `{ to: "acct-1" }`, `{ to: ["a", "b"] }`. */
export function argsMatcher(conditions: Fields): Matcher {
  return (args) =>
    Object.entries(conditions).every(([name, condition]) => {
      const value = args[name];
      if (!isFields(condition)) return Array.isArray(condition) ? condition.includes(value) : value === condition;
      return Object.entries(condition).every(([word, bound]) => {
        const compare = Object.hasOwn(COMPARE, word) ? COMPARE[word] : undefined;
        if (compare === undefined) throw new Error(`no comparison "${word}"`);
        return compare(value, bound);
      });
    });
}
