import { isHoldpointError, problemOf, type RefusalCode } from "../errors.ts";
import { exemptBy } from "../exemption.ts";
import { type Prerequisite, prerequisite } from "../grant.ts";
import { hashOf } from "../hash.ts";
import { type Instant, plus } from "../instant.ts";
import type { JsonObject } from "../json-value.ts";
import type { CallFacts } from "../policy.ts";
import type { Hold, Refusal, Ruling, Submission } from "../ports/desk.ts";
import type { RowChange } from "../ports/store.ts";
import { callKeyOf, requesterRecord } from "../request-hash.ts";
import type { ApprovalRequest, Payload, RequesterRecord } from "../request.ts";
import { requiredBy, ruleOn, type Verdict } from "../rule.ts";
import type { Draft } from "../transition.ts";
import { type Salts, secretsIn } from "../secret.ts";
import { authorityHold, joinedTerms, opened, payloadRow, type Question, questionOf } from "./ask.ts";
import type { NodeDraft } from "./journal-writer.ts";
import { killScopes } from "./kill.ts";
import { watchLease } from "./lease.ts";
import { lookThrough } from "./look.ts";
import { type DeskParts, MOST_RACES, TIMES } from "./parts.ts";
import { countRefusal, missingGrant, refusedBefore, useWindow, windowFor } from "./remember.ts";
import { repeatRows, takeUp } from "./repeat.ts";
import { mintResume } from "./resume.ts";
import { standingFrom } from "./standing.ts";

/** A submission with what every station after "rule" needs of it. */
interface Ruled {
  readonly submission: Submission;
  readonly requester: RequesterRecord;
  readonly facts: CallFacts;
  /** Made when a station first needs it: a freed call needs none. */
  readonly callKey: () => string;
  readonly now: Instant;
}

const refused = (refusal: Refusal): Ruling => ({ ruling: "refused", refusal });

const callRowKey = (parts: DeskParts, { submission, requester }: Ruled): string =>
  hashOf(parts.runtime.crypto, {
    type: "holdpoint/call-id/v1",
    tenant: parts.tenant,
    principal: requester.principal,
    session: requester.session,
    run: requester.run,
    id: submission.call.id,
  });

const draft = (event: NodeDraft["event"], data: JsonObject): NodeDraft => ({ event, actor: null, data });

const named = ({ submission, requester }: Ruled): JsonObject => ({
  call: submission.call.id,
  tool: submission.tool.name,
  definition: submission.tool.definition,
  principal: requester.principal,
  agent: requester.agent,
  run: requester.run,
  policy: submission.policy.hash,
});

/** A refusal before a request exists: journaled with its code, counted where it is one of those in a row. */
async function refuse(parts: DeskParts, ruled: Ruled, refusal: Refusal): Promise<Ruling> {
  const counted = refusal.code === "denied" || refusal.code === "not_granted";
  const node = [draft("call.denied", { ...named(ruled), code: refusal.code })];
  for (let race = 0; race < MOST_RACES; race++) {
    const rows = counted ? await countRefusal(parts, ruled.requester, ruled.submission.tool.name) : [];
    const written = await parts.journal.write({ node, rows });
    if (written.ok || written.why !== "conflict") break;
  }
  return refused(refusal);
}

/** The same call id came before: the same call finds its request, another call under its name is refused. */
async function repeated(parts: DeskParts, ruled: Ruled): Promise<Ruling | undefined> {
  if (!ruled.submission.idGiven) return undefined;
  const row = await parts.store.row("call", callRowKey(parts, ruled));
  if (row === undefined) return undefined;
  // Released without a request: there is no outcome to give out, and it is not run a second time.
  if (row.value.callKey !== ruled.callKey() || row.value.request === null) return refuse(parts, ruled, { code: "duplicate_id" });
  const stored = await lookThrough(parts, String(row.value.request));
  return stored === undefined ? refused({ code: "duplicate_id" }) : { ruling: "repeated", standing: standingFrom(stored) };
}

function judge(parts: DeskParts, { submission, facts }: Ruled): Verdict {
  const killed = parts.kills.isKilled(killScopes(parts.tenant, submission.tool.name, submission.requester));
  return ruleOn(submission.policy, {
    facts,
    edits: submission.edits,
    killed,
    denied: submission.denied,
    holds: submission.holds,
    allowedByOpinion: submission.allowedByOpinion,
  });
}

interface Answering {
  readonly how: "window" | "exempt";
  readonly rows: readonly RowChange[];
  readonly node: readonly NodeDraft[];
  /** Said once it is recorded. */
  readonly used?: () => void;
}

/** What answers all holds without a person, if each permits it: a live window, or an exemption that says exactly true. */
async function answered(parts: DeskParts, ruled: Ruled, holds: readonly Hold[]): Promise<Answering | undefined> {
  const { submission, requester, callKey, now, facts } = ruled;
  const row =
    submission.windows === "on" ? await windowFor(parts, { who: requester, callKey: callKey(), now }, holds) : undefined;
  if (row !== undefined)
    return {
      how: "window",
      rows: [useWindow(parts, row)],
      node: [draft("window.used", { ...named(ruled), window: String(row.value.id) })],
    };
  if (requester.shared || holds.some((hold) => !hold.clause.exemptible)) return undefined;
  const exempt = exemptBy(parts.exemptions.values(), facts, now);
  if (exempt === undefined) return undefined;
  return {
    how: "exempt",
    rows: [],
    node: [draft("exemption.used", { ...named(ruled), exemption: exempt.id, name: exempt.name })],
    used: () => {
      exempt.uses += 1;
    },
  };
}

function prerequisites({ submission, facts }: Ruled): readonly Prerequisite[] {
  return [...submission.requires, ...requiredBy(submission.policy, facts)].map((requires) =>
    prerequisite(requires, submission.tool.name),
  );
}

const GRANT_DEFINITION = "holdpoint/grant";

/** The question of a missing grant: a request of its own kind, asked first. */
function grantQuestion(parts: DeskParts, ruled: Ruled, wanted: Prerequisite): Question {
  const { submission, requester } = ruled;
  const hold = { ...authorityHold("grant"), deadline: submission.deadline };
  const tool = { name: GRANT_DEFINITION, origin: "code", definition: submission.tool.definition };
  const args = { scope: wanted.scope, length: wanted.length, tool: submission.tool.name };
  const call = { id: `${submission.call.id}:grant:${wanted.scope}`, tool, arguments: args, secrets: [] };
  return {
    kind: "grant",
    call,
    terms: joinedTerms(parts, { ...submission, editable: [] }, [hold]),
    effect: null,
    callKey: callKeyOf(parts.runtime, {
      tenant: parts.tenant,
      tool,
      bindings: { run: requester.run ?? "" },
      arguments: args,
      ignore: [],
    }),
    message: `Grant "${wanted.scope}" for ${Math.round(wanted.length / 1000)} s: any arguments, until it ends`,
  };
}

function saltsFor(parts: DeskParts, submission: Submission): Salts {
  return Object.fromEntries(
    secretsIn(submission.call.arguments, submission.secrets).map((pointer) => [pointer, parts.runtime.ids.token()]),
  );
}

/** In one commit: the request, the id that its caller gave it, and where its repeat finds it. */
async function store(
  parts: DeskParts,
  ruled: Ruled,
  change: {
    records: readonly [{ before: null; next: ApprovalRequest; drafts: readonly Draft[] }];
    rows: readonly RowChange[];
    callKey: string;
  },
): Promise<ApprovalRequest | Ruling> {
  const { records, rows, callKey } = change;
  for (let race = 0; race < MOST_RACES; race++) {
    const found = await repeatRows(parts, { ...ruled, callKey }, records[0].next.id);
    const written = await parts.journal.write({ records, rows: [...rows, ...found] });
    if (written.ok) return (written.records as readonly [ApprovalRequest])[0];
    if (written.why !== "conflict") return refused({ code: written.why === "clock_skew" ? "clock_skew" : "store_unavailable" });
    const same = await repeated(parts, ruled);
    if (same !== undefined) return same;
    if (found.length === 0) break;
  }
  return refused({ code: "duplicate_id" });
}

/** The call takes up what was asked of it before, or is told how that ended. */
async function taken(parts: DeskParts, ruled: Ruled, callKey: string): Promise<Ruling | undefined> {
  const found = await takeUp(parts, { ...ruled, callKey });
  if (found === undefined || "ruling" in found) return found?.ruling;
  const { attached: record, payload } = found;
  if (payload !== null && record.status === "pending" && !parts.dispatcher.knows(record.id))
    await shown(parts, ruled, { record, payload });
  return { ...heldAs(parts, record), attached: record.root };
}

/** The process that asked is gone, and its surfaces with it: this one shows it to whom it reaches. */
async function shown(
  parts: DeskParts,
  { submission }: Ruled,
  stored: { record: ApprovalRequest; payload: Payload },
): Promise<void> {
  const { terms, requester, grade } = stored.record;
  const { wait, channels, holds } = submission;
  const plan = await parts.dispatcher.plan({ terms, requester, grade, wait, holds, channels });
  if (plan !== undefined) parts.dispatcher.begin(stored, plan);
}

const heldAs = (parts: DeskParts, { id, kind, decideBy }: ApprovalRequest): Extract<Ruling, { ruling: "held" }> => {
  const link = parts.link?.(id);
  return { ruling: "held", request: id, kind, decideBy, ...(link === undefined ? {} : { link }) };
};

/** Who blocks says again and again that it still does; what is suspended or deferred waits for nobody. */
const leaseOf = ({ submission, now }: Ruled): { holder: string; until: Instant } | undefined =>
  submission.wait === "block" ? { holder: submission.renewer, until: plus(now, TIMES.requesterLease) } : undefined;

/** Stores the request with its terms, then tells people: recorded before it takes effect (P-10). */
async function hold(
  parts: DeskParts,
  ruled: Ruled,
  asked: { question: Question; salts: Salts; holds: readonly Hold[] },
): Promise<Ruling> {
  const { submission, requester, now } = ruled;
  const { question } = asked;
  const plan = await parts.dispatcher.plan({
    terms: question.terms,
    requester,
    grade: submission.grade,
    wait: submission.wait,
    holds: asked.holds,
    channels: submission.channels,
  });
  if (plan === undefined) return refuse(parts, ruled, { code: "no_approver" });
  const { record, payload } = opened(parts, question, { asker: submission, requester, now, lease: leaseOf(ruled) });
  const callRow = question.kind === "call" ? callRows(parts, ruled, record.id) : [];
  const created = {
    event: "request.created" as const,
    actor: null,
    data: { ...named(ruled), kind: question.kind, digest: record.digest, terms: record.termsHash, decideBy: record.decideBy },
  };
  parts.open.set(record.id, {
    digest: record.digest,
    callKey: record.callKey,
    salts: asked.salts,
    revalidate: submission.revalidate,
    policy: submission.policy,
    tier: submission.tier,
    edits: submission.edits,
    ignore: submission.ignore,
    windows: submission.windows,
    channels: plan.channels,
    requester: submission.requester,
  });
  const token = (submission.resumable ?? submission.wait !== "block") ? mintResume(parts, record) : undefined;
  const stored = await store(parts, ruled, {
    records: [{ before: null, next: record, drafts: [created] }],
    rows: [payloadRow(payload, null), ...callRow, ...(token === undefined ? [] : [token.row])],
    callKey: question.callKey,
  });
  if ("ruling" in stored) {
    parts.open.delete(record.id);
    return stored;
  }
  parts.dispatcher.begin({ record: stored, payload }, plan);
  watchLease(parts, stored);
  return { ...heldAs(parts, stored), ...(token === undefined ? {} : { resumeToken: token.token }) };
}

/** The call id that the caller gave, taken in the same commit that opens the request or releases the call (P-03). */
const callRows = (parts: DeskParts, ruled: Ruled, request: string | null): readonly RowChange[] =>
  ruled.submission.idGiven
    ? [{ kind: "call", key: callRowKey(parts, ruled), expect: null, next: { request, callKey: ruled.callKey() } }]
    : [];

/** What was refused before stays refused; else what answers the holds by itself is recorded with its use, and only then lets run. */
async function remembered(parts: DeskParts, ruled: Ruled, holds: readonly Hold[]): Promise<Ruling | undefined> {
  const { submission, requester, callKey, now } = ruled;
  for (let race = 0; race < MOST_RACES; race++) {
    const before = await refusedBefore(parts, { who: requester, callKey: callKey(), tool: submission.tool.name, now });
    if (before !== undefined) return refuse(parts, ruled, { code: before });
    const without = await answered(parts, ruled, holds);
    if (without === undefined) return undefined;
    const { rows, node, how } = without;
    const written = await parts.journal.write({
      rows: [...rows, ...callRows(parts, ruled, null)],
      node,
      unlessKilled: killScopes(parts.tenant, submission.tool.name, submission.requester),
    });
    if (written.ok) {
      without.used?.();
      return { ruling: "allow", how };
    }
    if (written.why !== "conflict") return refused({ code: codeOfCommit(written.why) });
    const again = await repeated(parts, ruled);
    if (again !== undefined) return again;
  }
  return refused({ code: "store_unavailable" });
}

/** Stations 5 and 6 for a call that wants a person. */
async function askPerson(parts: DeskParts, ruled: Ruled, holds: readonly Hold[]): Promise<Ruling> {
  const { submission, callKey } = ruled;
  const known = await remembered(parts, ruled, holds);
  if (known !== undefined) return known;
  if (submission.policy.mode === "no-ask") return refuse(parts, ruled, { code: "no_approver" });
  const salts = saltsFor(parts, submission);
  if (Object.keys(salts).length > 0 && submission.wait !== "block") return refuse(parts, ruled, { code: "cannot_seal" });
  return hold(parts, ruled, { question: questionOf(parts, submission, { holds, callKey: callKey(), salts }), salts, holds });
}

const codeOfCommit = (why: "too_late" | "too_early" | "killed" | "clock_skew"): RefusalCode =>
  why === "killed" ? "killed" : why === "clock_skew" ? "clock_skew" : "store_unavailable";

async function allow(parts: DeskParts, ruled: Ruled, by: string): Promise<Ruling> {
  if (ruled.submission.policy.record !== "calls") return { ruling: "allow", how: "allowed" };
  const { submission } = ruled;
  const written = await parts.journal.write({
    node: [draft("call.allowed", { ...named(ruled), by })],
    unlessKilled: killScopes(parts.tenant, submission.tool.name, submission.requester),
  });
  if (written.ok) return { ruling: "allow", how: "allowed" };
  return refused({ code: written.why === "conflict" ? "journal_unavailable" : codeOfCommit(written.why) });
}

async function rule(parts: DeskParts, ruled: Ruled): Promise<Ruling> {
  const verdict = judge(parts, ruled);
  if (verdict.verdict === "deny")
    return refuse(parts, ruled, { code: verdict.code, ...(verdict.reason === undefined ? {} : { reason: verdict.reason }) });
  const again = await repeated(parts, ruled);
  if (again !== undefined) return again;
  const before = await taken(parts, ruled, ruled.callKey());
  if (before !== undefined) return before;
  const wanted = await missingGrant(parts, ruled.requester, { prerequisites: prerequisites(ruled), now: ruled.now });
  if (wanted !== undefined) {
    if (ruled.submission.policy.mode === "no-ask") return refuse(parts, ruled, { code: "no_approver" });
    const question = grantQuestion(parts, ruled, wanted);
    const asked = await taken(parts, ruled, question.callKey);
    if (asked !== undefined) return asked;
    const refusal = await refusedBefore(parts, {
      who: ruled.requester,
      callKey: question.callKey,
      tool: ruled.submission.tool.name,
      now: ruled.now,
    });
    if (refusal !== undefined) return refuse(parts, ruled, { code: refusal === "already_refused" ? "not_granted" : refusal });
    return hold(parts, ruled, { question, salts: {}, holds: [] });
  }
  return verdict.verdict === "ask" ? askPerson(parts, ruled, verdict.holds) : allow(parts, ruled, verdict.by);
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/**
 * Stations 4 to 6 of a call: ruled, remembered, asked. Any fault on the way refuses with a code that says which (P-15).
 */
export async function submit(parts: DeskParts, submission: Submission): Promise<Ruling> {
  try {
    if (parts.kills.due) await parts.kills.look();
    const requester = requesterRecord(submission.requester);
    const { call, tool, bindings, ignore } = submission;
    const ruled: Ruled = {
      submission,
      requester,
      now: await parts.store.now(),
      facts: { tool: tool.name, tier: submission.tier, arguments: call.arguments, requester: submission.requester },
      callKey: once(() => callKeyOf(parts.runtime, { tenant: parts.tenant, tool, bindings, arguments: call.arguments, ignore })),
    };
    return await rule(parts, ruled);
  } catch (thrown) {
    return refused(faultOf(parts, thrown));
  }
}

/** What an error of ours or of a part amounts to for the model; never an allow. */
export function faultOf(parts: DeskParts, thrown: unknown): Refusal {
  const code: RefusalCode = isHoldpointError(thrown) ? (thrown.code as RefusalCode) : "policy_error";
  const problem = problemOf(thrown);
  parts.runtime.log.error("a call could not be judged", { code, problem });
  parts.events.emit({ type: "error", where: "desk", code, problem });
  return { code };
}
