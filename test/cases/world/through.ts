import type { Desk } from "../../../src/core/index.ts";

/** A desk that does what another does, but for what is changed. */
export const throughDesk = (desk: Desk, change: Partial<Desk>): Desk => ({
  snapshot: (mode) => desk.snapshot(mode),
  submit: (submission) => desk.submit(submission),
  await: (id, signal) => desk.await(id, signal),
  standing: (id) => desk.standing(id),
  renew: (id, holder, token) => desk.renew(id, holder, token),
  park: (id, holder, leaving) => desk.park(id, holder, leaving),
  resume: (token, by) => desk.resume(token, by),
  claim: (id, evidence) => desk.claim(id, evidence),
  complete: (id, token, outcome) => desk.complete(id, token, outcome),
  cancel: (id, reason, by) => desk.cancel(id, reason, by),
  ran: (report) => desk.ran(report),
  reachable: (submission) => desk.reachable(submission),
  ...change,
});
