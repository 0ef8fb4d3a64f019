/** The work that will run a case which nothing that exists can run yet. */
export const WORKS = [
  "inbox and server",
  "policy file",
  "channels",
  "adapters and hooks",
  "stores of many processes",
  "receipts",
] as const;
export type Work = (typeof WORKS)[number];

/** What became of one case. */
export type Result =
  | { readonly result: "pass" }
  | { readonly result: "fail"; readonly why: readonly string[] }
  | { readonly result: "not yet"; readonly work: Work; readonly why: string };

const PASS: Result = { result: "pass" };
export const failed = (why: readonly string[]): Result => (why.length === 0 ? PASS : { result: "fail", why });
export const notYet = (work: Work, why: string): Result => ({ result: "not yet", work, why });

/** Thrown where a check finds something wrong; the message is the report. */
export class Wrong extends Error {}

export function must(holds: boolean, otherwise: string): void {
  if (!holds) throw new Wrong(otherwise);
}
