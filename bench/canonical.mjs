/**
 * Target 3: canonical form and hash. Target 1b, the part that looks at arguments: one strict walk and one frozen copy.
 *
 *   node --expose-gc bench/canonical.mjs
 */
import { hash } from "node:crypto";
import npmCanonicalize from "canonicalize";
import { canonicalize, copyJson, readJson } from "../src/core/index.ts";
import { nodeRuntime } from "../src/runtime/node/index.ts";
import { measure, ratio, show, target, verdict } from "./measure.mjs";

/** 899 bytes of JSON, keys not sorted: what every contender of the performance page gets. */
const SMALL = {
  to: ["alice@example.com", "bob@example.com"],
  subject: "Invoice 2024-117 — please pay by Friday",
  amount: 1234.56,
  currency: "EUR",
  urgent: false,
  meta: {
    zone: "eu-west-1",
    account: "acct_000123456789",
    tags: ["finance", "q3", "outbound"],
    nested: { b: 2, a: 1, c: { y: null, x: true } },
  },
  body: "Dear customer, ".repeat(40),
};
const item = (_, id) => ({
  id,
  sku: `SKU-${id}-abcdef`,
  qty: id % 7,
  price: id * 1.37,
  note: "lorem ipsum dolor sit amet consectetur adipiscing elit",
});
const LARGE = { ...SMALL, items: Array.from({ length: 440 }, item) };

/** What a careful person writes: a walk that refuses what is not I-JSON without running it, then a frozen copy. */
function walk(value) {
  if (typeof value === "string" ? value.isWellFormed() : typeof value === "boolean" || value === null) return;
  if (typeof value === "number" && Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))) return;
  if (typeof value !== "object") throw new TypeError("not JSON");
  const array = Array.isArray(value);
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== (array ? Array.prototype : Object.prototype) && prototype !== null) throw new TypeError("not plain");
  for (const key of Reflect.ownKeys(value)) {
    if (array && key === "length") continue;
    const property = Object.getOwnPropertyDescriptor(value, key);
    if (typeof key === "symbol" || !key.isWellFormed() || !property.enumerable || property.get || property.set)
      throw new TypeError("not plain");
    walk(property.value);
  }
}
function frozen(value) {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return Object.freeze(value.map(frozen));
  const copy = {};
  for (const key of Object.keys(value)) copy[key] = frozen(value[key]);
  return Object.freeze(copy);
}

const { sha256 } = nodeRuntime().crypto;

for (const [size, value, batch] of [
  ["899 bytes", SMALL, 100],
  ["56 KB", LARGE, 4],
]) {
  if (canonicalize(value) !== npmCanonicalize(value)) throw new Error("the canonical forms differ");
  const copy = copyJson(value);
  const text = JSON.stringify(value);
  const hashed = await measure({
    "canonicalize 4.0.0 + crypto.hash": { run: () => hash("sha256", npmCanonicalize(value), "hex"), batch },
    "holdpoint, a caller's object": { run: () => sha256(canonicalize(value)), batch },
    "holdpoint, our frozen copy": { run: () => sha256(canonicalize(copy)), batch },
    "JSON.stringify + crypto.hash (not canonical)": { run: () => hash("sha256", JSON.stringify(value), "hex"), batch },
  });
  show(`canonical form + SHA-256 of ${size}`, hashed, "canonicalize 4.0.0 + crypto.hash");
  const walked = await measure({
    "hand: strict walk + frozen copy": { run: () => [walk(value), frozen(value)], batch },
    "holdpoint copyJson": { run: () => copyJson(value), batch },
    "hand: frozen copy alone": { run: () => frozen(value), batch },
    structuredClone: { run: () => structuredClone(value), batch },
  });
  show(`strict walk + frozen copy of ${size}`, walked, "hand: strict walk + frozen copy");
  const read = await measure({
    "JSON.parse": { run: () => JSON.parse(text), batch },
    "JSON.parse + strict walk + frozen copy": { run: () => [walk(JSON.parse(text)), frozen(value)], batch },
    "holdpoint readJson": { run: () => readJson(text), batch },
  });
  show(`reading ${size}`, read, "JSON.parse");
  const [peer, ours, ourCopy] = Object.values(hashed);
  target(`3, canonical form + hash, ${size}, a caller's object`, ratio(ours, peer), 0.8);
  target(`3, canonical form + hash, ${size}, our frozen copy`, ratio(ourCopy, peer), 0.8);
  target(`1b, walk and copy, ${size}`, ratio(walked["holdpoint copyJson"], walked["hand: strict walk + frozen copy"]), 1.3);
}
verdict();
