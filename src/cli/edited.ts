import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { at, type Card, JsonFault, type JsonObject, type JsonValue, readJson, replaceAt } from "../core/index.ts";
import { CommandFault, usage } from "./exit-codes.ts";
import { type Place, quoted } from "./place.ts";

/** Edited arguments: an object, or a no in the form of `null` or `false`. */
export type Edited = JsonObject | null | false;

const isObject = (value: JsonValue): value is JsonObject => typeof value === "object" && value !== null && !Array.isArray(value);

/** @throws CommandFault on anything that is not strict JSON, or neither an object nor a no */
export function readEdited(text: string, from: string): Edited {
  let value: JsonValue;
  try {
    value = readJson(text);
  } catch (thrown) {
    if (thrown instanceof JsonFault)
      throw usage(`${from} is not usable as arguments: ${thrown.message}; nothing was decided`, thrown);
    throw thrown;
  }
  if (value === null || value === false || isObject(value)) return value;
  throw usage(`${from}: arguments are a JSON object; nothing was decided`);
}

export function readEditedFile(path: string): Edited {
  let text: string;
  try {
    text = readFileSync(path === "-" ? 0 : path, "utf8");
  } catch (thrown) {
    throw usage(`${path} cannot be read (${(thrown as NodeJS.ErrnoException).code ?? "unknown"})`, thrown);
  }
  return readEdited(text, path === "-" ? "standard input" : path);
}

/**
 * A card shows marks where a value is masked. Where the edit left such a value alone the real one is put back; a mark
 * within a changed one would run as text.
 */
export function withoutMasks(edited: Edited, shown: Pick<Card, "arguments" | "masked">, real: JsonObject): Edited {
  if (edited === null || edited === false) return edited;
  let next: JsonValue = edited;
  for (const pointer of shown.masked) {
    const mark = at(shown.arguments, pointer);
    const [given, actual] = [at(next, pointer), at(real, pointer)];
    if (given === undefined || actual === undefined) continue;
    if (given === mark) next = replaceAt(next, pointer, actual);
    else if (typeof given === "string" && /\[masked \d+ characters?\]/u.test(given))
      throw usage(`${pointer} still has a mark in the place of what is masked; write the whole value, or leave it as it was`);
  }
  return next as JsonObject;
}

export interface EditorAnswer {
  readonly edited: Edited;
  /** Where the text is kept, so that no work is lost on a fault. */
  readonly path: string;
  discard(): void;
}

/** Opens the editor on the arguments. @throws CommandFault where it fails */
export function editInEditor(card: Card, place: Place): EditorAnswer {
  const editor = [process.env.VISUAL, process.env.EDITOR].find((name) => name !== undefined && name !== "") ?? "vi";
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-edit-"));
  const path = join(folder, `${card.tool.name.replaceAll("/", "-")}.json`);
  const before = `${JSON.stringify(card.arguments, null, 2)}\n`;
  const discard = (): void => rmSync(folder, { recursive: true, force: true });
  writeFileSync(path, before, { mode: 0o600 });
  // As git does: the variable may hold options, so a shell takes it apart.
  const { status, error } = spawnSync("/bin/sh", ["-c", `${editor} "$1"`, "sh", path], { stdio: "inherit" });
  const after = readFileSync(path, "utf8");
  if (error !== undefined || status !== 0) {
    discard();
    throw new CommandFault(
      `the editor "${editor}" ended with ${status ?? error?.message ?? "a signal"}; nothing was decided. Set EDITOR, or give --arguments or --file`,
    );
  }
  try {
    return { edited: readEdited(after, path), path, discard };
  } catch (thrown) {
    if (thrown instanceof CommandFault)
      throw usage(
        `${thrown.message}. Your text is kept: holdpoint edit${place.option} ${card.id} --file ${quoted(path)}`,
        thrown,
      );
    throw thrown;
  }
}
