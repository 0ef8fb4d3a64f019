import { notYet, type Result, type Work } from "../work.ts";
import { RULE_KEYS, SETTINGS } from "./policy.ts";
import { callsOf, type FaultCase, list, text } from "./shape.ts";
import { VERBS } from "./verbs.ts";

/** Verbs, settings and outcomes of parts that do not exist yet, and the work that makes each. */
const VERBS_LATER: Readonly<Record<string, Work>> = {
  http: "inbox and server",
  forward_link: "inbox and server",
  reassign: "inbox and server",
  typing: "inbox and server",
  tap: "inbox and server",
  inspect_message: "channels",
  channel_behaviour: "channels",
  offers: "policy file",
  load_policy: "policy file",
  file_load: "policy file",
  attach: "adapters and hooks",
  run_hook: "adapters and hooks",
  recover: "adapters and hooks",
  elicit: "adapters and hooks",
  doctor: "adapters and hooks",
};
const SETTINGS_LATER: Readonly<Record<string, Work>> = { bind_files: "policy file" };
const EXPECTED_LATER: Readonly<Record<string, Work>> = {
  message_saved: "adapters and hooks",
  message_reaches_model: "adapters and hooks",
  server_has: "adapters and hooks",
  our_hook_never_exits: "adapters and hooks",
  hook_output: "adapters and hooks",
  recovery_attempts_max: "adapters and hooks",
  offered_scopes: "policy file",
  offered_scopes_contain: "policy file",
  offered_rule_text: "policy file",
  saved_rules: "policy file",
  view_still_shows: "inbox and server",
  web_shows_after_click: "inbox and server",
  buttons_left: "channels",
  person_sees: "channels",
};
const CHAT: ReadonlySet<string> = new Set(["slack", "telegram", "teams", "email", "discord", "whatsapp", "sms", "voice"]);
/** What a surface draws; the decision itself is the same on every surface. */
const DRAWN: ReadonlySet<string> = new Set(["render", "view", "key", "keys", "channel_fault"]);

const surfaceWork = (via: string): Work | undefined =>
  via === "web" || via === "elicitation" ? "inbox and server" : CHAT.has(via) ? "channels" : undefined;

function bySurface(one: FaultCase): { work: Work; why: string } | undefined {
  for (const event of one.events) {
    const via =
      text(event.via) ??
      text(event.channel) ??
      (DRAWN.has(event.do) && event.do !== "render" ? one.policy.channels?.[0] : undefined);
    const work = via === undefined || !DRAWN.has(event.do) ? undefined : surfaceWork(via);
    if (work !== undefined) return { work, why: `${event.do} on ${via}` };
    if (event.via === "elicitation") return { work: "inbox and server", why: "an MCP client as channel" };
  }
  const chat = (one.policy.channels ?? []).find((name) => CHAT.has(name));
  return one.layer === "channel" && !one.core && chat !== undefined
    ? { work: "channels", why: `the ${chat} channel` }
    : undefined;
}

function byWord(one: FaultCase): { work: Work; why: string } | undefined {
  const post = list(one.policy.hooks).some((hook) => (hook as { event?: unknown }).event === "post");
  if (post) return { work: "adapters and hooks", why: "a hook after the tool" };
  if (callsOf(one).some((call) => call.ui !== undefined)) return { work: "adapters and hooks", why: "a framework's own form" };
  for (const [words, table] of [
    [one.events.map((event) => event.do), VERBS_LATER],
    [Object.keys(one.policy), SETTINGS_LATER],
    [Object.keys(one.expect), EXPECTED_LATER],
  ] as const) {
    const word = words.find((said) => Object.hasOwn(table, said));
    if (word !== undefined) return { work: table[word] as Work, why: word };
  }
  return undefined;
}

/** `undefined`: this case can run. */
export function laterThan(one: FaultCase): Result | undefined {
  const found = byWord(one) ?? bySurface(one);
  return found === undefined ? undefined : notYet(found.work, found.why);
}

/** Words of a case that nothing here knows. It is then not run, and not counted as passed. */
export function unknownWords(one: FaultCase): readonly string[] {
  return [
    ...one.events.filter((event) => !Object.hasOwn(VERBS, event.do)).map((event) => `no verb "${event.do}"`),
    ...Object.keys(one.policy).flatMap((key) => (SETTINGS.has(key) ? [] : [`no setting "${key}"`])),
    ...one.policy.rules.flatMap((rule) =>
      Object.keys(rule).flatMap((key) => (RULE_KEYS.has(key) ? [] : [`no rule key "${key}"`])),
    ),
  ];
}
