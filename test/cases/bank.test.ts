import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { isAttack } from "./attacks/shape.ts";
import { mapped } from "./attacks/checks.ts";
import { laterOf, WORKS } from "./later.ts";
import { linesIn } from "./runner.ts";

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** The bank as it was handed over: no case is edited. */
const BANK = [
  ["bank/attacks.jsonl", 194, "6c4efc956b5c9ac0f31f4cb12f61d3e46ce6d0b8746155106a21bf0dd9a69004"],
  ["bank/reported-faults.jsonl", 138, "a21976c15658d4b6619fcaa70ad5fa5bd2877c40da1388bb480bc3d345fc4f55"],
  ["bank/seed-behaviours.md", 315, "869d4caf19f84c241ef46511b82f58a55abbb3c00992fa5a7d3c013f635bd110"],
] as const;
/** How many cases wait for each work: a case that can run today must not hide there. */
const WAITING = { "bank/attacks.jsonl": 79, "bank/reported-faults.jsonl": 36 } as const;

it.each(BANK)("%s is as it was handed over", (name, lines, hash) => {
  const text = readFileSync(here(name), "utf8");
  expect(text.split("\n").length - 1).toBe(lines);
  expect(createHash("sha256").update(text).digest("hex")).toBe(hash);
});

it("every check of an attack is a named assertion, or names the work that will assert it", () => {
  const text = readFileSync(here("bank/attacks.jsonl"), "utf8");
  const attacks = text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as unknown)
    .filter(isAttack);
  const unmapped = attacks.flatMap((attack) => attack.expect.checks.filter((words) => mapped(words) === undefined));
  expect(attacks.length).toBe(194);
  expect(unmapped).toEqual([]);
  expect(mapped("something that no table knows")).toBeUndefined();
});

describe.each(["bank/reported-faults.jsonl", "bank/attacks.jsonl", "own.jsonl"])("%s", (name) => {
  const lines = linesIn(here(name));

  it.each(lines.map((line) => [line.id, line] as const))(
    "%s",
    async (id, line) => {
      const result = await line.run();
      expect(result.result === "not yet" ? { work: result.work } : result).toEqual(
        laterOf(id) === undefined ? { result: "pass" } : { work: laterOf(id) },
      );
    },
    120_000,
  );

  it("leaves for later what is listed, and no more", () => {
    const listed = lines.filter((line) => laterOf(line.id) !== undefined);
    expect(listed.length).toBe(WAITING[name as keyof typeof WAITING] ?? 0);
    for (const { id } of listed) expect(WORKS).toContain(laterOf(id));
  });
});
