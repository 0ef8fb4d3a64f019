import type { JsonObject } from "../json-value.ts";
import { at } from "../pointer.ts";
import type { Surroundings } from "../ports/runtime.ts";
import type { Binds } from "../tool-call.ts";

export type Bindings = Readonly<Record<string, string>>;
const NONE: Bindings = Object.freeze({});
/** What stands where there is nothing: it must differ from every path, hash and value. */
const MISSING = "(none)";

const textAt = (args: JsonObject, pointer: string): string | undefined => {
  const value = at(args, pointer);
  return typeof value === "string" ? value : undefined;
};

/** The texts that a pointer names: itself, or each text of the list that it is. */
function textsAt(args: JsonObject, pointer: string): readonly { readonly pointer: string; readonly text: string }[] {
  const value = at(args, pointer);
  const named = Array.isArray(value) ? value.map((_, place) => `${pointer}/${place}`) : [pointer];
  return named.flatMap((one) => {
    const text = textAt(args, one);
    return text === undefined ? [] : [{ pointer: one, text }];
  });
}

/**
 * Everything a call depends on besides its arguments, resolved now: the folder, links, files and environment it names.
 * Resolved again at the claim; a difference withdraws the request (A22.3, A38, A39).
 */
export async function bind(surroundings: Surroundings, binds: Binds | undefined, args: JsonObject): Promise<Bindings> {
  if (binds === undefined) return NONE;
  const bound: Record<string, string> = {};
  const stated = typeof binds.cwd === "string" ? textAt(args, binds.cwd) : undefined;
  const cwd = (await surroundings.realPath(stated ?? surroundings.cwd(), surroundings.cwd())) ?? MISSING;
  if (binds.cwd !== undefined) bound.cwd = cwd;
  for (const name of binds.env ?? []) bound[`env:${name}`] = surroundings.env(name) ?? MISSING;
  for (const { pointer, text } of (binds.paths ?? []).flatMap((one) => textsAt(args, one)))
    bound[`path:${pointer}`] = (await surroundings.realPath(text, cwd)) ?? MISSING;
  for (const { text } of (binds.files ?? []).flatMap((one) => textsAt(args, one))) {
    const real = (await surroundings.realPath(text, cwd)) ?? MISSING;
    bound[`file:${real}`] = (await surroundings.fileHash(real)) ?? MISSING;
  }
  return Object.freeze(bound);
}
