import { lstat, readlink, realpath } from "node:fs/promises";
import { dirname, isAbsolute, join, parse, resolve, sep } from "node:path";
import { HoldpointError } from "../../core/index.ts";
import { nothingThere } from "./nothing-there.ts";

/** As many links as Linux follows before it says that they go in circles. */
const MOST_LINKS = 40;

/**
 * Where `path` leads, step by step as the system would walk it: links are followed, also one that leads to nothing yet,
 * since writing through it would make its target. What does not exist is appended to the nearest parent that does.
 *
 * `undefined` for what cannot be a place (links in circles, a file used as a folder), or without an absolute start.
 * @throws HoldpointError when the account may not look, and when `..` means two places: behind a link, the system goes up
 *   from the link's target and most programs from the link, so what a person read might not be what the tool opens
 */
export async function realPath(path: string, cwd: string): Promise<string | undefined> {
  if (!isAbsolute(path) && !isAbsolute(cwd)) return undefined;
  try {
    const written = isAbsolute(path) ? path : `${cwd}${sep}${path}`;
    const found = await walked(written);
    if (!stepsOf(written).includes("..")) return found;
    if ((await walked(resolve(written))) === found) return found;
  } catch (thrown) {
    return nothingThere(thrown, "resolve");
  }
  throw new HoldpointError("policy_error", "a path means two places, since its '..' follows a link; write it without '..'");
}

const stepsOf = (path: string): string[] =>
  path.slice(parse(path).root.length).split(process.platform === "win32" ? /[\\/]/ : "/");

async function walked(path: string): Promise<string | undefined> {
  const todo = stepsOf(path).reverse();
  let place = parse(path).root;
  let missing: string[] = [];
  let links = 0;
  for (let step = todo.pop(); step !== undefined; step = todo.pop()) {
    if (step === "" || step === ".") continue;
    if (step === "..") {
      if (missing.length > 0) missing = missing.slice(0, -1);
      else place = dirname(place);
      continue;
    }
    const target = missing.length > 0 ? "missing" : await look(join(place, step));
    if (target === "missing") missing = [...missing, step];
    else if (target === "there") place = join(place, step);
    else {
      if (++links > MOST_LINKS) return undefined;
      if (isAbsolute(target.link)) place = parse(target.link).root;
      todo.push(...stepsOf(target.link).reverse());
    }
  }
  return join(await realpath(place), ...missing);
}

/** What stands at a path whose folder is known to be real. */
async function look(path: string): Promise<"there" | "missing" | { readonly link: string }> {
  try {
    return (await lstat(path)).isSymbolicLink() ? { link: await readlink(path) } : "there";
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return "missing";
    throw thrown;
  }
}
