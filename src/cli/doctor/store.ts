import { msOf, type Instant, type Summary } from "../../core/index.ts";
import { type DeskHost, withDesk } from "../host.ts";
import { oneLine, span } from "../output.ts";
import { isFurnished, type Place } from "../place.ts";
import { type Finding, isWritable, know, problemOf, well, wrong } from "./checks.ts";

/** A clock that is behind what it has written before by more than this went back. */
const CLOCK_SLACK_MS = 2000;

/** How the file itself is, asked of SQLite, beside what the store would say. */
async function file({ store: path }: Place): Promise<Finding> {
  const what = "store";
  const { DatabaseSync } = await import("node:sqlite");
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    const { user_version: version } = database.prepare("PRAGMA user_version").get() as { user_version: number };
    const { quick_check: check } = database.prepare("PRAGMA quick_check(1)").get() as { quick_check: string };
    if (check !== "ok") {
      return wrong(
        what,
        `${path} is damaged: ${check}`,
        "nothing in it counts as approved; restore a backup, or move the file away to start empty",
      );
    }
    if (!isWritable(path))
      return wrong(what, `${path} cannot be written, so no call can be held or answered`, `make it writable: chmod u+rw ${path}`);
    return well(what, `${path}, schema version ${version}, undamaged`);
  } finally {
    database.close();
  }
}

interface Seen {
  readonly newest: Instant | undefined;
  readonly waiting: number;
  /** Requests by where their tool comes from. */
  readonly origins: ReadonlyMap<string, number>;
}

async function lookThrough(records: AsyncIterable<Summary>): Promise<Seen> {
  const origins = new Map<string, number>();
  let newest: Instant | undefined;
  let waiting = 0;
  for await (const { record } of records) {
    if (newest === undefined || record.createdAt > newest) newest = record.createdAt;
    if (record.status === "pending") waiting += 1;
    const { origin, name } = record.call.tool;
    const from = origin.startsWith("mcp:")
      ? `the server ${name.split("/")[0] ?? ""}`
      : origin === "exec"
        ? "exec"
        : `origin ${origin}`;
    origins.set(from, (origins.get(from) ?? 0) + 1);
  }
  return { newest, waiting, origins };
}

function clock(now: Instant, newest: Instant | undefined): Finding {
  const behind = newest === undefined ? 0 : msOf(newest) - msOf(now);
  if (behind <= CLOCK_SLACK_MS) return well("clock", `${now.slice(0, 19).replace("T", " ")} UTC`);
  return wrong(
    "clock",
    `this machine's clock is ${span(behind)} behind the newest record: it was set back, or was ahead before`,
    "set the clock right; deadlines of what waits are measured by it",
  );
}

function gated({ origins }: Seen): Finding {
  const list = [...origins].map(([from, count]) => `${oneLine(from)} (${count})`).join(", ");
  return know(
    "what is gated",
    `only what was put behind holdpoint mcp, holdpoint exec or a gate in code. Asked here so far: ${list === "" ? "nothing" : list}`,
    "what your clients' configurations start without holdpoint mcp in front is not gated; this version does not read them",
  );
}

async function inside(host: DeskHost): Promise<readonly Finding[]> {
  const { store, approvals, as, place } = host;
  const seen = await lookThrough(store.find({}));
  const open = await approvals.list({}, as);
  const killed = await approvals.killed();
  const remembered = [...(await approvals.windows(as)), ...(await approvals.grants(as))];
  const overdue = seen.waiting - open.length;
  return [
    clock(await store.now(), seen.newest),
    open.length === 0
      ? well("requests", overdue > 0 ? `none waits; ${overdue} ended unanswered` : "none waits")
      : know("requests", `${open.length} waiting`, `holdpoint pending${place.option}`),
    killed.length === 0
      ? well("kill switch", "not on: no call is stopped by it")
      : know(
          "kill switch",
          `on, so calls are stopped: ${killed.map(({ scope }) => oneLine(scope)).join(", ")}`,
          `to let them run again: holdpoint kill off${place.option}${killed.some(({ scope }) => scope === "all") ? "" : " <scope>"}`,
        ),
    remembered.length === 0
      ? well("remembered", "no window and no grant is live")
      : know("remembered", `${remembered.length} live`, `holdpoint windows${place.option}; holdpoint grants${place.option}`),
    gated(seen),
  ];
}

/** Everything about the store; looks, and changes nothing. */
export async function storeFindings(place: Place): Promise<readonly Finding[]> {
  if (!isFurnished(place)) return [know("store", "none yet; the first holdpoint mcp or exec makes it")];
  try {
    return [await file(place), ...(await withDesk({ data: place.folder, quiet: true }, inside))];
  } catch (thrown) {
    const [says = "", ...fix] = problemOf(thrown).split("; ");
    return [wrong("store", says, fix.length === 0 ? "see the message" : fix.join("; "))];
  }
}
