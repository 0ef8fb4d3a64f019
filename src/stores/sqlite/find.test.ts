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
    expect(planOf({ status: ["pending"] })).toBe("SEARCH requests USING INDEX requests_open (place>?)");
    expect(planOf({ status: ["approved", "pending"], thread: "t" })).toBe("SEARCH requests USING INDEX requests_open (place>?)");
  });

  it("finds an edit chain and an id's beginning without looking at every request", () => {
    expect(planOf({ root: "r" })).toContain("MULTI-INDEX OR");
    expect(planOf({ root: "r" })).toContain("requests_edited");
    expect(planOf({ idPrefix: "0190" })).toContain("SEARCH requests USING INDEX sqlite_autoindex_requests_1 (id>? AND id<?)");
  });

  it("puts every text in as a value", () => {
    const evil = "x') OR 1=1 --";
    const { sql, values } = pageOf(
      { status: ["pending"], kind: "call", tenant: evil, thread: evil, idPrefix: evil, root: evil },
      3,
      7,
    );
    expect(sql).not.toContain(evil);
    expect(values).toEqual([3, "pending", "call", evil, evil, evil, `${evil}\u{10ffff}`, 13, evil, evil, evil, 7]);
  });
});
