import { createCipheriv, createDecipheriv, createHmac, hash, randomBytes, timingSafeEqual } from "node:crypto";
import type { Crypto } from "../../core/index.ts";

/** First word of a sealed text; it is authenticated too, so that a later form can never be taken for this one. */
const FORM = "hs1";
const CIPHER = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Hashing and sealing with Node's own OpenSSL. */
export function nodeCrypto(): Crypto {
  return { sha256: (text) => hash("sha256", utf8(text), "hex"), hmac, equal, seal, open };
}

/** UTF-8 has no form for half of a surrogate pair: encoders replace it, and two texts would have one hash (A31). */
function utf8(text: string): string {
  if (isWellFormed(text)) return text;
  throw new RangeError("a text with half of a surrogate pair cannot be hashed or sealed");
}
const isWellFormed = (text: string): boolean => (text as unknown as { isWellFormed(): boolean }).isWellFormed();

function hmac(key: string, text: string): string {
  return createHmac("sha256", key).update(utf8(text)).digest("base64url");
}

function equal(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a, "utf16le"), Buffer.from(b, "utf16le")];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** The cipher's key is derived, so that a key of any length and alphabet fits, and is used for nothing else. */
const cipherKey = (key: string): Buffer => createHmac("sha256", key).update(`holdpoint/seal/${FORM}`).digest();

function seal(key: string, text: string): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, cipherKey(key), nonce, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(FORM));
  const sealed = Buffer.concat([nonce, cipher.update(utf8(text), "utf8"), cipher.final(), cipher.getAuthTag()]);
  return `${FORM}.${sealed.toString("base64url")}`;
}

function open(key: string, sealed: string): string | undefined {
  const bytes = sealedBytes(sealed);
  if (bytes === undefined) return undefined;
  const nonce = bytes.subarray(0, NONCE_BYTES);
  const tag = bytes.subarray(bytes.length - TAG_BYTES);
  const decipher = createDecipheriv(CIPHER, cipherKey(key), nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(FORM)).setAuthTag(tag);
  const text = decipher.update(bytes.subarray(NONCE_BYTES, bytes.length - TAG_BYTES), undefined, "utf8");
  try {
    return text + decipher.final("utf8");
  } catch {
    return undefined;
  }
}

/** Node reads base64 leniently: without the comparison a changed text could still open. */
function sealedBytes(sealed: string): Buffer | undefined {
  if (!sealed.startsWith(`${FORM}.`)) return undefined;
  const written = sealed.slice(FORM.length + 1);
  const bytes = Buffer.from(written, "base64url");
  return bytes.length >= NONCE_BYTES + TAG_BYTES && bytes.toString("base64url") === written ? bytes : undefined;
}
