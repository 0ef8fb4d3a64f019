import { setTimeout as later } from "node:timers/promises";
import type { Decided } from "../../../src/core/approving.ts";
import { cardText, isHoldpointError, type JsonObject, visible } from "../../../src/core/index.ts";
import { expand } from "../expand.ts";
import type { Call } from "../world/call.ts";
import { callListed, toolsList } from "./listed.ts";
import { toolOf } from "./policy.ts";
import { argumentsOf, type Scene } from "./scene.ts";
import { type FaultCall, type FaultEvent, type Fields, isFields, list, number, text } from "./shape.ts";

/** What a case does, verb by verb, to a real gate and its desk. */
type Verb = (scene: Scene, event: FaultEvent) => Promise<void>;

async function callOne(scene: Scene, said: FaultCall): Promise<Call> {
  const { world } = scene;
  if (said.reask === true) await startSecond(scene, "asks-again");
  if (said.pause_before_execute === true) holdRun(scene);
  const process = said.reask === true ? "asks-again" : tenantOf(scene, said);
  const call =
    said.pause_raised_in === undefined
      ? scene.start(said, process === undefined ? {} : { process })
      : await later(0).then(() => scene.start(said));
  await scene.settle();
  scene.verdicts.set(call.label, scene.verdictOf(call));
  if (said.ui !== undefined) scene.marks.set("no-ui", said.ui);
  void world;
  return call;
}

/** The gate resolves the folder and the path once for the ruling; the next time is just before the run. */
function holdRun(scene: Scene): void {
  let open = (): void => undefined;
  scene.world.files.hold(
    2,
    new Promise((resolve) => {
      open = resolve;
    }),
  );
  scene.marks.set("go", open);
}

function tenantOf(scene: Scene, said: Fields): string | undefined {
  const tenant = text(said.tenant);
  if (tenant === undefined) return undefined;
  if (!scene.world.processes.has(tenant)) scene.world.start({ name: tenant, tenant });
  return tenant;
}

/** Another process on the same store whose gate answers by no window. */
async function startSecond(scene: Scene, name: string): Promise<void> {
  if (!scene.world.processes.has(name)) scene.world.start({ name, windows: "off" });
}

async function batch(scene: Scene, event: FaultEvent): Promise<void> {
  const said = list(event.calls) as FaultCall[];
  const calls: Call[] = [];
  for (const one of said) {
    calls.push(scene.start(one));
    // Without a name of its own a call is known by the order in which its request came.
    if (calls.at(-1)?.spec.id === undefined) await scene.world.settle();
  }
  await scene.settle();
  for (const call of calls) scene.verdicts.set(call.label, scene.verdictOf(call));
}

const VERDICTS: Readonly<Record<string, "approve" | "reject">> = {
  approve: "approve",
  edit: "approve",
  deny: "reject",
  reject: "reject",
};

async function answer(scene: Scene, event: FaultEvent): Promise<void> {
  const { world } = scene;
  const label = String(event.call);
  const at = number(event.at_ms);
  if (at !== undefined) await world.advance(Math.max(0, at - (world.clock.now() - scene.startedAt)));
  scene.beforeAnswers ??= new Map(world.calls.map((call) => [call.label, world.ran(call.label).length]));
  if (event.value !== undefined) world.values.set(label, event.value);
  const known = world.answers.length;
  if (event.decision === null || event.decision === undefined) await answerInWords(scene, label, event);
  else await answerPlainly(scene, label, event);
  if (world.answers.length > known) scene.pendingAfterAnswer ??= await scene.pending();
}

async function answerPlainly(scene: Scene, label: string, event: FaultEvent): Promise<void> {
  const { world } = scene;
  const by = String(event.by);
  const request = await published(scene, label);
  if (request === undefined) {
    world.answers.push({ label, by, decided: { found: false, status: null, counted: false, code: "not_found" } });
    return;
  }
  const verdict = scene.lasting(event.decision) ? "approve" : VERDICTS[String(event.decision)];
  if (verdict === undefined) throw new Error(`no decision "${String(event.decision)}"`);
  const edited = event.decision === "edit" ? (expand(argumentsOf(event)) as JsonObject) : undefined;
  const decided = await world.decide(request, {
    verdict,
    by,
    via: String(event.via),
    ...(text(event.note) === undefined ? {} : { reason: String(event.note) }),
    ...(edited === undefined ? {} : { arguments: edited }),
    ...(processFor(scene, event) === undefined ? {} : { process: String(processFor(scene, event)) }),
  });
  world.answers.push({ label, by, decided });
  await onlyOnce(scene, event, request);
  await scene.settle();
  if (decided?.counted === true && verdict === "reject" && scene.one.policy.after_deny === "stop_turn") {
    scene.turnEnded = true;
    await world.endRuns();
  }
}

/** A request is published once it is stored: a person who is quicker waits for it. */
async function published(scene: Scene, label: string): Promise<string | undefined> {
  for (let waited = 0; scene.requestOf(label) === undefined && waited < 10; waited += 1) {
    if (scene.world.call(label)?.outcome !== undefined) break;
    await scene.world.advance(500);
  }
  const request = scene.requestOf(label);
  const call = scene.world.call(label);
  if (call !== undefined && request !== undefined && !scene.verdicts.has(label)) scene.verdicts.set(label, "ask");
  return request;
}

function processFor(scene: Scene, event: FaultEvent): string | undefined {
  const copy = text(event.copy);
  if (copy !== undefined) return copy;
  const tenant = /^user-of-(\w+)$/.exec(String(event.by))?.[1];
  return tenant === undefined ? undefined : tenantOf(scene, { tenant });
}

/** Where "always" has been said of another call, a plain yes means this once: the window it opened is ended by the person. */
async function onlyOnce(scene: Scene, event: FaultEvent, request: string): Promise<void> {
  if (scene.lasting(event.decision)) return;
  const { approvals } = scene.world.process().desk;
  const as = scene.world.identity(scene.principal, String(event.via));
  for (const window of await approvals.windows(as)) if (window.id === request) await approvals.end("window", window.id, as);
}

/** What a person types or writes: at a terminal a line of its own, elsewhere a message in a thread. */
async function answerInWords(scene: Scene, label: string, event: FaultEvent): Promise<void> {
  const said = text(event.text);
  const request = scene.requestOf(label);
  if (said === undefined || request === undefined) {
    await inject(scene, { ...event, call: label });
    return;
  }
  if (scene.seat !== undefined) {
    const before = scene.world.effects.length;
    await scene.seat.types(`${said}\r`);
    await scene.settle();
    const status = (await scene.world.standing(request))?.status;
    scene.readings.push(status === "rejected" ? "deny" : scene.world.effects.length > before ? "approve" : "unclear");
    return;
  }
  const shown = await scene.world.present(request, { by: String(event.by), via: String(event.via) });
  const reading = scene.read(said, shown?.card.code ?? "");
  scene.readings.push(reading);
  if (reading === "approve" || reading === "deny")
    await answerPlainly(scene, label, { ...event, decision: reading, note: reading === "deny" ? said : undefined });
}

/** Someone hands the gate something that is no decision of a person. */
async function inject(scene: Scene, event: FaultEvent): Promise<void> {
  const { world } = scene;
  const request = scene.requestOf(String(event.call)) ?? String(event.call);
  const { desk } = world.process();
  const as = world.identity("system", "inject");
  let decided: Decided | undefined;
  try {
    decided = await desk.approvals.decide(request, (isFields(event.payload) ? event.payload : {}) as never, as);
    const recorded = await desk.complete(request, "injected", { status: "succeeded", observedBy: "host", value: event.payload });
    scene.marks.set("completed", recorded);
  } catch (thrown) {
    if (!isHoldpointError(thrown)) throw thrown;
  }
  scene.marks.set("injected", decided?.counted === true);
  await scene.settle();
}

async function message(scene: Scene, event: FaultEvent): Promise<void> {
  const said = String(event.text);
  const open = await scene.world.process().desk.pending();
  const codes: string[] = [];
  for (const { record } of open) {
    const shown = await scene.world.present(record.id, { by: scene.principal, via: "text" });
    if (shown !== undefined) codes.push(shown.card.code);
  }
  const readings = codes.map((code) => scene.read(said, code));
  scene.messages.push({ said, reachedAgent: !readings.some((reading) => reading === "approve" || reading === "deny") });
  scene.promptIsLast = false;
  await scene.settle();
}

async function renderAll(scene: Scene, event: FaultEvent): Promise<void> {
  const via = String(event.via);
  for (const { record } of await scene.world.process().desk.pending()) {
    const label = scene.world.labelOf(record.id) ?? record.id;
    const shown = await scene.world.present(record.id, { by: scene.principal, via: "terminal" });
    if (shown === undefined) continue;
    for (const channel of scene.world.process().channels)
      scene.rendered.push({ label, via: channel.name, text: channel.render(shown.card).text, card: shown.card });
    scene.rendered.push({ label, via, text: cardText(shown.card).text, card: shown.card });
  }
}

async function restart(scene: Scene): Promise<void> {
  const { world } = scene;
  const open = world.calls.filter((call) => call.outcome === undefined);
  for (const process of world.processes.values()) await process.kill();
  if (!scene.durable) world.forget();
  world.start({ name: `process-${world.processes.size + 1}` });
  if (scene.durable) for (const call of open) world.make({ ...call.spec, process: undefined }, call);
  await scene.settle();
}

/** A host that comes back makes its call again under the same name; one that is still here only waits. */
async function resume(scene: Scene, event: FaultEvent): Promise<void> {
  const worker = number(event.worker);
  scene.resumes += 1;
  if (worker === undefined) {
    await otherPaths(scene);
    await scene.settle();
    return;
  }
  const call = scene.world.calls[0];
  const name = `worker-${worker}`;
  if (call === undefined) return;
  const crash = scene.one.events.find((other) => other.do === "crash" && other.worker === worker);
  if (crash !== undefined) scene.handOf(name).effect.shut();
  scene.world.make({ ...call.spec, process: name }, call);
  const next = scene.one.events[scene.one.events.indexOf(event) + 1];
  if (next?.do !== "resume" || next.at_ms !== event.at_ms) await scene.settle();
}

/** Middleware that goes straight to the tools has only the gate's handles, and those run nothing. */
async function otherPaths(scene: Scene): Promise<void> {
  if (scene.one.policy.other_middleware === undefined && scene.one.policy.final_answer_path !== true) return;
  const handles = scene.world.process().gate.tools([{ ...toolOf(scene.one, "reached-around"), confirm: true }]);
  for (const handle of handles) {
    try {
      (handle as unknown as { run(args: unknown): unknown }).run({});
      scene.marks.set("ran-around", true);
    } catch (thrown) {
      scene.marks.set("refused-around", (thrown as { code?: unknown }).code);
    }
  }
}

async function crash(scene: Scene, event: FaultEvent): Promise<void> {
  const worker = number(event.worker);
  const { world } = scene;
  await world.process(worker === undefined ? undefined : `worker-${worker}`).kill();
  if (worker === undefined) return;
  await scene.settle();
  await world.advance(61_000);
  await world.process().desk.sweep();
  await scene.settle();
}

const nothing: Verb = async (scene) => scene.settle();

export const VERBS: Readonly<Record<string, Verb>> = {
  call: async (scene, event) => {
    const said = event as unknown as FaultCall;
    const listed = scene.marks.get(said.tool) as Parameters<typeof callListed>[2] | undefined;
    if (listed !== undefined) return callListed(scene, said, listed);
    const call = await callOne(scene, said);
    if (said.at !== undefined) await otherPaths(scene);
    // The caller of a saved run is gone by the time its workers come.
    if (scene.one.events.some((other) => other.worker !== undefined)) await leaveToWorkers(scene);
    void call;
  },
  batch,
  answer,
  resume,
  restart,
  inject,
  message,
  render: renderAll,
  crash,
  snapshot: nothing,
  view: nothing,
  reload: nothing,
  snapshot_and_restore: restart,
  restore: async (scene, event) => {
    scene.world.start({ name: String(event.as_) });
    const call = scene.world.calls[0];
    const first = ![...scene.world.processes.keys()].some((name) => name !== "main" && name !== event.as_);
    if (call !== undefined && first) {
      await scene.world.process("main").kill();
      scene.world.make({ ...call.spec, process: String(event.as_) }, call);
    }
    await scene.settle();
  },
  advance: async (scene, event) => {
    await scene.world.advance(Number(event.ms));
    await scene.settle();
  },
  work: async (scene, event) => scene.world.advance(Number(event.ms)),
  list_pending: async (scene, event) => {
    const process = processFor(scene, event);
    const by = text(event.by) ?? scene.principal;
    const cards = await scene.world.cards(by, text(event.via) ?? "web", process);
    const open = await scene.world.process(process).desk.pending();
    const inSession = new Set(
      open
        .filter(({ record }) => event.session === undefined || record.requester.session === event.session)
        .map(({ record }) => record.id),
    );
    scene.lists.push({
      labels: cards.filter((card) => inSession.has(card.id)).flatMap((card) => scene.world.labelOf(card.id) ?? []),
    });
  },
  get_request: renderAll,
  read_audit: nothing,
  next_model_request: nothing,
  poll: async (scene, event) => {
    const request = scene.requestOf(String(event.call));
    scene.polls.push(request === undefined ? "none" : ((await scene.world.standing(request))?.status ?? "none"));
  },
  agent_says: async (scene) => {
    scene.promptIsLast = false;
  },
  abort: async (scene) => {
    for (const call of scene.world.calls) call.abort.abort(new Error("Ctrl-C"));
    await scene.settle();
  },
  key: async (scene, event) => {
    const wait = number(event.ms_after_prompt);
    if (wait !== undefined) await scene.world.advance(wait);
    await scene.seat?.key(String(event.key));
  },
  keys: async (scene, event) => {
    for (const key of list(event.seq)) await scene.seat?.key(String(key));
  },
  reorder_rules: async (scene) => {
    await scene.world.process().setPolicy(scene.policy([...scene.one.policy.rules].reverse()));
    scene.world.newRuns();
  },
  load_tool_late: async (scene, event) => {
    const { world } = scene;
    const tool = { ...toolOf(scene.one, String(event.tool)), ...(event.needs_approval === true ? { needsApproval: true } : {}) };
    world.process().register([world.doubled(tool, world.process())]);
  },
  file_write: async (scene, event) => scene.world.files.write(String(event.path), String(event.content)),
  file_create: async (scene, event) => scene.world.files.write(String(event.path), ""),
  symlink: async (scene, event) => {
    scene.world.files.write(text(event.to) ?? "", "target");
    scene.world.files.link(String(event.path), String(event.to));
  },
  go: async (scene) => {
    (scene.marks.get("go") as (() => void) | undefined)?.();
    await scene.settle();
  },
  upstream_down: async (scene) => {
    scene.world.upstreamDown = true;
  },
  fail: nothing,
  retry_turn: async (scene) => {
    for (const call of [...scene.world.calls]) scene.world.make(call.spec, call);
    await scene.settle();
  },
  rewind_to: async (scene, event) => {
    const call = scene.world.call(String(event.call));
    if (call !== undefined) scene.world.make(call.spec, call);
    await scene.settle();
  },
  lock_unlock: nothing,
  client_roundtrip: nothing,
  tools_list: toolsList,
  model_replay: async (scene, event) => {
    for (const said of list(event.emits)) {
      const emitted = said as FaultCall;
      const call = scene.start({ ...emitted, id: `replayed-${visible(String(emitted.tool))}` }, { unnamed: true });
      await scene.settle();
      scene.verdicts.set("changed", scene.verdictOf(call));
    }
  },
};

async function leaveToWorkers(scene: Scene): Promise<void> {
  const { world } = scene;
  const workers = new Set(scene.one.events.flatMap((event) => number(event.worker) ?? []));
  for (const worker of workers) world.start({ name: `worker-${worker}` });
  await world.process("main").kill();
}
