import { readFileSync } from "node:fs";
import type { Work } from "./work.ts";

export { WORKS } from "./work.ts";

const LATER = JSON.parse(readFileSync(new URL("later.json", import.meta.url), "utf8")) as Readonly<Record<string, Work>>;

/** The work that will run a case, or test a line of the seeds; `undefined`: it runs. */
export const laterOf = (id: string): Work | undefined => (Object.hasOwn(LATER, id) ? LATER[id] : undefined);
export const laterIds: readonly string[] = Object.keys(LATER);
