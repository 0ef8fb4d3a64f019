import { accessSync, constants, statSync, type Stats } from "node:fs";
import { fileKeys } from "../../runtime/node/index.ts";
import { agentHostAbove } from "../agent-host.ts";
import { hasTerminal } from "../ask.ts";
import type { Place } from "../place.ts";

/** One thing that was looked at. `wrong` ends the command with exit code 1; `know` is only to be known. */
export interface Finding {
  readonly what: string;
  readonly state: "well" | "know" | "wrong";
  readonly says: string;
  /** What to do about it. */
  readonly fix?: string;
}

export const well = (what: string, says: string): Finding => ({ what, state: "well", says });
export const know = (what: string, says: string, fix?: string): Finding => ({
  what,
  state: "know",
  says,
  ...(fix === undefined ? {} : { fix }),
});
export const wrong = (what: string, says: string, fix: string): Finding => ({ what, state: "wrong", says, fix });

export const problemOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));

const statOf = (path: string): Stats | undefined => {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
};

const modeOf = (stats: Stats): string => (stats.mode & 0o777).toString(8).padStart(4, "0");
const isOpen = (stats: Stats): boolean => process.getuid !== undefined && (stats.mode & 0o077) !== 0;

export const isWritable = (path: string): boolean => {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
};

export function node(): Finding {
  return well("node", process.version);
}

export function folder({ folder: path, option }: Place): Finding {
  const what = "data folder";
  const stats = statOf(path);
  if (stats === undefined) return know(what, `${path} is not there yet; the first holdpoint mcp or exec makes it`);
  if (!stats.isDirectory()) return wrong(what, `${path} is no folder`, "name another with --data or HOLDPOINT_DATA");
  if (process.getuid !== undefined && stats.uid !== process.getuid())
    return wrong(what, `${path} belongs to another account`, "use a folder of this account");
  if (isOpen(stats)) return wrong(what, `${path} is open to other accounts (mode ${modeOf(stats)})`, `chmod 700 ${path}`);
  if (!isWritable(path))
    return wrong(what, `${path} cannot be written, so no call can be held or answered`, `make it writable: chmod u+rwx ${path}`);
  return well(what, `${path}, yours alone (mode ${modeOf(stats)})${option === "" ? ", the one of your account" : ""}`);
}

export function key({ key: path, store }: Place): Finding {
  const what = "installation key";
  const stats = statOf(path);
  if (stats === undefined && statOf(store) !== undefined)
    return wrong(
      what,
      `${path} is missing beside a database that knows one`,
      "put it back; without it nothing that waits here can be taken up",
    );
  if (stats === undefined) return know(what, "none yet; the first holdpoint mcp or exec makes it");
  try {
    fileKeys(path);
    return well(what, `${path} (mode ${modeOf(stats)}), outside the database`);
  } catch (thrown) {
    const [says = "", ...fix] = problemOf(thrown).split("; ");
    return wrong(what, says, fix.join("; "));
  }
}

export function terminal(): Finding {
  return hasTerminal()
    ? well("terminal", "there is one: requests can be asked and answered here")
    : know("terminal", "none controls this process", "answer with holdpoint approve in a terminal window of your own");
}

export function agent(): Finding {
  const host = agentHostAbove();
  return host === undefined
    ? well("agent host", "none that we know is above this process")
    : know("agent host", `this runs below "${host}": nothing can be approved from here`, "use a terminal window of your own");
}

/** Design, section 11, in plain words: what this installation can and cannot promise. */
export function setUp(): Finding {
  return know(
    "set-up 2",
    "the desk runs under the same account as the agent. An agent with a shell of this account could answer by itself, edit the data folder or end the desk: that is refused on the plain ways and what it did is visible, but it is not made impossible. Answers count as local",
    "a desk under an account of its own comes with a later version; until then give the agent no shell that you would not give the tools",
  );
}
