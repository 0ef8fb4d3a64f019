import { firstForbidden } from "../editable.ts";
import type { AnswerCode, RefusalCode } from "../errors.ts";
import { type Instant, msOf } from "../instant.ts";
import { copyJson, sameJson } from "../json.ts";
import { JsonFault, type JsonObject, type JsonValue } from "../json-value.ts";
import { formatPointer, isWithin } from "../pointer.ts";
import type { Decided, EditAnswer, Identity } from "../ports/approvals.ts";
import type { Hold, Revalidated } from "../ports/desk.ts";
import type { Stored } from "../ports/store.ts";
import { callKeyOf } from "../request-hash.ts";
import type { ApprovalRequest, Payload } from "../request.ts";
import { denyOf } from "../rule.ts";
import { transition } from "../transition.ts";
import { objection } from "../guards.ts";
import { joinedTerms, type Opened, opened, payloadRow } from "./ask.ts";
import { actorOf, answerer, decide, voteOn } from "./decide.ts";
import { electorateOf } from "./people.ts";
import { type DeskParts, MOST_EDITS } from "./parts.ts";
import { wordsFor } from "./present.ts";
import { maskSecrets } from "../mask.ts";

interface Fault {
  readonly code: RefusalCode | AnswerCode;
  readonly note: string;
}
type Accepted = {
  readonly arguments: JsonObject;
  readonly holds: readonly Hold[];
  readonly bindings: Readonly<Record<string, string>>;
};

const typeOf = (value: JsonValue): string => (value === null ? "null" : Array.isArray(value) ? "array" : typeof value);

/** Without a schema each kept key keeps its type: `"10"` for `10` would be another call (design, section 6). */
function retyped(before: JsonObject, after: JsonObject): string | undefined {
  return Object.keys(after).find((key) => {
    const [was, is] = [before[key], after[key]];
    return was !== undefined && is !== undefined && typeOf(was) !== typeOf(is);
  });
}

function readArguments(given: JsonObject): JsonObject | Fault {
  try {
    const copy = copyJson(given);
    if (typeof copy === "object" && copy !== null && !Array.isArray(copy)) return copy as JsonObject;
    return { code: "invalid_edit", note: "edited arguments must be a JSON object" };
  } catch (thrown) {
    if (thrown instanceof JsonFault) return { code: "invalid_edit", note: thrown.message };
    throw thrown;
  }
}

const isFault = (value: object): value is Fault =>
  typeof (value as Fault).note === "string" && typeof (value as Fault).code === "string";

function forbidden(record: ApprovalRequest, before: JsonObject, after: JsonObject): Fault | undefined {
  const pointer = firstForbidden(before, after, record.terms.editable);
  if (pointer !== undefined)
    return { code: "invalid_edit", note: `${pointer === "" ? "the arguments" : pointer} may not be changed` };
  const secret = record.call.secrets.find(
    (held) => firstForbidden(before, after, []) !== undefined && changedUnder(before, after, held),
  );
  return secret === undefined
    ? undefined
    : { code: "invalid_edit", note: `${secret} is a secret and cannot be edited on a card` };
}

const changedUnder = (before: JsonObject, after: JsonObject, pointer: string): boolean => {
  const key = firstForbidden(before, after, []);
  return key !== undefined && (isWithin(key, pointer) || isWithin(pointer, key));
};

/** Judged where the gate's own checks are not at hand: by the stored schema and this desk's policy; the gate looks again before it runs. */
async function judgedFromAfar(parts: DeskParts, stored: Stored, args: JsonObject): Promise<Revalidated> {
  const { record, payload } = stored;
  if (Object.keys(record.bindings).length > 0)
    return {
      ok: false,
      code: "invalid_edit",
      pointer: "",
      problem: "this call is bound to files or surroundings; edit it where its gate runs",
    };
  const schema = payload?.schema ?? null;
  const key = schema === null ? retyped(payload?.arguments ?? {}, args) : undefined;
  if (key !== undefined)
    return { ok: false, code: "invalid_arguments", pointer: formatPointer([key]), problem: "must keep its type" };
  const faults = schema === null ? [] : await parts.runtime.schemas.check(schema, args);
  const first = faults[0];
  if (first !== undefined) return { ok: false, code: "invalid_arguments", pointer: first.pointer, problem: first.problem };
  return { ok: true, arguments: args, holds: [], denied: undefined, bindings: record.bindings };
}

async function accept(parts: DeskParts, stored: Stored, args: JsonObject): Promise<Accepted | Fault> {
  const { record, payload } = stored;
  const before = payload?.arguments;
  if (before === undefined) return { code: "invalid_edit", note: "the arguments of this request were erased" };
  const no = forbidden(record, before, args);
  if (no !== undefined) return no;
  const open = parts.open.get(record.id);
  const judged = open?.revalidate === undefined ? await judgedFromAfar(parts, stored, args) : await open.revalidate(args);
  if (!judged.ok)
    return { code: judged.code, note: `${judged.pointer === "" ? "the arguments" : judged.pointer}: ${judged.problem}` };
  const requester = open?.requester ?? { principal: record.requester.principal };
  const denied =
    judged.denied ??
    denyOf(open?.policy ?? parts.policy(), {
      tool: record.call.tool.name,
      tier: record.tier ?? undefined,
      arguments: judged.arguments,
      requester,
    });
  if (denied !== undefined)
    return { code: "denied", note: `policy does not allow this call with the edited arguments (${denied.by})` };
  return { arguments: judged.arguments, holds: judged.holds, bindings: judged.bindings };
}

/** The request that takes the edited one's place: new id, nonce and digest, old clauses joined with the new, no votes. */
function successorOf(
  parts: DeskParts,
  stored: Stored,
  edit: { accepted: Accepted; now: Instant; policy: DeskParts["policy"] },
): Opened {
  const { record, payload } = stored;
  const { accepted, now } = edit;
  const added = joinedTerms(
    parts,
    { editable: record.terms.editable, wait: "block", deadline: undefined, policy: edit.policy(), channels: [] },
    accepted.holds,
  );
  const known = new Set(record.terms.clauses.map((clause) => JSON.stringify({ ...clause, by: "" })));
  const clauses = [
    ...record.terms.clauses,
    ...added.clauses.filter((clause) => !known.has(JSON.stringify({ ...clause, by: "" }))),
  ];
  const terms = {
    ...record.terms,
    clauses,
    decideWithin: Math.max(1, msOf(record.decideBy) - msOf(now)),
    editable: record.terms.editable,
  };
  const said = accepted.holds.find((hold) => hold.message !== undefined)?.message;
  const ignore = parts.open.get(record.id)?.ignore ?? [];
  return opened(
    parts,
    {
      kind: record.kind,
      callKey: callKeyOf(parts.runtime, {
        tenant: parts.tenant,
        tool: record.call.tool,
        bindings: accepted.bindings,
        arguments: accepted.arguments,
        ignore,
      }),
      call: { ...record.call, arguments: accepted.arguments },
      terms,
      effect: payload?.effect ?? null,
      message: wordsFor(said, { tool: record.call.tool.name, args: maskSecrets(accepted.arguments).shown }),
    },
    {
      requester: record.requester,
      now,
      supersedes: record,
      asker: {
        impact: record.impact,
        tier: record.tier ?? undefined,
        bindings: accepted.bindings,
        proof: record.requesterProof,
        grade: record.grade,
        statement: payload?.statement ?? undefined,
        notes: [...(payload?.notes ?? []), `edited; it takes the place of ${record.id}`],
        schema: payload?.schema ?? null,
      },
    },
  );
}

async function chainLength(parts: DeskParts, root: string): Promise<number> {
  let length = 0;
  for await (const summary of parts.store.find({ root })) if (summary.record.supersedes !== undefined) length += 1;
  return length;
}

const refusedEdit = ({ code, note }: Fault, record: ApprovalRequest): Decided => ({
  found: true,
  status: record.status,
  counted: false,
  code,
  note,
  id: record.id,
});

type Answering = { readonly edit: EditAnswer & { readonly arguments: JsonObject }; readonly as: Identity };

/** One commit ends the old request and opens the successor with the editor's approval as its first vote. */
async function replace(
  parts: DeskParts,
  stored: Stored,
  given: Answering & { accepted: Accepted },
): Promise<Decided | undefined> {
  const by = await answerer(parts, given.as);
  const now = await parts.store.now();
  const { record } = stored;
  const old = await voteOn(parts, record, {
    verdict: "approve",
    digest: given.edit.digest,
    view: given.edit.view,
    key: undefined,
    by,
    now,
  });
  const no = objection(parts.guards.approve, {
    ...old.vote,
    request: { ...record, decisions: record.decisions.filter((vote) => vote.by !== by.principal) },
  });
  if (no !== undefined) return refusedEdit({ code: no, note: "this edit was not taken" }, record);
  const successor = successorOf(parts, stored, {
    accepted: given.accepted,
    now,
    policy: () => parts.open.get(record.id)?.policy ?? parts.policy(),
  });
  const ended = transition(record, { type: "supersede", successor: successor.record.id, by: actorOf(by), now }, parts.guards);
  if (!ended.ok) return refusedEdit({ code: "late", note: "too late: this request was already decided or has ended" }, record);
  const first = await voteOn(parts, successor.record, {
    verdict: "approve",
    digest: successor.record.digest,
    view: "",
    key: undefined,
    by,
    now,
  });
  const electorate = await electorateOf(parts, { clauses: successor.record.terms.clauses, requester: record.requester }, [
    first.decision,
  ]);
  const approved = transition(
    successor.record,
    { type: "approve", vote: { ...first.vote, viewed: true }, decision: first.decision, electorate },
    parts.guards,
  );
  const opening = {
    event: "request.created" as const,
    actor: actorOf(by),
    data: { digest: successor.record.digest, supersedes: record.id, decideBy: successor.record.decideBy },
  };
  const next = approved.ok ? approved.next : successor.record;
  const drafts = [opening, ...(approved.ok ? approved.drafts : [])];
  const written = await parts.journal.write({
    records: [
      { before: record, next: ended.next, drafts: ended.drafts },
      { before: null, next, drafts },
    ],
    rows: [payloadRow(successor.payload, null)],
    before: record.decideBy,
  });
  if (!written.ok)
    return written.why === "conflict" ? undefined : refusedEdit({ code: "late", note: "too late: nothing changed" }, record);
  const stands = { record: written.records[1] ?? next, payload: successor.payload as Payload };
  parts.succeeded(record.id, stands);
  return { found: true, status: stands.record.status, counted: true, id: stands.record.id };
}

/**
 * Counts an edit (design, section 6). `null` or `false` is a rejection, an edit equal to the original a plain approval;
 * a fault or a deny is answered to the editor and the request stays as it was.
 */
export async function edit(parts: DeskParts, id: string, given: { edit: EditAnswer; as: Identity }): Promise<Decided> {
  const { digest, view, reason } = given.edit;
  const words = reason === undefined ? {} : { reason };
  if (given.edit.arguments === null || given.edit.arguments === false)
    return decide(parts, id, { answer: { verdict: "reject", digest, view, ...words }, as: given.as });
  const args = readArguments(given.edit.arguments);
  for (;;) {
    const stored = await parts.look(id);
    if (stored === undefined || stored.record.status !== "pending")
      return decide(parts, id, { answer: { verdict: "approve", digest, view, ...words }, as: given.as });
    if (isFault(args)) return refusedEdit(args, stored.record);
    if (stored.payload !== null && sameJson(stored.payload.arguments, args))
      return decide(parts, id, { answer: { verdict: "approve", digest, view, ...words }, as: given.as });
    if ((await chainLength(parts, stored.record.root)) >= MOST_EDITS)
      return refusedEdit(
        { code: "limit", note: `this call was edited ${MOST_EDITS} times; approve or reject it as it is` },
        stored.record,
      );
    const accepted = await accept(parts, stored, args);
    if (isFault(accepted)) return refusedEdit(accepted, stored.record);
    const done = await replace(parts, stored, { edit: { ...given.edit, arguments: args }, as: given.as, accepted });
    if (done !== undefined) return done;
  }
}
