import { expect, it } from "vitest";
import { laterIds, laterOf, WORKS } from "../later.ts";
import { lines, notApplicable, tested } from "./index.ts";

/** What the design overrules; a copy, so that a change of either is seen. */
const OVERRULED = [
  ..."027 057 058 059 087 100 111 113 126 142".split(" ").map((n) => `AP-${n}`),
  ..."010 012 111 114 115".split(" ").map((n) => `TA-${n}`),
  ..."004 013 014 025 072 030 052 059 060 061 062 064 065 066 067 079 084".split(" ").map((n) => `SH-${n}`),
  ..."003 004 006 007 008 009 021 026 028 029 030 032 064".split(" ").map((n) => `A3-${n}`),
  ..."013 020 022 023 024 026".split(" ").map((n) => `LC-${n}`),
];

const later = laterIds.filter((id) => /^(?:AP|TA|SH|A3|LC)-/.test(id));

it("reads 293 lines", () => {
  expect(lines.size).toBe(293);
});

it("takes for not applicable what the file names, and nothing else", () => {
  expect([...notApplicable()].sort()).toEqual([...OVERRULED].sort());
});

it("has each line in exactly one place: a test, not applicable, or later", () => {
  const places = [...new Set(tested()), ...OVERRULED, ...later];
  const twice = places.filter((id, at) => places.indexOf(id) !== at);
  expect(twice).toEqual([]);
  expect([...lines.keys()].filter((id) => !places.includes(id))).toEqual([]);
  expect(places.filter((id) => !lines.has(id))).toEqual([]);
});

it("waits for parts that do not exist yet with so many lines, each for a named work", () => {
  expect(later.length).toBe(46);
  for (const id of later) expect(WORKS).toContain(laterOf(id));
});
