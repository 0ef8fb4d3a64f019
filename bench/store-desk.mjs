/** The commits of an approve cycle as a desk makes them, with the work that belongs to them: ids, digests, entries. */
import { hash, randomUUID } from "node:crypto";
import { ARGS } from "./store-lib.mjs";

const sha = (text) => `sha256:${hash("sha256", text)}`;
/** As the runtime makes request ids: time first, so that neighbours in time are neighbours in an index. */
const uuidv7 = () => {
  const time = Date.now().toString(16).padStart(12, "0");
  const random = randomUUID();
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(15)}`;
};
const at = () => new Date().toISOString();
const FIXED = sha("fixed");

const template = {
  v: 1,
  tenant: "default",
  rev: 1,
  kind: "call",
  status: "pending",
  callKey: FIXED,
  masked: [],
  bindings: {},
  requester: {
    principal: "os:lena",
    agent: "mcp:claude-desktop",
    session: null,
    run: "run-1",
    thread: null,
    path: [],
    shared: false,
  },
  requesterProof: "process",
  grade: "in-process",
  terms: {
    type: "holdpoint/terms/v1",
    editable: [""],
    decideWithin: 300_000,
    runWithin: 600_000,
    escalate: [],
    remind: null,
    policy: FIXED,
    clauses: [
      {
        by: "tool",
        any: [{ of: ["@principal", "@operator"], count: 1 }],
        self: "allow",
        assurance: "local",
        window: 0,
        exemptible: true,
      },
    ],
  },
  termsHash: FIXED,
  nonce: "AAAAAAAAAAAAAAAAAAAAAA",
  parked: false,
  decisions: [],
  impact: "default",
  tier: "write",
};

const entryOf = (id, rev, { event, prev, now, data }) => ({
  type: "holdpoint/entry/v1",
  stream: `request/${id}`,
  n: rev - 1,
  prev,
  at: now,
  event,
  tenant: "default",
  actor: null,
  rev,
  data,
});

export function creation(digest) {
  const id = uuidv7();
  const now = at();
  const entry = entryOf(id, 1, { event: "request.created", prev: null, now, data: { digest } });
  const call = { id: `call-${id}`, tool: { name: "send", origin: "code", definition: FIXED }, secrets: [] };
  const next = { ...template, id, root: id, head: sha(JSON.stringify(entry)), call, digest, createdAt: now, decideBy: now };
  const payload = {
    request: id,
    arguments: ARGS,
    message: "Send",
    effect: null,
    statement: null,
    notes: [],
    reasons: {},
    schema: null,
    result: null,
  };
  return {
    request: next,
    commit: {
      records: [{ id, expect: null, next }],
      entries: [entry],
      rows: [{ kind: "payload", key: id, expect: null, next: payload }],
      at: now,
      key: uuidv7(),
    },
  };
}

export function step(from, event, patch) {
  const now = at();
  const entry = entryOf(from.id, from.rev + 1, { event, prev: from.head, now, data: { digest: from.digest } });
  const next = { ...from, ...patch, rev: from.rev + 1, head: sha(JSON.stringify(entry)) };
  return {
    request: next,
    commit: {
      records: [{ id: from.id, expect: { rev: from.rev, head: from.head }, next }],
      entries: [entry],
      rows: [],
      at: now,
      unlessKilled: ["all"],
      key: uuidv7(),
    },
  };
}

export const decision = (from, by) => {
  const vote = {
    id: randomUUID(),
    verdict: "approve",
    by,
    as: by,
    via: "terminal",
    assurance: "local",
    digest: from.digest,
    rendering: FIXED,
    at: at(),
    mac: FIXED,
  };
  return step(from, "request.approved", { status: "approved", runBy: at(), decisions: [vote] });
};
export const claim = (from) =>
  step(from, "request.claimed", {
    status: "claimed",
    claim: { holder: "p1", tokenHash: FIXED, fence: 1, until: at(), at: at() },
  });
