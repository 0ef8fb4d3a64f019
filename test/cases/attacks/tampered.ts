import type { Stored } from "../../../src/core/index.ts";
import { isFields } from "../faults/shape.ts";
import type { Sabotage } from "../world/part.ts";
import type { AttackCase } from "./shape.ts";
import { Stage } from "./stage.ts";

/** A hand on the database: an approved request whose row is changed before it is taken up. */

export const isTampered = ({ input }: AttackCase): boolean => isFields(input.row);

function changed(stored: Stored, row: Readonly<Record<string, unknown>>): Stored {
  const record = {
    ...stored.record,
    ...(row.state === undefined ? {} : { status: row.state }),
    ...(row.version === undefined ? {} : { rev: row.version }),
  };
  const payload =
    stored.payload === null || row.args === undefined
      ? stored.payload
      : { ...stored.payload, arguments: { cmd: String(row.args) } };
  return { record: record as Stored["record"], payload };
}

export async function runTampered(one: AttackCase, sabotage?: Sabotage): Promise<Stage> {
  const row = one.input.row as Readonly<Record<string, unknown>>;
  const stage = new Stage({ sabotage, tools: [{ name: "act", run: () => undefined }], inHand: true });
  stage.world.start({ name: "main" });
  stage.hand.claim.shut();
  const call = await stage.call("act", { cmd: "make deploy" });
  const request = call.requests[0] ?? "none";
  await stage.world.decide(request, { verdict: "approve", by: "ann", via: "chat" });
  for (const store of stage.world.stores) store.tamper = (stored) => changed(stored, row);
  stage.hand.claim.open();
  await stage.world.settle();
  return stage;
}
