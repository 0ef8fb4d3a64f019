import { type ClaimEvidence, type Entry, entryHash, type RequesterRecord } from "../../../src/core/index.ts";
import { type Fields, text } from "../faults/shape.ts";
import type { Machine } from "./machine.ts";
import type { Step } from "./shape.ts";

/** What an attacker does beside the gate: claims by itself, and works on the record. */

/** Who asked, but for what the step says of who claims. */
function claimant(asked: RequesterRecord, { params }: Step): ClaimEvidence["requester"] {
  const said: Fields = { ...params, principal: params.principal ?? params.user };
  const members = (["principal", "agent", "run", "session"] as const).map(
    (name) => [name, text(said[name]) ?? asked[name]] as const,
  );
  return Object.fromEntries(members.filter(([, value]) => value !== null)) as unknown as ClaimEvidence["requester"];
}

/** Whoever claims runs the tool at once: an executor of its own that asks the desk and nobody else. */
export async function foreignClaim(machine: Machine, step: Step): Promise<void> {
  const { stage } = machine;
  const { world } = stage;
  const request = machine.requestOf(step);
  const tenant = text(step.params.tenant);
  if (tenant !== undefined && !world.processes.has(tenant)) world.start({ name: tenant, tenant });
  const { desk } = world.process(tenant);
  const standing = await (world.processes.get("main") ?? world.process()).desk
    .standing(request)
    .catch(() => world.process().desk.standing(request));
  if (standing === undefined) return void stage.marks.set("claimed", "not found");
  const { requester, call, bindings } = standing.record;
  const evidence: ClaimEvidence = {
    holder: "somebody-else",
    requester: claimant(requester, step),
    tool: call.tool,
    arguments: standing.arguments ?? {},
    bindings,
  };
  const claimed = await desk.claim(request, evidence);
  stage.marks.set("claimed", claimed.ok ? "ok" : claimed.refusal.code);
  if (!claimed.ok) return;
  const journal = (await world.entries(request)).map((entry) => entry.event);
  world.effects.push({
    label: undefined,
    tool: call.tool.name,
    arguments: evidence.arguments,
    request,
    process: "somebody-else",
    journal,
  });
}

export const chainOf = (machine: Machine): readonly Entry[] =>
  (machine.stage.marks.get("chain") as readonly Entry[] | undefined) ?? [];

export function headOf(machine: Machine, chain: readonly Entry[]): string {
  const last = chain.at(-1);
  if (last === undefined) throw new Error("an empty chain has no head");
  return entryHash(machine.stage.world.process().runtime.crypto, last);
}

export async function ownEntries(machine: Machine): Promise<readonly Entry[]> {
  const process = machine.stage.world.process();
  const entries: Entry[] = [];
  for await (const entry of process.store.journal(`node/${process.runtime.ids.process}`)) entries.push(entry);
  return entries;
}
