import { must } from "../work.ts";
import {
  blocked,
  brokenAt,
  digestCovers,
  edited,
  elicited,
  errorPath,
  machineOf,
  never,
  neverAllows,
  noCallForwarded,
  noDependency,
  notAskedAgain,
  nothingSaysApproved,
  oneLine,
  onlyTheEditor,
  publishesNoYes,
  received,
  redrawn,
  refusedWith,
  relayError,
  roundsHold,
  sameVerdict,
  sameVerdictInEnv,
  sameWithout,
  stateIs,
  statusOf,
  stillWaiting,
  superseded,
  zoneRequired,
} from "./asserted.ts";
import type { Check } from "./check.ts";
import { relayedBy } from "./relayed.ts";
import { cardsOf, refusalOf } from "./seen.ts";

/** Checks of what happened, by their words. */
export const DONE: readonly Check[] = [
  [/^policy result is the same as with an empty reason$/, "the agent's words change no verdict", sameVerdict],
  [/^same policy result as without these fields$/, "no argument changes a verdict", sameWithout],
  [/^no field of the record says approved$/, "the record says what happened", nothingSaysApproved],
  [/^tool received (.+)$/, "the tool received this", received],
  [/^or refused; never (.+)$/, "the tool never received that", never],
  [
    /^error: accessor property; getter ran at most once$/,
    "an accessor is refused unread",
    (seen) => {
      must(
        refusalOf(seen) === "invalid_arguments" && Number(seen.stage.marks.get("reads") ?? 0) <= 1,
        `the getter ran ${String(seen.stage.marks.get("reads"))} times (${refusalOf(seen)})`,
      );
    },
  ],
  [
    /^error: (?:function|symbol|proxy|class|date|map|set|cycle|bigint)[\w ]*$/i,
    "what is no plain JSON is refused",
    refusedWith("invalid_arguments"),
  ],
  [/^error path (\/\S*)$/, "the fault is named by its pointer", errorPath],
  [
    /^both refused$/,
    "each text is refused",
    ({ stage }) => must((stage.marks.get("faults") as string[] | undefined)?.length === 2, "one of them was read"),
  ],
  [
    /^\(\{\}\)\.approved is undefined afterwards$/,
    "no prototype was touched",
    () => must(({} as { approved?: unknown }).approved === undefined, "Object.prototype was changed"),
  ],
  [/^digest covers (?:the key|it)$/, "the digest covers it", digestCovers],
  [
    /^ids differ$/,
    "two calls are two requests",
    ({ stage }) => {
      const ids = stage.world.calls.flatMap((call) => call.requests);
      must(new Set(ids).size === ids.length && ids.length > 1, `the ids are ${ids.join(", ")}`);
    },
  ],
  [
    /^([A-Z]) is still pending$/,
    "the other is untouched",
    async (seen) => {
      const call = machineOf(seen).named.get(seen.said[1] ?? "");
      const standing = await seen.stage.world.standing(call?.requests[0] ?? "none");
      must(standing?.status === "pending", `it is ${standing?.status ?? "unknown"}`);
    },
  ],
  [/^new request id$/, "an edit opens a request of its own", async (seen) => void (await edited(seen))],
  [/^old request cancelled: superseded$/, "an edit ends the old request", superseded],
  [/^votes start at zero; policy ran on (.+)$/, "no vote is carried over an edit", onlyTheEditor],
  [
    /^second call is not covered$/,
    "a yes covers what was shown",
    ({ stage }) => must(stage.last !== undefined && stage.verdictOf(stage.last) === "ask", "another call runs by it"),
  ],
  [
    /^second claim refused: used$/,
    "an approval is spent by its claim",
    refusedWith("cancelled", "invalid_token", "expired", "not_found"),
  ],
  [/^cards show the earlier denial$/, "a rejected call is not asked again", notAskedAgain],
  [/^after N the session is blocked: too_many_denials$/, "too many refusals end the asking", blocked],
  [/^claim refused: context changed$/, "changed surroundings refuse", refusedWith("context_changed")],
  [
    /^(?:context|digest|operand digest|audience) mismatch(?: at claim)?$/,
    "another call than the approved one is refused",
    refusedWith("context_changed", "invalid_token"),
  ],
  [/^not_eligible_any_more$/, "whoever lost the right counts no more", refusedWith("denied", "not_granted", "cancelled")],
  [
    /^one vote counted; still pending$/,
    "one person counts once",
    async (seen) => {
      const { status, votes } = await statusOf(seen);
      must(status === "pending" && votes === 1, `${votes} votes, ${status ?? "unknown"}`);
    },
  ],
  [
    /^(\d+) of (\d+)$/,
    "so many of so many",
    async (seen) => {
      const { votes } = await statusOf(seen);
      must(votes === Number(seen.said[1]), `${votes} votes`);
      must(cardsOf(seen)[0]?.asks[0]?.of[0]?.count === Number(seen.said[2]), "the quorum on the card is another");
    },
  ],
  [
    /^403 (not_eligible|self_approval|assurance_too_low)$/,
    "whoever may not decide is told so",
    (seen) => {
      const { code } = machineOf(seen).decided.at(-1) ?? {};
      const wanted = seen.said[1] === "assurance_too_low" ? ["assurance_too_low"] : ["not_eligible", "self_approval"];
      must(wanted.includes(code ?? ""), `the answer is ${JSON.stringify(machineOf(seen).decided.at(-1))}`);
    },
  ],
  [
    /^410; state expired$/,
    "a late answer is told so",
    async (seen) => {
      await stateIs(seen, "expired");
      must(machineOf(seen).decided.at(-1)?.code === "late", `the answer is ${JSON.stringify(machineOf(seen).decided.at(-1))}`);
    },
  ],
  [/^expired stays expired$/, "no clock brings it back", (seen) => stateIs(seen, "expired")],
  [
    /^outcome expired, not denied-by-human and not approved$/,
    "silence is its own end",
    async (seen) => {
      await stateIs(seen, "expired");
      refusedWith("expired")(seen);
    },
  ],
  [
    /^never both recorded as final$/,
    "one end for one request",
    roundsHold((round) => round.statuses.length <= 1, "two ends are recorded"),
  ],
  [
    /^effects <= 1; if deny is recorded before claim, effects = 0$/,
    "a no stands until the claim",
    roundsHold((round) => round.effects <= (round.noBeforeRun ? 0 : 1), "it ran after a no"),
  ],
  [
    /^one vote, one grant, (\d+) idempotent answers$/,
    "one person's answers are one vote",
    (seen) => roundsHold((round) => round.votes === 1 && round.counted === Number(seen.said[1]) + 1, "not one vote")(seen),
  ],
  [
    /^exactly 1 claim per request$/,
    "each request is claimed once",
    ({ stage }) =>
      must(
        ((stage.marks.get("claims") as number[] | undefined) ?? []).every((count) => count === 1),
        "a request was claimed twice",
      ),
  ],
  [
    /^state still approved or expired; never claimed$/,
    "without a journal nothing is claimed",
    async (seen) => {
      for (const store of seen.stage.world.stores) store.down = "no";
      await stateIs(seen, "approved", "expired");
    },
  ],
  [
    /^state indeterminate; a new request is needed$/,
    "what nobody saw end is not run again",
    (seen) => stateIs(seen, "indeterminate"),
  ],
  [
    /^state indeterminate; second claim refused$/,
    "what nobody saw end is not claimed again",
    async (seen) => {
      await stateIs(seen, "indeterminate");
      must(seen.stage.marks.get("claimed") !== "ok", "it was claimed again");
    },
  ],
  [
    /^one vote$/,
    "an answer given twice is one vote",
    async (seen) => must((await statusOf(seen)).votes === 1, "there are other votes"),
  ],
  [
    /^state expired: not_claimed; approver told$/,
    "an approval nobody used expires, and its approver is told",
    async (seen) => {
      const { status, reason } = await statusOf(seen);
      must(status === "expired" && reason === "not_claimed", `it is ${status ?? "unknown"} (${reason ?? "no reason"})`);
      must(
        seen.stage.world.closed.some(({ ending }) => ending?.includes("expired") === true),
        "nobody is told",
      );
    },
  ],
  [
    /^cancelled: (\w+)$/,
    "it is withdrawn, and why",
    async (seen) => {
      const { status, reason } = await statusOf(seen);
      must(status === "cancelled" && reason === seen.said[1], `it is ${status ?? "unknown"} (${reason ?? "no reason"})`);
    },
  ],
  [/^buffer discarded; still waiting$/, "what was typed before the question counts for nothing", stillWaiting],
  [/^(?:paste|pasted text) (?:ignored|refused|never answers).*$/, "a paste answers nothing", stillWaiting],
  [/^refused: no terminal$/, "a pipe is no terminal", refusedWith("no_approver")],
  [
    /^answer counts only after a full redraw with the code$/,
    "what is on the screen is drawn again before an answer counts",
    redrawn,
  ],
  [
    /^an answer without its record is not counted$/,
    "an answer without its record is not counted",
    (seen) => must(machineOf(seen).decided.at(-1)?.counted === false, "it was counted"),
  ],
  [
    /^an answer names what was shown$/,
    "an answer names what was shown",
    (seen) =>
      must(
        machineOf(seen).decided.at(-1)?.code === "stale_view",
        `the answer is ${JSON.stringify(machineOf(seen).decided.at(-1))}`,
      ),
  ],
  [
    /^exactly (\d+) claims? (?:is|are) recorded$/,
    "so many claims are recorded",
    async ({ stage, said }) => {
      const entries = await stage.world.entries(stage.world.calls[0]?.requests[0] ?? "none");
      const claims = entries.filter((entry) => entry.event === "request.claimed").length;
      must(claims === Number(said[1]), `${claims} claims are recorded`);
    },
  ],
  [/^error no_approver_reachable$/, "nobody to ask is a code of its own", refusedWith("no_approver")],
  [/^no effect; warning audited$/, "no switch of the environment is read", sameVerdictInEnv],
  [/^start-up fails$/, "there is no channel that says yes by itself", publishesNoYes],
  [/^server time rules$/, "the desk's clock decides", (seen) => stateIs(seen, "succeeded")],
  [/^still pending after (\d+) ms$/, "no timer overflows", (seen) => stateIs(seen, "pending")],
  [/^treated as corrupt$/, "a record that does not hold together is nobody's approval", refusedWith("store_unavailable")],
  [/^digest mismatch at load$/, "arguments that were not shown are not run", refusedWith("store_unavailable")],
  [
    /^registry refuses unwrapped gated tool$/,
    "a marked tool runs in no other place",
    (seen) => must(seen.stage.marks.get("thrown") === "no_gate", `it threw ${String(seen.stage.marks.get("thrown"))}`),
  ],
  [
    /^size (\d+) < checkpoint (\d+)$/,
    "a shortened record is noticed",
    (seen) => must(brokenAt(seen) === Number(seen.said[1]), `noticed at ${brokenAt(seen)}`),
  ],
  [
    /^index (\d+)$/,
    "a reordered record is noticed",
    (seen) => must(brokenAt(seen) === Number(seen.said[1]), `noticed at ${brokenAt(seen)}`),
  ],
  [/^one line in the log; value escaped$/, "no value is a line of a log", oneLine],
  [/^empty or reviewed list$/, "the core depends on nothing", noDependency],
  [/^rule does not match; never allow$/, "the rule does not match", neverAllows],
  [
    /^deny rules compare .+; allow rules compare exact bytes$/,
    "a deny matches by look, an allow by bytes",
    (seen) => must(refusalOf(seen) === "denied", `the code is ${refusalOf(seen)}`),
  ],
  [
    /^policy load fails or treats it as a tool called constructor$/,
    "it does not load",
    ({ stage }) => must(stage.marks.get("loaded") === false, "it was loaded"),
  ],
  [/^unknown tool; inherited function is not taken for a rule$/, "an inherited name is no tool", refusedWith("unknown_tool")],
  [
    /^(?:error at load|load error|declaration error)\b.*$/,
    "it fails where it is declared",
    ({ stage }) => must(stage.marks.get("loaded") === false, "it was taken"),
  ],
  [/^config is refused$/, "it does not load", ({ stage }) => must(stage.marks.get("loaded") === false, "it was loaded")],
  [
    /^unknown key is an error$/,
    "an unknown key fails the load",
    ({ stage }) =>
      must(/unknown key/.test(String((stage.marks.get("load-error") as Error | undefined)?.message)), "it was loaded"),
  ],
  [
    /^old policy stays; alarm$/,
    "what cannot be read changes nothing, loudly",
    ({ stage }) =>
      must(stage.marks.get("policy-kept") === true && stage.marks.get("load-error") !== undefined, "it went by in silence"),
  ],
  [/^offset required$/, "a time has a zone", zoneRequired],
  [/^not allowed by default$/, "what no rule names is not allowed", neverAllows],
  [/^reason policy_error$/, "a policy that fails refuses", refusedWith("policy_error")],
  [
    /^pattern refused at load, or decision within (\d+) ms and never allow$/,
    "a pattern costs no time",
    (seen) =>
      must(
        seen.stage.marks.get("loaded") === false || Number(seen.stage.marks.get("took")) < Number(seen.said[1]),
        "it took too long",
      ),
  ],
  [/^deny rule still applies, or ask with flag unparsed; never allow$/, "the deny applies", neverAllows],
  // Settled: a sum over calls is no rule of ours; a rule that states one does not load, and nothing runs by it.
  [
    /^after \d+ calls it asks$/,
    "a budget that nobody keeps frees nothing",
    ({ stage }) =>
      must(stage.marks.get("loaded") === false && stage.world.effects.length === 0, "a rule with a budget is in force"),
  ],
  [/^rule for (\w+) does not apply$/, "a rule for one server is no rule for another", noCallForwarded],
  [/^mode as without annotations$/, "a server's hints free nothing", noCallForwarded],
  [
    /^JSON-RPC error (-\d+)(?: or (-\d+))?; nothing forwarded$/,
    "a malformed message is an error",
    (seen) => relayError(...seen.said.slice(1).filter(Boolean).map(Number))(seen),
  ],
  [/^(-\d+); nothing forwarded$/, "an unknown method is an error", (seen) => relayError(Number(seen.said[1]))(seen)],
  [/^(-\d+)$/, "this is an error", (seen) => relayError(Number(seen.said[1]))(seen)],
  [/^call is gated, or batch refused$/, "nothing of it reaches the server", noCallForwarded],
  [/^no id: refused$/, "a call that cannot be answered is not made", noCallForwarded],
  [
    /^second refused$/,
    "one id is one call",
    ({ stage }) =>
      must(
        relayedBy(stage).answers.some((answer) => answer.error !== undefined),
        "both were taken",
      ),
  ],
  [
    /^next call is gated as usual$/,
    "no result approves anything",
    ({ stage }) => must(!relayedBy(stage).forwarded.some((line) => line.includes('"pay"')), "the next call ran"),
  ],
  [/^shown as a question by server X, not as an approval card$/, "a server's question is its own", elicited],
];
