import { must } from "../work.ts";
import { fieldsOf, keysOf } from "./pairs.ts";
import { isDeclared } from "./rules.ts";
import { isRelayed, relayedBy } from "./relayed.ts";
import { roundsOf } from "./crowd.ts";
import type { Machine } from "./machine.ts";
import type { Assertion, Seen } from "./seen.ts";

/** The outcome words of the attack files, each as one assertion (`security.md`, section 1). */

const machineOf = ({ stage }: Seen): Machine | undefined => stage.marks.get("machine") as Machine | undefined;
const effects = ({ stage }: Seen): number => stage.world.effects.length;
const forwarded = ({ stage }: Seen): readonly string[] => relayedBy(stage).forwarded;

/** Rejected before a request exists, with a code of ours. */
const refuseInput: Assertion = (seen) => {
  const { stage, one } = seen;
  must(effects(seen) === 0, "it ran");
  if (isRelayed(one)) {
    must(!forwarded(seen).some((line) => line.includes("tools/call")), "a call reached the server");
    const refused = relayedBy(stage).answers.filter(
      (answer) => answer.error !== undefined || fieldsOf(answer.result).isError === true,
    );
    return must(refused.length > 0, `the client reads ${JSON.stringify(relayedBy(stage).answers)}`);
  }
  must(stage.world.calls.every((call) => call.requests.length === 0) && stage.shown.length === 0, "a request was opened");
  const faults = (stage.marks.get("faults") as readonly string[] | undefined) ?? [];
  const codes = stage.world.calls.map(({ outcome }) => (outcome?.status === "refused" ? outcome.code : undefined));
  const thrown = stage.marks.get("thrown");
  const failedToLoad = stage.marks.get("loaded") === false && isDeclared(stage.marks.get("load-error"));
  must(
    failedToLoad || thrown !== undefined || faults.length > 0 || (codes.length > 0 && codes.every((code) => code !== undefined)),
    "nothing refused it",
  );
};

/** A person is asked, or it is denied where nobody can be; policy never lets the last call run. */
const ask: Assertion = (seen) => {
  const { stage, one } = seen;
  if (isRelayed(one)) {
    const calls = forwarded(seen).filter((line) => line.includes('"tools/call"'));
    const free = one.input.next === undefined ? 0 : 1;
    return must(calls.length <= free, `${calls.length} calls reached the server`);
  }
  const { last } = stage;
  if (last === undefined) return must(stage.marks.get("loaded") === false, "nothing was asked");
  const verdict = stage.verdictOf(last);
  must(verdict === "ask" || verdict === "deny", `the call is "${verdict}"`);
  const unasked = stage.world.effects.filter((effect) => effect.request === undefined && effect.label === last.label);
  must(unasked.length === 0, "it ran and nobody was asked");
};

const deny: Assertion = (seen) => {
  const { stage, one } = seen;
  if (isRelayed(one)) {
    must(!forwarded(seen).some((line) => line.includes("tools/call")), "it reached the server");
    return;
  }
  must(effects(seen) === 0, "it ran");
  must(
    stage.last !== undefined && stage.verdictOf(stage.last) === "deny",
    `the call is "${stage.last === undefined ? "not made" : stage.verdictOf(stage.last)}"`,
  );
};

const noEffect: Assertion = (seen) => must(effects(seen) === 0, `it ran ${effects(seen)} times`);

/** The request is as it was, and the attempt is on record; an answer that was counted before changes nothing either. */
const noChange: Assertion = (seen) => {
  const machine = machineOf(seen);
  if (machine === undefined) return must(seen.stage.marks.get("policy-kept") === true, "the policy changed");
  must(machine.before === machine.after, `the request was ${machine.before ?? "unknown"} and is ${machine.after ?? "unknown"}`);
  const decided = machine.decided.at(-1);
  const recorded = seen.stage.world.events.some((event) => event.type === "journal" && event.event === "attempt.refused");
  const repeated = decided?.counted === true && decided.note !== undefined;
  must(recorded || repeated, `the attempt is not on record: ${JSON.stringify(decided)}`);
};

const oneEffect: Assertion = (seen) => {
  const { stage } = seen;
  const claims = stage.marks.get("claims") as readonly number[] | undefined;
  if (claims !== undefined)
    return must(
      claims.every((count) => count === 1),
      `requests were claimed ${claims.join(", ")} times`,
    );
  const rounds = roundsOf(stage);
  if (rounds.length > 0)
    return must(
      rounds.every((round) => round.effects <= 1),
      "an answer ran it twice",
    );
  must(effects(seen) === 1, `it ran ${effects(seen)} times`);
};

const differ: Assertion = ({ stage }) =>
  must(new Set(keysOf(stage)).size === keysOf(stage).length && keysOf(stage).length > 1, "two different calls are one act");
const agree: Assertion = ({ stage }) => must(keysOf(stage).length > 1 && new Set(keysOf(stage)).size === 1, "one act is two");

export const OUTCOMES: Readonly<Record<string, Assertion>> = {
  refuse_input: refuseInput,
  ask,
  deny,
  render: () => undefined,
  same_digest: agree,
  different_digest: differ,
  no_effect: noEffect,
  no_change: noChange,
  one_effect: oneEffect,
  detect: ({ stage }) => must(stage.marks.get("break") !== undefined && stage.marks.get("break") !== null, "nothing was noticed"),
};
