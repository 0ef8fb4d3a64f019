import { createHmac, randomBytes } from "node:crypto";
import { DeclarationError } from "../../core/index.ts";
import type { Keys } from "../../core/index.ts";
import { keyFile } from "./key-file.ts";

/** 256 bits in base64url have 43 characters; a shorter key is a word that somebody typed. */
const SHORTEST = 32;

/** Keys that end with this process: what it MACs, nobody can check after a restart. For tests and demonstrations. */
export function memoryKeys(): Keys {
  return derived(randomBytes(32).toString("base64url"));
}

/**
 * Keys from the key file of this installation. The file is made at the first use (0600, in a folder 0700 that is made too);
 * processes that start together agree on one.
 * @throws DeclarationError when file or folder cannot be read, may be read by others, belong to another account, or hold
 *   anything else than a key. It is never repaired: a new key would void every decision made under the old one
 */
export function fileKeys(path: string): Keys {
  return derived(keyFile(path));
}

/** One key for each purpose, so that what is made for one can never be used for another. */
function derived(key: string): Keys {
  const keyFor = (purpose: string): string => createHmac("sha256", key).update(`holdpoint/key/${purpose}/v1`).digest("base64url");
  return Object.freeze({ call: keyFor("call"), view: keyFor("view"), decision: keyFor("decision"), seal: keyFor("seal") });
}

/** @throws DeclarationError on a key that is too short to be random, or that serves two purposes */
export function checkedKeys(keys: Keys): Keys {
  const all = [keys.call, keys.view, keys.decision, ...(keys.seal === null ? [] : [keys.seal])];
  if (all.some((key) => typeof key !== "string" || key.length < SHORTEST)) {
    throw new DeclarationError(
      `option keys: each key must be a text of at least ${SHORTEST} characters; use fileKeys(path) or memoryKeys()`,
    );
  }
  if (new Set(all).size !== all.length) {
    throw new DeclarationError("option keys: one key serves two purposes; use fileKeys(path), which derives one for each");
  }
  return keys;
}
