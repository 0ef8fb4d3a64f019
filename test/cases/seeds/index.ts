import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Which line of the seeds is tested where: by the ids that begin a test's title, or a row of its table. */

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const ID = /(?:AP|TA|SH|A3|LC)-\d{3}/;
const LINE = new RegExp(`^- (${ID.source}) (.+)$`);

const seeds: readonly string[] = readFileSync(here("../bank/seed-behaviours.md"), "utf8").split("\n");

/** Every line, by its id. */
export const lines: ReadonlyMap<string, string> = new Map(
  seeds.flatMap((line): [string, string][] => {
    const [, id, words] = LINE.exec(line) ?? [];
    return id === undefined ? [] : [[id, words ?? ""]];
  }),
);

/** The ids that the file itself says the design overrules. */
export function notApplicable(): readonly string[] {
  const paragraph = seeds.find((line) => line.startsWith("AP-027 (")) ?? "";
  return paragraph.split("·").flatMap((part) => {
    const prefix = /(AP|TA|SH|A3|LC)-/.exec(part)?.[1] ?? "";
    const numbers = part.replaceAll(/\([^)]*\)/g, "").replaceAll(/[a-z].*$/g, "");
    return [...numbers.matchAll(/(?<!A)\b\d{3}\b/g)].map(([number]) => `${prefix}-${number}`);
  });
}

/** Ids at the beginning of a string in a test file: `"AP-042, AP-043: …"`. */
export function tested(): readonly string[] {
  const found: string[] = [];
  for (const name of readdirSync(here(".")).filter((file) => file.endsWith(".test.ts") && file !== "index.test.ts")) {
    const text = readFileSync(here(name), "utf8");
    for (const [title] of text.matchAll(new RegExp(`["'\`]${ID.source}(?:, ${ID.source})*(?=[:"'\`])`, "g")))
      found.push(...[...title.matchAll(new RegExp(ID.source, "g"))].map(([id]) => id));
  }
  return found;
}
