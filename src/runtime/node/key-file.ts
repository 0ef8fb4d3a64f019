import { randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import type { Stats } from "node:fs";
import { dirname } from "node:path";
import { DeclarationError } from "../../core/index.ts";

/** What the file holds: a form word and 256 random bits, as text, so that a truncated copy is seen. */
const FORM = /^hk1\.([A-Za-z0-9_-]{43})\n$/;
const SIZE = "hk1.".length + 43 + 1;
const OTHERS = 0o077;

const codeOf = (thrown: unknown): string => (thrown as NodeJS.ErrnoException).code ?? "unknown";

const refuse = (problem: string, fix: string, cause?: unknown): DeclarationError =>
  new DeclarationError(`${problem}; ${fix}`, cause === undefined ? undefined : { cause });

/**
 * The key of this installation, made if there is none.
 * @throws DeclarationError
 */
export function keyFile(path: string): string {
  const folder = dirname(path);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    checkPrivate(statSync(folder), { what: "folder", path: folder, fix: `chmod 700 ${folder}` });
    return readKey(path) ?? madeKey(path);
  } catch (thrown) {
    if (thrown instanceof DeclarationError) throw thrown;
    throw refuse(
      `the key file ${path} cannot be used (${codeOf(thrown)})`,
      "make it readable and writable for this account, or name another path",
      thrown,
    );
  }
}

/** `undefined` where there is no file. A link is not followed: who may place one could choose the key. */
function readKey(path: string): string | undefined {
  const file = opened(path);
  if (file === undefined) return undefined;
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) throw refuse(`the key file ${path} is not a regular file`, "name another path");
    checkPrivate(stats, { what: "file", path, fix: `chmod 600 ${path}` });
    const key = stats.size === SIZE ? FORM.exec(readFileSync(file, "latin1"))?.[1] : undefined;
    if (key !== undefined) return key;
    throw refuse(
      `the key file ${path} holds no key of ours`,
      "restore it from a backup; if there is none, move it away: pending requests then end unanswered",
    );
  } finally {
    closeSync(file);
  }
}

function opened(path: string): number | undefined {
  try {
    return openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  } catch (thrown) {
    if (codeOf(thrown) === "ENOENT") return undefined;
    throw thrown;
  }
}

/**
 * Makes the file, or finds the one that another process made meanwhile: the name is given by a link, which fails where a
 * name is taken, and only to a file that is whole.
 */
function madeKey(path: string): string {
  const draft = `${path}.${randomBytes(8).toString("hex")}.tmp`;
  try {
    writeFileSync(draft, `hk1.${randomBytes(32).toString("base64url")}\n`, { flag: "wx", mode: 0o600, flush: true });
    linkSync(draft, path);
    flushFolder(dirname(path));
  } catch (thrown) {
    if (codeOf(thrown) !== "EEXIST") throw thrown;
  } finally {
    rmSync(draft, { force: true });
  }
  const key = readKey(path);
  if (key === undefined) throw refuse(`the key file ${path} vanished while it was made`, "look for what removes files there");
  return key;
}

/** The new name must survive a power cut, or the next start would make another key. */
function flushFolder(folder: string): void {
  if (process.platform === "win32") return;
  const handle = openSync(folder, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

interface Place {
  readonly what: "folder" | "file";
  readonly path: string;
  readonly fix: string;
}

/** Whoever can read the key can forge decisions. Windows has no modes; there the profile folder's own list guards it. */
function checkPrivate(stats: Stats, { what, path, fix }: Place): void {
  if (process.getuid === undefined) return;
  if (stats.uid !== process.getuid()) {
    throw refuse(`the key ${what} ${path} belongs to another account`, "name a path in a folder of this account");
  }
  const mode = stats.mode & 0o777;
  if ((mode & OTHERS) !== 0) {
    throw refuse(`the key ${what} ${path} is open to other accounts (mode ${mode.toString(8).padStart(4, "0")})`, `run: ${fix}`);
  }
}
