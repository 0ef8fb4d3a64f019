import { type Log, type LogFields, visible } from "../core/index.ts";

const fieldsText = (fields: LogFields = {}): string =>
  Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` ${name}=${typeof value === "string" ? JSON.stringify(visible(value)) : String(value)}`)
    .join("");

const ignore = (): undefined => undefined;

export interface LogOptions {
  readonly quiet?: boolean | undefined;
  /** Errors alone: a command that a person typed says itself what it did. */
  readonly errorsOnly?: boolean | undefined;
  readonly json?: boolean | undefined;
}

/** Warnings and errors, one line each, on standard error: standard output belongs to results, or to the relay. */
export function stderrLog({ quiet = false, errorsOnly = false, json = false }: LogOptions = {}): Log {
  if (quiet) return { debug: ignore, info: ignore, warn: ignore, error: ignore };
  const line =
    (level: "warn" | "error") =>
    (message: string, fields?: LogFields): void => {
      const text = json ? JSON.stringify({ level, message, ...fields }) : `holdpoint: ${level}: ${message}${fieldsText(fields)}`;
      process.stderr.write(`${text}\n`);
    };
  return { debug: ignore, info: ignore, warn: errorsOnly ? ignore : line("warn"), error: line("error") };
}
