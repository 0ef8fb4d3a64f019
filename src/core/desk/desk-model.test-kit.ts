import { isTerminal, modelStart, type ModelStep, objectionsTo } from "../request-model.test-kit.ts";
import {
  type After,
  chainEnd,
  type Command,
  HOLD,
  indexOf,
  LEASE,
  LOST,
  lostAfter,
  type ModelDesk,
  type ModelRequest,
  move,
  no,
  of,
  OK,
  put,
  streak,
  type Told,
  touch,
} from "./desk-model-parts.test-kit.ts";
import { endedAs, submit } from "./desk-repeat.test-kit.ts";

export {
  type Command,
  DECIDE_WITHIN,
  DEMANDS,
  deskStart,
  indexOf,
  type ModelDesk,
  NAMES,
  type Told,
  type View,
} from "./desk-model-parts.test-kit.ts";

type Answering = Extract<Command, { do: "approve" | "reject" | "revoke" }>;

function answer(desk: ModelDesk, index: number, command: Answering): After {
  const request = of(desk, index);
  const verdict = command.do === "approve" ? "approve" : "reject";
  const view = command.do === "revoke" ? "none" : command.view;
  const lost = command.do !== "revoke" && command.lost;
  const last = request.model.votes.findLast(({ who }) => who === command.who);
  if (last?.verdict === verdict && view !== "old") return { desk, told: OK };
  const ticked = touch(desk, index);
  if (lost && ticked !== desk) return { desk: ticked, told: LOST };
  const digest = view !== "old";
  const step: ModelStep =
    command.do === "approve"
      ? { do: "approve", who: command.who, level: command.level, digest, viewed: view === "fresh", known: true }
      : { do: "reject", who: command.who, digest, known: true };
  const after = move(ticked, index, step);
  return lost ? { desk: after.desk, told: LOST } : after;
}

function edit(desk: ModelDesk, index: number, command: Extract<Command, { do: "edit" }>): After {
  const { who, n, view, lost } = command;
  if (of(desk, index).n === n && of(touch(desk, index), index).model.status === "pending")
    return answer(desk, index, { do: "approve", at: 0, who, level: 2, view, lost });
  const ticked = touch(desk, index);
  if (lost && ticked !== desk) return { desk: ticked, told: LOST };
  const old = of(ticked, index);
  const told = (said: Told): After => ({ desk: ticked, told: lost ? LOST : said });
  if (old.model.status !== "pending") return told(no("late"));
  const chain = ticked.requests.filter(({ root, supersedes }) => root === old.root && supersedes !== null).length;
  if (chain >= 5) return { desk: ticked, told: no("limit") };
  const step = { do: "approve", who, level: 2, digest: view !== "old", viewed: view === "fresh", known: true } as const;
  const others = { ...old.model, votes: old.model.votes.filter((vote) => vote.who !== who) };
  const codes = objectionsTo(old.spec, others, { step, now: ticked.now });
  if (codes.length > 0) return told(no(...codes));
  const successor: ModelRequest = {
    ...old,
    model: {
      ...modelStart(old.spec, ticked.now),
      decideBy: old.model.decideBy,
      kept: old.model.kept,
      parked: old.model.parked,
    },
    n,
    events: ["request.created"],
    shown: true,
    supersedes: index,
  };
  const place = ticked.requests.length;
  const ended = put(move(ticked, index, { do: "supersede" }).desk, index, { supersededBy: place });
  const resolution = of(ended, index).model.resolution;
  const byEditor = put(ended, index, {
    model: { ...of(ended, index).model, resolution: resolution === null ? null : { ...resolution, by: who } },
  });
  const opened = { ...byEditor, requests: [...byEditor.requests, successor] };
  const voted = move(opened, place, { ...step, digest: true, viewed: true });
  return lost ? { desk: voted.desk, told: LOST } : voted;
}

function cancel(desk: ModelDesk, index: number, lost: boolean): After {
  const end = chainEnd(desk, index);
  if (isTerminal(of(desk, end).model.status)) return { desk, told: no("late") };
  const ticked = touch(desk, end);
  if (ticked !== desk) return { desk: ticked, told: lost ? LOST : no("late") };
  const after = move(desk, end, { do: "cancel", reason: "requester" });
  return lost && "ok" in after.told ? lostAfter(desk, after.desk, after.told) : after;
}

function claim(desk: ModelDesk, index: number, command: Extract<Command, { do: "claim" }>): After {
  const { right, lost } = command;
  const { model } = of(desk, index);
  if (model.status !== "approved") return { desk, told: no(endedAs(model)) };
  const told = (after: ModelDesk, said: Told): After => ({ desk: after, told: lost ? LOST : said });
  const ticked = touch(desk, index);
  if (ticked !== desk) return told(ticked, no(endedAs(of(ticked, index).model)));
  // Nobody waits for it: approval alone runs nothing, and there is nothing to withdraw.
  if (model.parked) return { desk, told: no("cancelled") };
  if (!right) return told(move(desk, index, { do: "cancel", reason: "context_changed" }).desk, no("context_changed"));
  if (desk.killed) {
    if (lost) return { desk, told: LOST };
    return told(move(desk, index, { do: "cancel", reason: "kill_switch" }).desk, no("killed"));
  }
  const taken = move(desk, index, { do: "claim", bytes: true, forged: [], lost: [] });
  if (!("ok" in taken.told)) throw new Error("the model refuses a claim that it approved");
  const { effects } = of(taken.desk, index);
  return told(put(taken.desk, index, { held: !lost, effects: lost ? effects : effects + 1 }), OK);
}

function complete(desk: ModelDesk, index: number, command: Extract<Command, { do: "complete" }>): After {
  const { held, run } = of(desk, index);
  const after = move(desk, index, { do: "complete", token: command.right && held, how: command.how });
  if (!("ok" in after.told)) return after;
  const ended = put(after.desk, index, { result: of(desk, index).result || command.keep });
  return { desk: streak(ended, run, 0), told: command.lost ? LOST : OK };
}

/** Whoever holds the lease renews it, parks what it holds, or lets it go as it ends. */
function keep(desk: ModelDesk, first: number, command: Extract<Command, { do: "lease" | "park" }>): After {
  const index = chainEnd(desk, first);
  const { model } = of(desk, index);
  const holder = command.right ? (model.kept?.holder ?? 0) : -1;
  if (command.do === "lease") return move(desk, index, { do: "lease", holder, length: HOLD });
  const length = command.leaving ? 0 : HOLD;
  const after = move(desk, index, { do: model.parked ? "lease" : "park", holder, length });
  return command.lost && "ok" in after.told ? { desk: after.desk, told: LOST } : after;
}

function sweep(desk: ModelDesk): ModelDesk {
  return desk.requests.reduce((swept, _, index) => {
    const ticked = touch(swept, index);
    const { model } = of(ticked, index);
    const over = model.status === "claimed" && model.leased !== null && ticked.now >= model.leased;
    return over ? move(ticked, index, { do: "sweep", reason: "lease_lost" }).desk : ticked;
  }, desk);
}

function onRequest(desk: ModelDesk, index: number, command: Extract<Command, { at: number }>): After {
  switch (command.do) {
    case "approve":
    case "reject":
    case "revoke":
      return answer(desk, index, command);
    case "edit":
      return edit(desk, index, command);
    case "cancel":
      return cancel(desk, index, command.lost);
    case "claim":
      return claim(desk, index, command);
    case "complete":
      return complete(desk, index, command);
    case "lease":
    case "park":
      return keep(desk, index, command);
    case "renew":
      return move(desk, index, { do: "renew", token: command.right && of(desk, index).held, lease: LEASE });
    case "expire": {
      const after = touch(desk, index);
      return { desk: after, told: after === desk ? no("late") : OK };
    }
    case "reconcile":
      return move(desk, index, { do: "find", ran: command.ran });
  }
}

/** What a command does, and what whoever gave it is told. `undefined`: there is nothing it could be about. */
export function deskStep(desk: ModelDesk, command: Command): After | undefined {
  if (command.do === "wait") return { desk: { ...desk, now: desk.now + command.ms }, told: OK };
  if (command.do === "store") return { desk: { ...desk, up: command.up }, told: OK };
  if (command.do === "crash") return { desk, told: OK };
  if (!desk.up) return { desk, told: LOST };
  switch (command.do) {
    case "submit":
      return submit(desk, command);
    case "sweep":
      return { desk: sweep(desk), told: OK };
    case "lift":
      return { desk: { ...desk, refused: new Set(), streaks: new Map() }, told: OK };
    case "kill":
      // What is switched off again is believed off a second later: until then calls are refused.
      return { desk: { ...desk, killed: command.on, now: desk.now + (command.on ? 0 : 1000) }, told: OK };
    default: {
      const index = indexOf(desk, command.at);
      return index === undefined ? undefined : onRequest(desk, index, command);
    }
  }
}
