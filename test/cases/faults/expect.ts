import { canonicalize } from "../../../src/core/index.ts";
import { must, Wrong } from "../work.ts";
import { expand } from "../expand.ts";
import { each, type Expectation, said, Stricter } from "./common.ts";
import { type Fields, isFields, list, number, text } from "./shape.ts";
import { answerSays, isStricter, outcomeSays, verdictsIn } from "./words.ts";
import { shownChecks } from "./shown.ts";
import { moreChecks } from "./more.ts";

const same = (a: readonly string[], b: readonly string[]): boolean => JSON.stringify(a) === JSON.stringify(b);
const sorted = (labels: readonly string[]): readonly string[] => [...labels].sort();
/** `1`, or `0 or 1, never 2`. */
function timesIn(wanted: unknown): readonly number[] {
  const exact = number(wanted);
  if (exact !== undefined) return [exact];
  return [...((text(wanted) ?? "").split("never")[0]?.matchAll(/\d+/g) ?? [])].map(([digits]) => Number(digits));
}

const executed: Expectation = (scene, value) =>
  each(value, (label, wanted) => {
    const times = scene.world.ran(label).length;
    must(timesIn(wanted).includes(times), `${label} ran ${times} times, not ${said(wanted)}`);
  });

const verdict: Expectation = (scene, value) => {
  const stricter: string[] = [];
  const alsoAsk = /may answer ask/.test(text(scene.one.expect.note) ?? "");
  each(value, (label, wanted) => {
    const accepted = new Set([...verdictsIn(String(wanted)), ...(alsoAsk ? ["ask"] : [])]);
    const got = scene.verdicts.get(label) ?? "none";
    if (accepted.has(got)) return;
    if (!isStricter(got, accepted)) throw new Wrong(`${label} is "${got}", not ${said(wanted)}`);
    stricter.push(`${label} is "${got}" where "${String(wanted)}" would do`);
  });
  if (stricter.length > 0) throw new Stricter(stricter.join(", "));
};

const executedArgs: Expectation = (scene, value) => {
  const wanted = isFields(value) ? value : Object.fromEntries(scene.world.calls.map((call) => [call.label, value]));
  each(wanted, (label, args) => {
    const ran = scene.world.ran(label).at(-1);
    if (ran === undefined)
      return must(text(value) !== undefined || text((args as Fields)?.command) !== undefined, `${label} did not run`);
    const original = scene.world.call(label)?.spec.args as Fields;
    const full = isFields(args) ? args : original;
    for (const [name, part] of Object.entries(full)) {
      const expected = text(part)?.startsWith("byte-exact") === true ? original[name] : expand(part);
      const got = (ran.arguments as Fields)[name];
      must(canonicalize(got) === canonicalize(expected), `${label} ran with ${name} = ${said(got)}, not ${said(expected)}`);
    }
  });
};

const modelSees: Expectation = (scene, value) =>
  each(value, (label, wanted) => {
    const { outcome } = scene.world.call(label) ?? { outcome: undefined };
    must(outcomeSays(outcome, String(wanted)), `the model sees ${said(outcome)} of ${label}, not "${String(wanted)}"`);
  });

const pending: Expectation = async (scene, value) => {
  const open = await scene.pending();
  must(same(sorted(open), sorted(list(value).map(String))), `open are ${said(open)}, not ${said(value)}`);
};

const statuses: Readonly<Record<string, string>> = {
  deny: "rejected",
  denied: "rejected",
  approve: "succeeded",
  approved: "succeeded",
};

/** A state by its own name, in the words of a seed, or described. */
const states: Expectation = async (scene, value) => {
  if (!isFields(value)) return;
  for (const [label, wanted] of Object.entries(value)) {
    const request = scene.requestOf(label);
    const status = request === undefined ? undefined : (await scene.world.standing(request))?.status;
    const expected = statuses[String(wanted)] ?? String(wanted);
    if (status === expected) continue;
    const { outcome } = scene.world.call(label) ?? { outcome: undefined };
    must(
      outcomeSays(outcome, String(wanted)),
      `${label} ended as ${status ?? "nothing"} (${said(outcome)}), not "${String(wanted)}"`,
    );
  }
};

const recorded: Expectation = async (scene, value) => {
  const wanted = isFields(value) ? value : Object.fromEntries(scene.world.calls.map((call) => [call.label, value]));
  for (const [label, decision] of Object.entries(wanted)) {
    const request = scene.requestOf(label);
    const record = request === undefined ? undefined : (await scene.world.standing(request))?.record;
    const votes = record?.decisions.length ?? 0;
    if (decision === null)
      must(votes === 0 && record?.status === "pending", `a decision on ${label} is recorded that nobody made`);
    else
      must(
        record?.decisions.some((vote) => vote.verdict === (decision === "deny" ? "reject" : decision)) === true,
        `no decision ${said(decision)} on ${label}`,
      );
  }
};

/** Who decided, how it ended and with which words. */
const audit: Expectation = async (scene, value) => {
  if (!isFields(value)) throw new Wrong("an audit by call was expected");
  for (const [label, wanted] of Object.entries(value)) {
    const request = scene.requestOf(label) ?? "";
    const standing = await scene.world.standing(request);
    const journal = await scene.world.entries(request);
    const facts = wanted as Fields;
    const vote = standing?.record.decisions.at(-1);
    const actor = journal.findLast((entry) => entry.actor !== null)?.actor;
    if ("decision" in facts)
      must(vote?.verdict === (facts.decision === "deny" ? "reject" : facts.decision), `${label}: ${said(vote)} is recorded`);
    if ("by" in facts)
      must(
        (vote?.by ?? null) === facts.by && (facts.by === null || actor?.principal === facts.by),
        `${label}: by ${said(vote?.by)}`,
      );
    if ("note" in facts)
      must(standing?.refusal?.reason === facts.note, `${label}: the words ${said(standing?.refusal?.reason)} are kept`);
    if ("outcome" in facts) must(standing?.status === facts.outcome, `${label} ended ${standing?.status ?? "nowhere"}`);
    if ("outcome" in facts)
      must(
        journal.some((entry) => entry.event === `request.${String(facts.outcome)}`),
        `the journal does not say ${said(facts.outcome)}`,
      );
  }
};

const prompts: Expectation = (scene, value) => {
  const count = (label: string | undefined): number => {
    const requests = scene.world.calls
      .filter((call) => label === undefined || call.label === label)
      .flatMap((call) => call.requests);
    const people = new Set(scene.world.shown.map(({ to }) => to));
    return Math.max(
      0,
      ...[...people].map((to) => scene.world.shown.filter((shown) => shown.to === to && requests.includes(shown.request)).length),
    );
  };
  const total = number(value);
  if (total !== undefined) return must(count(undefined) === total, `${count(undefined)} prompts, not ${total}`);
  each(value, (label, wanted) => must(count(label) === wanted, `${count(label)} prompts for ${label}, not ${said(wanted)}`));
};

const answer: Expectation = (scene, value) => {
  const decided = scene.world.answers.at(-1)?.decided;
  must(answerSays(decided, String(value)), `the person is answered ${said(decided)}, not "${String(value)}"`);
};

const listed: Expectation = (scene, value) => {
  const labels = scene.lists.at(-1)?.labels ?? [];
  must(same(labels, list(value).map(String)), `listed are ${said(labels)}, not ${said(value)}`);
};

const oneResult: Expectation = (scene) => {
  for (const call of scene.world.calls) must(call.results === 1, `${call.label} has ${call.results} results`);
};

const readAs: Expectation = (scene, value) => {
  const wanted = list(value).map(String);
  const got = scene.readings;
  must(got.length === wanted.length, `${got.length} texts were read, not ${wanted.length}`);
  for (const [place, reading] of got.entries()) {
    const expected = /^\w+/.exec(wanted[place] ?? "")?.[0] ?? "";
    // Settled: at a terminal a line that is no yes answers the prompt, and its words are the reason (design, section 12).
    const settled = scene.seat !== undefined && expected === "unclear" && reading === "deny";
    must(
      settled || reading === expected || (expected === "unclear" && reading === "none"),
      `the ${place + 1}th text is read as ${reading}, not ${expected}`,
    );
  }
};

const BASIC: Readonly<Record<string, Expectation>> = {
  executed,
  verdict,
  executed_args: executedArgs,
  model_sees: modelSees,
  pending,
  outcome: states,
  states,
  final: states,
  recorded_decision: recorded,
  audit,
  prompts_sent: prompts,
  answer,
  second_answer: answer,
  pending_listed: listed,
  every_call_has_one_result: oneResult,
  resolved_as: readAs,
};

/** Words for readers of a case: they say why, and demand nothing by themselves. */
const REMARKS: ReadonlySet<string> = new Set(["note", "or", "either", "documented", "identity", "rule", "unclear", "precedence"]);

export const expectationOf = (key: string): Expectation | undefined => {
  if (REMARKS.has(key)) return () => undefined;
  for (const table of [BASIC, moreChecks, shownChecks]) if (Object.hasOwn(table, key)) return table[key];
  return undefined;
};
