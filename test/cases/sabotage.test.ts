import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { laterOf } from "./later.ts";
import { missedBy, row } from "./report.ts";
import { linesIn } from "./runner.ts";
import { SABOTAGES } from "./sabotage/list.ts";

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** Cases that pass with our own parts; our own come first, since each of them stands for one guard. */
const LINES = ["own.jsonl", "bank/reported-faults.jsonl", "bank/attacks.jsonl"]
  .flatMap((name) => [...linesIn(here(name))])
  .filter((line) => laterOf(line.id) === undefined);

it("tries gates that always allow, always refuse, and lack one guard each", () => {
  expect(SABOTAGES.map(({ sabotage }) => sabotage.name)).toEqual([
    "always allows",
    "always refuses",
    "M_SELF",
    "M_LATE_VOTE",
    "M_STALE",
    "M_DUPE",
    "M_VOTE_DOWN",
    "M_OPEN_ON_ERROR",
    "M_DENY_IGNORED",
    "M_NO_CAS",
    "M_RETRY_LOST",
    "M_NO_DIGEST",
    "M_NO_FREEZE",
    "M_UNLOGGED",
    "M_TIMEOUT_APPROVES",
    "M_LATE_CLAIM",
    "M_CARRY",
    "no journal",
    "no escaping",
  ]);
  for (const { kinds } of SABOTAGES) expect(kinds.length).toBeGreaterThan(0);
});

it.each(SABOTAGES.map((tried) => [tried.sabotage.name, tried] as const))(
  "%s: every kind concerned has a case that notices",
  async (_name, tried) => {
    const concerned = LINES.filter((line) => tried.kinds.includes(line.kind));
    const cells = await row(tried, concerned, true);
    expect(missedBy(tried, cells)).toEqual([]);
  },
  300_000,
);
