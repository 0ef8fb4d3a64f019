/** Interleaved rounds and their numbers. Only ratios inside one run mean anything: the machine is shared. */
import os from "node:os";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { median, threadCpu } from "./measure.mjs";

export const quantile = (samples, q) => {
  const sorted = Float64Array.from(samples).sort();
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(q * sorted.length) - 1))] ?? Number.NaN;
};

const shuffled = (list) =>
  list
    .map((item) => [Math.random(), item])
    .sort(([a], [b]) => a - b)
    .map(([, item]) => item);

/**
 * Runs each contender for `ms`, in random order, round after round.
 * @returns by name: wall microseconds of every single run, and the median over the rounds of CPU microseconds a run
 */
export async function interleave(contenders, { rounds, ms }) {
  const measured = Object.fromEntries(Object.keys(contenders).map((name) => [name, { wall: [], cpus: [] }]));
  for (let round = -1; round < rounds; round++) {
    for (const name of shuffled(Object.keys(contenders))) {
      globalThis.gc?.();
      const wall = [];
      const cpu = threadCpu();
      const end = performance.now() + ms;
      for (let now = performance.now(); now < end; ) {
        await contenders[name]();
        const then = now;
        now = performance.now();
        wall.push((now - then) * 1000);
      }
      if (round < 0) continue;
      measured[name].wall.push(...wall);
      measured[name].cpus.push((threadCpu() - cpu) / wall.length);
    }
  }
  return Object.fromEntries(Object.entries(measured).map(([name, { wall, cpus }]) => [name, { wall, cpu: median(cpus) }]));
}

/** `lanes` workers, each doing the same again and again for `ms`. @returns how often per second */
export async function perSecond(act, lanes, ms) {
  let done = 0;
  const began = performance.now();
  const lane = async () => {
    while (performance.now() - began < ms) {
      await act();
      done++;
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return (done * 1000) / (performance.now() - began);
}

export const round = (number) => (number >= 100 ? number.toFixed(0) : number >= 10 ? number.toFixed(1) : number.toFixed(2));

export function table(title, rows) {
  const load = os.loadavg()[0]?.toFixed(1);
  console.log(`\n### ${title} (Node ${process.version}, ${os.cpus().length} cores, load ${load})\n`);
  const names = Object.keys(rows[0]);
  console.log(`| ${names.join(" | ")} |\n|${names.map(() => "---").join("|")}|`);
  for (const row of rows)
    console.log(`| ${names.map((name) => (typeof row[name] === "number" ? round(row[name]) : row[name])).join(" | ")} |`);
}

/** Says whether each target of docs holds, and lets the process fail where one does not. */
export function judge(targets) {
  console.log("");
  for (const { what, is, atMost, atLeast } of targets) {
    const holds = atMost === undefined ? is >= atLeast : is <= atMost;
    if (!holds) process.exitCode = 1;
    console.log(
      `${holds ? "holds" : "MISSED"}: ${what}: ${round(is)} (${atMost === undefined ? `at least ${atLeast}` : `at most ${atMost}`})`,
    );
  }
}

export { sleep };

/** The same call for everybody: about 1 KB of JSON, keys not sorted. */
export const ARGS = {
  to: ["alice@example.com", "bob@example.com"],
  subject: "Invoice 2024-117 — please pay by Friday",
  amount: 1234.56,
  currency: "EUR",
  urgent: false,
  meta: {
    zone: "eu-west-1",
    account: "acct_000123456789",
    tags: ["finance", "q3", "outbound"],
    nested: { b: 2, a: 1, c: { y: null, x: true } },
  },
  body: "Dear customer, ".repeat(40),
};
