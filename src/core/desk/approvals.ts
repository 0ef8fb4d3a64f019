import { DeclarationError } from "../errors.ts";
import { instant } from "../instant.ts";
import type { JsonValue } from "../json-value.ts";
import type { Approvals, Decided, Identity, Remembered } from "../ports/approvals.ts";
import type { KillScope, Row, Stored } from "../ports/store.ts";
import { hashOf } from "../hash.ts";
import { requesterRecord } from "../request-hash.ts";
import type { ApprovalRequest } from "../request.ts";
import { authorityHold, joinedTerms, opened, payloadRow } from "./ask.ts";
import { change } from "./change.ts";
import { actorOf, answerer, decide, renderingSeen } from "./decide.ts";
import { edit } from "./edit.ts";
import { recorded } from "./journal-writer.ts";
import { isOn } from "./kill.ts";
import { lookOrSkip } from "./look.ts";
import { mayView } from "./people.ts";
import type { DeskParts } from "./parts.ts";
import { cardOf, present } from "./present.ts";

const clausesOf = (record: ApprovalRequest) => ({ clauses: record.terms.clauses, requester: record.requester });

/** More than one is enough to know that a beginning names nobody in particular. */
const MOST_FOUND = 9;

/** What this person may see of the requests whose id begins so; nothing is named by saying nothing (P-05). */
async function found(parts: DeskParts, prefix: string, as: Identity): Promise<readonly Stored[]> {
  const visible: Stored[] = [];
  if (prefix === "") return visible;
  for await (const { record } of parts.store.find({ idPrefix: prefix, tenant: parts.tenant })) {
    const stored = await lookOrSkip(parts, record.id);
    if (stored === undefined || !(await mayView(parts, clausesOf(stored.record), as))) continue;
    if (stored.record.id === prefix) return [stored];
    if (visible.push(stored) >= MOST_FOUND) break;
  }
  return visible;
}

const text = (value: JsonValue | undefined): string => (typeof value === "string" ? value : "");

function remembered(kind: Remembered["kind"], row: Row): Remembered {
  const { value } = row;
  return {
    id: text(value.id),
    kind,
    principal: text(value.principal),
    agent: typeof value.agent === "string" ? value.agent : null,
    covers: text(value.covers),
    since: text(value.since) as Remembered["since"],
    until: text(value.until) as Remembered["since"],
    by: text(value.by),
    uses: typeof value.uses === "number" ? value.uses : 0,
  };
}

/** Only the person a memory was made for, and the operator, see and end it. */
const isTheirs = (parts: DeskParts, principal: string, of: string): boolean => principal === parts.operator || principal === of;

async function liveRows(parts: DeskParts, kind: "window" | "grant", as: Identity): Promise<readonly Row[]> {
  const { principal } = await answerer(parts, as);
  const now = await parts.store.now();
  const live: Row[] = [];
  for await (const row of parts.store.rows({ kind })) {
    if (isTheirs(parts, principal, text(row.value.principal)) && now < text(row.value.until)) live.push(row);
  }
  return live;
}

async function endRow(parts: DeskParts, kind: "window" | "grant", which: { id: string; as: Identity }): Promise<boolean> {
  const row = (await liveRows(parts, kind, which.as)).find((candidate) => candidate.value.id === which.id);
  if (row === undefined) return false;
  const by = await answerer(parts, which.as);
  const event = kind === "window" ? ("window.ended" as const) : ("grant.ended" as const);
  const written = await parts.journal.write({
    rows: [{ kind, key: row.key, expect: row.rev, next: null }],
    node: [{ event, actor: actorOf(by), data: { [kind]: which.id } }],
  });
  return written.ok;
}

/** Exemptions are code of the desk's own process: its operator's. */
async function liveExemptions(parts: DeskParts, as: Identity): Promise<readonly Remembered[]> {
  if ((await answerer(parts, as)).principal !== parts.operator) return [];
  const now = await parts.store.now();
  return [...parts.exemptions.values()]
    .filter(({ until }) => until === null || now < until)
    .map((one) => ({
      id: one.id,
      kind: "exemption",
      principal: parts.operator,
      agent: null,
      covers: one.tools.map((tool) => tool.source).join(", "),
      since: one.since,
      until: one.until,
      by: one.name,
      uses: one.uses,
    }));
}

async function endExemption(parts: DeskParts, id: string, as: Identity): Promise<boolean> {
  const by = await answerer(parts, as);
  const one = parts.exemptions.get(id);
  if (one === undefined || by.principal !== parts.operator) return false;
  parts.exemptions.delete(id);
  const data = { exemption: id, name: one.name };
  await recorded(parts.journal, { node: [{ event: "exemption.removed", actor: actorOf(by), data }] });
  return true;
}

async function lift(parts: DeskParts, target: string, as: Identity): Promise<number> {
  const by = await answerer(parts, as);
  const rows: Row[] = [];
  for (const kind of ["refusal", "streak"] as const) {
    for await (const row of parts.store.rows({ kind })) {
      if (isTheirs(parts, by.principal, text(row.value.principal)) && (row.value.request === target || row.value.tool === target))
        rows.push(row);
    }
  }
  if (rows.length === 0) return 0;
  const written = await parts.journal.write({
    rows: rows.map(({ kind, key, rev }) => ({ kind, key, expect: rev, next: null })),
    node: [{ event: "refusal.lifted", actor: actorOf(by), data: { target, ended: rows.length } }],
  });
  return written.ok ? rows.length : 0;
}

const SCOPE = /^(?:all|(?:tenant|agent|tool):.+)$/;

/** @throws DeclarationError on any other scope: whoever switches something off must not find out later that nothing was */
function checkScope(scope: string): void {
  if (!SCOPE.test(scope))
    throw new DeclarationError(`"${scope}" stops nothing; a scope is all, tenant:<name>, agent:<name> or tool:<name>`);
}

async function switchOn(parts: DeskParts, scope: KillScope, as: Identity): Promise<{ changed: boolean }> {
  const by = await answerer(parts, as);
  const row = await parts.store.row("kill", scope);
  if (isOn(row)) return { changed: false };
  const written = await parts.journal.write({
    rows: [
      {
        kind: "kill",
        key: scope,
        expect: row?.rev ?? null,
        next: { on: true, by: by.principal, at: instant(parts.runtime.clock.now()) },
      },
    ],
    node: [{ event: "kill.changed", actor: actorOf(by), data: { scope, on: true } }],
  });
  if (written.ok) await parts.kills.look();
  return { changed: written.ok };
}

/** Switching back on is a change of authority: asked as a request of its own, so that it is shown, decided and recorded. */
async function askToSwitchOff(parts: DeskParts, scope: KillScope, as: Identity): Promise<{ changed: boolean; request?: string }> {
  if (!isOn(await parts.store.row("kill", scope))) return { changed: false };
  const by = await answerer(parts, as);
  const definition = hashOf(parts.runtime.crypto, {
    type: "holdpoint/definition/v1",
    server: null,
    tool: { name: "holdpoint/kill", input: null, version: null },
  });
  const policy = parts.policy();
  const question = {
    kind: "change" as const,
    callKey: "",
    effect: `calls under "${scope}" run again`,
    message: `Switch the kill switch off for "${scope}"`,
    call: {
      id: parts.runtime.ids.request(),
      tool: { name: "holdpoint/kill", origin: "code", definition },
      arguments: { kill: scope, on: false },
      secrets: [],
    },
    terms: joinedTerms(parts, { editable: [], wait: "block", deadline: undefined, policy, channels: [] }, [
      authorityHold("change"),
    ]),
  };
  const requester = requesterRecord({ principal: by.principal });
  const { record, payload } = opened(parts, question, {
    requester,
    now: await parts.store.now(),
    asker: {
      impact: "destructive",
      tier: undefined,
      bindings: {},
      proof: "process",
      grade: "structural",
      statement: undefined,
      notes: [],
      schema: null,
    },
  });
  const drafts = [
    {
      event: "request.created" as const,
      actor: actorOf(by),
      data: { kind: "change", digest: record.digest, terms: record.termsHash, decideBy: record.decideBy },
    },
  ];
  const written = await parts.journal.write({
    records: [{ before: null, next: record, drafts }],
    rows: [payloadRow(payload, null)],
  });
  return written.ok ? { changed: false, request: record.id } : { changed: false };
}

const notFound: Decided = {
  found: false,
  status: null,
  counted: false,
  code: "not_found",
  note: "there is no such request; nothing changed",
};

async function cancelAs(parts: DeskParts, id: string, as: Identity): Promise<Decided> {
  const by = await answerer(parts, as);
  const stored = await parts.look(id);
  if (stored === undefined) return notFound;
  if (by.principal !== parts.operator && by.principal !== stored.record.requester.principal)
    return { found: true, status: stored.record.status, counted: false, code: "not_eligible" };
  const done = await parts.cancel(id, "operator", actorOf(by));
  const after = await parts.look(id);
  return { found: true, status: after?.record.status ?? null, counted: done, ...(done ? {} : { code: "late" as const }) };
}

async function revoke(parts: DeskParts, id: string, no: { reason: string | undefined; as: Identity }): Promise<Decided> {
  const stored = await parts.look(id);
  if (stored === undefined) return notFound;
  const { digest } = stored.record;
  return decide(parts, id, {
    answer: { verdict: "reject", digest, view: "", ...(no.reason === undefined ? {} : { reason: no.reason }) },
    as: no.as,
  });
}

async function reconcile(parts: DeskParts, id: string, found_: { ran: boolean; as: Identity }): Promise<Decided> {
  const by = await answerer(parts, found_.as);
  const stored = await parts.look(id);
  if (stored === undefined || !(await mayView(parts, clausesOf(stored.record), found_.as))) return notFound;
  const done = await change(parts, id, async (_stored, now) => ({
    event: { type: "find", ran: found_.ran, by: actorOf(by), now },
  }));
  if (done.ok) parts.settled(done.record);
  const status = done.ok ? done.record.status : (done.stored?.record.status ?? null);
  return { found: true, status, counted: done.ok, ...(done.ok ? {} : { code: "late" as const }) };
}

/** The deciding side of a local desk. Whoever holds it can decide as anyone it names: only what proved an identity may. */
export function localApprovals(parts: DeskParts): Approvals {
  return {
    list: async (query, as) => {
      const cards = [];
      const now = await parts.store.now();
      const status = query.status ?? ["pending"];
      for await (const { record } of parts.store.find({
        status,
        tenant: parts.tenant,
        ...(query.thread === undefined ? {} : { thread: query.thread }),
      })) {
        if (record.status === "pending" && now >= record.decideBy) continue;
        if (cards.length >= (query.limit ?? Number.POSITIVE_INFINITY)) break;
        const stored = await lookOrSkip(parts, record.id);
        if (stored !== undefined && (await mayView(parts, clausesOf(record), as))) cards.push(await cardOf(parts, stored));
      }
      return cards;
    },
    card: async (id, as, render) => {
      const [stored, ...others] = await found(parts, id, as);
      if (stored === undefined) return undefined;
      if (others.length > 0) return { ambiguous: [stored, ...others].map(({ record }) => record.id) };
      return present(parts, stored, { as, render });
    },
    decide: (id, answer, as) => decide(parts, id, { answer, as }),
    edit: (id, answer, as) => edit(parts, id, { edit: answer, as }),
    revoke: (id, reason, as) => revoke(parts, id, { reason, as }),
    cancel: (id, as) => cancelAs(parts, id, as),
    reconcile: (id, ran, as) => reconcile(parts, id, { ran, as }),
    lift: (target, as) => lift(parts, target, as),
    windows: async (as) => (await liveRows(parts, "window", as)).map((row) => remembered("window", row)),
    grants: async (as) => (await liveRows(parts, "grant", as)).map((row) => remembered("grant", row)),
    exemptions: (as) => liveExemptions(parts, as),
    end: (kind, id, as) => (kind === "exemption" ? endExemption(parts, id, as) : endRow(parts, kind, { id, as })),
    killed: async () => {
      const on = [];
      for await (const row of parts.store.rows({ kind: "kill" })) {
        if (isOn(row))
          on.push({ scope: row.key as KillScope, at: text(row.value.at) as Remembered["since"], by: text(row.value.by) });
      }
      return on;
    },
    kill: async (scope, on, as) => {
      checkScope(scope);
      return on ? switchOn(parts, scope, as) : askToSwitchOff(parts, scope, as);
    },
    seen: async (id, view, as) => {
      const stored = await parts.look(id);
      if (stored === undefined) return;
      const by = await answerer(parts, as);
      if (renderingSeen(parts, stored.record, { view, digest: stored.record.digest, by }) !== undefined)
        await parts.dispatcher.seen(id, as);
    },
    watch: (signal) => parts.store.watch("", signal),
  };
}
