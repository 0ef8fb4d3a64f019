import { createHash } from "node:crypto";
import { describe, expect, test, vi } from "vitest";
import { hashOf, lastingHash } from "./hash.ts";
import { freezeWhole, isFrozenWhole, lasting } from "./lasting.ts";
import type { Crypto } from "./ports/runtime.ts";
import { type DigestParts, digestOf } from "./request-hash.ts";

const cryptoOf = (sha256 = (text: string): string => createHash("sha256").update(text).digest("hex")): Crypto =>
  ({ sha256: vi.fn(sha256) }) as unknown as Crypto;

test("frozen whole is frozen to the last member", () => {
  expect(isFrozenWhole(freezeWhole({ a: [{ b: 1 }], c: null }))).toBe(true);
  expect(isFrozenWhole(Object.freeze({ a: [] }))).toBe(false);
  expect(isFrozenWhole(Object.freeze({ a: () => 1 }))).toBe(false);
  expect(isFrozenWhole({})).toBe(false);
});

describe("lasting", () => {
  test("makes once of what cannot change, whatever comes out", () => {
    const make = vi.fn((_: object) => undefined);
    const made = lasting(make);
    const subject = freezeWhole({ a: [1] });
    expect([made(subject), made(subject)]).toEqual([undefined, undefined]);
    expect(make).toHaveBeenCalledTimes(1);
    made(freezeWhole({ a: [1] }));
    expect(make).toHaveBeenCalledTimes(2);
  });

  test("makes anew of what can still change, in any depth", () => {
    const inner = { n: 1 };
    const subject = Object.freeze({ inner });
    const made = lasting((of: typeof subject) => of.inner.n);
    expect(made(subject)).toBe(1);
    inner.n = 2;
    expect(made(subject)).toBe(2);
  });
});

describe("hashes of what lasts", () => {
  const entry = (n: number) => ({ type: "holdpoint/test/v1" as const, n });

  test("are the same, made once, and never those of another crypto", () => {
    const [one, other] = [cryptoOf(), cryptoOf(() => "0")];
    const lasts = freezeWhole(entry(1));
    expect(lastingHash(one, lasts)).toBe(hashOf(cryptoOf(), lasts));
    expect(lastingHash(one, lasts)).toBe(hashOf(cryptoOf(), lasts));
    expect(one.sha256).toHaveBeenCalledTimes(1);
    expect(lastingHash(other, lasts)).toBe("sha256:0");
  });

  test("follow every change of what can change", () => {
    const crypto = cryptoOf();
    const changing = entry(1);
    const before = lastingHash(crypto, changing);
    changing.n = 2;
    expect(lastingHash(crypto, changing)).toBe(hashOf(crypto, entry(2)));
    expect(lastingHash(crypto, changing)).not.toBe(before);
  });
});

describe("digestOf", () => {
  const parts = (): DigestParts => ({
    id: "i",
    tenant: "t",
    kind: "call",
    nonce: "n",
    call: {
      id: "c",
      tool: { name: "send", origin: "code", definition: "sha256:d" },
      arguments: { to: ["ada"] },
      secrets: [],
    },
    bindings: { cwd: "/a" },
    requester: { principal: "ada", agent: null, session: null, run: null, thread: null, path: [], shared: false },
    terms: "sha256:t",
  });
  const bare = (crypto: Crypto, of: DigestParts) => hashOf(crypto, { type: "holdpoint/request/v1", ...of });

  test("is made once of the very same parts", () => {
    const crypto = cryptoOf();
    const frozen = freezeWhole(parts());
    const digest = digestOf(crypto, frozen);
    expect(digestOf(crypto, { ...frozen, call: { ...frozen.call } })).toBe(digest);
    expect(crypto.sha256).toHaveBeenCalledTimes(1);
    expect(digest).toBe(bare(cryptoOf(), parts()));
  });

  const others: Readonly<Record<string, (of: DigestParts) => DigestParts>> = {
    id: (of) => ({ ...of, id: "x" }),
    tenant: (of) => ({ ...of, tenant: "x" }),
    kind: (of) => ({ ...of, kind: "grant" }),
    nonce: (of) => ({ ...of, nonce: "x" }),
    terms: (of) => ({ ...of, terms: "sha256:x" }),
    "call id": (of) => ({ ...of, call: { ...of.call, id: "x" } }),
    tool: (of) => ({ ...of, call: { ...of.call, tool: { ...of.call.tool, definition: "sha256:x" } } }),
    secrets: (of) => ({ ...of, call: { ...of.call, secrets: ["/to"] } }),
    bindings: (of) => ({ ...of, bindings: { cwd: "/b" } }),
    requester: (of) => ({ ...of, requester: { ...of.requester, principal: "eve" } }),
  };
  test.each(Object.keys(others))("sees another %s beside the same arguments", (name) => {
    const crypto = cryptoOf();
    const known = freezeWhole(parts());
    const before = digestOf(crypto, known);
    const other = freezeWhole((others[name] as (of: DigestParts) => DigestParts)(known));
    expect(digestOf(crypto, other)).not.toBe(before);
    expect(digestOf(crypto, other)).toBe(bare(crypto, other));
  });

  test("follows arguments that can still change", () => {
    const crypto = cryptoOf();
    const open = { ...freezeWhole(parts()), call: { ...freezeWhole(parts().call), arguments: { to: ["ada"] } } };
    const before = digestOf(crypto, open);
    open.call.arguments.to.push("eve");
    expect(digestOf(crypto, open)).not.toBe(before);
  });
});
