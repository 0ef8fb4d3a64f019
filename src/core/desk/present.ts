import { cardCode, formSchema, renderMessage, listing } from "../briefing.ts";
import type { Ask, Card, Flag, Presented } from "../card.ts";
import { cardText } from "../card-text.ts";
import { flagsOf } from "../flags.ts";
import { isLost } from "../guards.ts";
import { freezeWhole, lasting } from "../lasting.ts";
import { maskSecrets, maskText } from "../mask.ts";
import type { JsonObject } from "../json-value.ts";
import type { Identity, Render } from "../ports/approvals.ts";
import type { Stored } from "../ports/store.ts";
import { clauseMet, type Electorate, supporters } from "../quorum.ts";
import { hasEnded, type ApprovalRequest, type Payload } from "../request.ts";
import { mintView, renderingHash } from "../request-hash.ts";
import type { Message } from "../tool-call.ts";
import { electorateOf, personOf } from "./people.ts";
import type { DeskParts } from "./parts.ts";

/** A declaration's words for one call; any fault in them gives the listing, never an exception (design, section 7). */
export function wordsFor(message: Message | undefined, call: { readonly tool: string; readonly args: JsonObject }): string {
  if (message === undefined) return listing(call.tool, call.args);
  if (typeof message === "string") return renderMessage(message, call);
  try {
    const said: unknown = message(call.args);
    return typeof said === "string" ? said : listing(call.tool, call.args);
  } catch {
    return listing(call.tool, call.args);
  }
}

const askOf = (record: ApprovalRequest, index: number, electorate: Electorate): Ask => {
  const clause = record.terms.clauses[index] as ApprovalRequest["terms"]["clauses"][number];
  const votes = { decisions: record.decisions.filter((vote) => vote.digest === record.digest), electorate };
  const people = new Set(supporters(clause, index, votes).flatMap((set) => [...set]));
  return {
    by: clause.by,
    of: clause.any.map(({ of, count }) => ({ selectors: of, count })),
    approvedBy: [...people],
    met: clauseMet(clause, index, votes),
    assurance: clause.assurance,
  };
};

const ENDINGS: Readonly<Record<string, string>> = {
  succeeded: "it ran and succeeded",
  failed: "it ran and failed",
  indeterminate: "it may or may not have run; nobody knows yet",
  rejected: "rejected; it was not run",
  expired: "expired; it was not run",
  cancelled: "withdrawn; it was not run",
};

function endingOf(record: ApprovalRequest): string | null {
  if (!hasEnded(record.status)) return record.status === "claimed" ? "running now; a no comes too late" : null;
  const { resolution, finding } = record;
  const reason =
    resolution === undefined || resolution.reason === resolution.status ? "" : ` (${resolution.reason.replaceAll("_", " ")})`;
  const by = resolution?.by == null ? "" : `, by ${resolution.by}`;
  const later =
    finding === undefined ? "" : finding.ran ? "; it was found out that it ran" : "; it was found out that it did not run";
  const next = record.supersededBy === undefined ? "" : `; request ${record.supersededBy} took its place`;
  return `${ENDINGS[record.status]}${reason}${by}${later}${next}`;
}

const flagged = (payload: Payload, masked: readonly string[]): readonly Flag[] => [
  ...flagsOf(payload.arguments),
  ...masked.map((pointer): Flag => ({ kind: "masked", pointer, note: "part of this value is hidden here and runs as it is" })),
  ...flagsOf({ statement: payload.statement ?? "" }).map((flag) => ({ ...flag, pointer: "the agent's own words" })),
];

async function presenceOf(parts: DeskParts, record: ApprovalRequest): Promise<Card["presence"]> {
  const { lease, status, parked } = record;
  if (lease === undefined || (status !== "pending" && status !== "approved")) return null;
  if (isLost(record, await parts.store.now())) return "gone";
  return parked ? "parked" : "waiting";
}

type OfTheCall = Pick<Card, "message" | "effect" | "arguments" | "masked" | "statement" | "notes" | "flags" | "schema">;

const maskedOrNull = (text: string | null): string | null => (text === null ? null : maskText(text));

/** What a card says of the call itself: made once, and the same whatever becomes of its request. */
const ofTheCall = lasting((payload: Payload): OfTheCall => {
  const { shown, masked } = maskSecrets(payload.arguments);
  const reasons = Object.values(payload.reasons).map((reason) => `a person wrote: ${reason}`);
  return freezeWhole({
    message: maskText(payload.message),
    effect: maskedOrNull(payload.effect),
    arguments: shown,
    masked,
    statement: maskedOrNull(payload.statement),
    notes: [...payload.notes, ...reasons].map((note) => maskText(note)),
    flags: flagged(payload, masked),
    schema: formSchema(payload.schema, shown),
  });
});

const OF_AN_ERASED_CALL: OfTheCall = freezeWhole({
  message: "the arguments of this request were erased",
  effect: null,
  arguments: {},
  masked: [],
  statement: null,
  notes: [],
  flags: [],
  schema: null,
});

/** The card of a stored request: facts from the stored call only, so that the agent cannot narrate its own request (A01). */
export async function cardOf(parts: DeskParts, stored: Stored): Promise<Card> {
  const { record, payload } = stored;
  const electorate = await electorateOf(parts, { clauses: record.terms.clauses, requester: record.requester }, record.decisions);
  return {
    ...(payload === null ? OF_AN_ERASED_CALL : ofTheCall(payload)),
    id: record.id,
    kind: record.kind,
    status: record.status,
    digest: record.digest,
    code: cardCode(parts.runtime.crypto.hmac(parts.runtime.keys.view, `holdpoint/code/v1:${record.id}`)),
    tool: { name: record.call.tool.name, origin: record.call.tool.origin },
    tier: record.tier,
    impact: record.impact,
    bindings: record.bindings,
    requester: {
      principal: record.requester.principal,
      agent: record.requester.agent,
      path: record.requester.path,
      claimed: record.requesterProof === "claimed",
    },
    presence: await presenceOf(parts, record),
    asks: record.terms.clauses.map((_, index) => askOf(record, index, electorate)),
    createdAt: record.createdAt,
    decideBy: record.decideBy,
    editable: record.status === "pending" ? record.terms.editable : [],
    ending: endingOf(record),
  };
}

/** A card as one surface shows it to one person, with the view that a decision must carry. */
export async function present(
  parts: DeskParts,
  stored: Stored,
  to: { readonly as: Identity; readonly render?: Render | undefined },
): Promise<Presented> {
  const card = await cardOf(parts, stored);
  const shown = to.render === undefined ? cardText(card) : to.render(card);
  // A call whose arguments are gone cannot be shown whole, whatever a surface says of the card without them.
  const { text, complete } = { ...shown, complete: shown.complete && stored.payload !== null };
  const channel = to.as.via;
  const { record } = stored;
  const person = (await personOf(parts, to.as)).principal;
  const rendering = renderingHash(parts.runtime.crypto, { channel, digest: record.digest, text });
  const view = complete ? mintView(parts.runtime, { request: record.id, digest: record.digest, person, channel, rendering }) : "";
  return { card, text, complete, view };
}
