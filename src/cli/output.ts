import { visible } from "../core/index.ts";

/** Where a command writes: results on standard output, everything else on standard error. */
export interface Output {
  readonly json: boolean;
  /** Colour on standard output: only on a terminal, and not where `NO_COLOR` is set. */
  readonly colour: boolean;
  /** The result, for people or for programs. */
  result(value: unknown, text: string): void;
  /** A line for people beside the result. */
  note(text: string): void;
}

/** Colour is for a person's eyes: on a terminal only, and `NO_COLOR` (any value but none) switches it off. */
const isColourful = (stream: NodeJS.WriteStream): boolean => stream.isTTY === true && (process.env.NO_COLOR ?? "") === "";

export function output(options: { readonly json?: boolean | undefined } = {}): Output {
  const json = options.json === true;
  return {
    json,
    colour: !json && isColourful(process.stdout),
    result: (value, text) => void process.stdout.write(json ? `${JSON.stringify(value)}\n` : text === "" ? "" : `${text}\n`),
    note: (text) => void process.stderr.write(`holdpoint: ${text}\n`),
  };
}

/** A pipe that closed its end (`holdpoint pending | head`) wants no more, and that is no failure. */
export function tolerateClosedPipes(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (thrown: NodeJS.ErrnoException) => {
      if (thrown.code !== "EPIPE" && thrown.code !== "EIO") throw thrown;
    });
  }
}

/** Text from outside on one line of ours. */
export const oneLine = (text: string): string => visible(text);

/** Columns of a text that nobody's terminal told us the width of. */
const PLAIN_COLUMNS = 80;

/** Breaks a line between words, so that a terminal does not break it inside one; a word that is too long stays whole. */
export function wrapped(line: string, indent = ""): string {
  const { isTTY, columns } = process.stdout;
  const width = isTTY === true && columns > 0 ? columns : PLAIN_COLUMNS;
  const rows: string[] = [];
  let row: string | undefined;
  for (const word of line.split(" ")) {
    if (row !== undefined && indent.length + row.length + 1 + word.length > width) {
      rows.push(indent + row);
      row = word;
    } else row = row === undefined ? word : `${row} ${word}`;
  }
  return [...rows, indent + (row ?? "")].join("\n");
}

/** Columns that line up; the last one is as long as it is. */
export function table(rows: readonly (readonly string[])[]): string {
  const columns = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, at) => Math.max(...rows.map((row) => (row[at] ?? "").length)));
  return rows
    .map((row) => row.map((cell, at) => (at === row.length - 1 ? cell : cell.padEnd(widths[at] ?? 0))).join("  "))
    .join("\n");
}

const UNITS: readonly (readonly [string, number])[] = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1000],
];

/** A time span in its two largest units: `2 h 5 min`. */
export function span(ms: number): string {
  const parts: string[] = [];
  let left = Math.max(0, ms);
  for (const [name, unit] of UNITS) {
    const count = Math.floor(left / unit);
    left -= count * unit;
    if (count > 0) parts.push(`${count} ${name}`);
    if (parts.length === 2 || (parts.length === 1 && count === 0)) break;
  }
  return parts.length === 0 ? "0 s" : parts.join(" ");
}
