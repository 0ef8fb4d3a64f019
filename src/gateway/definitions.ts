import { RawNumber } from "../core/index.ts";
import { isObject, memberOf } from "./message.ts";
import type { JsonObject, JsonValue, Log, MessageObject, MessageValue } from "../core/index.ts";

/** One page of a tools/list result, or `undefined` where none came. */
export type ListPage = (cursor: string | undefined) => Promise<MessageValue | undefined>;

/** `null`: the server lists the name twice and says different things of it, so nobody knows which one it will run (A36). */
type Listed = Map<string, JsonObject | null>;

/** A list that never ends, or that changes whenever we look, is not waited for. */
const MOST_PAGES = 100;
const MOST_TRIES = 3;

/** What the server says of its tools, kept from every list that passes. */
export class Definitions {
  readonly #log: Log;
  #kept: Listed = new Map();
  #freshUntil = Number.POSITIVE_INFINITY;
  #clientsList: Listed = new Map();
  #changes = 0;
  #asking: { readonly since: number; readonly list: Promise<Listed | undefined> } | undefined;

  constructor(log: Log) {
    this.#log = log;
  }

  /** Grows with every change that the server announces: a list asked for before it may show what was before it. */
  get changes(): number {
    return this.#changes;
  }

  changed(): void {
    this.#changes += 1;
    this.#kept = new Map();
  }

  /** A page that the client asked for. @param asked `changes` at that time  @param first asked for without a cursor */
  observed(page: MessageValue | undefined, { asked, first }: { asked: number; first: boolean }): void {
    if (asked !== this.#changes) return;
    if (first) {
      this.#clientsList = new Map();
      this.#freshUntil = Number.POSITIVE_INFINITY;
    }
    add(this.#clientsList, page);
    for (const [name, tool] of this.#clientsList) this.#kept.set(name, tool);
    this.#freshUntil = Math.min(this.#freshUntil, freshUntil(page));
  }

  /** What is known without asking; `undefined`: not known, or perhaps no longer true. */
  known(name: string): JsonObject | undefined {
    if (performance.now() >= this.#freshUntil) return undefined;
    return this.#kept.get(name) ?? undefined;
  }

  /** Asks the server for all its tools where `name` is not known. @param page `undefined`: the server may not be asked yet */
  async find(name: string, page: ListPage | undefined): Promise<JsonObject | undefined> {
    const known = this.known(name);
    if (known !== undefined || page === undefined) return known;
    const listed = await this.#list(page);
    const tool = listed?.get(name);
    if (tool === null) this.#log.warn("the server lists a tool twice and says different things of it", { tool: name });
    return tool ?? undefined;
  }

  #list(page: ListPage): Promise<Listed | undefined> {
    const since = this.#changes;
    if (this.#asking?.since === since) return this.#asking.list;
    const list = this.#listAll(page).finally(() => {
      if (this.#asking?.list === list) this.#asking = undefined;
    });
    this.#asking = { since, list };
    return list;
  }

  async #listAll(page: ListPage): Promise<Listed | undefined> {
    for (let attempt = 0; attempt < MOST_TRIES; attempt++) {
      const asked = this.#changes;
      const { listed, until } = await pages(page);
      if (asked !== this.#changes) continue;
      if (listed === undefined) break;
      this.#kept = new Map(listed);
      this.#freshUntil = until;
      return listed;
    }
    this.#log.warn("the server did not list its tools when asked");
    return undefined;
  }
}

async function pages(page: ListPage): Promise<{ listed: Listed | undefined; until: number }> {
  const listed: Listed = new Map();
  let until = Number.POSITIVE_INFINITY;
  let cursor: string | undefined;
  for (let count = 0; count < MOST_PAGES; count++) {
    const result = await page(cursor);
    if (result === undefined) break;
    add(listed, result);
    until = Math.min(until, freshUntil(result));
    const next = memberOf(result, "nextCursor");
    if (typeof next !== "string") return { listed, until };
    cursor = next;
  }
  return { listed: undefined, until };
}

function add(listed: Listed, page: MessageValue | undefined): void {
  const tools = memberOf(page, "tools");
  if (!Array.isArray(tools)) return;
  for (const sent of tools as readonly MessageValue[]) {
    const name = memberOf(sent, "name");
    if (typeof name !== "string") continue;
    const tool = asJson(sent) as JsonObject;
    const before = listed.get(name);
    const differs = before === null || (before !== undefined && JSON.stringify(before) !== JSON.stringify(tool));
    listed.set(name, differs ? null : tool);
  }
}

/** Since 2026-07-28 a list says for how long it holds. */
function freshUntil(page: MessageValue | undefined): number {
  const ttl = memberOf(page, "ttlMs");
  return typeof ttl === "number" ? performance.now() + ttl : Number.POSITIVE_INFINITY;
}

/** Numbers that JavaScript cannot hold (the bounds of a 64-bit integer, say) become their text, so that each spelling differs. */
function asJson(value: MessageValue): JsonValue {
  if (value instanceof RawNumber) return value.text;
  if (Array.isArray(value)) return Object.freeze((value as readonly MessageValue[]).map(asJson));
  if (!isObject(value)) return value as JsonValue;
  return Object.freeze(Object.fromEntries(Object.entries(value as MessageObject).map(([key, inner]) => [key, asJson(inner)])));
}
