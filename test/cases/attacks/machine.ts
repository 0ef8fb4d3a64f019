import { setTimeout as wait } from "node:timers/promises";
import type { Decided } from "../../../src/core/approving.ts";
import { type JsonObject, type Tool, verifyStream } from "../../../src/core/index.ts";
import { type Fields, isFields, list, number, text } from "../faults/shape.ts";
import type { Sabotage } from "../world/part.ts";
import type { Call } from "../world/call.ts";
import { type AttackCase, type Step, stepOf } from "./shape.ts";
import { chainOf, foreignClaim, headOf, ownEntries } from "./machine-parts.ts";
import { classesOf, seconds, Stage } from "./stage.ts";

/** Steps of the machine of one request (`security.md`, section 4), done to a real gate, desk and store. */

const HOUR = 3_600_000;
const TOOL = "act";
const DEFAULT_ARGS: JsonObject = { cmd: "make deploy" };
const GRANT_DEADLINE = 600_000;

export class Machine {
  readonly one: AttackCase;
  readonly steps: readonly Step[];
  readonly stage: Stage;
  /** Calls by the names that the steps give them. */
  readonly named: Map<string, Call> = new Map<string, Call>();
  readonly decided: (Decided | undefined)[] = [];
  /** The request before and after the last answer. */
  before: string | undefined;
  after: string | undefined;
  at = 0;

  constructor(one: AttackCase, sabotage?: Sabotage) {
    this.one = one;
    const steps = list(one.input.events).flatMap((step) => (text(step) === undefined ? [] : [stepOf(String(step))]));
    // Where the steps begin with an answer or with time, the request is there before them.
    const begins = steps.some(({ verb }) => ["submit", "append", "list"].includes(verb));
    this.steps = begins ? steps : [stepOf("submit"), ...steps];
    const { input } = one;
    const classes = classesOf(input.approvers, this.#params("class").map(String));
    this.stage = new Stage({
      sabotage,
      tools: [this.#tool(TOOL), ...(classes === undefined ? [] : [...classes.keys()].map((name) => this.#tool(name)))],
      durable: this.steps.some(({ verb, words }) => ["crash", "restart"].includes(verb) || words.includes("crash")),
      inHand: this.#byHand,
      channel: list(input.channels).length === 0 && input.channels !== undefined ? "none" : "recording",
      deadline: this.deadline,
      realTime: this.steps.some(({ verb }) => verb === "wait"),
      ...(number(input.quorum) === undefined ? {} : { quorum: Number(input.quorum) }),
      ...(this.#window === undefined ? {} : { window: this.#window }),
      ...(isFields(input.identities) ? { identities: input.identities } : {}),
      ...(classes === undefined ? {} : { classes }),
      ...(seconds(input.client_clock_offset_s) === undefined
        ? {}
        : { callerOffset: Number(seconds(input.client_clock_offset_s)) }),
    });
  }

  #params(name: string): readonly unknown[] {
    return this.steps.flatMap((step) => (step.params[name] === undefined ? [] : [step.params[name]]));
  }

  /** Where the steps name the claim, the executor waits for it; else an approved call runs by itself. */
  get #byHand(): boolean {
    return this.steps.some(({ verb, words }) => verb === "claim" || verb === "effect" || words.includes("grant"));
  }

  get #window(): number | undefined {
    const { config } = this.one.input;
    const stated = isFields(config) ? seconds(config.window_s) : undefined;
    return stated ?? (this.steps.some(({ verb, words }) => verb === "approve" && words[0] === "always") ? HOUR : undefined);
  }

  /** A time to live is in seconds, a deadline in milliseconds; steps count in the same. */
  get scale(): number {
    return this.#params("ttl").length > 0 ? 1000 : 1;
  }

  get deadline(): number {
    const { input } = this.one;
    return number(input.deadline) ?? number(input.ttl_ms) ?? seconds(this.#params("ttl")[0]) ?? HOUR;
  }

  #tool(name: string): Tool {
    const env = this.#params("ctx").flatMap((ctx) => (isFields(ctx) ? Object.keys(ctx) : []));
    const binds = {
      ...(env.length === 0 ? {} : { env: [...new Set(env)] }),
      ...(this.#params("cwd").length === 0 ? {} : { cwd: true as const }),
      ...(this.#params("file").length === 0 ? {} : { files: ["/file"] }),
    };
    return { name, ...(Object.keys(binds).length === 0 ? {} : { binds }), run: () => undefined };
  }

  async run(): Promise<void> {
    const { stage } = this;
    stage.world.start({ name: "main", tenant: text(this.#params("tenant")[0]) ?? "default" });
    if (this.#byHand) stage.hand.claim.shut();
    for (const [at, step] of this.steps.entries()) {
      this.at = at;
      const act = Object.hasOwn(ACTS, step.verb) ? ACTS[step.verb] : undefined;
      if (act === undefined) throw new Error(`no step "${step.text}"`);
      await act(this, step);
      await stage.settle();
    }
  }

  /** The call that a step is about: the one it names, else the newest that waits, else the newest. */
  callOf(step: Step): Call | undefined {
    const name = step.words.find((word) => this.named.has(word));
    if (name !== undefined) return this.named.get(name);
    const { calls } = this.stage.world;
    return (
      calls.findLast((call) => call.requests.length > 0 && call.outcome === undefined) ??
      calls.findLast((call) => call.requests.length > 0)
    );
  }

  requestOf(step: Step): string {
    return this.callOf(step)?.requests.at(-1) ?? "none";
  }

  /** What an outsider can see of a request, to tell whether an answer changed it. */
  async stateOf(request: string): Promise<string> {
    const process = this.stage.world.process();
    const stored = await process.store.read(request).catch(() => undefined);
    return stored === undefined
      ? "unknown"
      : JSON.stringify([stored.record.status, stored.record.decisions.length, stored.record.rev]);
  }

  next(): Step | undefined {
    return this.steps[this.at + 1];
  }
}

type Act = (machine: Machine, step: Step) => Promise<void>;

/** Arguments of a submit: its own, the first ones again, or those and a blank. */
function argumentsOf(machine: Machine, step: Step): JsonObject {
  const { params, words } = step;
  const first = machine.stage.world.calls[0]?.spec.args as JsonObject | undefined;
  if (words.includes("same") && first !== undefined) {
    if (!words.includes("+")) return first;
    return Object.fromEntries(
      Object.entries(first).map(([name, value]) => [name, typeof value === "string" ? `${value} ` : value]),
    );
  }
  if (isFields(params.args)) return params.args as JsonObject;
  if (params.argv !== undefined) return { argv: params.argv } as JsonObject;
  if (params.file !== undefined) return { file: String(params.file) };
  return params.class === undefined ? DEFAULT_ARGS : { amount: 1 };
}

/** Makes true what a submit says of its surroundings. */
function surround(machine: Machine, { params }: Step): void {
  const { files } = machine.stage.world;
  if (isFields(params.ctx)) for (const [name, value] of Object.entries(params.ctx)) files.env.set(name, String(value));
  if (params.cwd !== undefined) {
    files.folder("/srv/first");
    files.link(String(params.cwd), "/srv/first");
    files.cwd = String(params.cwd);
  }
  if (params.file !== undefined) files.write(String(params.file), String(params.sha256));
}

/** For whom the agent acts, by whatever word. */
const requesterOf = ({ params }: Step): string | undefined =>
  text(params.principal) ?? text(params.requester) ?? text(params.user) ?? text(params.for);

const submit: Act = async (machine, step) => {
  surround(machine, step);
  const { params, words } = step;
  const call = await machine.stage.call(text(params.class) ?? TOOL, argumentsOf(machine, step), {
    ...(text(params.agent) === undefined ? {} : { agent: String(params.agent) }),
    ...(text(params.session) === undefined ? {} : { session: String(params.session) }),
    ...(text(params.run) === undefined ? {} : { run: String(params.run) }),
    ...(requesterOf(step) === undefined ? {} : { principal: requesterOf(step) }),
  });
  const [name] = words;
  if (name !== undefined && /^[A-Z]$/.test(name)) machine.named.set(name, call);
};

/** `approve`, `deny` or an edit by somebody: with the digest and the view that they were given. */
async function answer(machine: Machine, step: Step, verdict: "approve" | "reject"): Promise<void> {
  const { stage } = machine;
  const by = text(step.params.by) ?? "ann";
  const via = by.includes(":") ? (by.split(":")[0] ?? "chat") : "chat";
  const request = machine.requestOf(step);
  machine.before = await machine.stateOf(request);
  const edited = isFields(step.params.args) ? { arguments: step.params.args as JsonObject } : {};
  if (step.words.includes("->")) {
    const dying = stage.world.process();
    for (const store of stage.world.stores)
      store.loseAnswerOf = (change) => {
        const voted = change.entries.some((entry) => entry.event === "request.voted");
        if (voted) dying.alive = false;
        return voted;
      };
  }
  machine.decided.push(await stage.world.decide(request, { verdict, by, via, unseen: step.words.includes("unseen"), ...edited }));
  await stage.settle();
  if (step.words.includes("crash")) return die(machine);
  machine.after = await machine.stateOf(request);
}

async function die(machine: Machine): Promise<void> {
  const { stage } = machine;
  for (const process of stage.world.processes.values()) await process.kill();
  for (const store of stage.world.stores) {
    store.down = "no";
    store.loseAnswerOf = undefined;
  }
  stage.hand.claim.open();
  stage.hand.effect.open();
}

const edit: Act = async (machine, step) => {
  if (step.words[0] !== "file") return answer(machine, step, "approve");
  const file = machine.stage.world.calls[0]?.spec.args as Fields;
  machine.stage.world.files.write(String(file.file), String(step.params.sha256));
};

/** The executor goes on; where none waits, somebody who holds the call tries to claim it by himself. */
const claim: Act = async (machine, step) => {
  const { stage } = machine;
  const { params } = step;
  if (isFields(params.ctx))
    for (const [name, value] of Object.entries(params.ctx)) stage.world.files.env.set(name, String(value));
  const call = machine.callOf(step);
  const status = await statusOf(machine, step);
  // Where the store cannot say, the executor finds out by itself.
  const waits = call?.outcome === undefined && (status === "approved" || status === undefined) && stage.world.process().alive;
  if (["tenant", "session", "agent", "run", "principal", "user"].some((name) => params[name] !== undefined) || !waits)
    return foreignClaim(machine, step);
  if (step.words.includes("twice")) return raceForClaim(machine, step);
  const next = machine.next()?.verb;
  if (next === "crash" || next === "effect") stage.hand.effect.shut();
  stage.hand.claim.open();
  await stage.settle();
  stage.hand.claim.shut();
};

/** The executor that waits and another that holds the same call, in one moment. */
async function raceForClaim(machine: Machine, step: Step): Promise<void> {
  machine.stage.hand.claim.open();
  await foreignClaim(machine, step);
}

const statusOf = async (machine: Machine, step: Step): Promise<string | undefined> =>
  (
    await machine.stage.world
      .process()
      .store.read(machine.requestOf(step))
      .catch(() => undefined)
  )?.record.status;

const tick: Act = async (machine, step) => {
  const { words } = step;
  if (words[0] === "to") await machine.stage.world.advance(words.includes("grant") ? GRANT_DEADLINE : machine.deadline);
  else await machine.stage.world.advance(Number(words[0]) * machine.scale);
};

const ACTS: Readonly<Record<string, Act>> = {
  submit,
  approve: (machine, step) => answer(machine, step, "approve"),
  deny: (machine, step) => answer(machine, step, "reject"),
  reject: (machine, step) => answer(machine, step, "reject"),
  edit,
  claim,
  tick,
  complete: async (machine) => machine.stage.hand.complete.open(),
  effect: async (machine) => {
    const { hand } = machine.stage;
    if (machine.next()?.verb === "crash") hand.complete.shut();
    hand.effect.open();
    await machine.stage.settle();
  },
  crash: die,
  restart: async (machine) => {
    const { world } = machine.stage;
    world.start({ name: `process-${world.processes.size + 1}` });
    // A host that comes back makes its call again under the same name; an executor that died is not one that waits.
    if (machine.steps.some(({ verb }) => verb === "claim")) return;
    for (const call of world.calls.filter(({ outcome }) => outcome === undefined)) world.make(call.spec, call);
  },
  sweep: async (machine) => {
    const { world } = machine.stage;
    await world.advance(61_000);
    await world.process().desk.sweep();
  },
  store_down: async (machine) => {
    for (const store of machine.stage.world.stores) store.down = "store";
  },
  store_up: async (machine) => {
    for (const store of machine.stage.world.stores) store.down = "no";
  },
  audit_down: async (machine) => {
    for (const store of machine.stage.world.stores) store.down = "journal";
  },
  clock_jump: async (machine, step) => {
    const { clock } = machine.stage.world;
    clock.set(clock.now() + Number(step.words[0]) * 1000);
  },
  read: async (machine, step) => {
    await machine.stage.world.standing(machine.requestOf(step));
  },
  kill: async (machine, step) => {
    const [what = "all", name] = step.words;
    const scope = what === "tenant" ? `tenant:${name ?? "default"}` : what === "all" ? "all" : `${what}:${name ?? ""}`;
    const as = { principal: "ops", as: "os:ops", via: "cli", assurance: "local" as const };
    await machine.stage.world.process().desk.approvals.kill(scope as "all", true, as);
  },
  remove: async (machine, step) => {
    const gone = step.words.at(-1);
    for (const [group, people] of machine.stage.groups)
      machine.stage.groups.set(
        group,
        people.filter((name) => name !== gone),
      );
  },
  relink: async (machine, step) => {
    const { files } = machine.stage.world;
    files.folder("/srv/second");
    files.link(step.words[0] ?? "", "/srv/second");
  },
  hook: async (machine, step) => {
    const args = step.params.args as JsonObject;
    machine.stage.hand.tamper = (evidence) => ({ ...evidence, arguments: args });
  },
  list_changed: async (machine) => {
    const { gate } = machine.stage.world.process();
    gate.observe({ name: TOOL, description: "another", version: "B", run: () => undefined });
  },
  wait: async (_machine, step) => void (await wait(Number(step.words[0]))),
  append: async (machine, step) => {
    const count = Number(step.words[0]);
    // Answers to what does not exist are recorded in the stream of the process.
    for (let made = 0; made < count; made += 1)
      await machine.stage.world.decide(`00000000-${made}`, { verdict: "approve", by: "ann", via: "chat" });
    machine.stage.marks.set("chain", (await ownEntries(machine)).slice(0, count));
  },
  checkpoint: async (machine) => {
    machine.stage.marks.set("checkpoint", chainOf(machine).length);
    machine.stage.marks.set("head", headOf(machine, chainOf(machine)));
  },
  delete: async (machine, step) => {
    const [from = 0, to = from] = (step.words.at(-1) ?? "").split("-").map(Number);
    machine.stage.marks.set(
      "chain",
      chainOf(machine).filter((_, at) => at + 1 < from || at + 1 > to),
    );
  },
  swap: async (machine, step) => {
    const chain = [...chainOf(machine)];
    const [a, b] = step.words.map(Number) as [number, number];
    const [first, second] = [chain[a], chain[b]];
    if (first === undefined || second === undefined) throw new Error("there is nothing to swap");
    [chain[a], chain[b]] = [second, first];
    machine.stage.marks.set("chain", chain);
  },
  verify: async (machine) => {
    const { crypto } = machine.stage.world.process().runtime;
    const head = machine.stage.marks.get("head") as never;
    machine.stage.marks.set("break", verifyStream(crypto, chainOf(machine), head ?? null));
  },
};

export const isMachine = (one: AttackCase): boolean => list(one.input.events).some((step) => typeof step === "string");
