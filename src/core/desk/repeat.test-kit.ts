import { expect } from "vitest";
import type { Completion, Ruling, Submission } from "../ports/desk.ts";
import { type Bench, evidenceOf, held, submissionOf } from "./desk.test-kit.ts";

export const HOUR = 3_600_000;

type Over = Parameters<typeof submissionOf>[1];
/** A gateway's call: `session` is that of one gateway process, `renewer` its lease. */
export const callOf = (on: Bench, session = "s1", over: Over = {}): Submission =>
  submissionOf(on, {
    grade: "structural",
    deadline: HOUR,
    renewer: `gate ${session}`,
    requester: { principal: "ada", agent: "client", session, run: session },
    ...over,
  });

export const requestOf = (ruling: Ruling): string | undefined => (ruling.ruling === "held" ? ruling.request : undefined);

export async function parked(on: Bench, session = "s1", over: Over = {}): Promise<string> {
  const submission = callOf(on, session, over);
  const id = await held(on, submission);
  await on.desk.park(id, submission.renewer);
  return id;
}

export async function claimed(on: Bench, submission: Submission, id: string): Promise<string> {
  const said = await on.desk.claim(id, evidenceOf(submission, { holder: submission.renewer }));
  if (!said.ok) throw new Error(`not claimed: ${said.refusal.code}`);
  return said.token;
}

/** A call whose caller goes away while it runs, and how it ends then. */
export async function ranUnseen(on: Bench, completion: Partial<Completion>, over: Over = {}): Promise<string> {
  const submission = callOf(on, "s1", over);
  const id = await held(on, submission);
  await on.channel.answer(id, "approve");
  const token = await claimed(on, submission, id);
  expect(await on.desk.complete(id, token, { status: "succeeded", observedBy: "executor", keep: true, ...completion })).toBe(
    true,
  );
  return id;
}
