import type { JsonObject, JsonValue } from "./json-value.ts";
import { canonicalize } from "./json.ts";
import { at, replaceAt } from "./pointer.ts";
import type { Crypto } from "./ports/runtime.ts";

/** Salt by pointer. A short secret without its salt cannot be found by guessing (A113). */
export type Salts = Readonly<Record<string, string>>;

const commitment = (crypto: Crypto, salt: string, value: JsonValue): JsonObject => ({
  $secret: `sha256:${crypto.sha256(canonicalize({ type: "holdpoint/secret/v1", salt, value }))}`,
});

/**
 * The arguments as everything but the tool may see them: each secret value replaced by a salted commitment, so that
 * the same value can be checked at the claim and read nowhere (P-19). A secret within one that is committed already is
 * gone with it.
 */
export function withCommitments(crypto: Crypto, args: JsonObject, salts: Salts): JsonObject {
  let shown = args;
  for (const [pointer, salt] of Object.entries(salts)) {
    const value = at(args, pointer);
    if (value !== undefined && at(shown, pointer) !== undefined)
      shown = replaceAt(shown, pointer, commitment(crypto, salt, value)) as JsonObject;
  }
  return shown;
}

/** Pointers of a tool's secrets that these arguments carry. */
export const secretsIn = (args: JsonObject, secrets: readonly string[]): readonly string[] =>
  Object.freeze(secrets.filter((pointer) => at(args, pointer) !== undefined));

/** Shorter texts stand in every sentence by chance. */
const SHORTEST_SECRET = 4;

function* textsIn(value: JsonValue): Generator<string> {
  if (typeof value === "string" || typeof value === "number") yield String(value);
  else if (typeof value === "object" && value !== null) for (const inner of Object.values(value)) yield* textsIn(inner);
}

/** Words that the agent wrote itself, without the values that are secret in its call: it knows them, whoever reads need not (P-19). */
export function withoutSecrets(words: string, args: JsonObject, secrets: readonly string[]): string {
  const values = secrets.flatMap((pointer) => [...textsIn(at(args, pointer) ?? null)]);
  return values
    .filter((value) => value.length >= SHORTEST_SECRET)
    .sort((one, other) => other.length - one.length)
    .reduce((said, value) => said.replaceAll(value, "[secret]"), words);
}
