import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import type { RecordQuery } from "../../core/index.ts";
import { pageOf } from "./find.ts";
import { MIGRATION_0001 } from "./migrations/0001.ts";

/** What SQLite does for a query: a search by an index stays flat beside any number of ended requests, a scan does not. */
function planOf(query: RecordQuery): string {
  const database = new DatabaseSync(":memory:");
  database.exec(MIGRATION_0001);
  const { sql, values } = pageOf(query, -1, 200);
  const plan = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values) as { detail: string }[];
  database.close();
  return plan.map(({ detail }) => detail).join("; ");
}

describe("find", () => {
  it("looks at open requests only, where only open ones are asked for", () => {
    for (const query of [{ status: ["pending"] }, { status: ["approved", "pending"], thread: "t" }] as const) {
      expect(planOf(query)).toMatch(
        /^SEARCH s USING INDEX states_open \(place>\?\); SEARCH r USING INTEGER PRIMARY KEY \(rowid=\?\)$/,
      );
    }
  });

  it("finds an edit chain and an id's beginning without looking at every request", () => {
    expect(planOf({ root: "r" })).toContain("SEARCH r USING INTEGER PRIMARY KEY (rowid=?)");
    expect(planOf({ root: "r" })).toContain("SEARCH requests USING INDEX requests_edited (root=?)");
    expect(planOf({ root: "r" })).not.toContain("SCAN");
    expect(planOf({ idPrefix: "0190" })).toMatch(
      /^SEARCH s USING PRIMARY KEY \(id>\? AND id<\?\); SEARCH r USING INTEGER PRIMARY KEY/,
    );
  });

  it("puts every text in as a value", () => {
    const evil = "x') OR 1=1 --";
    const { sql, values } = pageOf(
      { status: ["pending"], kind: "call", tenant: evil, thread: evil, idPrefix: evil, root: evil },
      3,
      7,
    );
    expect(sql).not.toContain(evil);
    expect(values).toEqual([3, "pending", "call", evil, evil, evil, `${evil}\u{10ffff}`, 13, evil, evil, evil, evil, 7]);
  });
});
