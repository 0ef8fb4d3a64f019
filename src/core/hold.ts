import { asWritten, declaredDuration, refuseUnknownKeys } from "./declared.ts";
import { DeclarationError } from "./errors.ts";
import type { Hold } from "./ports/desk.ts";
import { type Alternative, ASSURANCES, type Clause } from "./requirement.ts";
import type { Rule } from "./policy.ts";
import type { Confirmation, Message } from "./tool-call.ts";

/** Longest wait that a declaration may ask for: 90 days (design, section 8). */
export const LONGEST_DEADLINE: number = 90 * 86_400_000;

/** An ask that names nobody belongs to the person the agent acts for, or to the desk's operator (P-09). */
const ANYONE_OF_OURS: readonly Alternative[] = [{ of: ["@principal", "@operator"], count: 1 }];

type Words = Omit<Confirmation, "message" | "when"> & Pick<Rule, "editable" | "channels" | "offer" | "remind">;

function alternatives(by: string, words: Words): readonly Alternative[] {
  if (words.any !== undefined && (words.approvers !== undefined || words.quorum !== undefined)) {
    throw new DeclarationError(`${by}: "any" is the long form of "approvers" and "quorum"; say one of them`);
  }
  const quorum = words.quorum ?? 1;
  const any =
    words.any ??
    (words.approvers === undefined && quorum === 1
      ? ANYONE_OF_OURS
      : [{ of: words.approvers ?? ["@principal", "@operator"], count: quorum }]);
  if (any.length === 0) throw new DeclarationError(`${by}: an empty "any" could never be met; name who may approve`);
  for (const { of, count } of any) {
    if (of.length === 0 || of.some((selector) => selector === ""))
      throw new DeclarationError(`${by}: an empty list of approvers names nobody; leave it out or name someone`);
    if (!Number.isSafeInteger(count) || count < 1)
      throw new DeclarationError(`${by}: a quorum is a whole number of 1 or more, not ${count}`);
  }
  return any;
}

function clauseOf(by: string, words: Words, exemptible: boolean): Clause {
  if (words.assurance !== undefined && !ASSURANCES.includes(words.assurance)) {
    throw new DeclarationError(`${by}: "${words.assurance}" is not an assurance; known are ${ASSURANCES.join(", ")}`);
  }
  const any = alternatives(by, words);
  const named = any !== ANYONE_OF_OURS;
  return {
    by,
    any,
    self: words.self ?? (named ? "deny" : "allow"),
    assurance: words.assurance ?? (named ? "account" : "local"),
    window: declaredDuration(by, words.window ?? 0),
    exemptible: words.exemptible ?? exemptible,
  };
}

function deadlineOf(by: string, words: Words): number | undefined {
  if (words.deadline === undefined) return undefined;
  const ms = declaredDuration(by, words.deadline);
  if (ms < 1 || ms > LONGEST_DEADLINE)
    throw new DeclarationError(`${by}: a deadline is at least 1 ms and at most 90 days; it cannot be off`);
  return ms;
}

/**
 * The hold that a declaration amounts to.
 * @throws DeclarationError naming what is wrong: an empty list must never mean "everyone" (P-14)
 */
export function holdOf(
  by: string,
  written: Words,
  options: { readonly exemptible: boolean; readonly message: Message | undefined },
): Hold {
  const words = asWritten(written);
  const hold = {
    by,
    clause: clauseOf(by, words, options.exemptible),
    graded: words.assurance !== undefined,
    deadline: deadlineOf(by, words),
    message: options.message,
    editable: words.edit === false ? [] : words.editable,
    channels: words.channels,
    offer: words.offer,
    remind: words.remind === undefined ? undefined : declaredDuration(by, words.remind),
  };
  return hold;
}

const CONFIRMATION_KEYS: ReadonlySet<string> = new Set([
  "message",
  "when",
  "window",
  "exemptible",
  "edit",
  "wait",
  "approvers",
  "quorum",
  "any",
  "self",
  "assurance",
  "deadline",
] satisfies readonly (keyof Confirmation)[]);

/** @throws DeclarationError naming the place: what would fail at the call fails where it is written */
export function checkConfirmation(where: string, confirm: true | string | Confirmation | undefined): void {
  const confirmation = confirmationOf(confirm);
  if (confirmation === undefined) return;
  if (typeof confirmation !== "object" || confirmation === null)
    throw new DeclarationError(`${where}: confirm is true, a message or an object`);
  refuseUnknownKeys(`${where}: confirm`, confirmation, CONFIRMATION_KEYS);
  holdOf(where, confirmation, { exemptible: true, message: undefined });
}

/** The confirmation in its long form; `undefined`: the tool declares none. */
export function confirmationOf(confirm: true | string | Confirmation | undefined): Confirmation | undefined {
  if (confirm === undefined) return undefined;
  if (confirm === true) return {};
  return typeof confirm === "string" ? { message: confirm } : confirm;
}
