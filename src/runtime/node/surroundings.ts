import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { userInfo } from "node:os";
import type { Surroundings } from "../../core/index.ts";
import { nothingThere } from "./nothing-there.ts";
import { realPath } from "./real-path.ts";

/** What a call depends on besides its arguments, as this process sees it. */
export function nodeSurroundings(): Surroundings {
  return { cwd: () => process.cwd(), env, realPath, fileHash, account };
}

/** `process.env.constructor` is a function: only own names are variables. */
const env = (name: string): string | undefined => (Object.hasOwn(process.env, name) ? process.env[name] : undefined);

/** Streams, so that a large file is not held in memory; opens without waiting, so that a named pipe cannot hang a gate. */
async function fileHash(path: string): Promise<string | undefined> {
  try {
    const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    try {
      return (await file.stat()).isFile() ? await digestOf(file) : undefined;
    } finally {
      await file.close();
    }
  } catch (thrown) {
    return nothingThere(thrown, "read");
  }
}

async function digestOf(file: FileHandle): Promise<string> {
  const digest = createHash("sha256");
  for await (const chunk of file.createReadStream({ autoClose: false })) digest.update(chunk as Buffer);
  return `sha256:${digest.digest("hex")}`;
}

/** Asked of the system, not of the environment: `LOGNAME` is the agent's to set. An account without a name goes by its number. */
function account(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid-${process.getuid?.() ?? "unknown"}`;
  }
}
