import { manualClock, type ManualClock } from "../../testing/index.ts";
import { isHoldpointError } from "../errors.ts";
import type { Guards } from "../guards.ts";
import { instant } from "../instant.ts";
import { verifyStream } from "../journal.ts";
import type { Decided, Identity } from "../ports/approvals.ts";
import type { Hold, Submission } from "../ports/desk.ts";
import type { Directory } from "../ports/directory.ts";
import type { Store } from "../ports/store.ts";
import type { Hash } from "../hash.ts";
import { type Bench, bench, entriesOf, evidenceOf, holdFor, identity, submissionOf } from "./desk.test-kit.ts";
import {
  type Command,
  DECIDE_WITHIN,
  DEMANDS,
  indexOf,
  type ModelDesk,
  NAMES,
  type Told,
  type View,
} from "./desk-model.test-kit.ts";
import { type Faults, faultyStore, noFaults } from "./faulty-store.test-kit.ts";
import type { LocalDesk } from "./local-desk.ts";

export type Said = { readonly ok: true } | { readonly ok: false; readonly code: string };
const LEVELS = ["client", "local", "account"] as const;
const OTHER: Hash = `sha256:${"0".repeat(64)}`;

/** Where the truth is kept, and how a process that died is followed by another on the same truth. */
export interface Truth {
  readonly store: Store;
  reopen(): Store;
  dispose(): void;
}
export interface Under {
  readonly truth: (clock: ManualClock) => Truth;
  /** A desk, or a store, with a part taken out. */
  readonly desk?: (desk: LocalDesk, faults: Faults) => LocalDesk;
  readonly store?: (store: Store) => Store;
  readonly guards?: Guards;
}

const DIRECTORY: Directory = {
  principalOf: async (_as, vouched) => vouched,
  holds: async () => false,
  ownerOf: async (agent) => (agent === "bot" ? "olga" : undefined),
};
/** What a gateway's run asks: a repeat of it finds what it asked before. */
const callOf = (on: Bench, call: { args: unknown; holds: readonly Hold[]; run: number }): Submission =>
  submissionOf(on, {
    args: call.args,
    holds: call.holds,
    grade: "structural",
    deadline: DECIDE_WITHIN,
    renewer: `gate ${call.run}`,
    requester: requesterOf(call.run),
  });
const requesterOf = (run: number) => ({ principal: "ada", agent: "bot", run: `run-${run}` });
const QUIET = new Set(["request.seen", "request.delivered"]);

const saidOf = (decided: Decided): Said => (decided.counted ? { ok: true } : { ok: false, code: decided.code ?? "none" });
/** What answers with true or false says no reason. */
const UNSAID = "no";
const done = (ok: boolean): Said => (ok ? { ok: true } : { ok: false, code: UNSAID });

/** The desk under test, driven by the commands of the model. */
export class RealDesk {
  readonly clock: ManualClock = manualClock();
  readonly faults: Faults = noFaults();
  readonly ids: string[] = [];
  readonly #under: Under;
  readonly #truth: Truth;
  readonly #tokens = new Map<string, string>();
  readonly #start: number;
  #inner: Store;
  #on: Bench;
  #desk: LocalDesk;
  #started = false;

  constructor(under: Under) {
    this.#under = under;
    this.#start = this.clock.now();
    this.#truth = under.truth(this.clock);
    this.#inner = this.#truth.store;
    this.#on = this.#process();
    this.#desk = this.#made();
  }

  #process(): Bench {
    const inner = this.#under.store?.(this.#inner) ?? this.#inner;
    const { guards } = this.#under;
    return bench({
      clock: this.clock,
      people: NAMES,
      directory: DIRECTORY,
      store: faultyStore(inner, this.faults),
      ...(guards === undefined ? {} : { desk: { guards } }),
    });
  }

  #made(): LocalDesk {
    return this.#under.desk?.(this.#on.desk, this.faults) ?? this.#on.desk;
  }

  dispose(): void {
    this.#truth.dispose();
  }

  /** Does it, and lets all that it set off happen. */
  async run(command: Command, model: ModelDesk): Promise<Said> {
    const index = "at" in command ? indexOf(model, command.at) : undefined;
    await this.#ready(model);
    this.faults.lost = "lost" in command && command.lost ? 3 : 0;
    this.faults.commits.length = 0;
    const said = await this.#safely(() => this.#do(command, index === undefined ? "" : (this.ids[index] ?? "")));
    this.faults.lost = 0;
    await this.clock.settle();
    await this.#findNew();
    return said;
  }

  /** Two at once. */
  async race(one: Command, two: Command, model: ModelDesk): Promise<readonly [Said, Said]> {
    const id = (command: Command): string => this.ids["at" in command ? (indexOf(model, command.at) ?? -1) : -1] ?? "";
    await this.#ready(model);
    const both = await Promise.all([one, two].map((command) => this.#safely(() => this.#do(command, id(command)))));
    await this.clock.settle();
    await this.#findNew();
    return both as unknown as [Said, Said];
  }

  /** The first call of a desk journals its policy: that is done before anything can be lost. */
  async #ready({ up }: ModelDesk): Promise<void> {
    if (this.#started || !up) return;
    this.#started = true;
    await this.#desk.submit(submissionOf(this.#on, { holds: [], tier: "read" }));
  }

  async #safely(act: () => Promise<Said>): Promise<Said> {
    try {
      return await act();
    } catch (thrown) {
      if (!isHoldpointError(thrown)) throw thrown;
      return { ok: false, code: thrown.code };
    }
  }

  /** Requests whose id nobody was told: of a submission or an edit whose answer was lost. */
  async #findNew(): Promise<void> {
    for await (const { record } of this.#inner.find({ kind: "call" }))
      if (!this.ids.includes(record.id)) this.ids.push(record.id);
  }

  #as(who: number, level = 2): Identity {
    return identity(NAMES[who] ?? "", { assurance: LEVELS[level] ?? "client" });
  }

  async #shown(id: string, as: Identity, view: View): Promise<{ digest: Hash; view: string }> {
    const record = (await this.#inner.read(id))?.record;
    const digest = record?.digest ?? OTHER;
    if (view === "none") return { digest, view: "" };
    if (view === "old") {
      const before = record?.supersedes === undefined ? undefined : await this.#shown(record.supersedes, as, "fresh");
      return before ?? { digest: OTHER, view: "" };
    }
    try {
      const presented = await this.#desk.approvals.card(id, as);
      return { digest, view: presented === undefined || "ambiguous" in presented ? "" : presented.view };
    } catch (thrown) {
      if (isHoldpointError(thrown)) return { digest, view: "" };
      throw thrown;
    }
  }

  async #do(command: Command, id: string): Promise<Said> {
    const { approvals } = this.#desk;
    switch (command.do) {
      case "submit":
        return this.#submit(command);
      case "approve": {
        const as = this.#as(command.who, command.level);
        return saidOf(await approvals.decide(id, { verdict: "approve", ...(await this.#shown(id, as, command.view)) }, as));
      }
      case "reject": {
        const as = this.#as(command.who);
        return saidOf(await approvals.decide(id, { verdict: "reject", ...(await this.#shown(id, as, command.view)) }, as));
      }
      case "revoke":
        return saidOf(await approvals.revoke(id, undefined, this.#as(command.who)));
      case "edit": {
        const as = this.#as(command.who);
        return saidOf(
          await approvals.edit(id, { arguments: { n: command.n }, ...(await this.#shown(id, as, command.view)) }, as),
        );
      }
      case "cancel":
        return done(await this.#desk.cancel(id, "requester", { principal: "ada" }));
      case "claim":
        return this.#claim(command, id);
      case "complete": {
        const token = command.right ? (this.#tokens.get(id) ?? "none") : "another";
        return done(
          await this.#desk.complete(id, token, {
            status: command.how,
            value: 1,
            observedBy: "executor",
            ...(command.keep ? { keep: true as const } : {}),
          }),
        );
      }
      case "lease":
        return done(await this.#desk.renew(id, await this.#holder(id, command.right)));
      case "park":
        return done(await this.#desk.park(id, await this.#holder(id, command.right), command.leaving));
      case "renew":
        return done(await this.#desk.renew(id, "gate", command.right ? (this.#tokens.get(id) ?? "none") : "another"));
      case "expire":
        return done(await this.#desk.expire(id));
      case "reconcile":
        return saidOf(await approvals.reconcile(id, command.ran, identity("os:op")));
      default:
        return this.#doAll(command);
    }
  }

  async #doAll(command: Exclude<Command, { at: number } | { do: "submit" }>): Promise<Said> {
    switch (command.do) {
      case "sweep":
        await this.#desk.sweep();
        return { ok: true };
      case "lift":
        await this.#desk.approvals.lift("pay", identity("os:op"));
        return { ok: true };
      case "kill":
        return this.#kill(command.on);
      case "wait":
        this.clock.set(this.clock.now() + command.ms);
        return { ok: true };
      case "store":
        this.faults.down = !command.up;
        return { ok: true };
      case "crash":
        this.#inner = this.#truth.reopen();
        this.#on = this.#process();
        this.#desk = this.#made();
        this.#started = false;
        return { ok: true };
    }
  }

  async #submit({ n, run, demand }: Extract<Command, { do: "submit" }>): Promise<Said> {
    const holds = (DEMANDS[demand]?.words ?? []).map((words, index) => holdFor(words, `rule:${index}`));
    const ruling = await this.#desk.submit(callOf(this.#on, { args: { n }, holds, run }));
    if (ruling.ruling === "held") return { ok: true };
    return { ok: false, code: ruling.ruling === "refused" ? ruling.refusal.code : ruling.ruling };
  }

  /** Of the request, or of what edits made of it: whoever waits knows only the first one. */
  async #holder(id: string, right: boolean): Promise<string> {
    const record = (await this.#inner.read(id))?.record;
    if (record?.supersededBy !== undefined) return this.#holder(record.supersededBy, right);
    return right ? (record?.lease?.holder ?? "none") : "another";
  }

  async #claim({ right }: Extract<Command, { do: "claim" }>, id: string): Promise<Said> {
    const stored = await this.#inner.read(id);
    const n = stored?.payload?.arguments.n ?? null;
    const { requester } = stored?.record ?? { requester: { run: null } };
    const submission = submissionOf(this.#on, { args: { n: right ? n : 99 } });
    const evidence = evidenceOf(submission, { requester: { principal: "ada", agent: "bot", run: requester.run ?? "" } });
    const claimed = await this.#desk.claim(id, evidence);
    if (!claimed.ok) return { ok: false, code: claimed.refusal.code };
    this.#tokens.set(id, claimed.token);
    return { ok: true };
  }

  async #kill(on: boolean): Promise<Said> {
    const { approvals } = this.#desk;
    const operator = identity("os:op");
    const { request } = await approvals.kill("all", on, operator);
    if (request !== undefined) {
      const presented = await approvals.card(request, operator);
      if (presented === undefined || "ambiguous" in presented) throw new Error("the change cannot be seen");
      await approvals.decide(request, { verdict: "approve", digest: presented.card.digest, view: presented.view }, operator);
    }
    if (!on) this.clock.set(this.clock.now() + 1000);
    return { ok: true };
  }

  /** Everything the model knows of, as the truth has it, and whether the record holds together. */
  async seen(): Promise<unknown> {
    return {
      now: this.clock.now() - this.#start,
      requests: await Promise.all(this.ids.map((id) => this.#seenOf(id))),
    };
  }

  async #seenOf(id: string): Promise<unknown> {
    const stored = await this.#inner.read(id);
    const entries = await entriesOf(this.#inner, `request/${id}`);
    if (stored === undefined) return "gone";
    const { record, payload } = stored;
    const { resolution } = record;
    const problem = verifyStream(this.#on.runtime.crypto, entries, record.head);
    return {
      status: record.status,
      votes: record.decisions.map(({ by, verdict }) => `${by} ${verdict}`),
      decideBy: record.decideBy,
      runBy: record.runBy ?? null,
      resolution: resolution === undefined ? null : `${resolution.reason} ${resolution.by} ${resolution.at}`,
      // A lease that is prolonged while its claim ends is nobody's any more.
      leased: record.status === "claimed" ? (record.claim?.until ?? null) : null,
      finding: record.finding?.ran ?? null,
      kept: `${record.lease?.holder} ${record.lease?.until}`,
      parked: record.parked,
      n: payload?.arguments.n,
      supersedes: record.supersedes === undefined ? null : this.ids.indexOf(record.supersedes),
      supersededBy: record.supersededBy === undefined ? null : this.ids.indexOf(record.supersededBy),
      events: entries.filter(({ event }) => !QUIET.has(event)).map(({ event }) => event),
      journal: problem === undefined && record.rev === entries.length ? "holds" : (problem?.problem ?? "revisions differ"),
    };
  }

  /** The same of the model. */
  expected(model: ModelDesk): unknown {
    const at = (ms: number): string => instant(this.#start + ms);
    return {
      now: model.now,
      requests: model.requests.map(({ model: one, n, supersedes, supersededBy, events }) => ({
        status: one.status,
        votes: one.votes.map(({ who, verdict }) => `${NAMES[who]} ${verdict}`),
        decideBy: at(one.decideBy),
        runBy: one.runBy === null ? null : at(one.runBy),
        resolution:
          one.resolution === null ? null : `${one.resolution.reason} ${endedBy(one.resolution)} ${at(one.resolution.at)}`,
        leased: one.leased === null || one.status !== "claimed" ? null : at(one.leased),
        finding: one.finding,
        kept: `gate ${one.kept?.holder} ${at(one.kept?.until ?? 0)}`,
        parked: one.parked,
        n,
        supersedes,
        supersededBy,
        events,
        journal: "holds",
      })),
    };
  }
}

const endedBy = ({ reason, by }: { readonly reason: string; readonly by: number | null }): string => {
  if (by === null || reason === "kill_switch" || reason === "context_changed") return "null";
  return NAMES[by] ?? "ada";
};

export function agrees(said: Said, told: Told): boolean {
  if ("ok" in told) return said.ok;
  if (said.ok) return false;
  return said.code === UNSAID ? !told.codes.has("store_unavailable") : told.codes.has(said.code);
}
