import { expect, test } from "vitest";
import { randomIds } from "./ids.ts";

const V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const timeOf = (id: string): number => Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16);
const many = (count: number, make: () => string): string[] => Array.from({ length: count }, make);

test("a request id is a UUIDv7 of the clock's time", () => {
  const id = randomIds({ now: () => 1_796_083_200_123 }).request();
  expect(id).toMatch(V7);
  expect(timeOf(id)).toBe(1_796_083_200_123);
});

test("each sorts after the one before, also many in one millisecond and with a clock that goes back", () => {
  let now = 5_000;
  const ids = randomIds({ now: () => now });
  const made = many(10_000, () => ids.request());
  now = 4_000;
  made.push(...many(10, () => ids.request()));
  now = 9_000.7;
  const later = ids.request();
  made.push(later);
  expect(made).toEqual([...made].sort());
  expect(new Set(made).size).toBe(made.length);
  for (const id of made) expect(id).toMatch(V7);
  expect(timeOf(later)).toBe(9_000);
});

test("a time before 1970 is 1970", () => {
  expect(timeOf(randomIds({ now: () => -1 }).request())).toBe(0);
});

test("nonces have 128 bits in 22 characters, tokens 256 in 43, and none comes twice", () => {
  const ids = randomIds({ now: () => 0 });
  const [nonces, tokens] = [many(1_000, ids.nonce), many(1_000, ids.token)];
  for (const nonce of nonces) expect(nonce).toMatch(/^[A-Za-z0-9_-]{22}$/);
  for (const token of tokens) expect(token).toMatch(/^[A-Za-z0-9_-]{43}$/);
  expect(new Set([...nonces, ...tokens]).size).toBe(2_000);
});

test("the process id is constant, and another runtime has another one", () => {
  const ids = randomIds({ now: () => 0 });
  expect(ids.process).toMatch(/^[0-9a-f]{32}$/);
  expect(ids.process).toBe(ids.process);
  expect(randomIds({ now: () => 0 }).process).not.toBe(ids.process);
});
