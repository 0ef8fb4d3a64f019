/**
 * Contenders measured side by side. The machine is shared, so no time stands by itself: what counts is the median, over the
 * rounds, of the ratio of two contenders' CPU times within the same round.
 */
import fs from "node:fs";
import os from "node:os";

/** CPU time of this thread in µs: waiting for a core, and the compiler's and collector's own threads, are not in it. */
export function threadCpu() {
  try {
    const [ran] = fs.readFileSync(`/proc/self/task/${process.pid}/schedstat`, "latin1").split(" ");
    return Number(ran) / 1000;
  } catch {
    const { user, system } = process.cpuUsage();
    return user + system;
  }
}

export function median(samples) {
  const sorted = Float64Array.from(samples).sort();
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN;
}

const shuffled = (list) =>
  list
    .map((item) => [Math.random(), item])
    .sort(([a], [b]) => a - b)
    .map(([, item]) => item);

/**
 * Runs each contender for `ms`, in random order, round after round; two rounds before them are thrown away.
 * @param contenders `{ name: { run, async?, batch? } }`; `batch` runs lie between two looks at the clock, `async` ones are awaited
 * @returns `{ name: { cpu, rounds } }`: µs of CPU per run, median and of each round
 */
export async function measure(contenders, { rounds = 15, ms = 80 } = {}) {
  const spent = Object.fromEntries(Object.keys(contenders).map((name) => [name, []]));
  for (let round = -2; round < rounds; round++) {
    for (const name of shuffled(Object.keys(contenders))) {
      const cost = await costOf(contenders[name], ms);
      if (round >= 0) spent[name].push(cost);
    }
  }
  return Object.fromEntries(Object.entries(spent).map(([name, costs]) => [name, { cpu: median(costs), rounds: costs }]));
}

async function costOf({ run, async: awaited = false, batch = 100 }, ms) {
  globalThis.gc?.();
  let runs = 0;
  const end = performance.now() + ms;
  const began = threadCpu();
  do {
    if (awaited) for (let i = 0; i < batch; i++) await run();
    else for (let i = 0; i < batch; i++) run();
    runs += batch;
  } while (performance.now() < end);
  return (threadCpu() - began) / runs;
}

/** The median of the ratios of each round. */
export const ratio = (one, other) => median(one.rounds.map((cost, round) => cost / other.rounds[round]));

/** Prints what each costs beside `base`. */
export function show(title, measured, base) {
  console.log(`\n${title} (load ${os.loadavg()[0].toFixed(1)})`);
  for (const [name, one] of Object.entries(measured)) {
    console.log(`  ${one.cpu.toFixed(2).padStart(9)} µs  ${ratio(one, measured[base]).toFixed(2).padStart(6)} ×  ${name}`);
  }
}

let missed = 0;
/** Prints a ratio beside its target; {@link verdict} makes a miss the exit code. */
export function target(name, reached, most) {
  if (!(reached <= most)) missed += 1;
  console.log(`${reached <= most ? "met   " : "MISSED"} ${name}: ${reached.toFixed(2)} × (target: at most ${most} ×)`);
}
export function verdict() {
  process.exitCode = missed === 0 ? 0 : 1;
}
