import { type Hash, hashOf, lastingHash } from "./hash.ts";
import { canonicalize } from "./json.ts";
import { isFrozenWhole } from "./lasting.ts";
import type { JsonObject, JsonValue } from "./json-value.ts";
import { at, formatPointer, parsePointer, replaceAt } from "./pointer.ts";
import type { Crypto, Keys } from "./ports/runtime.ts";
import type { ApprovalRequest, Decision, RequesterRecord, RequestKind } from "./request.ts";
import type { Terms } from "./requirement.ts";
import type { Requester, ToolIdentity } from "./tool-call.ts";

/** Absence has one spelling in hashes: every member present. */
export const requesterRecord = (requester: Requester): RequesterRecord =>
  Object.freeze({
    principal: requester.principal,
    agent: requester.agent ?? null,
    session: requester.session ?? null,
    run: requester.run ?? null,
    thread: requester.thread ?? null,
    path: Object.freeze([...(requester.path ?? [])]),
    // Shared is the tighter of the two: whatever is not plainly "no" counts as it.
    shared: requester.shared !== undefined && requester.shared !== false,
  });

/** Everything the digest says of a request: what people approve and what the claim recomputes. */
export interface DigestParts {
  readonly id: string;
  readonly tenant: string;
  readonly kind: RequestKind;
  readonly nonce: string;
  readonly call: {
    readonly id: string;
    readonly tool: ToolIdentity;
    readonly arguments: JsonObject;
    readonly secrets: readonly string[];
  };
  readonly bindings: Readonly<Record<string, string>>;
  readonly requester: RequesterRecord;
  readonly terms: Hash;
}

/** Digests by the arguments that are in them. */
const digests = new WeakMap<JsonObject, { readonly crypto: Crypto; readonly parts: DigestParts; readonly digest: Hash }>();

const containers = ({ call, bindings, requester }: DigestParts): readonly object[] => [
  call.arguments,
  call.tool,
  call.secrets,
  bindings,
  requester,
];

/** The very same objects under the same names: what they say is not compared, since nobody can change it. */
function areTheSame(one: DigestParts, other: DigestParts): boolean {
  const texts = ["id", "tenant", "kind", "nonce", "terms"] as const;
  if (texts.some((name) => one[name] !== other[name]) || one.call.id !== other.call.id) return false;
  const held = containers(other);
  return containers(one).every((container, index) => container === held[index]);
}

/**
 * The digest of exactly these parts. It is asked for at every reading of a request, at the claim and before the run:
 * of objects that nobody can change any more it is made once.
 */
export function digestOf(crypto: Crypto, parts: DigestParts): Hash {
  const known = digests.get(parts.call.arguments);
  if (known?.crypto === crypto && areTheSame(known.parts, parts)) return known.digest;
  const digest = hashOf(crypto, { type: "holdpoint/request/v1", ...parts });
  if (containers(parts).every(isFrozenWhole)) digests.set(parts.call.arguments, { crypto, parts, digest });
  return digest;
}

/** The parts of a stored request around arguments that its reader holds. */
export const partsOf = (record: ApprovalRequest, args: JsonObject): DigestParts => ({
  id: record.id,
  tenant: record.tenant,
  kind: record.kind,
  nonce: record.nonce,
  call: { id: record.call.id, tool: record.call.tool, arguments: args, secrets: record.call.secrets },
  bindings: record.bindings,
  requester: record.requester,
  terms: record.termsHash,
});

export const termsHash = (crypto: Crypto, terms: Terms): Hash => lastingHash(crypto, terms as Terms & Record<string, unknown>);

/** A member is left out of its object; a position keeps its place, or its neighbours would take other meanings. */
function withoutOne(args: JsonObject, pointer: string): JsonObject {
  const path = parsePointer(pointer);
  const last = path.at(-1);
  if (last === undefined || at(args, pointer) === undefined) return args;
  const parent = formatPointer(path.slice(0, -1));
  const holder = at(args, parent) as JsonObject | readonly JsonValue[];
  if (Array.isArray(holder)) return replaceAt(args, pointer, null) as JsonObject;
  const rest = Object.fromEntries(Object.entries(holder as JsonObject).filter(([key]) => key !== last));
  return parent === "" ? rest : (replaceAt(args, parent, rest) as JsonObject);
}

const without = (args: JsonObject, pointers: readonly string[]): JsonObject => pointers.reduce(withoutOne, args);

/** The same act again: tool identity, bindings, full arguments less the ignored pointers. Keyed, never exported. */
export function callKeyOf(
  runtime: { readonly crypto: Crypto; readonly keys: Keys },
  call: {
    readonly tenant: string;
    readonly tool: ToolIdentity;
    readonly bindings: Readonly<Record<string, string>>;
    readonly arguments: JsonObject;
    readonly ignore: readonly string[];
  },
): string {
  const { tenant, tool, bindings } = call;
  const text = canonicalize({
    type: "holdpoint/call/v1",
    tenant,
    tool,
    bindings,
    arguments: without(call.arguments, call.ignore),
  });
  return runtime.crypto.hmac(runtime.keys.call, text);
}

/** Proof that our own desk wrote this decision: a row put in by hand has no key to make it with. */
export const decisionMac = (
  runtime: { readonly crypto: Crypto; readonly keys: Keys },
  request: string,
  decision: Omit<Decision, "mac">,
): string => runtime.crypto.hmac(runtime.keys.decision, canonicalize({ type: "holdpoint/decision/v1", request, decision }));

export function isOurDecision(
  runtime: { readonly crypto: Crypto; readonly keys: Keys },
  request: string,
  decision: Decision,
): boolean {
  const { mac, ...rest } = decision;
  return runtime.crypto.equal(mac, decisionMac(runtime, request, rest));
}

/** What a view binds together: this rendering, of this digest, to this person, on this channel. */
export interface ViewParts {
  readonly request: string;
  readonly digest: Hash;
  readonly person: string;
  readonly channel: string;
  readonly rendering: Hash;
}

const viewMac = (runtime: { readonly crypto: Crypto; readonly keys: Keys }, parts: ViewParts): string =>
  runtime.crypto.hmac(runtime.keys.view, canonicalize({ type: "holdpoint/view/v1", ...parts }));

export const renderingHash = (
  crypto: Crypto,
  rendering: { readonly channel: string; readonly digest: Hash; readonly text: string },
): Hash => hashOf(crypto, { type: "holdpoint/rendering/v1", ...rendering });

export const mintView = (runtime: { readonly crypto: Crypto; readonly keys: Keys }, parts: ViewParts): string =>
  `${parts.rendering.slice("sha256:".length)}.${viewMac(runtime, parts)}`;

/** The rendering that a view was given out for; `undefined`: not one of ours, or not for these. */
export function readView(
  runtime: { readonly crypto: Crypto; readonly keys: Keys },
  view: unknown,
  parts: Omit<ViewParts, "rendering">,
): Hash | undefined {
  if (typeof view !== "string" || !/^[0-9a-f]{64}\./.test(view)) return undefined;
  const rendering: Hash = `sha256:${view.slice(0, 64)}`;
  return runtime.crypto.equal(view, mintView(runtime, { ...parts, rendering })) ? rendering : undefined;
}
