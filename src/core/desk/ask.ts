import { EVERYTHING, commonPart } from "../editable.ts";
import type { Hash } from "../hash.ts";
import { hashOf } from "../hash.ts";
import { holdOf } from "../hold.ts";
import { type Instant, plus } from "../instant.ts";
import type { JsonObject } from "../json-value.ts";
import { freezeWhole } from "../lasting.ts";
import { maskSecrets } from "../mask.ts";
import type { Hold, Submission } from "../ports/desk.ts";
import type { RowChange } from "../ports/store.ts";
import type { ApprovalRequest, Payload, RequestKind, RequesterRecord } from "../request.ts";
import { digestOf, termsHash } from "../request-hash.ts";
import { type Clause, suffices, type Terms } from "../requirement.ts";
import { type Salts, secretsIn, withCommitments } from "../secret.ts";
import type { ToolIdentity } from "../tool-call.ts";
import { type DeskParts, STATEMENT_LENGTH, TIMES } from "./parts.ts";
import { wordsFor } from "./present.ts";

/** What a question says, before it has an id. */
export interface Question {
  readonly kind: RequestKind;
  readonly call: {
    readonly id: string;
    readonly tool: ToolIdentity;
    readonly arguments: JsonObject;
    readonly secrets: readonly string[];
  };
  readonly callKey: string;
  readonly terms: Terms;
  readonly message: string;
  readonly effect: string | null;
}

const smallest = (numbers: readonly (number | undefined)[]): number | undefined => {
  const stated = numbers.filter((number) => number !== undefined);
  return stated.length === 0 ? undefined : Math.min(...stated);
};

/** A clause nobody graded wants what the desk's configuration can prove, no more: else nobody could ever meet it. */
export const graded = (parts: DeskParts, hold: Hold): Clause =>
  hold.graded || suffices(parts.reachable, hold.clause.assurance) ? hold.clause : { ...hold.clause, assurance: "local" };

/**
 * Grants and changes of authority want an account, where the desk's configuration can prove one (design, section 11).
 * A change is the operator's: as its requester's, whoever asks to switch the kill switch off could say yes to it.
 */
export const authorityHold = (by: "grant" | "change"): Hold => ({
  ...holdOf(
    by,
    by === "grant" ? { assurance: "account" } : { assurance: "account", any: [{ of: ["@operator"], count: 1 }], self: "allow" },
    { exemptible: false, message: undefined },
  ),
  graded: false,
});

/** What a clause demands, whoever demands it: two clauses with one hash are one. */
export const clauseHash = (parts: DeskParts, clause: Clause): Hash =>
  hashOf(parts.runtime.crypto, { type: "holdpoint/clause/v1", clause: { ...clause, by: "" } });

/** All requirements joined: every clause once, the shorter of each time, the common part of what may be edited. */
export function joinedTerms(
  parts: DeskParts,
  submission: Pick<Submission, "editable" | "wait" | "deadline" | "policy" | "channels">,
  holds: readonly Hold[],
): Terms {
  const clauses = new Map(
    holds.map((hold) => {
      const clause = graded(parts, hold);
      return [clauseHash(parts, clause), clause];
    }),
  );
  const natural = smallest(
    parts.channels
      .filter((channel) => submission.channels.includes(channel.name))
      .map((channel) => channel.capabilities.deadline),
  );
  const decideWithin =
    smallest(holds.map((hold) => hold.deadline)) ?? submission.deadline ?? natural ?? TIMES.decideWithin[submission.wait];
  return {
    type: "holdpoint/terms/v1",
    clauses: [...clauses.values()],
    editable: holds.reduce((common, hold) => commonPart(common, hold.editable ?? EVERYTHING), submission.editable),
    decideWithin,
    runWithin: TIMES.runWithin[submission.wait],
    escalate: [],
    remind: smallest(holds.map((hold) => hold.remind)) ?? null,
    policy: submission.policy.hash,
  };
}

/** The question a held call amounts to, with its secrets as commitments. */
export function questionOf(
  parts: DeskParts,
  submission: Submission,
  asked: { holds: readonly Hold[]; callKey: string; salts: Salts },
): Question {
  const { call, tool, secrets } = submission;
  const args = withCommitments(parts.runtime.crypto, call.arguments, asked.salts);
  const spoken = { tool: tool.name, args: maskSecrets(args).shown };
  const said = asked.holds.find((hold) => hold.message !== undefined)?.message;
  return {
    kind: "call",
    call: { id: call.id, tool, arguments: args, secrets: secretsIn(call.arguments, secrets) },
    callKey: asked.callKey,
    terms: joinedTerms(parts, submission, asked.holds),
    message: wordsFor(said, spoken),
    effect: submission.effect === undefined ? null : wordsFor(submission.effect, spoken),
  };
}

export interface Opened {
  readonly record: ApprovalRequest;
  readonly payload: Payload;
}

type Asker = Pick<Submission, "impact" | "tier" | "bindings" | "proof" | "grade" | "statement" | "notes" | "schema">;

const noted = ({ notes, statement }: Asker): readonly string[] =>
  statement !== undefined && statement.length > STATEMENT_LENGTH
    ? [...notes, `the agent's own words were cut after ${STATEMENT_LENGTH} characters`]
    : notes;

/** A new request, not yet stored: its digest exists before the commit that fixes its deadline. */
export function opened(
  parts: DeskParts,
  question: Question,
  from: {
    asker: Asker;
    requester: RequesterRecord;
    now: Instant;
    supersedes?: ApprovalRequest;
    lease?: NonNullable<ApprovalRequest["lease"]> | undefined;
  },
): Opened {
  const { asker, requester, now, supersedes, lease = supersedes?.lease } = from;
  const id = parts.runtime.ids.request();
  const nonce = parts.runtime.ids.nonce();
  const hash = termsHash(parts.runtime.crypto, question.terms);
  const digest: Hash = digestOf(parts.runtime.crypto, {
    id,
    tenant: parts.tenant,
    kind: question.kind,
    nonce,
    call: question.call,
    bindings: asker.bindings,
    requester,
    terms: hash,
  });
  const { arguments: args, ...call } = question.call;
  const record: ApprovalRequest = {
    v: 1,
    id,
    tenant: parts.tenant,
    root: supersedes?.root ?? id,
    rev: 1,
    head: "sha256:" as Hash,
    kind: question.kind,
    status: "pending",
    call,
    callKey: question.callKey,
    masked: maskSecrets(args).masked,
    bindings: asker.bindings,
    requester,
    requesterProof: asker.proof,
    grade: asker.grade,
    terms: question.terms,
    termsHash: hash,
    nonce,
    digest,
    createdAt: now,
    decideBy: plus(now, question.terms.decideWithin),
    ...(lease === undefined ? {} : { lease }),
    parked: supersedes?.parked ?? false,
    decisions: [],
    impact: asker.impact,
    tier: asker.tier ?? null,
    ...(supersedes === undefined ? {} : { supersedes: supersedes.id }),
  };
  const payload: Payload = freezeWhole({
    request: id,
    arguments: args,
    message: question.message,
    effect: question.effect,
    statement: asker.statement?.slice(0, STATEMENT_LENGTH) ?? null,
    notes: [...noted(asker)],
    reasons: {},
    schema: asker.schema,
    result: null,
  });
  return { record, payload };
}

export const payloadRow = (payload: Payload, expect: number | null): RowChange => ({
  kind: "payload",
  key: payload.request,
  expect,
  next: payload as unknown as JsonObject,
});
