import { join } from "node:path";
import type { Decided, Identity } from "../../../src/core/approving.ts";
import {
  type Card,
  type Channel,
  type Clock,
  type Desk,
  type Directory,
  type Entry,
  type HoldpointEvent,
  isHoldpointError,
  type Keys,
  type Policy,
  type Presented,
  type Run,
  type Standing,
  type Tool,
} from "../../../src/core/index.ts";
import { memoryKeys, nodeRuntime } from "../../../src/index.ts";
import { memoryStore } from "../../../src/stores/memory/index.ts";
import { sqliteStore } from "../../../src/stores/sqlite/index.ts";
import { type ManualClock, manualClock } from "../../../src/testing/index.ts";
import { Files } from "./files.ts";
import type { Sabotage } from "./part.ts";
import type { Answered, Answering, Call, CallSpec } from "./call.ts";
import { CURRENT, type Effect, Process } from "./process.ts";
import { type SteeredStore, steered } from "./stores.ts";
import { toolValue } from "./values.ts";

export interface WorldOptions {
  readonly policy: (world: World) => Policy;
  readonly tools: (world: World) => readonly Tool[];
  readonly channels: (world: World) => readonly Channel[];
  readonly principal: string;
  readonly durable?: boolean;
  /** The platform's own clock and timers. */
  readonly realTime?: boolean;
  readonly sabotage?: Sabotage | undefined;
  readonly operator?: string;
  readonly directory?: Directory;
  readonly deadline?: number;
  readonly record?: "calls" | "counts" | "none";
  readonly listing?: readonly Identity[];
  readonly callerClock?: (clock: ManualClock) => Clock;
  readonly hand?: (desk: Desk, process: string) => Desk;
}

export interface ProcessWish {
  readonly name: string;
  readonly tenant?: string;
  readonly windows?: "on" | "off";
}

const TURNS = 3;

/** The machine's time behind the face of a clock that stands: it cannot be moved. */
function runningClock(): ManualClock {
  const { clock } = nodeRuntime();
  const { settle } = manualClock();
  const still = (): never => {
    throw new Error("real time cannot be moved");
  };
  return { now: () => clock.now(), after: (ms, fire) => clock.after(ms, fire), advance: still, set: still, settle, waiting: 0 };
}

/** Everything around one case: a clock that stands still, a disk, processes, people and what they did. */
export class World {
  readonly clock: ManualClock;
  readonly files: Files = new Files();
  readonly keys: Keys = memoryKeys();
  readonly options: WorldOptions;
  readonly calls: Call[] = [];
  readonly effects: Effect[] = [];
  readonly events: HoldpointEvent[] = [];
  readonly answers: Answered[] = [];
  /** Deliveries, also those of one request to one person twice. */
  readonly shown: { readonly request: string; readonly to: string; readonly channel: string }[] = [];
  readonly reminded: string[] = [];
  readonly closed: { readonly request: string; readonly ending: string | null }[] = [];
  readonly values: Map<string, unknown> = new Map<string, unknown>();
  readonly processes: Map<string, Process> = new Map<string, Process>();
  readonly stores: SteeredStore[] = [];
  /** The tool's own server is away. */
  upstreamDown = false;
  readonly #runs = new Map<string, Run>();
  #memory: SteeredStore | undefined;
  #generation = 0;

  constructor(options: WorldOptions) {
    this.options = options;
    this.clock = options.realTime === true ? runningClock() : manualClock();
  }

  get #storePath(): string {
    this.files.folder("/.desk");
    return join(this.files.root, ".desk", "holdpoint.db");
  }

  #store(): SteeredStore {
    if (this.options.durable === true) {
      const store = steered(sqliteStore({ path: this.#storePath, clock: this.clock }), this.clock);
      this.stores.push(store);
      return store;
    }
    if (this.#memory === undefined) {
      this.#memory = steered(memoryStore({ clock: this.clock }), this.clock, true);
      this.stores.push(this.#memory);
    }
    return this.#memory;
  }

  /** A restart of a process whose store lives in it: nothing is left. */
  forget(): void {
    this.#memory = undefined;
  }

  start(wish: ProcessWish): Process {
    const { options } = this;
    const process = new Process({
      ...wish,
      files: this.files,
      clock: this.clock,
      keys: this.keys,
      store: this.#store(),
      policy: options.policy(this),
      channels: options.channels(this).map((channel) => this.#watched(channel)),
      operator: options.operator,
      directory: options.directory,
      deadline: options.deadline,
      record: options.record,
      listing: options.listing,
      callerClock: options.callerClock?.(this.clock),
      sabotage: options.sabotage,
      ...(options.hand === undefined ? {} : { hand: (desk: Desk) => options.hand?.(desk, wish.name) ?? desk }),
      onEvent: (event) => this.#heard(event),
    });
    this.processes.set(wish.name, process);
    process.register(options.tools(this).map((tool) => this.#doubled(tool, process)));
    return process;
  }

  /** Keeps what was shown; the channel does the rest. */
  #watched(channel: Channel): Channel {
    return {
      name: channel.name,
      capabilities: channel.capabilities,
      open: (desk) => channel.open(desk),
      reaches: () => channel.reaches(),
      render: (card) => channel.render(card),
      deliver: async (delivery) => {
        const delivered = await channel.deliver(delivery);
        this.shown.push({ request: delivery.card.id, to: delivery.to.principal, channel: channel.name });
        return delivered;
      },
      close: async (request, card) => {
        this.closed.push({ request, ending: card.ending });
        await channel.close(request, card);
      },
      remind: async (request, card) => {
        this.reminded.push(request);
        await channel.remind(request, card);
      },
      [Symbol.asyncDispose]: () => channel[Symbol.asyncDispose](),
    };
  }

  /** The tool with an effect that is counted, and with a journal that is looked at when it begins. */
  doubled(tool: Tool, process: Process): Tool {
    return this.#doubled(tool, process);
  }

  #doubled(tool: Tool, process: Process): Tool {
    const run = async (args: never, context: { readonly request?: string }): Promise<unknown> => {
      if (!process.alive) return new Promise(() => undefined);
      const label = CURRENT.getStore();
      const { request } = context;
      const journal = request === undefined ? [] : (await this.#entries(process, request)).map((entry) => entry.event);
      const live = this.options.sabotage?.live === true ? this.calls.find((call) => call.label === label)?.spec.args : undefined;
      const given: unknown = live ?? args;
      this.effects.push({ label, tool: tool.name, arguments: structuredClone(given), request, process: process.name, journal });
      if (this.upstreamDown) throw new Error("the tool's server does not answer");
      await (tool.run as (args: never, context: unknown) => unknown)(args, context);
      return toolValue(tool.name, given, label === undefined ? undefined : this.values.get(label));
    };
    return { ...tool, run };
  }

  async #entries(process: Process, request: string): Promise<readonly Entry[]> {
    const entries: Entry[] = [];
    try {
      for await (const entry of process.store.journal(`request/${request}`)) entries.push(entry);
    } catch {
      return [];
    }
    return entries;
  }

  entries(request: string): Promise<readonly Entry[]> {
    return this.#entries(this.process(), request);
  }

  #heard(event: HoldpointEvent): void {
    this.events.push(event);
    if (event.type !== "journal" || event.request === null) return;
    const { request } = event;
    if (event.event === "request.created") {
      const named = this.calls.findLast((call) => call.spec.id !== undefined && call.spec.id === event.data.call);
      const edited = this.calls.find((call) => call.requests.includes(String(event.data.supersedes)));
      const call = edited ?? named ?? this.#starting;
      if (call !== undefined && !call.requests.includes(request)) call.requests.push(request);
    }
  }

  /** The next request that no call names belongs to this one. */
  expectRequestOf(call: Call): void {
    this.#starting = call;
  }

  /** The call that is being started, for requests whose call was not named. */
  #starting: Call | undefined;

  process(name?: string): Process {
    const found = name === undefined ? [...this.processes.values()].findLast((one) => one.alive) : this.processes.get(name);
    if (found === undefined) throw new Error(`there is no process ${name ?? "alive"}`);
    return found;
  }

  call(label: string): Call | undefined {
    return this.calls.findLast((call) => call.label === label);
  }

  #run(spec: CallSpec, process: Process): Run {
    const { session, agent, path = [], run = "run-1", principal = this.options.principal } = spec;
    const [root, ...children] = path;
    const key = JSON.stringify([process.name, this.#generation, session, agent, root, run, principal]);
    let current = this.#runs.get(key);
    if (current === undefined) {
      current = process.gate.run({
        principal,
        run,
        ...(session === undefined ? {} : { session }),
        ...(agent === undefined ? {} : { agent }),
        ...(root === undefined ? {} : { path: [root] }),
      });
      this.#runs.set(key, current);
    }
    let at = key;
    for (const child of children) {
      at = `${at}/${child}`;
      const known: Run = this.#runs.get(at) ?? current.child({ path: child, asks: "parent" });
      this.#runs.set(at, known);
      current = known;
    }
    return current;
  }

  /** How many child runs were started. */
  get children(): number {
    return [...this.#runs.keys()].filter((key) => key.includes("]/")).length;
  }

  /** Runs that begin from now on see the policy of now. */
  newRuns(): void {
    this.#generation += 1;
  }

  /** Ends the agent's turn: its runs are disposed of. */
  async endRuns(): Promise<void> {
    for (const run of this.#runs.values()) await run[Symbol.asyncDispose]();
  }

  runOf(spec: CallSpec): Run {
    return this.#run(spec, this.process(spec.process));
  }

  /** Makes a call, or takes one up again in another process. */
  make(spec: CallSpec, known?: Call): Call {
    const process = this.process(spec.process);
    const call: Call = known ?? {
      label: spec.label,
      spec,
      process: process.name,
      abort: new AbortController(),
      requests: [],
      outcome: undefined,
      results: 0,
    };
    if (known === undefined) this.calls.push(call);
    call.process = process.name;
    this.#starting = call;
    const { id, statement } = spec;
    const run = this.#run(spec, process);
    const began = CURRENT.run(spec.label, () =>
      run.try(spec.tool, spec.args, {
        signal: call.abort.signal,
        ...(id === undefined ? {} : { id }),
        ...(statement === undefined ? {} : { statement }),
      }),
    );
    began.then(
      (outcome) => {
        if (!process.alive) return;
        call.outcome = outcome;
        call.results += 1;
      },
      (thrown: unknown) => {
        call.outcome = { status: "failed", error: thrown, how: "allowed" };
        call.results += 1;
      },
    );
    return call;
  }

  async settle(): Promise<void> {
    for (let turn = 0; turn < TURNS; turn += 1) await this.clock.settle();
    // A disk takes its own time; what waits for it goes on before anybody looks.
    while (await this.files.idle()) await this.clock.settle();
  }

  async advance(ms: number): Promise<void> {
    await this.clock.advance(ms);
    await this.settle();
  }

  identity(by: string, via: string): Identity {
    return { principal: by, as: by.includes(":") ? by : `${via}:${by}`, via, assurance: "account" };
  }

  async present(request: string, who: { by: string; via: string; process?: string }): Promise<Presented | undefined> {
    const shown = await this.process(who.process).desk.approvals.card(request, this.identity(who.by, who.via));
    return shown === undefined || "ambiguous" in shown ? undefined : shown;
  }

  /** A person looks at a request and answers it, with the digest and the view they were given. */
  async decide(request: string, answer: Answering): Promise<Decided | undefined> {
    const { by, via, verdict, reason } = answer;
    const { approvals } = this.process(answer.process).desk;
    try {
      const shown = await this.present(request, answer);
      const { digest, view: given } =
        shown === undefined ? { digest: "sha256:none" as const, view: "" } : { digest: shown.card.digest, view: shown.view };
      const view = answer.unseen === true ? "" : given;
      const said = { digest, view, ...(reason === undefined ? {} : { reason }) };
      const as = this.identity(by, via);
      return answer.arguments === undefined
        ? await approvals.decide(request, { verdict, ...said }, as)
        : await approvals.edit(request, { arguments: answer.arguments, ...said }, as);
    } catch (thrown) {
      if (isHoldpointError(thrown)) return { found: false, status: null, counted: false, code: thrown.code as never };
      throw thrown;
    } finally {
      await this.settle();
    }
  }

  async cards(by: string, via: string, process?: string): Promise<readonly Card[]> {
    return this.process(process).desk.approvals.list({}, this.identity(by, via));
  }

  async standing(request: string): Promise<Standing | undefined> {
    return this.process().desk.standing(request);
  }

  /** What was executed for this call. */
  ran(label: string): readonly Effect[] {
    return this.effects.filter((effect) => effect.label === label);
  }

  labelOf(request: string): string | undefined {
    return this.calls.find((call) => call.requests.includes(request))?.label;
  }

  async close(): Promise<void> {
    for (const process of this.processes.values()) await process.kill();
    this.files.remove();
  }
}
