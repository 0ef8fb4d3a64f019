/**
 * Target 3: canonical form and hash. Target 1b, the part that looks at arguments: one strict walk and one frozen copy.
 *
 *   node --expose-gc bench/canonical.mjs
 */
import { hash } from "node:crypto";
import npmCanonicalize from "canonicalize";
import { canonicalize, copyJson, readJson } from "../src/core/index.ts";
import { nodeRuntime } from "../src/runtime/node/index.ts";
import { frozenCopy, strictWalk } from "./peers/hand.mjs";
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
    "hand: strict walk + frozen copy": { run: () => [strictWalk(value), frozenCopy(value)], batch },
    "holdpoint copyJson": { run: () => copyJson(value), batch },
    "hand: frozen copy alone": { run: () => frozenCopy(value), batch },
    structuredClone: { run: () => structuredClone(value), batch },
  });
  show(`strict walk + frozen copy of ${size}`, walked, "hand: strict walk + frozen copy");
  const read = await measure({
    "JSON.parse": { run: () => JSON.parse(text), batch },
    "JSON.parse + strict walk + frozen copy": { run: () => [strictWalk(JSON.parse(text)), frozenCopy(value)], batch },
    "holdpoint readJson": { run: () => readJson(text), batch },
  });
  show(`reading ${size}`, read, "JSON.parse");
  const [peer, ours, ourCopy] = Object.values(hashed);
  target(`3, canonical form + hash, ${size}, a caller's object`, ratio(ours, peer), 0.8);
  target(`3, canonical form + hash, ${size}, our frozen copy`, ratio(ourCopy, peer), 0.8);
  target(`1b, walk and copy, ${size}`, ratio(walked["holdpoint copyJson"], walked["hand: strict walk + frozen copy"]), 1.3);
}
verdict();
