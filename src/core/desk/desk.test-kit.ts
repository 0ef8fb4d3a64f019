import { memoryStore } from "../../stores/memory/index.ts";
import { nodeRuntime } from "../../runtime/node/index.ts";
import { manualClock, type ManualClock, recordingChannel, type RecordingChannel } from "../../testing/index.ts";
import { snapshotOf } from "../gate/gate.ts";
import { groupDirectory } from "../directory.ts";
import { hashOf } from "../hash.ts";
import { holdOf } from "../hold.ts";
import type { Entry } from "../journal.ts";
import { copyJson } from "../json.ts";
import type { JsonObject } from "../json-value.ts";
import type { Policy, PolicySnapshot } from "../policy.ts";
import type { Identity } from "../ports/approvals.ts";
import type { Channel } from "../ports/channel.ts";
import type { ClaimEvidence, Hold, Ruling, Standing, Submission } from "../ports/desk.ts";
import type { Directory } from "../ports/directory.ts";
import type { Keys, LogFields, LogLevel, Runtime, Surroundings } from "../ports/runtime.ts";
import type { Row, RowKind, Store } from "../ports/store.ts";
import type { Assurance } from "../requirement.ts";
import { type LocalDesk, type LocalDeskOptions, localDesk } from "./local-desk.ts";

/** Keys that every desk on the bench shares, so that a desk that died can be followed by another. */
const KEYS: Keys = {
  call: "call-key-call-key-call-key-call-key-1234",
  view: "view-key-view-key-view-key-view-key-1234",
  decision: "decision-key-decision-key-decision-key-1",
  seal: null,
};

export interface Line {
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: LogFields;
}

const SURROUNDINGS: Surroundings = {
  cwd: () => "/work",
  env: (name) => (name === "TARGET" ? "staging" : undefined),
  realPath: async (path) => (path.startsWith("/") ? path : `/work/${path}`),
  fileHash: async () => `sha256:${"f".repeat(64)}`,
  account: () => "op",
};

/** A runtime whose clock stands still, and whose log is kept. A new one is a new process. */
export function benchRuntime(clock: ManualClock, lines: Line[] = [], over: Partial<Runtime> = {}): Runtime {
  const at =
    (level: LogLevel) =>
    (message: string, fields: LogFields = {}): void =>
      void lines.push({ level, message, fields });
  const log = { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
  return { ...nodeRuntime({ clock, keys: KEYS, log, surroundings: SURROUNDINGS }), ...over };
}

export interface BenchOptions {
  readonly policy?: Policy;
  readonly people?: readonly string[];
  readonly assurance?: Assurance;
  readonly channels?: readonly Channel[];
  readonly store?: Store;
  readonly clock?: ManualClock;
  readonly directory?: Directory;
  readonly runtime?: Partial<Runtime>;
  readonly record?: "calls" | "counts" | "none";
  readonly desk?: Partial<LocalDeskOptions>;
}

export interface Bench {
  readonly clock: ManualClock;
  readonly runtime: Runtime;
  readonly store: Store;
  readonly desk: LocalDesk;
  /** Of `people`, where `channels` is not given. */
  readonly channel: RecordingChannel;
  readonly lines: Line[];
  readonly policy: PolicySnapshot;
}

/** A desk over a real store, with a channel that answers only what a test says, and a clock that stands still. */
export function bench(options: BenchOptions = {}): Bench {
  const clock = options.clock ?? manualClock();
  const lines: Line[] = [];
  const runtime = benchRuntime(clock, lines, options.runtime);
  const store = options.store ?? memoryStore({ clock });
  const policy = snapshotOf(options.policy ?? {}, { runtime, record: options.record ?? "counts" });
  const { people = ["ada", "bob", "cem"], assurance = "account" } = options;
  const channel = recordingChannel({ people, assurance });
  const desk = localDesk({
    runtime,
    store,
    policy,
    channels: options.channels ?? [channel],
    directory: options.directory ?? groupDirectory(() => policy.groups),
    ...options.desk,
  });
  return { clock, runtime, store, desk, channel, lines, policy };
}

export const identity = (principal: string, over: Partial<Identity> = {}): Identity => ({
  principal,
  as: `recording:${principal}`,
  via: "recording",
  assurance: "account",
  ...over,
});

export const holdFor = (words: Parameters<typeof holdOf>[1] = {}, by = "tool"): Hold =>
  holdOf(by, words, { exemptible: true, message: undefined });

let calls = 0;

/** What a gate submits for a call of `pay`, held by its tool unless a test says otherwise. */
export function submissionOf(
  { policy, runtime }: Pick<Bench, "policy" | "runtime">,
  over: Partial<Submission> & { readonly args?: unknown; readonly id?: string } = {},
): Submission {
  const { args = { to: "bob", amount: 7 }, id, ...rest } = over;
  calls += 1;
  const tool = rest.tool ?? {
    name: "pay",
    origin: "code",
    definition: hashOf(runtime.crypto, {
      type: "holdpoint/definition/v1",
      server: null,
      tool: { name: "pay", input: null, version: null },
    }),
  };
  return {
    call: { id: id ?? `call-${calls}`, tool: tool.name, arguments: copyJson(args) as JsonObject },
    idGiven: id !== undefined,
    tool,
    tier: "write",
    impact: "default",
    edits: false,
    effect: undefined,
    holds: [holdFor()],
    denied: undefined,
    allowedByOpinion: false,
    requires: [],
    secrets: [],
    editable: [""],
    ignore: [],
    schema: null,
    revalidate: undefined,
    bindings: {},
    requester: { principal: "ada", agent: "bot", run: "run-1" },
    proof: "process",
    grade: "in-process",
    statement: undefined,
    notes: [],
    policy,
    wait: "block",
    deadline: undefined,
    windows: "on",
    channels: [],
    renewer: "gate",
    signal: runtime.aborter().signal,
    ...rest,
  };
}

export const evidenceOf = (submission: Submission, over: Partial<ClaimEvidence> = {}): ClaimEvidence => ({
  holder: "gate",
  requester: submission.requester,
  tool: submission.tool,
  arguments: submission.call.arguments,
  bindings: submission.bindings,
  ...over,
});

/** The request a submission opened, shown to everybody it reaches. */
export async function held(on: Bench, submission: Submission): Promise<string> {
  const ruling = await on.desk.submit(submission);
  await on.clock.settle();
  if (ruling.ruling !== "held") throw new Error(`not held: ${JSON.stringify(ruling)}`);
  return ruling.request;
}

/** Time passes while its gate goes on saying that somebody waits. */
export async function passes(on: Bench, id: string, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 50_000) {
    await on.clock.advance(Math.min(left, 50_000));
    await on.desk.renew(id, "gate");
  }
}

export const refusalOf = (ruling: Ruling): unknown => (ruling.ruling === "refused" ? ruling.refusal : ruling);

export async function standing(on: Pick<Bench, "desk">, id: string): Promise<Standing> {
  const found = await on.desk.standing(id);
  if (found === undefined) throw new Error(`there is no request ${id}`);
  return found;
}

/** A view of the card as this person has it now. */
export async function viewOf(
  on: Pick<Bench, "desk">,
  id: string,
  as: Identity,
): Promise<{ digest: `sha256:${string}`; view: string }> {
  const presented = await on.desk.approvals.card(id, as);
  if (presented === undefined || "ambiguous" in presented) throw new Error(`${as.principal} may not see ${id}`);
  return { digest: presented.card.digest, view: presented.view };
}

export async function entriesOf(store: Store, stream: string): Promise<readonly Entry[]> {
  const entries: Entry[] = [];
  for await (const entry of store.journal(stream)) entries.push(entry);
  return entries;
}
export const eventsOf = async (store: Store, id: string): Promise<readonly string[]> =>
  (await entriesOf(store, `request/${id}`)).map(({ event }) => event);
/** What this process journaled, less what every start says. */
export const nodeEvents = async ({ store, runtime }: Pick<Bench, "store" | "runtime">): Promise<readonly Entry[]> =>
  (await entriesOf(store, `node/${runtime.ids.process}`)).filter(({ event }) => !event.startsWith("policy."));

export async function rowsOf(store: Store, kind: RowKind): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for await (const row of store.rows({ kind })) rows.push(row);
  return rows;
}
