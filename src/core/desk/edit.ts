import { differences, firstForbidden } from "../editable.ts";
import { type AnswerCode, type Code, HoldpointError, problemOf, type RefusalCode } from "../errors.ts";
import { prerequisite } from "../grant.ts";
import { isGone, objection, overdue } from "../guards.ts";
import { holdOf } from "../hold.ts";
import { type Instant, msOf } from "../instant.ts";
import { copyJson, sameJson } from "../json.ts";
import type { JsonFault, JsonObject, JsonValue } from "../json-value.ts";
import { maskSecrets } from "../mask.ts";
import { formatPointer, isWithin } from "../pointer.ts";
import type { CallFacts, PolicySnapshot } from "../policy.ts";
import type { Decided, EditAnswer, Identity } from "../ports/approvals.ts";
import type { Hold, Revalidated } from "../ports/desk.ts";
import type { SchemaFault } from "../ports/runtime.ts";
import type { Stored } from "../ports/store.ts";
import { callKeyOf } from "../request-hash.ts";
import type { ApprovalRequest, Payload } from "../request.ts";
import { denyOf, requiredBy, ruleOn } from "../rule.ts";
import { type Draft, must, transition } from "../transition.ts";
import { clauseHash, joinedTerms, type Opened, opened, payloadRow } from "./ask.ts";
import { codeOfWritten } from "./change.ts";
import { actorOf, answerer, type Answerer, consequences, decide, notTaken, voteOn, withReason } from "./decide.ts";
import { electorateOf } from "./people.ts";
import { type DeskParts, MOST_EDITS, MOST_RACES } from "./parts.ts";
import { wordsFor } from "./present.ts";
import { missingGrant } from "./remember.ts";
import type { Requester } from "../tool-call.ts";

/** A request whose arguments are there. */
interface Whole extends Stored {
  readonly payload: Payload;
}

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
    return { code: "invalid_edit", note: (thrown as JsonFault).message };
  }
}

const isFault = (value: object): value is Fault =>
  typeof (value as Fault).note === "string" && typeof (value as Fault).code === "string";

function forbidden(record: ApprovalRequest, before: JsonObject, after: JsonObject): Fault | undefined {
  const pointer = firstForbidden(before, after, record.terms.editable);
  if (pointer !== undefined) return { code: "invalid_edit", note: `${pointer} may not be changed` };
  const changed = differences(before, after);
  const secret = record.call.secrets.find((held) => changed.some((one) => isWithin(one, held) || isWithin(held, one)));
  return secret === undefined
    ? undefined
    : { code: "invalid_edit", note: `${secret} is a secret and cannot be edited on a card` };
}

/** Judged where the gate's own checks are not at hand: by the stored schema and this desk's policy; the gate looks again before it runs. */
async function judgedFromAfar(parts: DeskParts, { record, payload }: Whole, args: JsonObject): Promise<Revalidated> {
  if (Object.keys(record.bindings).length > 0)
    return {
      ok: false,
      code: "invalid_edit",
      pointer: "",
      problem: "this call is bound to files or surroundings; edit it where its gate runs",
    };
  const { schema } = payload;
  const key = schema === null ? retyped(payload.arguments, args) : undefined;
  if (key !== undefined)
    return { ok: false, code: "invalid_arguments", pointer: formatPointer([key]), problem: "must keep its type" };
  const first = schema === null ? undefined : await schemaFault(parts, schema, args);
  if (first !== undefined && "code" in first) return { ok: false, pointer: "", ...first };
  if (first !== undefined) return { ok: false, code: "invalid_arguments", pointer: first.pointer, problem: first.problem };
  return { ok: true, arguments: args, bindings: record.bindings, ...ruledAgain(parts, record, args) };
}

/** Stands for what asked already, which the old clauses keep: an edited call is never one that nothing names. */
const ASKED = holdOf("asked", {}, { exemptible: false, message: undefined });

/** What this desk's rules demand of the edited call beside what was asked already. */
function ruledAgain(
  parts: DeskParts,
  record: ApprovalRequest,
  args: JsonObject,
): Pick<Extract<Revalidated, { ok: true }>, "holds" | "denied" | "requires"> {
  const policy = parts.policy();
  const facts = factsOf(record, args, requesterOf(record));
  const before = { edits: false, killed: false, denied: undefined, holds: [ASKED], allowedByOpinion: false };
  const verdict = ruleOn(policy, { facts, ...before });
  return {
    holds: verdict.verdict === "ask" ? verdict.holds.filter((hold) => hold !== ASKED) : [],
    denied: verdict.verdict === "deny" ? { by: verdict.by } : undefined,
    requires: requiredBy(policy, facts),
  };
}

function requesterOf({ requester }: ApprovalRequest): Requester {
  const { agent, session, run, thread, ...rest } = requester;
  const known = Object.entries({ agent, session, run, thread }).filter(([, name]) => name !== null);
  return { ...rest, ...Object.fromEntries(known) };
}

const factsOf = (record: ApprovalRequest, args: JsonObject, requester: Requester): CallFacts => ({
  tool: record.call.tool.name,
  tier: record.tier ?? undefined,
  arguments: args,
  requester,
});

/** A schema that throws is a fault of its own, answered like any other (P-15). */
async function schemaFault(
  parts: DeskParts,
  schema: JsonObject,
  args: JsonObject,
): Promise<SchemaFault | { readonly code: "policy_error"; readonly problem: string } | undefined> {
  try {
    return (await parts.runtime.schemas.check(schema, args))[0];
  } catch (thrown) {
    parts.runtime.log.error("an edit could not be checked", {
      problem: problemOf(thrown),
    });
    return { code: "policy_error", problem: "could not be checked against the tool's schema" };
  }
}

async function accept(parts: DeskParts, stored: Whole, args: JsonObject): Promise<Accepted | Fault> {
  const { record, payload } = stored;
  const no = forbidden(record, payload.arguments, args);
  if (no !== undefined) return no;
  const open = parts.open.get(record.id);
  const judged = open?.revalidate === undefined ? await judgedFromAfar(parts, stored, args) : await open.revalidate(args);
  if (!judged.ok)
    return { code: judged.code, note: `${judged.pointer === "" ? "the arguments" : judged.pointer}: ${judged.problem}` };
  const facts = factsOf(record, judged.arguments, open?.requester ?? requesterOf(record));
  const denied = judged.denied ?? denyOf(open?.policy ?? parts.policy(), facts);
  if (denied !== undefined)
    return { code: "denied", note: `policy does not allow this call with the edited arguments (${denied.by})` };
  const prerequisites = (judged.requires ?? []).map((requires) => prerequisite(requires, record.call.tool.name));
  const missing = await missingGrant(parts, record.requester, { prerequisites, now: await parts.store.now() });
  if (missing !== undefined)
    return { code: "not_granted", note: `the edited call needs a grant of "${missing.scope}" first, which nobody gave` };
  return { arguments: judged.arguments, holds: judged.holds, bindings: judged.bindings };
}

/** The request that takes the edited one's place: new id, nonce and digest, old clauses joined with the new, no votes. */
function successorOf(
  parts: DeskParts,
  stored: Whole,
  edit: { accepted: Accepted; now: Instant; policy: DeskParts["policy"] },
): Opened {
  const { record, payload } = stored;
  const { accepted, now } = edit;
  const added = joinedTerms(
    parts,
    { editable: record.terms.editable, wait: "block", deadline: undefined, policy: edit.policy(), channels: [] },
    accepted.holds,
  );
  const known = new Set(record.terms.clauses.map((clause) => clauseHash(parts, clause)));
  const clauses = [...record.terms.clauses, ...added.clauses.filter((clause) => !known.has(clauseHash(parts, clause)))];
  const terms = {
    ...record.terms,
    clauses,
    decideWithin: Math.max(1, msOf(record.decideBy) - msOf(now)),
    editable: added.editable,
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
      effect: payload.effect,
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
        statement: payload.statement ?? undefined,
        notes: [...payload.notes, `edited; it takes the place of ${record.id}`],
        schema: payload.schema,
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

interface Editing {
  readonly edit: EditAnswer & { readonly arguments: JsonObject };
  readonly by: Answerer;
  readonly accepted: Accepted;
}

/** The editor's yes: to what was on the card, which the guards of any approval must pass, and then to the successor. */
async function votes(parts: DeskParts, record: ApprovalRequest, given: { edit: Editing; successor: Opened; now: Instant }) {
  const { by, edit } = given.edit;
  const common = { verdict: "approve" as const, key: undefined, by, now: given.now };
  const old = await voteOn(parts, record, { ...common, digest: edit.digest, view: edit.view });
  const next = given.successor.record;
  const first = await voteOn(parts, next, { ...common, digest: next.digest, view: "" });
  const asked = { clauses: next.terms.clauses, requester: record.requester };
  return { old, first, electorate: await electorateOf(parts, asked, [first.decision]) };
}

/** One commit ends the old request and opens the successor with the editor's approval as its first vote. */
async function replace(parts: DeskParts, stored: Whole, editing: Editing): Promise<Decided | undefined> {
  const { record } = stored;
  const { by, edit } = editing;
  const now = await parts.store.now();
  const policy = (): PolicySnapshot => parts.open.get(record.id)?.policy ?? parts.policy();
  const successor = successorOf(parts, stored, { accepted: editing.accepted, now, policy });
  const { old, first, electorate } = await votes(parts, record, { edit: editing, successor, now });
  const decisions = record.decisions.filter((vote) => vote.by !== by.principal);
  const no = objection(parts.guards.approve, { ...old.vote, request: { ...record, decisions } });
  const refused = (code: Code): Promise<Decided> => notTaken(parts, { id: record.id, code, verdict: "edit", by }, record);
  if (no !== undefined) return refused(no);
  const ended = must(
    transition(record, { type: "supersede", successor: successor.record.id, by: actorOf(by), now }, parts.guards),
  );
  const vote = { ...first.vote, viewed: true };
  const approved = transition(successor.record, { type: "approve", vote, decision: first.decision, electorate }, parts.guards);
  if (!approved.ok) return refused(approved.code);
  const opening: Draft = {
    event: "request.created",
    actor: actorOf(by),
    data: { digest: successor.record.digest, supersedes: record.id, decideBy: successor.record.decideBy },
  };
  const payload = withReason(successor.payload, first.decision, edit.reason);
  const also = await consequences(parts, approved.next, { by, now, payload });
  const written = await parts.journal.write({
    records: [
      { before: record, next: ended.next, drafts: ended.drafts },
      { before: null, next: approved.next, drafts: [opening, ...approved.drafts] },
    ],
    rows: [payloadRow(payload, null), ...also.rows],
    node: also.node,
    before: record.decideBy,
  });
  if (!written.ok) return written.why === "conflict" ? undefined : refused(codeOfWritten(written.why));
  const [, next] = written.records as readonly [ApprovalRequest, ApprovalRequest];
  parts.succeeded(record.id, { record: next, payload });
  return { found: true, status: next.status, counted: true, id: next.id };
}

/** An edit of a pending request, against what it is now. `undefined`: it changed meanwhile. */
async function editOnce(
  parts: DeskParts,
  stored: Whole,
  given: { edit: EditAnswer & { arguments: JsonObject }; by: Answerer },
): Promise<Decided | undefined> {
  if ((await chainLength(parts, stored.record.root)) >= MOST_EDITS)
    return refusedEdit(
      { code: "limit", note: `this call was edited ${MOST_EDITS} times; approve or reject it as it is` },
      stored.record,
    );
  const accepted = await accept(parts, stored, given.edit.arguments);
  if (isFault(accepted)) return refusedEdit(accepted, stored.record);
  return replace(parts, stored, { ...given, accepted });
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
  const by = await answerer(parts, given.as);
  for (let race = 0; race < MOST_RACES; race++) {
    const stored = await current(parts, id);
    if (stored?.record.status !== "pending")
      return notTaken(parts, { id, code: stored === undefined ? "not_found" : "late", verdict: "edit", by }, stored?.record);
    if (isFault(args)) return refusedEdit(args, stored.record);
    const { payload } = stored;
    if (payload === null)
      return refusedEdit({ code: "invalid_edit", note: "the arguments of this request were erased" }, stored.record);
    if (sameJson(payload.arguments, args))
      return decide(parts, id, { answer: { verdict: "approve", digest, view, ...words }, as: given.as });
    const done = await editOnce(parts, { record: stored.record, payload }, { edit: { ...given.edit, arguments: args }, by });
    if (done !== undefined) return done;
  }
  throw new HoldpointError("store_unavailable", `request ${id} changes faster than it can be edited; nothing was released`);
}

async function current(parts: DeskParts, id: string): Promise<Stored | undefined> {
  const stored = await parts.look(id);
  const now = await parts.store.now();
  if (stored === undefined || (overdue(stored.record, now) === undefined && !isGone(stored.record, now))) return stored;
  await parts.expire(id);
  return parts.look(id);
}
