import { isTerminal, type Model, modelStart } from "../request-model.test-kit.ts";
import {
  type After,
  chainEnd,
  type Command,
  HOLD,
  LOST,
  type ModelDesk,
  type ModelRequest,
  move,
  no,
  of,
  OK,
  put,
  remember,
  specOf,
  touch,
} from "./desk-model-parts.test-kit.ts";

type Submit = Extract<Command, { do: "submit" }>;

const MOST_REPEATS = 16;

/** How it ended, in the words that a model reads. */
export const endedAs = ({ status, resolution }: Model): string => {
  if (status === "rejected" || resolution?.reason === "revoked") return "rejected";
  if (status === "expired") return "expired";
  if (resolution?.reason === "kill_switch") return "killed";
  return resolution?.reason === "context_changed" ? "context_changed" : "cancelled";
};

/** "The repeat of a refused one reads its sentence; of one that ran while its caller was gone receives the stored result, once." */
function isUntold({ model, result }: ModelRequest): boolean {
  if (result) return true;
  // It runs and its caller went away: what it gives is for a later repeat, and it is not asked for anew.
  if (model.status === "claimed") return model.parked;
  if (model.status === "indeterminate") return model.resolution?.reason === "lease_lost";
  const answers = ["rejected", "expired", "cancelled"].includes(model.status);
  return answers && model.parked && model.resolution?.reason !== "requester_gone";
}

function tell(desk: ModelDesk, at: { root: number; index: number }, command: Submit): After {
  const { root, index } = at;
  const { n, run, lost } = command;
  const request = of(desk, index);
  const { model, runs } = request;
  const left = (desk.asked.get(n) ?? []).filter((other) => other !== root);
  let next: ModelDesk = { ...put(desk, index, { result: false }), asked: new Map(desk.asked).set(n, left) };
  const refused = model.status === "rejected" || model.resolution?.reason === "revoked";
  if (refused && !runs.includes(run)) next = remember(next, index, run);
  const ran = ["succeeded", "failed", "indeterminate"].includes(model.status);
  return { desk: next, told: lost ? LOST : no(ran ? "repeated" : endedAs(model)) };
}

/** What the same call, made again, takes up or is told. `undefined`: it is a request of its own. */
function takeUp(before: ModelDesk, command: Submit): { readonly desk: ModelDesk; readonly after: After | undefined } {
  const { n, run, lost } = command;
  let desk = before;
  for (const root of desk.asked.get(n) ?? []) {
    const index = chainEnd(desk, root);
    const ticked = touch(desk, index);
    if (ticked !== desk && lost) return { desk: ticked, after: { desk: ticked, told: LOST } };
    desk = ticked;
    const request = of(desk, index);
    const { model, runs } = request;
    const own = request.run === run || model.kept?.holder === run;
    const left = model.kept !== null && desk.now >= model.kept.until;
    if (isTerminal(model.status) || model.status === "claimed") {
      if (!isUntold(request) || !(own || left)) continue;
      if (model.status === "claimed") return { desk, after: { desk, told: no("repeated") } };
      return { desk, after: tell(desk, { root, index }, command) };
    }
    const taken = move(desk, index, { do: "attach", holder: run, own, length: HOLD });
    if (!("ok" in taken.told)) continue;
    const shown = request.shown || (model.status === "pending" && !lost);
    const next = put(taken.desk, index, { shown, runs: [...new Set([...runs, run])] });
    return { desk, after: { desk: next, told: lost ? LOST : OK } };
  }
  return { desk, after: undefined };
}

export function submit(before: ModelDesk, command: Submit): After {
  const { n, run, demand, lost } = command;
  if (before.killed) return { desk: before, told: lost ? LOST : no("killed") };
  const { desk, after } = takeUp(before, command);
  if (after !== undefined) return after;
  if (desk.refused.has(`${run} ${n}`)) return { desk, told: lost ? LOST : no("already_refused") };
  if ((desk.streaks.get(run) ?? 0) >= 3) return { desk, told: lost ? LOST : no("too_many_refusals") };
  const spec = specOf(demand);
  const place = desk.requests.length;
  const model = modelStart(spec, desk.now);
  const request: ModelRequest = {
    spec,
    model: { ...model, kept: { holder: run, until: desk.now + HOLD } },
    n,
    run,
    root: place,
    events: ["request.created"],
    shown: !lost,
    supersedes: null,
    supersededBy: null,
    held: false,
    runs: [run],
    result: false,
    effects: 0,
  };
  const known = (desk.asked.get(n) ?? []).filter((root) => {
    const end = of(desk, chainEnd(desk, root));
    return !isTerminal(end.model.status) || isUntold(end);
  });
  const asked = new Map(desk.asked).set(n, [...known, place].slice(-MOST_REPEATS));
  return { desk: { ...desk, requests: [...desk.requests, request], asked }, told: lost ? LOST : OK };
}
