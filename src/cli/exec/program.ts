import { accessSync, constants, type Stats, statSync } from "node:fs";
import { basename, delimiter, isAbsolute, join, resolve } from "node:path";
import type { Surroundings } from "../../core/index.ts";
import { CommandFault, EXIT } from "../exit-codes.ts";

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** What stands at a path; a text that can be no path (too long) stands for nothing. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

/** The file that a system would start for this word, links not followed; `undefined`: none. @internal */
export function programFile(word: string, from: { readonly cwd: string; readonly path: string }): string | undefined {
  if (word.includes("/")) return isExecutable(resolve(from.cwd, word)) ? resolve(from.cwd, word) : undefined;
  for (const folder of from.path.split(delimiter)) {
    // An empty or relative entry of PATH means the working folder: whoever wrote it there meant it.
    const candidate = resolve(from.cwd, join(folder === "" ? "." : folder, word));
    if (isExecutable(candidate)) return candidate;
  }
  return undefined;
}

/** @throws CommandFault: nobody is disturbed for a program that could not be started */
export function requireProgram(word: string, from: { readonly cwd: string; readonly path: string }): string {
  const file = programFile(word, from);
  if (file !== undefined) return file;
  if (word.includes("/") && statOf(resolve(from.cwd, word)) !== undefined) {
    throw new CommandFault(
      `"${word}" cannot be executed; make it executable, or name the program that runs it`,
      EXIT.notExecutable,
    );
  }
  throw new CommandFault(`there is no program "${word}"; check the spelling and the PATH`, EXIT.noProgram);
}

/**
 * The tool of a program: `exec/<program>`. A program that is named by its path has that name only where the bare word
 * would start the same file: else `exec -- ./git` would be let through by a rule for `exec/git`.
 */
export function toolName(word: string, from: { readonly cwd: string; readonly path: string }): string {
  const name = basename(word);
  const named = !word.includes("/") || programFile(name, from) === resolve(from.cwd, word);
  const parts = named ? [name] : ["path", ...resolve(from.cwd, word).split("/").filter(Boolean)];
  return ["exec", ...parts.map((part) => part.replace(/[^A-Za-z0-9_.:@-]/gu, "_"))].join("/");
}

/** Programs whose first plain argument is a file with code: it is bound as the program itself is. */
const INTERPRETER = /^(?:(?:ba|da|z|k|fi)?sh|node|deno|bun|python[\d.]*|ruby|perl|php|lua|tclsh|awk|make|env)$/u;

/** Pointers of the arguments that name code which would run: the program, and an interpreter's script. */
export function codePointers(argv: readonly string[], cwd: string): readonly string[] {
  const [program = ""] = argv;
  if (!INTERPRETER.test(basename(program))) return ["/argv/0"];
  const at = argv.findIndex((word, index) => index > 0 && !word.startsWith("-"));
  const file = at < 0 ? undefined : statOf(resolve(cwd, argv[at] as string));
  return file?.isFile() === true ? ["/argv/0", `/argv/${at}`] : ["/argv/0"];
}

/** The surroundings of a program: its bare name is found on the PATH, as the system will find it. */
export const surroundingsOf = (plain: Surroundings, program: { readonly word: string; readonly path: string }): Surroundings => ({
  ...plain,
  realPath: async (path, cwd) => {
    const bare = path === program.word && !path.includes("/") && isAbsolute(cwd);
    const file = bare ? programFile(path, { cwd, path: program.path }) : path;
    return file === undefined ? undefined : plain.realPath(file, cwd);
  },
});

/** Variables that change which code a program runs: they are part of what a person approves. */
const TELLING =
  /^(?:LD_\w+|DYLD_\w+|NODE_OPTIONS|NODE_PATH|PYTHON(?:PATH|HOME|STARTUP|INSPECT)|PERL5\w+|PERLLIB|RUBY(?:OPT|LIB)|BASH_ENV|ENV|SHELLOPTS|BASHOPTS|IFS|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|CLASSPATH|GIT_(?:SSH|SSH_COMMAND|EXEC_PATH|CONFIG\w*|DIR|WORK_TREE|PROXY_COMMAND|EXTERNAL_DIFF|EDITOR|PAGER|ASKPASS|TEMPLATE_DIR)|GCONV_PATH|PAGER|EDITOR|VISUAL|SSH_ASKPASS|SUDO_ASKPASS)$/u;

export const tellingVariables = (environment: NodeJS.ProcessEnv): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(environment)
      .filter((entry): entry is [string, string] => TELLING.test(entry[0]) && entry[1] !== undefined && entry[1] !== "")
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );

/** What the program gets of our environment: everything but our own. */
export const programEnvironment = (environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(environment).filter(([name]) => !name.toUpperCase().startsWith("HOLDPOINT_")));
