import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { dataFolder } from "../index.ts";
import { usage } from "./exit-codes.ts";

/** A data folder and the files in it. */
export interface Place {
  readonly folder: string;
  readonly store: string;
  readonly key: string;
  /** As an option for another command; empty where the default finds this folder by itself. */
  readonly option: string;
}

/** A word as a shell reads it back. */
export const quoted = (word: string): string => (/^[\w@%+=:,./-]+$/u.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

/** `--data`, else `HOLDPOINT_DATA`, else the XDG data folder. */
export function placeOf(data: string | undefined): Place {
  if (data === "") throw usage("--data needs the name of a folder");
  const folder = resolve(data ?? dataFolder());
  return {
    folder,
    store: join(folder, "holdpoint.db"),
    key: join(folder, "installation.key"),
    option: folder === resolve(dataFolder({ ...process.env, HOLDPOINT_DATA: "" })) ? "" : ` --data ${quoted(folder)}`,
  };
}

/** Something was asked here before. A look at an empty place must not make one. */
export const isFurnished = (place: Place): boolean => existsSync(place.store);
