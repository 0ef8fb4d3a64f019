import {
  type Clock,
  type Commit,
  type Committed,
  type Entry,
  entryHash,
  msOf,
  type RecordChange,
  type Store,
} from "../../../src/core/index.ts";
import { nodeRuntime } from "../../../src/index.ts";

/** Stores that are worse than a store may be. */

const { crypto } = nodeRuntime();

const has = (change: Commit, ...events: readonly string[]): boolean =>
  change.entries.some((entry) => events.includes(entry.event));
const TOO_EARLY: Committed = { ok: false, why: "too_early" };

type Committing = (change: Commit, inner: Store) => Promise<Committed>;
const committing =
  (commit: Committing) =>
  (inner: Store): Store => ({ ...inner, commit: (change) => commit(change, inner) });

const without = ({ before: _before, notBefore: _notBefore, ...change }: Commit): Commit => change;

const expires = (change: Commit, ...reasons: readonly unknown[]): boolean =>
  change.entries.some((entry) => entry.event === "request.expired" && reasons.includes(entry.data.reason));

/** No deadline of a person's answer. */
export const lateVotes: (inner: Store) => Store = committing(async (change, inner) => {
  if (expires(change, "not_decided", "not_shown")) return TOO_EARLY;
  return inner.commit(has(change, "request.voted", "request.rejected") ? without(change) : change);
});

/** No deadline of an approval. */
export const lateClaims: (inner: Store) => Store = committing(async (change, inner) => {
  if (expires(change, "not_claimed")) return TOO_EARLY;
  return inner.commit(has(change, "request.claimed") ? without(change) : change);
});

/** An answer counts although it could not be written down. */
export const votesWhileDown: (inner: Store) => Store = committing(async (change, inner) => {
  try {
    return await inner.commit(change);
  } catch (thrown) {
    if (has(change, "request.voted")) return { ok: true, cursor: "" };
    throw thrown;
  }
});

/** Reads, then writes: what somebody else wrote meanwhile is written over. */
export const writesOver: (inner: Store) => Store = committing(async (change, inner) => {
  const committed = await inner.commit(change);
  if (committed.ok || committed.why !== "conflict") return committed;
  const entries: Entry[] = [];
  const records: RecordChange[] = [];
  for (const record of change.records) {
    const now = await inner.read(record.id);
    if (now === undefined || record.expect === null) return committed;
    const moved = rechained(change, record, now.record);
    entries.push(...moved.entries);
    records.push(moved.record);
  }
  return inner.commit({
    ...change,
    key: `${change.key}-over`,
    records,
    entries: [...entries, ...change.entries.filter((entry) => entry.stream.startsWith("node/"))],
    rows: [],
  });
});

function rechained(
  change: Commit,
  record: RecordChange,
  now: { readonly rev: number; readonly head: RecordChange["next"]["head"] },
): { entries: Entry[]; record: RecordChange } {
  let { rev, head } = now;
  const entries = change.entries
    .filter((entry) => entry.stream === `request/${record.id}`)
    .map((entry): Entry => {
      const next = { ...entry, n: rev, prev: head, rev: rev + 1 };
      head = entryHash(crypto, next);
      rev += 1;
      return next;
    });
  return { entries, record: { id: record.id, expect: { rev: now.rev, head: now.head }, next: { ...record.next, rev, head } } };
}

/** The claim is not written into the journal. */
export const unloggedClaims: (inner: Store) => Store = committing(async (change, inner) => {
  if (!has(change, "request.claimed")) return inner.commit(change);
  const records = change.records.map((record) =>
    record.expect === null ? record : { ...record, next: { ...record.next, rev: record.expect.rev, head: record.expect.head } },
  );
  return inner.commit({ ...change, records, entries: change.entries.filter((entry) => entry.event !== "request.claimed") });
});

/** Nothing is written into the journal. */
export const noJournal: (inner: Store) => Store = committing((change, inner) => inner.commit({ ...change, entries: [] }));

/** Votes for the old arguments survive an edit, and count as approval of the new ones. */
export function carriesVotes(inner: Store, clock: Clock): Store {
  return {
    ...inner,
    commit: async (change) => {
      const [old, successor] = change.records;
      if (old === undefined || successor === undefined || old.next.decisions.length === 0) return inner.commit(change);
      const carried = old.next.decisions.map((vote) => ({ ...vote, digest: successor.next.digest }));
      const runBy = successor.next.runBy ?? new Date(Math.max(clock.now(), msOf(change.at)) + 600_000).toISOString();
      const next = {
        ...successor.next,
        decisions: [...carried, ...successor.next.decisions],
        status: "approved" as const,
        runBy: runBy as never,
      };
      return inner.commit({ ...change, records: [old, { ...successor, next }] });
    },
  };
}
