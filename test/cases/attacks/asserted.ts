import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseInstant } from "../../../src/core/index.ts";
import * as testing from "../../../src/testing/index.ts";
import { text } from "../faults/shape.ts";
import { must, Wrong } from "../work.ts";
import { roundsOf } from "./crowd.ts";
import type { Machine } from "./machine.ts";
import { fieldsOf } from "./pairs.ts";
import { relayedBy } from "./relayed.ts";
import { cardsOf, refusalOf, type Seen, sentenceOf } from "./seen.ts";

/** Checks of what happened. */

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

export const machineOf = ({ stage }: Seen): Machine => {
  const machine = stage.marks.get("machine") as Machine | undefined;
  if (machine === undefined) throw new Wrong("this case has no steps");
  return machine;
};

/** How the request of the first call stands. */
export async function statusOf(seen: Seen): Promise<{ status: string | undefined; reason: string | undefined; votes: number }> {
  const [call] = seen.stage.world.calls;
  const process = seen.stage.world.process();
  const stored = await process.store.read(call?.requests[0] ?? "none").catch(() => undefined);
  return {
    status: stored?.record.status,
    reason: stored?.record.resolution?.reason,
    votes: stored?.record.decisions.length ?? 0,
  };
}

export const refusedWith =
  (...codes: readonly string[]) =>
  (seen: Seen): void => {
    const claimed = seen.stage.marks.get("claimed");
    const got = [refusalOf(seen), claimed];
    must(
      codes.some((code) => got.includes(code)),
      `it was refused with ${got.join(", ")}`,
    );
  };

export function errorPath(seen: Seen): void {
  const [, path = ""] = seen.said;
  must(refusalOf(seen) === "invalid_arguments", `the code is ${refusalOf(seen)}`);
  // A value that holds itself is named at some depth below itself.
  must(
    [`${path}:`, `${path}/`].some((at) => sentenceOf(seen).includes(` ${at}`)),
    `the model reads "${sentenceOf(seen)}"`,
  );
}

/** The tool was given these arguments, whole. */
export function received(seen: Seen): void {
  const [, what = ""] = seen.said;
  const given = JSON.stringify(seen.stage.world.effects.at(-1)?.arguments ?? null);
  const member = /^(\w+) (.+)$/.exec(what);
  must(given.includes(member === null ? what : `"${member[1]}":${member[2]}`), `the tool received ${given}`);
}

export const never = (seen: Seen): void => {
  for (const effect of seen.stage.world.effects)
    must(!JSON.stringify(effect.arguments).includes(seen.said[1] ?? ""), `the tool received ${seen.said[1]}`);
};

export function sameVerdict(seen: Seen): void {
  const { stage } = seen;
  const first = stage.world.calls[0];
  must(
    first !== undefined && stage.marks.get("without-words") === stage.verdictOf(first),
    `without the words the call is "${String(stage.marks.get("without-words"))}"`,
  );
}

/** Members by which a caller would answer for the person, left out. */
export async function sameWithout(seen: Seen): Promise<void> {
  const { stage } = seen;
  const [call] = stage.world.calls;
  if (call === undefined) throw new Wrong("nothing was called");
  const bare = Object.fromEntries(
    Object.entries(call.spec.args as object).filter(([name]) => !/^(?:confirm|approved|_)/.test(name)),
  );
  const again = stage.world.make({ label: "bare", tool: call.spec.tool, args: bare, run: "another" });
  await stage.world.settle();
  must(stage.verdictOf(again) === stage.verdictOf(call), `without them the call is "${stage.verdictOf(again)}"`);
}

export async function nothingSaysApproved(seen: Seen): Promise<void> {
  const [call] = seen.stage.world.calls;
  const stored = await seen.stage.world.process().store.read(call?.requests[0] ?? "none");
  must(
    stored !== undefined && stored.record.status === "pending" && stored.record.decisions.length === 0,
    "the record says that somebody decided",
  );
  for (const [name, value] of Object.entries(stored?.record ?? {}))
    must(!/^approved/.test(String(value)), `${name} says approved`);
}

export const roundsHold =
  (check: (round: ReturnType<typeof roundsOf>[number]) => boolean, otherwise: string) =>
  ({ stage }: Seen): void => {
    const rounds = roundsOf(stage);
    must(rounds.length > 0 && rounds.every(check), `${otherwise}: ${JSON.stringify(rounds.find((round) => !check(round)))}`);
  };

export async function stateIs(seen: Seen, ...wanted: readonly string[]): Promise<void> {
  const { status } = await statusOf(seen);
  must(wanted.includes(status ?? "unknown"), `the request is ${status ?? "unknown"}`);
}

/** The successor of an edit: its own id, the old one superseded, and no vote but the editor's. */
export async function edited(
  seen: Seen,
): Promise<{ old: NonNullable<Awaited<ReturnType<Seen["stage"]["world"]["process"]>["store"]["read"]>> | undefined }> {
  const [call] = seen.stage.world.calls;
  const [first = "none", second = "none"] = call?.requests ?? [];
  must(second !== "none" && first !== second, "there is no successor");
  return { old: undefined };
}

export async function superseded(seen: Seen): Promise<void> {
  await edited(seen);
  const { status, reason } = await statusOf(seen);
  must(status === "cancelled" && reason === "superseded", `the old request is ${status ?? "unknown"} (${reason ?? "no reason"})`);
}

/** Settled (design, section 6): votes for the old arguments are void, and the editor's own yes is the first for the new. */
export async function onlyTheEditor(seen: Seen): Promise<void> {
  await edited(seen);
  const request = seen.stage.world.calls[0]?.requests.at(-1) ?? "none";
  const stored = await seen.stage.world.process().store.read(request);
  const editor = text(machineOf(seen).steps.find((step) => step.verb === "edit")?.params.by);
  must(
    stored?.record.decisions.every((vote) => vote.by === editor && vote.digest === stored.record.digest) === true,
    "a vote for the old arguments counts",
  );
  const wanted = machineOf(seen).steps.find((step) => step.verb === "edit")?.params.args;
  must(JSON.stringify(stored?.payload?.arguments) === JSON.stringify(wanted), "policy did not see the edited arguments");
}

/** Settled: the same call in the same run is not asked again; after some refusals in a row the tool is not either. */
export const notAskedAgain = ({ stage }: Seen): void => {
  const [first, ...later] = stage.world.calls;
  const same = later.filter((call) => JSON.stringify(call.spec.args) === JSON.stringify(first?.spec.args));
  must(
    same.length > 0 &&
      same.every(
        (call) => call.requests.length === 0 && call.outcome?.status === "refused" && call.outcome.code === "already_refused",
      ),
    "a call that was rejected is asked again",
  );
};

export async function blocked({ stage }: Seen): Promise<void> {
  const codes: string[] = [];
  for (let time = 0; time < 5; time += 1) {
    const call = await stage.call("act", { cmd: `something else ${time}` });
    if (call.requests[0] !== undefined && call.outcome === undefined)
      await stage.world.decide(call.requests[0], { verdict: "reject", by: "ann", via: "chat" });
    codes.push(call.outcome?.status === "refused" ? call.outcome.code : "open");
  }
  must(codes.at(-1) === "too_many_refusals", `the codes are ${codes.join(", ")}`);
}

export const relayError =
  (...wanted: readonly number[]) =>
  ({ stage }: Seen): void => {
    const { answers, forwarded } = relayedBy(stage);
    must(
      answers.some((answer) => wanted.includes(Number(fieldsOf(answer.error).code))),
      `the client reads ${JSON.stringify(answers)}`,
    );
    must(!forwarded.some((line) => /tools\/call|callNow/.test(line)), `the server read ${forwarded.join(" ")}`);
  };

export const noCallForwarded = ({ stage }: Seen): void => {
  const { forwarded } = relayedBy(stage);
  must(
    !forwarded.some((line) => line.includes('"pay"') || line.includes("tools/call")),
    `the server read ${forwarded.join(" ")}`,
  );
};

export function publishesNoYes(seen: Seen): void {
  const yes = Object.keys(testing).filter((name) => /auto|approve(?:s|d)?(?:All|Every)|always/i.test(name));
  must(yes.length === 0, `holdpoint/testing publishes ${yes.join(", ")}`);
  void seen;
}

/** Bare imports of the core, and the reviewed list of what the package installs. */
export function noDependency(): void {
  const bare = globSync("src/core/**/*.ts", { cwd: ROOT })
    .filter((file) => !/[.]test(-kit)?[.]ts$/.test(file))
    .flatMap((file) =>
      [...readFileSync(join(ROOT, file), "utf8").matchAll(/^(?:import|export)[^;]*? from "([^."][^"]*)"/gm)].map(
        ([, name]) => `${file}: ${name}`,
      ),
    );
  must(bare.length === 0, `the core imports ${bare.join(", ")}`);
  const { dependencies = {} } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { dependencies?: object };
  const reviewed = readFileSync(join(ROOT, "docs/decisions/0002-dependencies.md"), "utf8");
  for (const name of Object.keys(dependencies)) must(reviewed.includes(name), `${name} is installed and was not reviewed`);
}

export async function stillWaiting({ stage }: Seen): Promise<void> {
  const standing = await stage.world.standing(stage.last?.requests[0] ?? "none");
  must(standing?.status === "pending" && standing.record.decisions.length === 0, `it is ${standing?.status ?? "unknown"}`);
}

/** Nothing was decided, and the whole card with its code stands on the screen below what somebody else drew. */
export async function redrawn(seen: Seen): Promise<void> {
  await stillWaiting(seen);
  const drawn = String(seen.stage.marks.get("drawn-after"));
  const [card] = cardsOf(seen);
  must(card !== undefined && drawn.includes(card.code) && drawn.includes(card.tool.name), "the card was not drawn again");
}

/** The digest of a call without the member is another. */
export async function digestCovers(seen: Seen): Promise<void> {
  const { stage } = seen;
  const [call] = stage.world.calls;
  const process = stage.world.process();
  const first = await process.store.read(call?.requests[0] ?? "none");
  const bare = stage.world.make({
    label: "bare",
    tool: call?.spec.tool ?? "",
    args: "schema" in seen.one.input ? { ...(call?.spec.args as object), force: false } : {},
    run: "another",
  });
  await stage.world.settle();
  const second = await process.store.read(bare.requests[0] ?? "none");
  must(
    first !== undefined && second !== undefined && first.record.callKey !== second.record.callKey,
    "the digest is the same without it",
  );
}

export const brokenAt = ({ stage }: Seen): number => Number(fieldsOf(stage.marks.get("break")).n ?? -1);

export async function oneLine({ stage }: Seen): Promise<void> {
  const [call] = stage.world.calls;
  await stage.world.decide(call?.requests[0] ?? "none", { verdict: "reject", by: "ann", via: "chat" });
  const lines = [...stage.world.processes.values()].flatMap((process) => process.log).map((line) => JSON.stringify(line));
  const values = Object.values((call?.spec.args ?? {}) as object).map((value) => JSON.stringify(String(value)).slice(1, -1));
  must(lines.length > 0, "nothing was logged");
  for (const line of lines) for (const value of values) must(!line.includes(value), `a value is in the log: ${line}`);
  for (const { text: shown } of stage.shown)
    for (const row of shown.split("\n")) must(!/^\d{4}-\d\d-\d\dT/.test(row), `a value begins a line: ${row}`);
}

export function neverAllows({ stage }: Seen): void {
  must(stage.world.effects.length === 0, "it was allowed");
}

export function sameVerdictInEnv({ stage }: Seen): void {
  must(
    stage.last !== undefined && stage.verdictOf(stage.last) === "ask" && stage.world.effects.length === 0,
    "the environment changed the verdict",
  );
}

export async function zoneRequired({ stage }: Seen): Promise<void> {
  const [, time = ""] = /"(\d{4}-[^"]+)"/.exec(String(stage.marks.get("raw"))) ?? [];
  must(time !== "" && parseInstant(time) === undefined, `the time ${time} is taken`);
  let refused = false;
  try {
    await stage.world.process().desk.exempt("until", { tools: ["act"], until: time as never }, () => true);
  } catch {
    refused = true;
  }
  must(refused, `an exemption until ${time} is taken`);
}

export function elicited(seen: Seen): void {
  const asked = fieldsOf(seen.stage.marks.get("elicited"));
  must(asked.method === "elicitation/create", "the server's question did not reach the client");
  must(seen.stage.world.shown.length <= 1, "the server's question became a card");
  for (const card of cardsOf(seen)) must(!JSON.stringify(card).includes("Approve echo"), "a card speaks with the server's words");
}
