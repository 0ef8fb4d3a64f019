/**
 * Mutation score of the core, in pieces: a whole run takes longer than one sitting on two cores.
 *
 *   npm run mutation                          every file whose result is missing or out of date
 *   npm run mutation -- --seconds 900         as much as fits into 15 minutes; the next run goes on from there
 *   npm run mutation -- src/core/quorum.ts    these files, again
 *   npm run mutation -- --report              no run: the score, and the survivors against their list
 *   npm run mutation -- --rows                no run: rows for survivors that the list lacks, to be given a reason
 *
 * Results are kept in reports/mutation, one file a source file, with a fingerprint of the source and of the tests beside it.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const FOLDER = "reports/mutation";
const LIST = "docs/reference/mutation-survivors.md";
const BREAK = 90;
/** Enough mutants to make up for Stryker's start, few enough to keep a time box. */
const BATCH_LINES = 450;

interface Position {
  readonly line: number;
  readonly column: number;
}
interface Mutant {
  readonly mutatorName: string;
  readonly replacement: string;
  readonly status: string;
  readonly location: { readonly start: Position; readonly end: Position };
}
export interface FileResult {
  readonly source: string;
  readonly mutants: readonly Mutant[];
}
interface Kept extends FileResult {
  readonly fingerprint: string;
}
export interface Survivor {
  readonly id: string;
  readonly file: string;
  readonly what: string;
}
export interface Row {
  readonly ids: readonly string[];
  readonly file: string;
  readonly reason: string;
}

const sha = (text: string): string => createHash("sha256").update(text).digest("hex");

const originalOf = (source: string, { start, end }: Mutant["location"]): string => {
  const lines = source.split("\n").slice(start.line - 1, end.line);
  lines[lines.length - 1] = (lines.at(-1) ?? "").slice(0, end.column - 1);
  lines[0] = (lines[0] ?? "").slice(start.column - 1);
  return lines.join("\n");
};
const oneLine = (text: string): string => {
  const flat = text.replace(/\s+/g, " ").replaceAll("|", "¦").replaceAll("`", "'");
  return flat.length > 60 ? `${flat.slice(0, 57)}...` : flat;
};

/** A survivor keeps its id when lines above it move: the id is of the text it replaces, and of how often that text came before. */
export const survivorsOf = (file: string, { source, mutants }: FileResult): Survivor[] => {
  const before = new Map<string, number>();
  return mutants.flatMap((mutant) => {
    const original = originalOf(source, mutant.location);
    const key = [file, mutant.mutatorName, original, mutant.replacement].join("\0");
    const nth = before.get(key) ?? 0;
    before.set(key, nth + 1);
    if (mutant.status !== "Survived" && mutant.status !== "NoCoverage") return [];
    const what = `${mutant.mutatorName} \`${oneLine(original)}\` → \`${oneLine(mutant.replacement)}\``;
    return [{ id: sha(`${key}\0${nth}`).slice(0, 8), file, what }];
  });
};

export const countsOf = (results: readonly FileResult[]): { readonly killed: number; readonly all: number } => {
  const counted = results.flatMap((result) => result.mutants.map((mutant) => mutant.status));
  const killed = counted.filter((status) => status === "Killed" || status === "Timeout").length;
  const survived = counted.filter((status) => status === "Survived" || status === "NoCoverage").length;
  return { killed, all: killed + survived };
};

/** Rows of the list: `| id id … | file | what | reason |`. */
export const rowsOf = (markdown: string): Row[] =>
  markdown.split("\n").flatMap((line) => {
    const [, ids, file, , reason] = line.split("|").map((cell) => cell.trim());
    if (ids === undefined || !/^[0-9a-f]{8}( [0-9a-f]{8})*$/.test(ids)) return [];
    return [{ ids: ids.split(" "), file: file ?? "", reason: reason ?? "" }];
  });

/** What is wrong with the list, in words; only files that were measured are held against it. */
export const faultsOf = (rows: readonly Row[], survivors: readonly Survivor[], measured: readonly string[]): string[] => {
  const listed = new Map(rows.flatMap((row) => row.ids.map((id) => [id, row])));
  const alive = new Set(survivors.map((survivor) => survivor.id));
  return [
    ...survivors.filter(({ id }) => !listed.has(id)).map(({ id, file, what }) => `not listed: ${id} ${file} ${what}`),
    ...[...listed]
      .filter(([id, row]) => measured.includes(row.file) && !alive.has(id))
      .map(([id]) => `listed but no longer alive: ${id}`),
    ...rows.filter((row) => row.reason.length < 10).map((row) => `no reason given: ${row.ids.join(" ")}`),
  ];
};

const sources = (): string[] => {
  const configured = JSON.parse(readFileSync("stryker.config.json", "utf8")) as { mutate: string[] };
  const without = configured.mutate.filter((pattern) => pattern.startsWith("!")).map((pattern) => pattern.slice(1));
  return globSync(
    configured.mutate.filter((pattern) => !pattern.startsWith("!")),
    { exclude: without },
  ).sort();
};
/** Of the source and the tests beside it. More tests elsewhere can only notice more, so a result stays a lower bound without them. */
const fingerprintOf = (file: string): string => {
  const beside = globSync(`${file.replace(/\.ts$/, "")}{.test,.*.test,.test-kit}.ts`).sort();
  return sha([file, ...beside].map((path) => readFileSync(path, "utf8")).join("\0"));
};
const keptPath = (file: string): string => `${FOLDER}/${file.replace(/\.ts$/, "").replaceAll("/", "__")}.json`;
const kept = (file: string): Kept | undefined =>
  existsSync(keptPath(file)) ? (JSON.parse(readFileSync(keptPath(file), "utf8")) as Kept) : undefined;

const batchesOf = (files: readonly string[]): string[][] => {
  const batches: string[][] = [[]];
  let lines = 0;
  for (const file of files) {
    const own = readFileSync(file, "utf8").split("\n").length;
    if (lines > 0 && lines + own > BATCH_LINES) {
      batches.push([]);
      lines = 0;
    }
    batches.at(-1)?.push(file);
    lines += own;
  }
  return batches.filter((batch) => batch.length > 0);
};

const measure = (files: readonly string[]): boolean => {
  const stryker = ["node_modules/@stryker-mutator/core/bin/stryker.js", "run", "--mutate", files.join(",")];
  const ran = spawnSync(process.execPath, stryker, {
    encoding: "utf8",
    maxBuffer: 1 << 28,
    stdio: ["ignore", "pipe", "inherit"],
  });
  // Stryker ends with 1 where the score of this batch is below the threshold; its report is whole all the same.
  if (!/Your report can be found at/.test(ran.stdout)) {
    console.error(ran.stdout.split("\n").slice(-25).join("\n"));
    return false;
  }
  const report = JSON.parse(readFileSync(`${FOLDER}/last.json`, "utf8")) as { files: Record<string, FileResult> };
  for (const file of files) {
    const { source, mutants } = report.files[file] ?? { source: readFileSync(file, "utf8"), mutants: [] };
    const slim = mutants.map(({ mutatorName, replacement, status, location }) => ({
      mutatorName,
      replacement,
      status,
      location,
    }));
    const keep: Kept = { fingerprint: fingerprintOf(file), source, mutants: slim };
    writeFileSync(keptPath(file), JSON.stringify(keep));
    const { killed, all } = countsOf([keep]);
    console.log(`${file}: ${killed} of ${all}`);
  }
  return true;
};

const report = (): number => {
  const results = sources().map((file) => ({ file, result: kept(file) }));
  const measured = results.flatMap(({ file, result }) => (result === undefined ? [] : [{ file, result }]));
  const missing = results.filter(({ result }) => result === undefined).map(({ file }) => file);
  const { killed, all } = countsOf(measured.map(({ result }) => result));
  const score = all === 0 ? 0 : (100 * killed) / all;
  const survivors = measured.flatMap(({ file, result }) => survivorsOf(file, result));
  const rows = existsSync(LIST) ? rowsOf(readFileSync(LIST, "utf8")) : [];
  const files = measured.map(({ file }) => file);
  const faults = faultsOf(rows, survivors, files);
  for (const fault of faults) console.log(fault);
  if (missing.length > 0) console.log(`not measured: ${missing.join(" ")}`);
  console.log(
    `mutation score ${score.toFixed(2)} (${killed} of ${all}), ${survivors.length} alive, ${faults.length} faults in ${LIST}`,
  );
  return score >= BREAK && faults.length === 0 && missing.length === 0 ? 0 : 1;
};

const rows = (): number => {
  const listed = new Set(rowsOf(existsSync(LIST) ? readFileSync(LIST, "utf8") : "").flatMap((row) => row.ids));
  for (const file of sources()) {
    const result = kept(file);
    const survivors = result === undefined ? [] : survivorsOf(file, result);
    for (const { id, what } of survivors) if (!listed.has(id)) console.log(`| ${id} | ${file} | ${what} |  |`);
  }
  return 0;
};

const run = (args: readonly string[]): number => {
  const at = args.indexOf("--seconds");
  const until = at === -1 ? Number.POSITIVE_INFINITY : Date.now() + 1000 * Number(args[at + 1]);
  const named = args.filter((arg, index) => !arg.startsWith("--") && (at === -1 || index !== at + 1));
  const isStale = (file: string): boolean => kept(file)?.fingerprint !== fingerprintOf(file);
  mkdirSync(FOLDER, { recursive: true });
  for (const batch of batchesOf(named.length > 0 ? named : sources().filter(isStale))) {
    if (Date.now() > until) break;
    if (!measure(batch)) return 1;
  }
  return report();
};

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const args = process.argv.slice(2);
  process.exitCode = args.includes("--rows") ? rows() : args.includes("--report") ? report() : run(args);
}
