import { textAnswer } from "../../../src/core/approving.ts";
import type { Card, Channel } from "../../../src/core/index.ts";
import { recordingChannel } from "../../../src/testing/index.ts";
import { expand } from "../expand.ts";
import { Hand } from "../world/hand.ts";
import type { Sabotage } from "../world/part.ts";
import { Seat } from "../world/seat.ts";
import type { Answered, Call } from "../world/call.ts";
import { World } from "../world/world.ts";
import { policyOf, toolsOf, WINDOW } from "./policy.ts";
import { callsOf, type FaultCall, type FaultCase, type FaultEvent, type Fields, isFields, list, number, text } from "./shape.ts";

/** How a text was read: what it decided, if anything. */
export type Reading = "approve" | "deny" | "unclear" | "none";

export interface Rendered {
  readonly label: string;
  readonly via: string;
  readonly text: string;
  readonly card: Card;
}

/** Decisions that open a window. */
const LASTING: ReadonlySet<unknown> = new Set(["always", "approve_session", "approve_until", "approve_always"]);
/** People of whom a case says by their name that they may not decide: they are in no list. */
const STRANGERS = /^(?:user-of-|agent|bot|mallory|eve|guest|stranger|intruder|attacker|outsider|model|carol)/;

const answersOf = (one: FaultCase): readonly FaultEvent[] => one.events.filter((event) => event.do === "answer");

function peopleOf(one: FaultCase): readonly string[] {
  const named = one.policy.rules.flatMap((rule) => list(rule.approvers).map(String));
  const said = [...answersOf(one), ...one.events.filter((event) => event.do === "message")].flatMap(
    (event) => text(event.by) ?? [],
  );
  return [...new Set([...named, ...said.filter((name) => !STRANGERS.test(name) && name !== "system"), "alice"])];
}

/** A case that is being driven: its world, and what the host and the people around it saw. */
export class Scene {
  readonly one: FaultCase;
  readonly world: World;
  readonly people: readonly string[];
  readonly principal: string;
  /** Hosts that were told to stop between two steps, by process. */
  readonly hands: Map<string, Hand> = new Map<string, Hand>();
  readonly lists: { readonly labels: readonly string[] }[] = [];
  readonly polls: string[] = [];
  readonly readings: Reading[] = [];
  readonly messages: { readonly said: string; readonly reachedAgent: boolean }[] = [];
  readonly rendered: Rendered[] = [];
  readonly marks: Map<string, unknown> = new Map<string, unknown>();
  readonly verdicts: Map<string, string> = new Map<string, string>();
  /** What was true just before the first answer, by call: how often it ran. */
  beforeAnswers: ReadonlyMap<string, number> | undefined;
  pendingAfterAnswer: readonly string[] | undefined;
  seat: Seat | undefined;
  turnEnded = false;
  resumes = 0;
  startedAt = 0;
  /** The last thing in the thread that we or the agent said is the prompt. */
  promptIsLast = true;
  #anonymous = 0;

  constructor(one: FaultCase, sabotage?: Sabotage) {
    this.one = one;
    this.people = peopleOf(one);
    const asked = callsOf(one).map((call) => text(call.requested_by) ?? undefined);
    const named = one.policy.rules.some((rule) => rule.approvers !== undefined);
    this.principal = asked.find((name) => name !== undefined) ?? (named ? "lena" : (this.people[0] ?? "alice"));
    this.world = new World({
      principal: this.principal,
      sabotage,
      durable: this.durable,
      policy: () => this.policy(),
      tools: () => toolsOf(one),
      channels: () => this.#channels(),
      ...(this.#takesInHand ? { hand: (desk, process) => this.handOf(process).of(desk) } : {}),
    });
    if (text(one.policy.cwd) !== undefined) this.world.files.cwd = String(one.policy.cwd);
    this.world.files.folder(this.world.files.cwd);
    this.startedAt = this.world.clock.now();
  }

  /** A store that a new process can open. */
  get durable(): boolean {
    const { store } = this.one.policy;
    if (store === "memory") return false;
    const outlives = new Set(["restart", "crash", "snapshot", "snapshot_and_restore", "restore"]);
    return text(store)?.startsWith("durable") === true || this.one.events.some((event) => outlives.has(event.do));
  }

  get #takesInHand(): boolean {
    return this.one.events.some((event) => event.worker !== undefined);
  }

  handOf(process: string): Hand {
    const known = this.hands.get(process) ?? new Hand();
    this.hands.set(process, known);
    return known;
  }

  policy(rules: FaultCase["policy"]["rules"] = this.one.policy.rules): ReturnType<typeof policyOf> {
    const lasting = answersOf(this.one).find((event) => LASTING.has(event.decision));
    const several =
      this.people.length > 1 &&
      answersOf(this.one).some((event) => event.by !== this.principal && !STRANGERS.test(String(event.by)));
    const window = lasting === undefined ? 0 : (number(lasting.ttl_ms) ?? WINDOW);
    return policyOf(this.one, { files: this.world.files, terms: { window, people: several ? this.people : undefined } }, rules);
  }

  #channels(): readonly Channel[] {
    const names = this.one.policy.channels ?? (this.one.policy.interactive === false ? [] : ["web"]);
    return [...new Set(names)].map((name) => {
      if (name !== "terminal") return recordingChannel({ name: name.replaceAll(" ", "-"), people: this.people });
      this.seat = new Seat({ as: this.people[0] ?? "alice", clock: this.world.clock });
      return this.seat.channel;
    });
  }

  async settle(): Promise<void> {
    await this.world.settle();
    if (this.seat !== undefined) await this.seat.opened();
    await this.world.settle();
  }

  /** A bridge that is handed ids by its host makes its own: a host's id is not a call's name (design, section 5). */
  get #ownIds(): boolean {
    return this.one.layer === "hooks" || this.one.layer === "gateway";
  }

  start(said: FaultCall, over: Fields = {}): Call {
    const again = text(said.replay_of);
    const known = again === undefined ? undefined : this.world.call(again);
    const label = said.id ?? `call-${++this.#anonymous}`;
    const id = this.#ownIds || over.unnamed === true ? undefined : (known?.spec.id ?? label);
    const path = said.agent_path === undefined ? undefined : list(said.agent_path).map(String);
    return this.world.make({
      label,
      id,
      tool: said.tool,
      args: known?.spec.args !== undefined && said.args === undefined ? known.spec.args : expand(said.args),
      path,
      ...(text(said.session) === undefined ? {} : { session: String(said.session) }),
      ...(text(said.requested_by) === undefined ? {} : { principal: String(said.requested_by) }),
      ...(text(over.process) === undefined ? {} : { process: String(over.process) }),
    });
  }

  /** What became of a call before anybody answered: allowed, asked or refused. */
  verdictOf(call: Call): string {
    if (call.requests.length > 0) return "ask";
    if (call.outcome === undefined) return "open";
    return call.outcome.status === "refused" ? "deny" : "allow";
  }

  /** Labels of calls whose request is pending, in the order a person sees them. */
  async pending(process?: string): Promise<readonly string[]> {
    const open = await this.world.process(process).desk.pending();
    return open.flatMap(({ record }) => this.world.labelOf(record.id) ?? []);
  }

  /** The request that stands for a call now. */
  requestOf(label: string): string | undefined {
    return this.world.call(label)?.requests.at(-1);
  }

  /** Reads what a person wrote in a thread with one prompt. */
  read(said: string, code: string): Reading {
    const answer = textAnswer(said, { open: [code], last: this.promptIsLast });
    return answer.answer === "reject" ? "deny" : answer.answer;
  }

  answered(label: string): readonly Answered[] {
    return this.world.answers.filter((answer) => answer.label === label);
  }

  lasting(decision: unknown): boolean {
    return LASTING.has(decision);
  }

  async close(): Promise<void> {
    this.seat?.dispose();
    await this.world.close();
  }
}

export const argumentsOf = (event: Fields): Fields | undefined => (isFields(event.args) ? event.args : undefined);
