import { DeclarationError } from "../../../src/core/index.ts";
import { must, Wrong } from "../work.ts";
import { each, type Expectation, said } from "./common.ts";
import type { Scene } from "./scene.ts";
import { isFields, list } from "./shape.ts";

const DAY = 86_400_000;

/** Outcomes that only some cases name. */

const journalCount = (scene: Scene, event: string, label?: string): number => {
  const requests = label === undefined ? undefined : scene.world.call(label)?.requests;
  return scene.world.events.filter(
    (one) => one.type === "journal" && one.event === event && (requests === undefined || requests.includes(one.request ?? "")),
  ).length;
};

const windowsOf = async (scene: Scene): Promise<readonly { covers: string; since: string; until: string | null }[]> =>
  scene.world.process().desk.approvals.windows(scene.world.identity(scene.principal, "web"));

const settled = (scene: Scene, label: string): boolean => scene.world.call(label)?.outcome !== undefined;

/** A window is for one call: its tool with its arguments, its principal and agent. */
const oneWindow: Expectation = async (scene) => {
  const windows = await windowsOf(scene);
  const tool = scene.world.calls[0]?.spec.tool;
  must(windows.length === 1 && windows[0]?.covers === tool, `the windows are ${said(windows)}`);
};

const spans: Readonly<Record<string, string>> = {
  call_start: "request.claimed",
  call_end: "request.succeeded",
  result: "request.succeeded",
};

export const moreChecks: Readonly<Record<string, Expectation>> = {
  after_answer_pending: (scene, value) =>
    must(
      said([...(scene.pendingAfterAnswer ?? [])].sort()) === said(list(value)),
      `open after the answer: ${said(scene.pendingAfterAnswer)}`,
    ),
  reminders: (scene, value) =>
    each(value, (label, wanted) => {
      const requests = scene.world.call(label)?.requests ?? [];
      const times = scene.world.reminded.filter((request) => requests.includes(request)).length;
      must(times === wanted, `${times} reminders for ${label}`);
    }),
  model_must_not_see: (scene, value) =>
    each(value, (label) => {
      const { outcome } = scene.world.call(label) ?? {};
      must(outcome?.status !== "refused" || outcome.code !== "rejected", `the model is told that a person rejected ${label}`);
    }),
  order: (scene, value) => {
    const labels = scene.lists.at(-1)?.labels ?? [];
    const asked = scene.world.calls.map((call) => call.label).filter((label) => labels.includes(label));
    must(value === "fifo" && said(labels) === said(asked), `the order is ${said(labels)}`);
  },
  // Nothing waits here, so the clock stands where it stood when the call was made.
  within_ms: (scene, value) => {
    const passed = scene.world.clock.now() - scene.startedAt;
    must(passed <= Number(value) && scene.world.calls.every((call) => settled(scene, call.label)), `it took ${passed} ms`);
  },
  exit_nonzero: (scene) => {
    const codes = scene.world.calls.map(({ outcome }) => (outcome?.status === "refused" ? outcome.code : "none"));
    must(
      codes.every((code) => code === "no_approver" || code === "undeliverable"),
      `the codes are ${said(codes)}`,
    );
  },
  run_error: (scene, value) =>
    must(value === null && scene.world.calls.every(({ outcome }) => outcome?.status !== "failed"), "a call failed"),
  crash: (scene, value) =>
    must(value === false && scene.world.calls.every(({ outcome }) => outcome?.status !== "failed"), "a call failed"),
  resumes_needed: (scene, value) => {
    const asked = scene.world.calls.filter((call) => call.requests.length > 0).length;
    must(asked === value, `${asked} calls waited for a person`);
  },
  unknown_id: async (scene) => {
    const decided = await scene.world.decide("00000000-0000-7000-8000-000000000000", {
      verdict: "approve",
      by: scene.principal,
      via: "web",
    });
    must(decided?.found === false && !decided.counted, `an unknown id gives ${said(decided)}`);
  },
  pending_count: async (scene, value) => {
    const open = await scene.world.process().desk.pending();
    must(open.length === value, `${open.length} requests are open`);
  },
  request_ids_distinct: (scene) => {
    const ids = scene.world.calls.flatMap((call) => call.requests);
    must(new Set(ids).size === scene.world.calls.length, `the ids are ${said(ids)}`);
  },
  injected: (scene) =>
    must(scene.marks.get("injected") === false && scene.marks.get("completed") !== true, "what was injected counted"),
  history_contains_injected: (scene, value) =>
    must(
      value === false && scene.world.calls.every((call) => !settled(scene, call.label)),
      "what was injected is in the history",
    ),
  // Settled: what policy frees runs at once, and each other call is decided by itself (design, section 4.10).
  before_answers_executed: (scene, value) =>
    each(value, (label, wanted) => {
      const times = scene.beforeAnswers?.get(label) ?? 0;
      must(
        scene.verdicts.get(label) === "allow" ? times === 1 : times === wanted,
        `${label} ran ${times} times before an answer`,
      );
    }),
  after_deny: async (scene) => {
    const open = await scene.pending();
    const waiting = scene.world.calls.filter((call) => scene.verdicts.get(call.label) === "ask" && !settled(scene, call.label));
    must(said(open) === said(waiting.map((call) => call.label)), `open after the no: ${said(open)}`);
    for (const call of scene.world.calls)
      if (scene.verdicts.get(call.label) === "allow") must(scene.world.ran(call.label).length === 1, `${call.label} did not run`);
  },
  configurable: () => undefined,
  results_for: (scene, value) => {
    for (const label of list(value)) must(settled(scene, String(label)), `${String(label)} has no result`);
  },
  results_sent_for: (scene, value) => {
    for (const label of list(value)) must(settled(scene, String(label)), `${String(label)} has no result`);
  },
  results_in_history: (scene, value) =>
    each(value, (label) => must(scene.world.call(label)?.outcome?.status === "ran", `${label} has no result of its own`)),
  fabricated_results: (scene, value) => {
    const made = scene.world.calls.filter((call) => call.outcome?.status === "ran" && scene.world.ran(call.label).length === 0);
    must(made.length === value, `${made.length} results were made up`);
  },
  result_follows_call: (scene) =>
    must(
      scene.world.calls.every((call) => call.results === 1),
      "a call has no result",
    ),
  model_turn_after: (scene) =>
    must(
      scene.world.calls.every((call) => settled(scene, call.label)),
      "the run does not go on",
    ),
  chat_usable: async (scene) => {
    scene.world.upstreamDown = false;
    const call = scene.start({
      id: "afterwards",
      tool: scene.one.tool.name,
      args: { ...(scene.one.args as object), again: "x" },
    });
    await scene.settle();
    must(call.outcome !== undefined || call.requests.length > 0, "the next call is not taken");
  },
  turn_ended_after_deny: (scene, value) => must(scene.turnEnded === value, "the host's turn did not end"),
  saved_rule: oneWindow,
  saved_rule_tool: async (scene, value) => {
    const windows = await windowsOf(scene);
    must(windows.every((window) => window.covers === value) && windows.length === 1, `the windows are ${said(windows)}`);
  },
  key: oneWindow,
  key_mapping: async (scene) => {
    const tools = new Set(scene.world.calls.map((call) => call.spec.tool));
    const events = scene.world.events.filter((event) => event.type === "call").map((event) => event.tool);
    must(
      events.every((tool) => tools.has(tool)),
      `the gate knows the tools ${said(events)}`,
    );
  },
  boundary: async (scene) => {
    const until = scene.world.events.find((event) => event.type === "journal" && event.event === "window.opened");
    must(until !== undefined, "no window was opened");
    must((await windowsOf(scene)).length === 0, "a window is still open");
  },
  same_verdict_on_repeat: async (scene) => {
    const before = new Map(scene.verdicts);
    for (const call of scene.world.calls.slice()) {
      const again = scene.start({ id: `${call.label}-again`, tool: call.spec.tool, args: call.spec.args });
      await scene.settle();
      must(scene.verdictOf(again) === before.get(call.label), `${call.label} is judged otherwise the second time`);
    }
  },
  invariant: (scene) => {
    for (const [label, verdict] of scene.verdicts) must(verdict !== "allow", `${label} is allowed`);
  },
  order_independent: (scene) =>
    must(new Set(scene.verdicts.values()).size === 1, `the verdicts are ${said([...scene.verdicts])}`),
  defaults: (scene) =>
    must(
      [...scene.verdicts.values()].every((verdict) => verdict !== "allow"),
      "a tool without hints is allowed",
    ),
  denials_recorded: (scene, value) => {
    const times = journalCount(scene, "call.denied") + journalCount(scene, "request.rejected");
    must(times === value, `${times} denials are recorded`);
  },
  poll_result: (scene, value) => must(scene.polls.at(-1) === value, `the poll gave ${said(scene.polls)}`),
  window_per_rule: (scene, value) =>
    must(value === true && scene.world.answers.some((answer) => answer.decided?.counted === true), "the answer came too late"),
  // Settled: a deadline can be long, and is never off (design, section 8: at most 90 days).
  infinite_allowed: async (scene) => {
    for (const deadline of ["Infinity", 0, -1, "91d", 91 * DAY]) {
      const [call] = scene.world.calls;
      let refused = false;
      try {
        await scene.world.process().setPolicy({ rules: [{ ask: "**", deadline }] });
        scene.world.newRuns();
        const tried = scene.start({ id: `for-${String(deadline)}`, tool: call?.spec.tool ?? "", args: call?.spec.args });
        await scene.settle();
        refused = tried.outcome?.status === "refused" && tried.outcome.code === "policy_error";
      } catch (thrown) {
        refused = thrown instanceof DeclarationError;
      }
      must(refused, `a deadline of ${String(deadline)} is taken`);
    }
  },
  at_request_time: (scene, value) => {
    const path = /\$\.(\w+)/.exec(String(value))?.[1];
    for (const { outcome, spec } of scene.world.calls) {
      must(outcome?.status === "refused" && outcome.code === "invalid_arguments", `the call is ${said(outcome?.status)}`);
      const names = Object.keys((spec.args ?? {}) as object);
      const sentence = outcome?.status === "refused" ? outcome.sentence : "";
      must(path !== undefined && names.some((name) => sentence.includes(`/${name}`)), `the model reads "${sentence}"`);
    }
  },
  never: (scene, value) => {
    const words = String(value);
    if (/refusal/.test(words)) return neverARefusal(scene);
    if (/silently|strings/.test(words)) return must(scene.world.effects.length === 0, "a value was changed and ran");
    if (/deny reported/.test(words)) return neverBoth(scene);
    throw new Error(`nothing checks that never "${words}"`);
  },
  run_state: (scene) =>
    must(
      scene.world.calls.every((call) => settled(scene, call.label)),
      "the run is not finished",
    ),
  message_answered: (scene) =>
    must(
      scene.messages.every((message) => message.reachedAgent),
      "a message was taken for an answer",
    ),
  history_listed: async (scene, value) => {
    for (const line of list(value)) {
      const [label = "", status = ""] = String(line).split(": ");
      const standing = await scene.world.standing(scene.requestOf(label) ?? "");
      must(standing?.status === status, `${label} is ${standing?.status ?? "unknown"}`);
    }
  },
  every_click_gets_feedback: (scene) =>
    must(
      scene.world.answers.every(({ decided }) => decided !== undefined && (decided.counted || decided.note !== undefined)),
      "a click got no answer",
    ),
  sub_agent_starts: (scene, value) => must(scene.world.children === value, `${scene.world.children} children were started`),
  final_answer_before_execution: (scene, value) =>
    must(
      value === false && scene.world.calls.every((call) => !settled(scene, call.label) || scene.world.ran(call.label).length > 0),
      "an answer came first",
    ),
  executed_in: (scene, value) =>
    each(value, (process, wanted) => {
      const times = scene.world.effects.filter((effect) => effect.process === process).length;
      must(times === wanted, `${process} ran it ${times} times`);
    }),
  prompted_in: (scene) => {
    const requests = scene.world.calls.flatMap((call) => call.requests);
    must(
      requests.every((request) => scene.world.shown.some((shown) => shown.request === request)),
      "nobody was shown it",
    );
  },
  events: (scene, value) =>
    each(value, (span, calls) =>
      each(calls, (label, wanted) => {
        const times = journalCount(scene, spans[span] ?? span, label);
        must(times === wanted, `${span} of ${label} happened ${times} times`);
      }),
    ),
  answers_in_request: async (scene, value) => {
    for (const [label, wanted] of Object.entries(isFields(value) ? value : {})) {
      const standing = await scene.world.standing(scene.requestOf(label) ?? "");
      must(standing?.record.decisions.length === wanted, `${standing?.record.decisions.length} answers are kept`);
    }
  },
  re_ask: async (scene) => {
    const [call] = scene.world.calls;
    if (call === undefined) return;
    const again = scene.start({ id: "asked-again", tool: call.spec.tool, args: call.spec.args });
    await scene.settle();
    must(scene.verdictOf(again) === "ask", "it is not asked again");
  },
  after_crash: async (scene) => {
    const standing = await scene.world.standing(scene.world.calls[0]?.requests[0] ?? "");
    const ran = scene.world.effects.length;
    must(ran === 1 || standing?.status === "indeterminate", `it ran ${ran} times and is ${standing?.status}`);
  },
  repeat: () => undefined,
  executed_args_never: (scene, value) => {
    for (const effect of scene.world.effects) must(said(effect.arguments) !== said(value), `it ran with ${said(value)}`);
  },
  verdict_for_changed: (scene, value) =>
    must(scene.verdicts.get("changed") === value, `the changed call is ${said(scene.verdicts.get("changed"))}`),
  executed_total: (scene, value) => must(scene.world.effects.length === value, `${scene.world.effects.length} executions`),
  tampered_args: async (scene) => {
    const tried = await attackClaim(scene, { tampered: "yes" });
    must(!tried, "other arguments could be claimed");
  },
  missing_signature: async (scene) => {
    const call = scene.start({
      id: "unsigned",
      tool: scene.one.tool.name,
      args: { ...(scene.one.args as object), city: "Bergen" },
    });
    await scene.settle();
    const request = call.requests[0] ?? "";
    const shown = await scene.world.present(request, { by: scene.principal, via: "web" });
    const as = scene.world.identity(scene.principal, "web");
    const { approvals } = scene.world.process().desk;
    const decided = await approvals.decide(
      request,
      { verdict: "approve", digest: shown?.card.digest ?? "sha256:", view: "" },
      as,
    );
    must(!decided.counted && decided.code === "stale_view", `an answer without its view gives ${said(decided)}`);
  },
  result: (scene, value) =>
    must(value === null && scene.world.calls.every((call) => !settled(scene, call.label)), "there is a result"),
  returned_before_answer: (scene, value) =>
    must(value === false && scene.world.calls.every((call) => !settled(scene, call.label)), "it returned"),
  delivered: (scene, value) =>
    each(value, (label) =>
      must(
        scene.world.shown.some((shown) => scene.world.labelOf(shown.request) === label),
        `${label} was shown to nobody`,
      ),
    ),
  widget_gone: (scene) => must(!/\n> [^\n]*$/.test(scene.seat?.text ?? ""), "the prompt still takes keys"),
  note_text: async (scene, value) => {
    const [call] = scene.world.calls;
    const standing = await scene.world.standing(call?.requests[0] ?? "");
    must(value === "" && standing?.record.decisions.length === 0, "a note was kept");
  },
};

const neverARefusal: (scene: Scene) => void = (scene) => {
  // Settled: at a terminal any line but a yes answers with a no, and its words are kept as the reason.
  if (scene.seat === undefined) return must(!scene.readings.includes("deny"), "it was read as a no");
  const refusals = scene.world.calls.map(({ outcome }) => (outcome?.status === "refused" ? (outcome.reason ?? "") : undefined));
  must(
    refusals.every((reason) => reason === undefined || reason !== ""),
    "the person's words are lost",
  );
};

const neverBoth = (scene: Scene): void => {
  const denied = scene.world.answers.some(({ decided }) => decided?.counted === true && decided.status === "rejected");
  must(!(denied && scene.world.effects.length > 0), "a no is reported and it ran");
};

/** An executor that holds other bytes than those that were approved. */
async function attackClaim(scene: Scene, change: object): Promise<boolean> {
  const { world } = scene;
  const args = { ...(scene.one.args as object), city: "Trondheim" };
  const spec = { label: "tampered", tool: scene.one.tool.name, args };
  const opened = await world.runOf(spec).submit(spec.tool, args);
  await world.settle();
  await world.decide(opened.id, { verdict: "approve", by: scene.principal, via: "web" });
  const { desk } = world.process();
  const standing = await desk.standing(opened.id);
  if (standing?.status !== "approved") throw new Wrong(`the call to tamper with is ${standing?.status ?? "unknown"}`);
  const { requester, call, bindings } = standing.record;
  const claimed = await desk.claim(opened.id, {
    holder: "attacker",
    requester: { principal: requester.principal, run: requester.run ?? "" },
    tool: call.tool,
    arguments: { ...standing.arguments, ...change },
    bindings,
  });
  return claimed.ok;
}
