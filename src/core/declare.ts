import { DeclarationError } from "./errors.ts";
import { confirmationOf } from "./hold.ts";
import { Refused, refusedOutcome } from "./outcome.ts";
import type { Confirmation, Impact, Tool } from "./tool-call.ts";

/** What `confirm` says of a function, a tool or a class of tools. */
export interface Mark {
  readonly confirm: Confirmation;
  readonly impact: Impact | undefined;
}
export type MarkWords = Confirmation & { readonly impact?: Impact };

type AnyFunction = (...args: never[]) => unknown;

/** By what carries the mark. Copies of a tool keep their `run`, and bound functions are marked when they are bound. */
const marks = new WeakMap<object, readonly Mark[]>();
/** The function behind a marked one: only a gate calls it. */
const originals = new WeakMap<object, AnyFunction>();

const wordsOf = (words: true | string | MarkWords): Mark => {
  const { impact, ...confirm } = typeof words === "object" ? words : { ...confirmationOf(words) };
  return { confirm, impact: impact as Impact | undefined };
};

/** A marked function refuses outside a gate (`no_gate`): nobody was asked. */
function markFunction<F extends AnyFunction>(fn: F, mark: Mark): F {
  const original = originals.get(fn) ?? fn;
  const name = fn.name === "" ? "tool" : fn.name;
  const refusing = function refusing(): never {
    throw new Refused(refusedOutcome(name, { code: "no_gate" }));
  };
  Object.defineProperty(refusing, "name", { value: name });
  Object.defineProperty(refusing, "length", { value: fn.length });
  const all = [...(marks.get(fn) ?? []), mark];
  Object.defineProperty(refusing, "bind", {
    value: (self: unknown, ...args: never[]) => all.reduce(markFunction, original.bind(self as never, ...args) as AnyFunction),
  });
  marks.set(refusing, all);
  originals.set(refusing, original);
  return refusing as unknown as F;
}

const isClass = (value: unknown): value is new (...args: never[]) => { run: AnyFunction } =>
  typeof value === "function" && /^class\b/.test(Function.prototype.toString.call(value));

const isTool = (value: unknown): value is Tool =>
  typeof value === "object" && value !== null && typeof (value as { run?: unknown }).run === "function";

function markClass<C extends object>(declared: C, mark: Mark): C {
  const prototype = (declared as unknown as { prototype: { run?: AnyFunction } }).prototype;
  if (typeof prototype.run !== "function")
    throw new DeclarationError("a class marked with confirm is a class of tools: give it a run method");
  Object.defineProperty(prototype, "run", { value: markFunction(prototype.run, mark), writable: true, configurable: true });
  return declared;
}

/** A copy: the tool that was handed in stays as it was. */
const markTool = <T extends Tool>(tool: T, mark: Mark): T => ({ ...tool, run: markFunction(tool.run as AnyFunction, mark) }) as T;

interface DecoratorContext {
  readonly kind: string;
  readonly name?: string | symbol | undefined;
}

function apply<T>(target: T, mark: Mark, context?: DecoratorContext): T {
  if (context !== undefined && context.kind !== "method" && context.kind !== "class") {
    throw new DeclarationError(`@confirm marks methods and classes of tools, not a ${context.kind}`);
  }
  if (isClass(target)) return markClass(target as T & object, mark);
  if (typeof target === "function") return markFunction(target as unknown as AnyFunction, mark) as unknown as T;
  if (isTool(target)) return markTool(target, mark);
  throw new DeclarationError("confirm marks a function, a tool with a run function, or a class of tools");
}

/** `confirm` with words already said. */
export type Confirming = <T>(target: T, context?: DecoratorContext) => T;

/**
 * Marks what a person must be asked about, as a function or as a decorator:
 * `confirm(tool)`, `confirm("why")(tool)`, `confirm({ message, impact, when })(tool)`, `@confirm`, `@confirm("why")`.
 * Marks survive binding, inheritance and copying; a marked tool called outside a gate refuses with `no_gate`.
 * @throws DeclarationError for what cannot be marked
 */
export function confirm(words: string | MarkWords): Confirming;
export function confirm<T>(target: T, context?: DecoratorContext): T;
export function confirm(given: unknown, context?: DecoratorContext): unknown {
  if (typeof given === "function" || isTool(given)) return apply(given, wordsOf(true), context);
  if (typeof given !== "string" && (typeof given !== "object" || given === null || Array.isArray(given))) {
    throw new DeclarationError("confirm takes what it marks, a message, or an object of words");
  }
  const mark = wordsOf(given as string | MarkWords);
  return <T>(target: T, inner?: DecoratorContext): T => apply(target, mark, inner);
}

/** Marks of a member, its own and those of everything it overrides; one behind an accessor or a proxy counts as it is read. */
function marksOfMember(target: object, member: string, read: unknown): readonly Mark[] {
  const found = new Set<Mark>();
  const add = (value: unknown): void => {
    for (const mark of typeof value === "function" ? (marks.get(value) ?? []) : []) found.add(mark);
  };
  for (let holder: object | null = target; holder !== null; holder = Object.getPrototypeOf(holder) as object | null)
    add(Object.getOwnPropertyDescriptor(holder, member)?.value);
  add(read);
  return [...found];
}

/** What `confirm` said of this function or tool; an overriding method keeps the marks of the one it overrides. */
export function marksOf(target: unknown): readonly Mark[] {
  if (typeof target === "function") return marks.get(target) ?? [];
  return typeof target === "object" && target !== null ? marksOfMember(target, "run", (target as { run?: unknown }).run) : [];
}

/** The function a gate runs for a marked one. */
export const originalOf = (run: AnyFunction): AnyFunction => originals.get(run) ?? run;

/** A set of tools that are the methods of one object, each taking one object of arguments. */
export interface Toolkit {
  /** Methods that ask, by their own names, before any prefix. */
  readonly confirming?: Iterable<string>;
  /** Methods that ask, with the words or a function of the arguments. */
  readonly requiresApproval?: Readonly<Record<string, Confirmation["message"]>>;
}
export interface ToolkitOptions {
  /** Put before each method's name, as in `files/`. Default none. */
  readonly prefix?: string;
  /** Which methods are tools. Default: every public method of the object's classes. */
  readonly methods?: readonly string[];
  /** What else is known of a method's tool: input, tier, impact, … */
  readonly describe?: Readonly<Record<string, Partial<Tool>>>;
}

const NOT_TOOLS: ReadonlySet<string> = new Set(["constructor", "confirming", "requiresApproval"]);

function methodsOf(kit: object): readonly string[] {
  const names = new Set<string>();
  for (
    let holder = Object.getPrototypeOf(kit) as object | null;
    holder !== null && holder !== Object.prototype;
    holder = Object.getPrototypeOf(holder) as object | null
  ) {
    for (const name of Object.getOwnPropertyNames(holder)) {
      if (
        !NOT_TOOLS.has(name) &&
        !name.startsWith("_") &&
        typeof Object.getOwnPropertyDescriptor(holder, name)?.value === "function"
      )
        names.add(name);
    }
  }
  for (const name of Object.keys(kit))
    if (!NOT_TOOLS.has(name) && typeof (kit as Record<string, unknown>)[name] === "function") names.add(name);
  return [...names];
}

/**
 * The tools of a toolkit.
 * @throws DeclarationError for a name in `confirming` or `requiresApproval` that no method has: it would protect nothing
 */
export function toolkit(kit: Toolkit & object, options: ToolkitOptions = {}): readonly Tool[] {
  const methods = options.methods ?? methodsOf(kit);
  const confirming = new Set(kit.confirming ?? []);
  const messages = new Map(Object.entries(kit.requiresApproval ?? {}));
  const isMethod = (name: string): boolean =>
    methods.includes(name) && typeof (kit as unknown as Record<string, unknown>)[name] === "function";
  for (const name of [...methods, ...confirming, ...messages.keys(), ...Object.keys(options.describe ?? {})]) {
    if (!isMethod(name))
      throw new DeclarationError(`this toolkit has no method "${name}"; its methods are ${methods.join(", ")}`);
  }
  return methods.map((method) => {
    const fn = (kit as unknown as Record<string, AnyFunction>)[method] as AnyFunction;
    const own = (args: never): unknown => originalOf(fn).call(kit as never, args);
    const asked = [
      ...marksOfMember(kit, method, fn),
      ...(messages.has(method) ? [wordsOf({ message: messages.get(method) as string })] : []),
      ...(confirming.has(method) && !messages.has(method) ? [wordsOf(true)] : []),
    ];
    const run = asked.reduce((marked: AnyFunction, mark) => markFunction(marked, mark), own as AnyFunction);
    return { name: `${options.prefix ?? ""}${method}`, ...options.describe?.[method], run } as Tool;
  });
}
