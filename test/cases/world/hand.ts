import type { ClaimEvidence, Desk } from "../../../src/core/index.ts";
import { throughDesk } from "./through.ts";

/** A door that is open, or that somebody waits at. */
export class Latch {
  #open: (() => void) | undefined;
  #passed: Promise<void> = Promise.resolve();

  shut(): void {
    this.#passed = new Promise((resolve) => {
      this.#open = resolve;
    });
  }

  open(): void {
    this.#open?.();
    this.#open = undefined;
  }

  get passed(): Promise<void> {
    return this.#passed;
  }
}

/** Holds an executor between its steps, and lets an attacker stand between the gate and its desk. */
export class Hand {
  /** Before an approved call is bound again and claimed. */
  readonly claim: Latch = new Latch();
  /** Between the claim and the run. */
  readonly effect: Latch = new Latch();
  /** Between the run and its record. */
  readonly complete: Latch = new Latch();
  /** What stands between the gate and its desk makes of the bytes that are about to run. */
  tamper: ((evidence: ClaimEvidence) => ClaimEvidence) | undefined;

  of(desk: Desk): Desk {
    return throughDesk(desk, {
      await: async (id, signal) => {
        const standing = await desk.await(id, signal);
        if (standing.status === "approved") await this.claim.passed;
        return standing;
      },
      claim: async (id, evidence) => {
        const claimed = await desk.claim(id, this.tamper?.(evidence) ?? evidence);
        if (claimed.ok) await this.effect.passed;
        return claimed;
      },
      complete: async (id, token, outcome) => {
        await this.complete.passed;
        return desk.complete(id, token, outcome);
      },
    });
  }
}
