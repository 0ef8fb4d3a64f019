import { describe, expect, it } from "vitest";
import { nodeRuntime } from "../runtime/node/index.ts";
import type { Hash } from "./hash.ts";
import { instant } from "./instant.ts";
import { type Entry, entryHash, verifyStream } from "./journal.ts";

const { crypto } = nodeRuntime();
const entry = (n: number, prev: Hash | null, over: Partial<Entry> = {}): Entry => ({
  type: "holdpoint/entry/v1",
  stream: "request/r1",
  n,
  prev,
  at: instant(n),
  event: "request.seen",
  tenant: "default",
  actor: null,
  rev: n + 1,
  data: {},
  ...over,
});
const first = entry(0, null);
const second = entry(1, entryHash(crypto, first));
const third = entry(2, entryHash(crypto, second));
const chain = [first, second, third];

describe("verifyStream", () => {
  it("P-20 holds for a chain as it was written, with and without the record's word for its end", () => {
    expect(verifyStream(crypto, chain, entryHash(crypto, third))).toBeUndefined();
    expect(verifyStream(crypto, chain, null)).toBeUndefined();
    expect(verifyStream(crypto, [], null)).toBeUndefined();
  });

  it("P-20 says where an entry is missing, moved, changed or cut off", () => {
    expect(verifyStream(crypto, [first, third], null)).toEqual({ n: 1, problem: "entry 1 is missing or out of place" });
    expect(verifyStream(crypto, [second, first], null)).toMatchObject({ n: 0 });
    expect(verifyStream(crypto, [first, { ...second, tenant: "other" }, third], null)).toEqual({
      n: 2,
      problem: "entry 2 does not follow the one before it",
    });
    expect(verifyStream(crypto, [first, second], entryHash(crypto, third))).toEqual({
      n: 2,
      problem: "the chain does not end where the record says",
    });
    expect(verifyStream(crypto, [], entryHash(crypto, third))).toMatchObject({ n: 0 });
  });
});
