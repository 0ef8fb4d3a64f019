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
 * @returns `{ name: { cpu, rounds, wall } }`: µs of CPU per run, median and of each round; µs by the clock of each batch, per run
 */
export async function measure(contenders, { rounds = 15, ms = 80 } = {}) {
  const spent = Object.fromEntries(Object.keys(contenders).map((name) => [name, { rounds: [], wall: [] }]));
  for (let round = -2; round < rounds; round++) {
    for (const name of shuffled(Object.keys(contenders))) {
      const { cpu, wall } = await costOf(contenders[name], ms);
      if (round < 0) continue;
      spent[name].rounds.push(cpu);
      spent[name].wall.push(...wall);
    }
  }
  return Object.fromEntries(Object.entries(spent).map(([name, costs]) => [name, { cpu: median(costs.rounds), ...costs }]));
}

async function costOf({ run, async: awaited = false, batch = 100 }, ms) {
  globalThis.gc?.();
  const wall = [];
  const began = threadCpu();
  let now = performance.now();
  const end = now + ms;
  do {
    if (awaited) for (let i = 0; i < batch; i++) await run();
    else for (let i = 0; i < batch; i++) run();
    const then = now;
    now = performance.now();
    wall.push(((now - then) * 1000) / batch);
  } while (now < end);
  return { cpu: (threadCpu() - began) / (wall.length * batch), wall };
}

/** The median of the ratios of each round. */
export const ratio = (one, other) => median(one.rounds.map((cost, round) => cost / other.rounds[round]));

export const quantile = (samples, q) => {
  const sorted = Float64Array.from(samples).sort();
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(q * sorted.length) - 1))] ?? Number.NaN;
};
/** What a run takes by the clock when the core is ours, of one contender to another. */
export const wallRatio = (one, other, q = 0.1) => quantile(one.wall, q) / quantile(other.wall, q);

/** Prints what each costs beside `base`: CPU, and the tenth percentile by the clock. */
export function show(title, measured, base) {
  console.log(`\n${title} (load ${os.loadavg()[0].toFixed(1)})`);
  console.log("     CPU µs     × base   p10 µs     × base");
  for (const [name, one] of Object.entries(measured)) {
    const cells = [one.cpu, ratio(one, measured[base]), quantile(one.wall, 0.1), wallRatio(one, measured[base])];
    console.log(`${cells.map((cell) => cell.toFixed(2).padStart(10)).join(" ")}   ${name}`);
  }
}

let missed = 0;
/** Prints a ratio beside its target; {@link verdict} makes a miss the exit code. `bench/run.mjs` reads these lines. */
export function target(name, reached, most) {
  say(name, { reached, met: reached <= most, wanted: `at most ${most}` });
}
export function targetAtLeast(name, reached, least) {
  say(name, { reached, met: reached >= least, wanted: `at least ${least}` });
}
function say(name, { reached, met, wanted }) {
  if (!met) missed += 1;
  console.log(`${met ? "met   " : "MISSED"} ${name}: ${reached.toFixed(2)} × (target: ${wanted} ×)`);
}
export function verdict() {
  process.exitCode = missed === 0 ? 0 : 1;
}
