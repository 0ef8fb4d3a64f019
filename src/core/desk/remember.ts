import { hashOf } from "../hash.ts";
import { canonicalize } from "../json.ts";
import type { Prerequisite } from "../grant.ts";
import { type Instant, plus } from "../instant.ts";
import type { JsonObject } from "../json-value.ts";
import type { Hold } from "../ports/desk.ts";
import type { Actor } from "../journal.ts";
import type { Row, RowChange, RowKind, Stored } from "../ports/store.ts";
import type { ApprovalRequest, RequesterRecord } from "../request.ts";
import type { RefusalCode } from "../errors.ts";
import { clauseHash, graded } from "./ask.ts";
import type { NodeDraft } from "./journal-writer.ts";
import { type DeskParts, MOST_REFUSALS, TIMES } from "./parts.ts";

/** Keys are hashes of whole objects: joined text would let two different memories share one key (BR-187). */
const keyOf = (parts: DeskParts, what: string, of: JsonObject): string =>
  hashOf(parts.runtime.crypto, { type: `holdpoint/${what}-key/v1`, tenant: parts.tenant, ...of });

type Who = Pick<RequesterRecord, "principal" | "agent" | "run" | "shared">;

const windowKey = (parts: DeskParts, who: Who, callKey: string): string =>
  keyOf(parts, "window", { principal: who.principal, agent: who.agent, callKey });
const grantKey = (parts: DeskParts, who: Who, scope: string): string =>
  keyOf(parts, "grant", { principal: who.principal, agent: who.agent, scope });
const refusalKey = (parts: DeskParts, who: Who, callKey: string): string =>
  keyOf(parts, "refusal", { principal: who.principal, run: who.run, callKey });
const streakKey = (parts: DeskParts, who: Who, tool: string): string =>
  keyOf(parts, "streak", { principal: who.principal, run: who.run, tool });

const text = (row: Row | undefined, field: string): string | undefined => {
  const value = row?.value[field];
  return typeof value === "string" ? value : undefined;
};
const number = (row: Row | undefined, field: string): number => {
  const value = row?.value[field];
  return typeof value === "number" ? value : 0;
};
const put = (kind: RowKind, key: string, change: { row: Row | undefined; next: JsonObject | null }): RowChange => ({
  kind,
  key,
  expect: change.row?.rev ?? null,
  next: change.next,
});

/** What lets calls run without a person carries proof that this desk wrote it: a row put in or changed by hand has none. */
const authorityMac = ({ runtime }: DeskParts, row: { kind: RowKind; key: string; value: JsonObject }): string =>
  runtime.crypto.hmac(runtime.keys.decision, canonicalize({ type: "holdpoint/authority/v1", ...row }));

const putAuthority = (
  parts: DeskParts,
  place: { kind: "window" | "grant"; key: string; row: Row | undefined },
  value: JsonObject,
): RowChange => {
  const { kind, key, row } = place;
  return put(kind, key, { row, next: { ...value, mac: authorityMac(parts, { kind, key, value }) } });
};

/** The row, where this desk wrote it as it is and it has begun: a clock set back lengthens nothing. */
function ours(parts: DeskParts, row: Row | undefined, now: Instant): Row | undefined {
  if (row === undefined) return undefined;
  const { mac, ...value } = row.value;
  const { kind, key } = row;
  const proven = typeof mac === "string" && parts.runtime.crypto.equal(mac, authorityMac(parts, { kind, key, value }));
  if (!proven) parts.runtime.log.error("remembered authority was changed outside Holdpoint; it answers nothing", { kind });
  const since = text(row, "since");
  return proven && since !== undefined && since <= now ? row : undefined;
}

/** What a person refused in this run and comes back identical, or a tool that was refused too often in a row. */
export async function refusedBefore(
  parts: DeskParts,
  call: { who: Who; callKey: string; tool: string; now: Instant },
): Promise<RefusalCode | undefined> {
  const row = await parts.store.row("refusal", refusalKey(parts, call.who, call.callKey));
  if (row !== undefined) {
    const until = text(row, "until");
    if (until === undefined || call.now < until) return "already_refused";
  }
  if (call.who.run === null) return undefined;
  const streak = await parts.store.row("streak", streakKey(parts, call.who, call.tool));
  return number(streak, "count") >= MOST_REFUSALS ? "too_many_refusals" : undefined;
}

/** One more refusal of this tool in a row in this run; without a run there is no row to be in. */
export async function countRefusal(parts: DeskParts, who: Who, tool: string): Promise<readonly RowChange[]> {
  if (who.run === null) return [];
  const key = streakKey(parts, who, tool);
  const row = await parts.store.row("streak", key);
  return [put("streak", key, { row, next: { tool, run: who.run, principal: who.principal, count: number(row, "count") + 1 } })];
}

/** The tool ran: its refusals are no longer in a row. */
export async function endStreak(parts: DeskParts, who: Who, tool: string): Promise<readonly RowChange[]> {
  if (who.run === null) return [];
  const key = streakKey(parts, who, tool);
  const row = await parts.store.row("streak", key);
  return row === undefined ? [] : [put("streak", key, { row, next: null })];
}

/** The tool that a request is about: a grant is asked for one, and refused as one of its refusals. */
export const toolOf = ({ record, payload }: Stored): string =>
  record.kind === "grant" && typeof payload?.arguments.tool === "string" ? payload.arguments.tool : record.call.tool.name;

interface Remembered {
  readonly rows: readonly RowChange[];
  readonly node: readonly NodeDraft[];
}

/**
 * A person said no: remembered for this run, or for a while where there is none; no window answers this call any more.
 * After an edit the call that the agent made is remembered too: it is the one that comes back.
 */
export async function rememberRejection(
  parts: DeskParts,
  stored: Stored,
  by: { actor: Actor | null; now: Instant },
): Promise<Remembered> {
  const { record } = stored;
  const first = await refusedIn(parts, stored, by);
  const rows = [...first.rows];
  for (const run of await runsThatAsked(parts, record)) {
    if (run === record.requester.run) continue;
    // A window is one for all runs, and the first one ends it already.
    rows.push(...(await refusedIn(parts, asOf(stored, run), by)).rows.filter(({ kind }) => kind !== "window"));
  }
  return { rows, node: first.node };
}

const asOf = (stored: Stored, run: string | null): Stored => ({
  ...stored,
  record: { ...stored.record, requester: { ...stored.record.requester, run } },
});

/** The run that asked, and those whose repeat took the request up: each of them is told of the no. */
async function runsThatAsked({ store }: DeskParts, record: ApprovalRequest): Promise<ReadonlySet<string | null>> {
  const runs = new Set([record.requester.run]);
  for await (const { record: edited } of store.find({ root: record.root }))
    for await (const { event, data } of store.journal(`request/${edited.id}`))
      if (event === "request.attached" && typeof data.run === "string") runs.add(data.run);
  return runs;
}

/** A no that another run's repeat is told is remembered for that run too; whatever else it is told is not. */
export async function rememberFor(
  parts: DeskParts,
  stored: Stored,
  by: { run: string | null; now: Instant },
): Promise<Remembered> {
  const { status, resolution } = stored.record;
  const no = status === "rejected" || resolution?.reason === "revoked";
  if (!no || (await runsThatAsked(parts, stored.record)).has(by.run)) return { rows: [], node: [] };
  return refusedIn(parts, asOf(stored, by.run), { actor: null, now: by.now });
}

async function refusedIn(parts: DeskParts, stored: Stored, by: { actor: Actor | null; now: Instant }): Promise<Remembered> {
  const { record } = stored;
  const asked = record.root === record.id ? undefined : await parts.look(record.root);
  const keys = new Set([record.callKey, asked?.record.callKey ?? record.callKey]);
  const changes = await Promise.all([...keys].map((callKey) => refuseAgain(parts, stored, { callKey, ...by })));
  return {
    rows: [...changes.flatMap(({ rows }) => rows), ...(await countRefusal(parts, record.requester, toolOf(stored)))],
    node: changes.flatMap(({ node }) => node),
  };
}

async function refuseAgain(
  parts: DeskParts,
  stored: Stored,
  call: { callKey: string; actor: Actor | null; now: Instant },
): Promise<Remembered> {
  const { id, requester } = stored.record;
  const key = refusalKey(parts, requester, call.callKey);
  const row = await parts.store.row("refusal", key);
  const memory = {
    request: id,
    tool: toolOf(stored),
    run: requester.run,
    principal: requester.principal,
    at: call.now,
    until: requester.run === null ? plus(call.now, TIMES.refusalMemory) : null,
  };
  const open = await parts.store.row("window", windowKey(parts, requester, call.callKey));
  const noted = put("refusal", key, { row, next: memory });
  if (open === undefined) return { rows: [noted], node: [] };
  return {
    rows: [noted, put("window", open.key, { row: open, next: null })],
    node: [{ event: "window.ended", actor: call.actor, data: { window: String(open.value.id), request: id } }],
  };
}

/**
 * The live window for exactly this call, if it answers every one of these holds: a yes answers again what it was asked,
 * never a demand that came later (P-09).
 */
export async function windowFor(
  parts: DeskParts,
  call: { who: Who; callKey: string; now: Instant },
  holds: readonly Hold[],
): Promise<Row | undefined> {
  if (call.who.shared || holds.some((hold) => hold.clause.window <= 0)) return undefined;
  const row = ours(parts, await parts.store.row("window", windowKey(parts, call.who, call.callKey)), call.now);
  const since = text(row, "since") as Instant | undefined;
  const asked = row?.value.clauses;
  if (row === undefined || since === undefined || !Array.isArray(asked)) return undefined;
  const answers = (hold: Hold): boolean =>
    asked.includes(clauseHash(parts, graded(parts, hold))) && call.now < plus(since, hold.clause.window);
  return holds.every(answers) ? row : undefined;
}

export function useWindow(parts: DeskParts, row: Row): RowChange {
  const { mac: _before, ...value } = row.value;
  return putAuthority(parts, { kind: "window", key: row.key, row }, { ...value, uses: number(row, "uses") + 1 });
}

/** The window that an approval opens, where a clause has a length for one; none for a shared identity. */
export async function openWindow(
  parts: DeskParts,
  record: ApprovalRequest,
  opened: { by: string; now: Instant },
): Promise<readonly RowChange[]> {
  const longest = Math.max(...record.terms.clauses.map((clause) => clause.window));
  const shortest = Math.min(...record.terms.clauses.map((clause) => clause.window));
  if (shortest <= 0 || record.requester.shared || record.kind !== "call") return [];
  const key = windowKey(parts, record.requester, record.callKey);
  const row = await parts.store.row("window", key);
  const { principal, agent } = record.requester;
  const next = {
    id: record.id,
    request: record.id,
    principal,
    agent,
    covers: record.call.tool.name,
    clauses: record.terms.clauses.map((clause) => clauseHash(parts, clause)),
    since: opened.now,
    until: plus(opened.now, longest),
    by: opened.by,
    uses: 0,
  };
  return [putAuthority(parts, { kind: "window", key, row }, next)];
}

/** The first prerequisite that no live grant covers. A grant is never a shared identity's. */
export async function missingGrant(
  parts: DeskParts,
  who: Who,
  asked: { prerequisites: readonly Prerequisite[]; now: Instant },
): Promise<Prerequisite | undefined> {
  for (const wanted of asked.prerequisites) {
    const live = await Promise.all(
      [wanted.scope, "*"].map(async (scope) => {
        const row = ours(parts, await parts.store.row("grant", grantKey(parts, who, scope)), asked.now);
        const until = text(row, "until");
        return until !== undefined && asked.now < until;
      }),
    );
    if (who.shared || !live.some(Boolean)) return wanted;
  }
  return undefined;
}

/** The grant that an approved request of kind `grant` gives. */
export async function giveGrant(
  parts: DeskParts,
  record: ApprovalRequest,
  given: { scope: string; length: number; by: string; now: Instant },
): Promise<RowChange> {
  const key = grantKey(parts, record.requester, given.scope);
  const row = await parts.store.row("grant", key);
  const { principal, agent } = record.requester;
  const next = {
    id: record.id,
    request: record.id,
    principal,
    agent,
    covers: given.scope,
    since: given.now,
    until: plus(given.now, given.length),
    by: given.by,
    uses: 0,
  };
  return putAuthority(parts, { kind: "grant", key, row }, next);
}
