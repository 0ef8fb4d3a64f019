import type { Cursor } from "../core/index.ts";

/**
 * One order for both uses of a cursor: `"12"` is the twelfth commit, `"12.1"` the second record that it created. So a
 * list's cursor can start a watch and a commit's cursor can start a list.
 */

/** Records that one commit may create; leaves room for 2^45 commits in a safe integer. */
export const RECORDS_PER_COMMIT = 256;

const PATTERN = /^(\d{1,13})(?:\.(\d{1,3}))?$/;

/** A record's place in the order of creation. */
export const placeOf = (seq: number, index: number): number => seq * RECORDS_PER_COMMIT + index;

export const commitCursor = (seq: number): Cursor => String(seq);
export const recordCursor = (place: number): Cursor => `${Math.floor(place / RECORDS_PER_COMMIT)}.${place % RECORDS_PER_COMMIT}`;

/** The commit of a cursor; 0 for `""`. @throws RangeError on a text that no store gave out */
export function seqOf(cursor: Cursor): number {
  return cursor === "" ? 0 : Number(partsOf(cursor)[1]);
}

/** The last place that a list after this cursor leaves out. @throws RangeError on a text that no store gave out */
export function placeBefore(cursor: Cursor | undefined): number {
  if (cursor === undefined || cursor === "") return -1;
  const parts = partsOf(cursor);
  return placeOf(Number(parts[1]), parts[2] === undefined ? RECORDS_PER_COMMIT - 1 : Number(parts[2]));
}

function partsOf(cursor: Cursor): RegExpExecArray {
  const parts = PATTERN.exec(cursor);
  if (parts === null) throw new RangeError("this is not a cursor of this store; take one from a list, a commit or a hint");
  return parts;
}
