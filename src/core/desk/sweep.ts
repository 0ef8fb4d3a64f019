import { msOf } from "../instant.ts";
import type { Row, Stored } from "../ports/store.ts";
import { change } from "./change.ts";
import { problemOf } from "../errors.ts";
import type { Claim } from "../request.ts";
import { lookOrSkip } from "./look.ts";
import type { DeskParts } from "./parts.ts";

/** An open request and how long a person still has. */
export interface Open extends Stored {
  readonly remainingMs: number;
}

/** What is pending and not overdue, oldest first. */
export async function openRequests(parts: DeskParts): Promise<readonly Open[]> {
  const open: Open[] = [];
  const now = msOf(await parts.store.now());
  for await (const { record } of parts.store.find({ status: ["pending"], tenant: parts.tenant })) {
    const remainingMs = msOf(record.decideBy) - now;
    const stored = remainingMs > 0 ? await lookOrSkip(parts, record.id) : undefined;
    if (stored !== undefined) open.push({ ...stored, remainingMs });
  }
  return open;
}

async function giveUp(parts: DeskParts, id: string): Promise<boolean> {
  const done = await change(parts, id, async (stored, now) => ({
    event: { type: "sweep", reason: "lease_lost", now },
    beside: async () => ({ notBefore: (stored.record.claim as Claim).until }),
  }));
  if (done.ok) parts.settled(done.record);
  return done.ok;
}

/** One request that cannot be swept must not keep the others from it. */
async function swept(parts: DeskParts, id: string, by: (id: string) => Promise<boolean>): Promise<number> {
  try {
    return (await by(id)) ? 1 : 0;
  } catch (thrown) {
    parts.runtime.log.error("a request could not be swept", { request: id, problem: problemOf(thrown) });
    return 0;
  }
}

/** A window or grant that has run out answers nothing; its row goes, and the journal says so. */
async function clear(parts: DeskParts, row: Row & { readonly kind: "window" | "grant" }): Promise<boolean> {
  const { kind, key, rev, value } = row;
  const written = await parts.journal.write({
    rows: [{ kind, key, expect: rev, next: null }],
    node: [{ event: `${kind}.ended`, actor: null, data: { [kind]: String(value.id), until: String(value.until) } }],
  });
  return written.ok;
}

async function runOut(parts: DeskParts, kind: "window" | "grant"): Promise<number> {
  const now = await parts.store.now();
  const over: Row[] = [];
  for await (const row of parts.store.rows({ kind })) if (now >= String(row.value.until)) over.push(row);
  let cleared = 0;
  for (const row of over) cleared += await swept(parts, row.key, () => clear(parts, { ...row, kind }));
  return cleared;
}

/**
 * Expires what is overdue, ends what nobody took up again, gives up claims whose lease is lost, and clears away windows and grants that have run out;
 * nothing is ever run again by it.
 */
export async function sweep(parts: DeskParts): Promise<number> {
  const { store, tenant } = parts;
  let changed = 0;
  for await (const { record } of store.find({ status: ["pending", "approved"], tenant }))
    changed += await swept(parts, record.id, parts.expire);
  for await (const { record } of store.find({ status: ["claimed"], tenant }))
    changed += await swept(parts, record.id, (id) => giveUp(parts, id));
  return changed + (await runOut(parts, "window")) + (await runOut(parts, "grant"));
}
