import { type Guards, GUARDS, type LocalDesk } from "../../../src/core/approving.ts";
import { type Channel, type Claimed, type Clock, type Desk, msOf, type Policy, type Ruling } from "../../../src/core/index.ts";
import { plain } from "../faults/common.ts";
import type { Sabotage } from "../world/part.ts";
import { throughDesk } from "../world/through.ts";
import { carriesVotes, lateClaims, lateVotes, noJournal, unloggedClaims, votesWhileDown, writesOver } from "./stores.ts";

/**
 * Gates that always allow, always refuse, or lack one guard of the checked model; by the model's own names. Each says the
 * kinds of cases that it must fail at least one of.
 */
export interface Tried {
  readonly sabotage: Sabotage;
  readonly kinds: readonly string[];
}

/** Kinds in which somebody must be asked, or must be refused. */
const HOLDING = [
  "prompt-lost",
  "delivery-failure",
  "duplicate-execution",
  "wrong-call",
  "edit-not-applied",
  "edit-not-validated",
  "display-fault",
  "denial-not-enforced",
  "denial-loop",
  "overbroad-approval",
  "rewrite-bypass",
  "fail-open",
  "timeout",
  "resume-failure",
  "stale-approval",
  "nested-agent",
  "history-corruption",
  "race-toctou",
  "args-binding",
  "over-asking",
  "approver-authz",
  "text-i18n",
  "accidental-approval",
  "hook-contract",
  "gate",
  "terminal",
  "policy",
  "mcp",
  "store",
] as const;
/** Kinds in which what was approved runs. */
const RUNNING = [
  "prompt-lost",
  "delivery-failure",
  "duplicate-execution",
  "wrong-call",
  "edit-not-applied",
  "denial-not-enforced",
  "denial-loop",
  "overbroad-approval",
  "timeout",
  "resume-failure",
  "stale-approval",
  "nested-agent",
  "history-corruption",
  "race-toctou",
  "args-binding",
  "gate",
  "store",
] as const;

const passes = (): undefined => undefined;
const approveWithout = (guard: keyof Guards["approve"]): Guards => ({
  ...GUARDS,
  approve: { ...GUARDS.approve, [guard]: passes },
});
const claimWithout = (guard: keyof Guards["claim"]): Guards => ({ ...GUARDS, claim: { ...GUARDS.claim, [guard]: passes } });

const ruling =
  (said: Ruling) =>
  (desk: LocalDesk): Desk =>
    throughDesk(desk, { submit: async () => said });

const FAULTS: ReadonlySet<string> = new Set([
  "store_unavailable",
  "journal_unavailable",
  "policy_error",
  "directory_unavailable",
]);

/** Where something could not be looked up, it is taken for a yes. */
const openOnError = (desk: LocalDesk): Desk =>
  throughDesk(desk, {
    submit: async (submission) => {
      const said = await desk.submit(submission);
      return said.ruling === "refused" && FAULTS.has(said.refusal.code) ? { ruling: "allow", how: "allowed" } : said;
    },
    claim: async (id, evidence) => {
      const claimed = await desk.claim(id, evidence);
      if (claimed.ok || !FAULTS.has(claimed.refusal.code)) return claimed;
      const shown = evidence.arguments;
      const open: Claimed = {
        ok: true,
        token: "open",
        fence: 0,
        digest: await digestOf(desk, id, shown),
        until: "2099-01-01T00:00:00.000Z" as never,
      };
      return open;
    },
  });

/** Remembered from when the store still answered. */
async function digestOf(desk: LocalDesk, id: string, _shown: unknown): Promise<Extract<Claimed, { ok: true }>["digest"]> {
  try {
    return (await desk.standing(id))?.record.digest ?? "sha256:";
  } catch {
    return "sha256:";
  }
}

const EVERYBODY = ["alice", "ann", "bob", "carol", "lena", "ops"];

/** Just before the time is over, silence says yes. */
const silenceApproves = (desk: LocalDesk, clock: Clock): Desk =>
  throughDesk(desk, {
    submit: async (submission) => {
      const said = await desk.submit(submission);
      if (said.ruling === "held")
        clock.after(Math.max(0, msOf(said.decideBy) - clock.now() - 1), () => void approveByAnybody(desk, said.request));
      return said;
    },
  });

async function approveByAnybody(desk: LocalDesk, request: string): Promise<void> {
  for (const principal of EVERYBODY) {
    const as = { principal, as: `timer:${principal}`, via: "timer", assurance: "account" as const };
    const shown = await desk.approvals.card(request, as).catch(() => undefined);
    if (shown === undefined || "ambiguous" in shown) continue;
    await desk.approvals
      .decide(request, { verdict: "approve", digest: shown.card.digest, view: shown.view }, as)
      .catch(() => undefined);
  }
}

/** Whoever asks counts as an approver of their own call. */
const selfCounts = (policy: Policy): Policy => ({
  ...policy,
  rules: (policy.rules ?? []).map((rule) => (rule.ask === undefined ? rule : { ...rule, self: "allow" as const })),
});

/** What is shown is the value as it is. */
const rawText = (inner: Channel): Channel => ({
  ...inner,
  render: (card) => {
    const { text, complete } = inner.render(card);
    return { text: plain(text), complete };
  },
});

export const SABOTAGES: readonly Tried[] = [
  { sabotage: { name: "always allows", desk: ruling({ ruling: "allow", how: "allowed" }) }, kinds: [...HOLDING] },
  {
    sabotage: { name: "always refuses", desk: ruling({ ruling: "refused", refusal: { code: "denied" } }) },
    kinds: HOLDING.filter((kind) => kind !== "hook-contract"),
  },
  { sabotage: { name: "M_SELF", policy: selfCounts }, kinds: ["approver-authz"] },
  {
    sabotage: { name: "M_LATE_VOTE", guards: approveWithout("time"), store: lateVotes },
    kinds: ["timeout", "stale-approval", "gate", "store"],
  },
  { sabotage: { name: "M_STALE", guards: approveWithout("shown") }, kinds: ["args-binding", "gate"] },
  { sabotage: { name: "M_DUPE", guards: approveWithout("once") }, kinds: ["gate"] },
  { sabotage: { name: "M_VOTE_DOWN", store: votesWhileDown }, kinds: ["store"] },
  { sabotage: { name: "M_OPEN_ON_ERROR", desk: openOnError }, kinds: ["policy", "store"] },
  {
    sabotage: {
      name: "M_DENY_IGNORED",
      guards: {
        ...GUARDS,
        reject: { ...GUARDS.reject, state: ({ request }) => (request.status === "pending" ? undefined : "late") },
      },
    },
    kinds: ["store"],
  },
  { sabotage: { name: "M_NO_CAS", store: writesOver }, kinds: ["race-toctou", "store"] },
  {
    sabotage: {
      name: "M_RETRY_LOST",
      guards: {
        ...GUARDS,
        claim: {
          ...GUARDS.claim,
          state: ({ request }) => (request.status === "approved" || request.status === "indeterminate" ? undefined : "cancelled"),
        },
      },
    },
    kinds: ["store"],
  },
  { sabotage: { name: "M_NO_DIGEST", guards: claimWithout("bytes") }, kinds: ["args-binding", "gate"] },
  { sabotage: { name: "M_NO_FREEZE", live: true }, kinds: ["edit-not-applied", "gate"] },
  { sabotage: { name: "M_UNLOGGED", store: unloggedClaims }, kinds: [...RUNNING] },
  { sabotage: { name: "M_TIMEOUT_APPROVES", desk: silenceApproves }, kinds: ["timeout", "stale-approval", "gate", "store"] },
  { sabotage: { name: "M_LATE_CLAIM", guards: claimWithout("time"), store: lateClaims }, kinds: ["store"] },
  { sabotage: { name: "M_CARRY", guards: claimWithout("quorum"), store: carriesVotes }, kinds: ["store"] },
  { sabotage: { name: "no journal", store: noJournal }, kinds: [...RUNNING] },
  { sabotage: { name: "no escaping", channel: rawText }, kinds: ["display-fault", "gate", "terminal"] },
];
