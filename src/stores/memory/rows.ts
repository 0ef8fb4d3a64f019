import type { Row, RowKind } from "../../core/index.ts";

/** Rows of one kind. Keys are put in order by the first list of them, and kept so from then on. */
export class Rows {
  readonly #kind: RowKind;
  readonly #byKey = new Map<string, Row>();
  #keys: string[] | undefined;

  constructor(kind: RowKind) {
    this.#kind = kind;
  }

  get(key: string): Row | undefined {
    return this.#byKey.get(key);
  }

  set(key: string, value: Row["value"]): void {
    const old = this.#byKey.get(key);
    this.#byKey.set(key, Object.freeze({ kind: this.#kind, key, rev: (old?.rev ?? 0) + 1, value }));
    if (old === undefined && this.#keys !== undefined) this.#keys.splice(placeIn(this.#keys, key), 0, key);
  }

  delete(key: string): void {
    if (this.#byKey.delete(key)) this.#keys?.splice(placeIn(this.#keys, key), 1);
  }

  *list(prefix: string): Generator<Row, void, undefined> {
    this.#keys ??= [...this.#byKey.keys()].sort();
    let key = this.#keys[placeIn(this.#keys, prefix)];
    while (key?.startsWith(prefix)) {
      const row = this.#byKey.get(key);
      if (row !== undefined) yield row;
      // Looked up anew: rows may have come and gone while the reader held this one.
      const at = placeIn(this.#keys, key);
      key = this.#keys[this.#keys[at] === key ? at + 1 : at];
    }
  }
}

/** Where `key` is, or would be, among sorted keys. */
function placeIn(keys: readonly string[], key: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((keys[middle] as string) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
