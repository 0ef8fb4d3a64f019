import { canonicalize } from "./json.ts";
import { isFrozenWhole } from "./lasting.ts";
import type { Crypto } from "./ports/runtime.ts";

/** `sha256:` and 64 lower-case hex digits. */
export type Hash = `sha256:${string}`;

/**
 * `H(x)` of the formats: SHA-256 over the RFC 8785 bytes of an object that names its own format in `type`, so that a
 * digest made for one purpose can never verify for another.
 */
export const hashOf = (
  crypto: Crypto,
  value: { readonly type: `holdpoint/${string}/v1`; readonly [member: string]: unknown },
): Hash => `sha256:${crypto.sha256(canonicalize(value))}`;

const hashes = new WeakMap<object, { readonly crypto: Crypto; readonly hash: Hash }>();

/** {@link hashOf}, made once of an object that nobody can change any more: terms and entries are hashed at every reading. */
export function lastingHash(crypto: Crypto, value: Parameters<typeof hashOf>[1]): Hash {
  const known = hashes.get(value);
  if (known?.crypto === crypto) return known.hash;
  const hash = hashOf(crypto, value);
  if (isFrozenWhole(value)) hashes.set(value, { crypto, hash });
  return hash;
}

/** The first 12 digits in groups of 4, as cards show a hash. */
export const shortHash = (hash: Hash): string => (hash.slice(7, 19).match(/.{4}/g) as string[]).join(" ");

const HASH = /^sha256:[0-9a-f]{64}$/;
export const isHash = (text: unknown): text is Hash => typeof text === "string" && HASH.test(text);
