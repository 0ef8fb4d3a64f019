import type { Decided, Identity, LocalDesk } from "../../../src/core/approving.ts";
import {
  type Channel,
  createGate,
  type Gate,
  type GateOptions,
  type HoldpointEvent,
  nodeRuntime,
  type Outcome,
  type Policy,
  type Run,
  type RunOptions,
  type Tool,
} from "../../../src/index.ts";
import { memoryStore } from "../../../src/stores/memory/index.ts";
import { type ManualClock, manualClock, type RecordingChannel, recordingChannel } from "../../../src/testing/index.ts";
import { afterEach } from "vitest";
import "../world/warm.ts";

/** A call that was begun: how it stands, and the request that was opened for it. */
export interface Begun {
  readonly outcome: Outcome | undefined;
  /** @throws where none was opened */
  readonly request: string;
  readonly requests: readonly string[];
  readonly ended: Promise<Outcome>;
}

export interface BenchOptions {
  readonly policy?: Policy;
  readonly people?: readonly string[];
  /** Default: one channel that keeps everything and reaches the people. */
  readonly channels?: readonly Channel[];
  readonly gate?: Partial<GateOptions>;
  readonly run?: Partial<RunOptions>;
}

type JournalEvent = Extract<HoldpointEvent, { type: "journal" }>;

/** A gate, a person, a clock that stands, and everything that was heard: what a line of the seeds needs. */
export class Bench implements AsyncDisposable {
  readonly clock: ManualClock = manualClock();
  readonly person: RecordingChannel;
  readonly gate: Gate;
  readonly run: Run;
  readonly events: HoldpointEvent[] = [];
  readonly log: { readonly level: string; readonly message: string; readonly fields: object }[] = [];
  /** Executions, in their order. */
  readonly ran: { readonly tool: string; readonly args: unknown }[] = [];

  constructor(options: BenchOptions = {}) {
    const { people = ["ada"], channels, policy } = options;
    this.person = recordingChannel({ people });
    const note =
      (level: string) =>
      (message: string, fields?: object): void => {
        this.log.push({ level, message, fields: fields ?? {} });
      };
    const log = { debug: note("debug"), info: note("info"), warn: note("warn"), error: note("error") };
    this.gate = createGate({
      runtime: nodeRuntime({ clock: this.clock, log }),
      store: memoryStore({ clock: this.clock }),
      channels: channels ?? [this.person],
      operator: "os:desk",
      ...(policy === undefined ? {} : { policy }),
      ...options.gate,
    });
    this.gate.on((event) => this.events.push(event));
    this.run = this.gate.run({ principal: "ada", run: "run-1", ...options.run });
  }

  /** Registers tools that count. What they give is `<name> did it` where they say nothing else. */
  tools(...declared: readonly (Partial<Tool> & { readonly name: string })[]): void {
    this.gate.tools(
      declared.map((tool): Tool => {
        const { run } = tool;
        const counted: Tool["run"] = async (args, context) => {
          this.ran.push({ tool: tool.name, args });
          return run === undefined ? `${tool.name} did it` : run(args, context);
        };
        return { ...tool, run: counted };
      }),
    );
  }

  async settle(): Promise<void> {
    for (let turn = 0; turn < 3; turn += 1) await this.clock.settle();
  }

  async advance(ms: number): Promise<void> {
    await this.clock.advance(ms);
    await this.settle();
  }

  begin(
    tool: string,
    args: unknown,
    over: { readonly run?: Run; readonly id?: string; readonly signal?: AbortSignal } = {},
  ): Promise<Begun> {
    const { run = this.run, ...options } = over;
    return this.watch(run.try(tool, args, options));
  }

  /** Follows a call that is under way. */
  async watch(ended: Promise<Outcome>): Promise<Begun> {
    const from = this.events.length;
    const state: { outcome: Outcome | undefined } = { outcome: undefined };
    ended.then(
      (outcome) => {
        state.outcome = outcome;
      },
      () => undefined,
    );
    await this.settle();
    const requests = this.created(from);
    return {
      ended,
      requests,
      get outcome(): Outcome | undefined {
        return state.outcome;
      },
      get request(): string {
        const [first] = requests;
        if (first === undefined) throw new Error("no request was opened");
        return first;
      },
    };
  }

  journal(...names: readonly JournalEvent["event"][]): readonly JournalEvent[] {
    return this.events.filter(
      (event): event is JournalEvent => event.type === "journal" && (names.length === 0 || names.includes(event.event)),
    );
  }

  created(from = 0): readonly string[] {
    return this.events
      .slice(from)
      .flatMap((event) => (event.type === "journal" && event.event === "request.created" ? [event.request ?? ""] : []));
  }

  get desk(): LocalDesk {
    return this.gate.desk as unknown as LocalDesk;
  }

  identity(principal = "ada", via = "recording"): Identity {
    return { principal, as: `${via}:${principal}`, via, assurance: "account" };
  }

  /** A person answers what they were shown. */
  async answers(
    request: string,
    verdict: "approve" | "reject",
    how: { readonly reason?: string; readonly by?: string } = {},
  ): Promise<Decided> {
    const decided = await this.person.answer(request, verdict, how);
    await this.settle();
    return decided;
  }

  async edits(request: string, args: object | null, by = "ada"): Promise<Decided> {
    const as = this.identity(by);
    const shown = await this.desk.approvals.card(request, as);
    if (shown === undefined || "ambiguous" in shown) throw new Error("there is no card");
    const decided = await this.desk.approvals.edit(
      request,
      { arguments: args as never, digest: shown.card.digest, view: shown.view },
      as,
    );
    await this.settle();
    return decided;
  }

  async card(request: string, by = "ada"): ReturnType<LocalDesk["approvals"]["card"]> {
    return this.desk.approvals.card(request, this.identity(by));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.gate[Symbol.asyncDispose]();
  }
}

const open: Bench[] = [];
afterEach(async () => {
  for (const bench of open.splice(0)) await bench[Symbol.asyncDispose]();
});

export function bench(options: BenchOptions = {}): Bench {
  const made = new Bench(options);
  open.push(made);
  return made;
}

/** `refused: <code>`, `ran: <how>`, or how else it ended; `open`: it waits. */
export function ending(call: Begun): string {
  const { outcome } = call;
  if (outcome === undefined) return "open";
  if (outcome.status === "refused") return `refused: ${outcome.code}`;
  return outcome.status === "ran" ? `ran: ${outcome.how}` : outcome.status;
}

/** A tool that asks, as its author marked it. */
export const asking = (name: string, more: Partial<Tool> = {}): Partial<Tool> & { readonly name: string } => ({
  name,
  confirm: true,
  tier: "write",
  ...more,
});
