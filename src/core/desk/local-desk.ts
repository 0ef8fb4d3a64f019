import { DeclarationError, HoldpointError, problemOf } from "../errors.ts";
import { exemption } from "../exemption.ts";
import { GUARDS, overdue } from "../guards.ts";
import { instant, type Instant, plus } from "../instant.ts";
import type { Actor } from "../journal.ts";
import { type CallFacts, type Mode, type PolicySnapshot, withMode } from "../policy.ts";
import type { Approvals } from "../ports/approvals.ts";
import type { Channel } from "../ports/channel.ts";
import type { Desk, Standing } from "../ports/desk.ts";
import type { Stored } from "../ports/store.ts";
import type { ApprovalRequest, CancelReason } from "../request.ts";
import { hasEnded } from "../request.ts";
import { ASSURANCES, type Assurance } from "../requirement.ts";
import { requiredBy, ruleOn } from "../rule.ts";
import type { AbortLike, Requester } from "../tool-call.ts";
import { requesterRecord } from "../request-hash.ts";
import { localApprovals } from "./approvals.ts";
import { joinedTerms } from "./ask.ts";
import { carefulStore } from "./careful-store.ts";
import { change } from "./change.ts";
import { due, expire } from "./deadline.ts";
import { othersCould } from "./delivery-plan.ts";
import { claim, complete } from "./claim.ts";
import { dispatcher } from "./dispatch.ts";
import { type EventStream, eventStream } from "./events.ts";
import { journalWriter, recorded } from "./journal-writer.ts";
import { killScopes, killSwitch } from "./kill.ts";
import type { LocalDesk, LocalDeskOptions } from "./local-desk-port.ts";
import { keepLease, leaseReminder, park, parkUnseen, watchLease } from "./lease.ts";
import { look, lookThrough } from "./look.ts";
import { notes } from "./notes.ts";
import { type DeskParts, TIMES } from "./parts.ts";
import { resumed } from "./resume.ts";
import { standingWhole } from "./standing.ts";
import { faultOf, submit } from "./submit.ts";
import { type Open, openRequests, sweep } from "./sweep.ts";
import { waiting } from "./waiting.ts";

export type { LocalDesk, LocalDeskOptions } from "./local-desk-port.ts";

const best = (levels: readonly Assurance[]): Assurance =>
  levels.reduce<Assurance>((most, level) => (ASSURANCES.indexOf(level) > ASSURANCES.indexOf(most) ? level : most), "local");

function uniqueNames(channels: readonly Channel[]): readonly Channel[] {
  const names = new Set(channels.map((channel) => channel.name));
  if (names.size !== channels.length)
    throw new DeclarationError("two channels have one name; a rule could not say which it means");
  return channels;
}

class Local implements LocalDesk {
  readonly events: EventStream;
  readonly approvals: Approvals;
  readonly #parts: DeskParts;
  readonly #options: LocalDeskOptions;
  #policy: PolicySnapshot;
  #started: Promise<void> | undefined;

  constructor(options: LocalDeskOptions) {
    // Whoever is nobody to the directory has the empty name too.
    if (options.operator === "") throw new DeclarationError("an operator has a name; leave the option out for os:<account>");
    const { runtime } = options;
    const store = carefulStore(options.store);
    this.#options = options;
    this.#policy = options.policy;
    this.events = eventStream(runtime.log);
    const tenant = options.tenant ?? "default";
    const journal = journalWriter({ runtime, store, tenant, events: this.events });
    const channels = uniqueNames(options.channels ?? []);
    const listing = options.listing ?? [];
    this.#parts = {
      runtime,
      store,
      tenant,
      journal,
      channels,
      listing,
      directory: options.directory,
      events: this.events,
      guards: options.guards ?? GUARDS,
      operator: options.operator ?? `os:${runtime.surroundings.account()}`,
      waiting: waiting({ store, clock: runtime.clock, log: runtime.log, stop: runtime.aborter() }),
      dispatcher: dispatcher(() => this.#parts, {
        cancel: async (id, reason) => void (await this.#cancel(id, reason, null)),
        park: (id) => parkUnseen(this.#parts, id),
        note: (id, event, facts) => this.#note(id, event, facts),
        noteSoon: (id, event, facts) => this.#parts.notes.add(id, { event, actor: null, data: facts }),
      }),
      exemptions: new Map(),
      kills: killSwitch({ store, clock: runtime.clock, log: runtime.log }),
      notes: notes(async (id) => void (await change(this.#parts, id, async () => ({ event: undefined })))),
      open: new Map(),
      link: options.link,
      reachable: best([
        ...channels.map((channel) => channel.capabilities.assurance),
        ...listing.map((identity) => identity.assurance),
      ]),
      look: (id) => look(this.#parts, id),
      expire: (id) => expire(this.#parts, id),
      cancel: (id, reason, by) => this.#cancel(id, reason, by),
      settled: (record) => this.#settled(record),
      succeeded: (from, successor) => this.#succeeded(from, successor),
      policy: () => this.#policy,
    };
    this.approvals = localApprovals(this.#parts);
    for (const channel of channels) channel.open(this.#deskFor(channel));
  }

  #deskFor(channel: Channel): Parameters<Channel["open"]>[0] {
    const { runtime } = this.#options;
    return {
      approvals: this.approvals,
      clock: runtime.clock,
      log: runtime.log,
      editRetries: this.#options.editRetries ?? 1,
      fault: async (request, problem) => {
        runtime.log.error("a channel's answer could not be read", { channel: channel.name, request, problem });
        this.events.emit({ type: "error", where: `channel:${channel.name}`, code: "channel_fault", problem });
        await this.#cancel(request, "channel_fault", null);
      },
      endEdit: async (request, identity) => {
        if (!(await othersCould(this.#parts, request, identity))) await this.#cancel(request, "invalid_edit", null);
      },
      pass: (request) => this.#parts.dispatcher.pass(request),
    };
  }

  /** The first policy a desk sees is accepted by being started with, and journaled so. */
  #start(): Promise<void> {
    this.#started ??= this.#accept(this.#policy, "start");
    return this.#started;
  }

  #accept({ hash }: PolicySnapshot, by: "start" | "code"): Promise<void> {
    return recorded(this.#parts.journal, {
      node: [
        { event: "policy.loaded", actor: null, data: { policy: hash } },
        { event: "policy.accepted", actor: null, data: { policy: hash, by } },
      ],
    });
  }

  policy(): PolicySnapshot {
    return this.#policy;
  }

  async setPolicy(policy: PolicySnapshot): Promise<void> {
    await this.#accept(policy, "code");
    this.#policy = policy;
  }

  get clear(): boolean {
    return this.#parts.kills.clear;
  }

  async lets(tool: string, requester: Requester): Promise<boolean> {
    const { kills, tenant } = this.#parts;
    try {
      if (kills.due) await kills.look();
      return !kills.isKilled(killScopes(tenant, tool, requester));
    } catch {
      // It was logged; the call goes the long way, which refuses with the code for it.
      return false;
    }
  }

  snapshot(mode?: Mode): PolicySnapshot {
    return withMode(this.#policy, mode);
  }

  frees(call: { readonly facts: CallFacts; readonly edits: boolean; readonly policy: PolicySnapshot }): boolean {
    const { facts, edits, policy } = call;
    if (policy.record === "calls" || !this.#parts.kills.clear || policy.opinions.length > 0) return false;
    const verdict = ruleOn(policy, { facts, edits, killed: false, denied: undefined, holds: [], allowedByOpinion: false });
    return verdict.verdict === "allow" && requiredBy(policy, facts).length === 0;
  }

  async submit(submission: Parameters<Desk["submit"]>[0]): ReturnType<Desk["submit"]> {
    try {
      await this.#start();
    } catch (thrown) {
      this.#started = undefined;
      return { ruling: "refused", refusal: faultOf(this.#parts, thrown) };
    }
    const ruling = await submit(this.#parts, submission);
    if (ruling.ruling === "held") this.#remind(ruling.request, ruling.decideBy);
    return ruling;
  }

  #remind(id: string, at: Instant): void {
    this.#parts.waiting.remind(id, at, () => void due(this.#parts, id));
  }

  async await(id: string, signal: AbortLike): Promise<Standing> {
    let current = id;
    let reminded: string | undefined;
    for (;;) {
      const changed = this.#parts.waiting.changed(current, signal);
      changed.catch(() => undefined);
      const standing = await this.standing(current);
      if (standing === undefined) throw new HoldpointError("not_found", `there is no request ${id} to wait for`);
      const followed = standing.record.id !== current;
      if (followed) await this.#catchUp(current, standing.record.id);
      const over = standing.status !== "pending" || standing.record.parked;
      if (followed || over) this.#parts.waiting.wake([current]);
      if (over) {
        // Decided on another desk: the prompts of this one are closed too.
        if (standing.status !== "pending" && this.#parts.open.has(standing.record.id)) this.#settled(standing.record);
        return standing;
      }
      if (reminded !== standing.record.id) this.#remind(standing.record.id, standing.record.decideBy);
      reminded = standing.record.id;
      if (followed) current = standing.record.id;
      else if (overdue(standing.record, await this.#parts.store.now()) === undefined) await changed;
      else if (!(await this.expire(current))) await this.#giveUp(current);
    }
  }

  /**
   * Past its deadline and it cannot be recorded: the wait ends all the same, for time refuses whether the store says so
   * or not (P-04).
   * @throws HoldpointError `store_unavailable` unless it ended meanwhile
   */
  async #giveUp(id: string): Promise<void> {
    const stored = await look(this.#parts, id);
    if (stored?.record.status === "pending")
      throw new HoldpointError(
        "store_unavailable",
        `request ${id} is over, but the store does not take its end; nothing was released`,
      );
  }

  /** Another desk took an edit: its successor is asked about here too, with what only this process knows of the call. */
  async #catchUp(from: string, to: string): Promise<void> {
    const successor = this.#parts.open.has(from) ? await look(this.#parts, to) : undefined;
    if (successor !== undefined && this.#parts.open.has(from)) this.#succeeded(from, successor);
  }

  async standing(id: string): Promise<Standing | undefined> {
    const first = await look(this.#parts, id);
    const stored = first?.record.supersededBy === undefined ? first : await lookThrough(this.#parts, id);
    return stored === undefined ? undefined : standingWhole(stored);
  }

  park(id: string, holder: string, leaving = false): Promise<boolean> {
    return park(this.#parts, id, { holder, leaving });
  }

  async resume(token: string, { principal }: Requester): Promise<Standing | undefined> {
    const stored = await resumed(this.#parts, token, principal);
    return stored === undefined ? undefined : this.standing(stored.record.id);
  }

  async renew(id: string, holder: string, token?: string): Promise<boolean> {
    if (token === undefined) return keepLease(this.#parts, id, holder);
    const tokenHash = `sha256:${this.#options.runtime.crypto.sha256(token)}` as const;
    const done = await change(this.#parts, id, async (_stored, now) => ({
      event: { type: "renew", tokenHash, until: plus(now, TIMES.claimLease) },
    }));
    return done.ok;
  }

  claim(id: string, evidence: Parameters<Desk["claim"]>[1]): ReturnType<Desk["claim"]> {
    return claim(this.#parts, id, evidence);
  }

  complete(id: string, token: string, outcome: Parameters<Desk["complete"]>[2]): Promise<boolean> {
    return complete(this.#parts, id, { token, outcome });
  }

  cancel(id: string, reason: CancelReason, by: Requester): Promise<boolean> {
    return this.#cancel(id, reason, { principal: by.principal, as: by.agent ?? by.principal, via: "gate" });
  }

  async #cancel(id: string, reason: CancelReason, by: Actor | null): Promise<boolean> {
    const stored = await lookThrough(this.#parts, id);
    if (stored === undefined || hasEnded(stored.record.status)) return false;
    const done = await change(this.#parts, stored.record.id, async (_stored, now) => ({
      event: { type: "cancel", reason, by, now },
    }));
    if (done.ok) this.#settled(done.record);
    else if (done.code === "late") await this.expire(stored.record.id);
    return done.ok;
  }

  expire(id: string): Promise<boolean> {
    return expire(this.#parts, id);
  }

  async #note(
    id: string,
    event: "request.delivered" | "request.undelivered" | "request.seen" | "request.reminded",
    facts: Record<string, string>,
  ): Promise<void> {
    await change(this.#parts, id, async () => ({ event: { type: "note", draft: { event, actor: null, data: facts } } }));
  }

  #settled(record: ApprovalRequest): void {
    const { waiting: wakes, dispatcher: surfaces, open } = this.#parts;
    wakes.wake([record.id]);
    if (record.status === "pending") return;
    if (record.status === "approved" && record.runBy !== undefined) this.#remind(record.id, record.runBy);
    else wakes.forget(record.id);
    if (record.status !== "approved") wakes.forget(leaseReminder(record.id));
    if (hasEnded(record.status)) open.delete(record.id);
    surfaces.close(record.id).catch((thrown: unknown) => {
      this.#options.runtime.log.error("surfaces could not be brought to their final form", {
        request: record.id,
        problem: problemOf(thrown),
      });
    });
  }

  #succeeded(from: string, successor: Stored): void {
    const { open, waiting: wakes, dispatcher: surfaces } = this.#parts;
    const known = open.get(from);
    open.delete(from);
    const { id, digest, callKey } = successor.record;
    if (known !== undefined) open.set(id, { ...known, digest, callKey });
    wakes.forget(from);
    wakes.forget(leaseReminder(from));
    watchLease(this.#parts, successor.record);
    this.#remind(successor.record.id, successor.record.runBy ?? successor.record.decideBy);
    wakes.wake([from, successor.record.id]);
    surfaces.follow(from, successor).catch((thrown: unknown) => {
      this.#options.runtime.log.error("an edit's successor could not be shown", {
        request: successor.record.id,
        problem: problemOf(thrown),
      });
    });
  }

  async ran(report: Parameters<Desk["ran"]>[0]): Promise<void> {
    const { submission, how, status } = report;
    this.#options.runtime.log.debug("a call ended", { tool: submission.tool.name, how, status });
  }

  async reachable(submission: Parameters<Desk["submit"]>[0]): Promise<boolean> {
    const verdict = ruleOn(submission.policy, {
      facts: {
        tool: submission.tool.name,
        tier: submission.tier,
        arguments: submission.call.arguments,
        requester: submission.requester,
      },
      edits: submission.edits,
      killed: false,
      denied: submission.denied,
      holds: submission.holds,
      allowedByOpinion: submission.allowedByOpinion,
    });
    if (verdict.verdict !== "ask") return verdict.verdict === "allow";
    const plan = await this.#parts.dispatcher.plan({
      terms: joinedTerms(this.#parts, submission, verdict.holds),
      requester: requesterRecord(submission.requester),
      grade: submission.grade,
      wait: submission.wait,
      holds: verdict.holds,
      channels: submission.channels,
    });
    return plan !== undefined;
  }

  async exempt(...[name, words, test]: Parameters<LocalDesk["exempt"]>): Promise<() => Promise<void>> {
    const made = exemption(name, words, {
      id: this.#options.runtime.ids.nonce(),
      since: instant(this.#options.runtime.clock.now()),
      test,
    });
    const data = { exemption: made.id, name, tools: words.tools.join(" ") };
    await recorded(this.#parts.journal, { node: [{ event: "exemption.added", actor: null, data }] });
    this.#parts.exemptions.set(made.id, made);
    return async () => {
      if (!this.#parts.exemptions.delete(made.id)) return;
      await this.#parts.journal.write({ node: [{ event: "exemption.removed", actor: null, data }] });
    };
  }

  pending(): Promise<readonly Open[]> {
    return openRequests(this.#parts);
  }

  sweep(): Promise<number> {
    return sweep(this.#parts);
  }

  async close(): Promise<void> {
    this.#parts.waiting.close();
    this.#parts.dispatcher.stop();
    for (const channel of this.#parts.channels) await channel[Symbol.asyncDispose]();
    await this.#parts.store.close();
  }
}

/** @throws DeclarationError where two channels share a name, or the operator has none */
export const localDesk = (options: LocalDeskOptions): LocalDesk => new Local(options);
