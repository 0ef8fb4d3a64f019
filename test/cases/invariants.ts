import { canonicalize, verifyStream } from "../../src/core/index.ts";
import type { World } from "./world/world.ts";

/**
 * What holds in every case, whatever it is about: a person's yes is behind each approved run, recorded before the tool
 * began; a request runs once; what ran is what the request shows; the record's chain holds.
 */
export async function broken(world: World): Promise<readonly string[]> {
  const found: string[] = [];
  const requests = new Set([
    ...world.calls.flatMap((call) => call.requests),
    ...world.effects.flatMap((effect) => effect.request ?? []),
  ]);
  for (const request of requests) found.push(...(await brokenRequest(world, request)));
  for (const effect of world.effects) {
    if (effect.request === undefined || effect.journal.length === 0) continue;
    for (const event of ["request.created", "request.voted", "request.approved", "request.claimed"])
      if (!effect.journal.includes(event)) found.push(`invariant: ${effect.tool} ran before its journal had ${event}`);
  }
  return found;
}

async function brokenRequest(world: World, request: string): Promise<readonly string[]> {
  const found: string[] = [];
  const effects = world.effects.filter((effect) => effect.request === request);
  if (effects.length > 1) found.push(`invariant: one request ran ${effects.length} times`);
  const process = [...world.processes.values()].findLast((one) => one.alive);
  if (process === undefined || world.stores.some((store) => store.down !== "no" || store.tamper !== undefined)) return found;
  const stored = await process.store.read(request);
  if (stored === undefined) return found;
  const { record, payload } = stored;
  const entries = await world.entries(request);
  const gap = verifyStream(process.runtime.crypto, entries, record.head);
  if (gap !== undefined || entries.length === 0)
    found.push(`invariant: the journal of a request does not hold: ${gap?.problem ?? "it is empty"}`);
  const claims = entries.filter((entry) => entry.event === "request.claimed").length;
  if (claims > 1) found.push(`invariant: one request was claimed ${claims} times`);
  if (effects.length > 0 && effects[0]?.journal.length === 0) found.push("invariant: a request ran without a journal");
  const secret = record.call.secrets.length > 0;
  for (const effect of effects)
    if (!secret && canonicalize(effect.arguments) !== canonicalize(payload?.arguments))
      found.push(`invariant: ${effect.tool} ran with other arguments than its request shows`);
  if (effects.length > 0 && !record.decisions.some((vote) => vote.verdict === "approve" && vote.digest === record.digest))
    found.push(`invariant: ${record.call.tool.name} ran and nobody approved it`);
  return found;
}
