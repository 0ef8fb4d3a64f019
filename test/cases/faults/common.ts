import { unescapeVisible } from "../../../src/core/index.ts";
import { Wrong } from "../work.ts";
import type { Scene } from "./scene.ts";
import { isFields } from "./shape.ts";

export type Expectation = (scene: Scene, value: unknown) => void | Promise<void>;

/** A gate that is right and more careful than the case: what is missing is a part that reads more. */
export class Stricter extends Error {}

export const said = (value: unknown): string => JSON.stringify(value) ?? "nothing";

export function each(value: unknown, check: (label: string, wanted: unknown) => void): void {
  if (!isFields(value)) throw new Wrong(`an outcome by call was expected, not ${said(value)}`);
  for (const [label, wanted] of Object.entries(value)) check(label, wanted);
}

/** A card's text in which every escape stands for its character again. */
export function plain(shown: string): string {
  try {
    return unescapeVisible(shown);
  } catch {
    return shown;
  }
}
