/**
 * Target 15: what importing the core costs a fresh process, beside importing `ai`, and that it loads no dependency.
 * Measured is what is published: JavaScript as `npm run build` makes it, built here into a folder of its own, from
 * which no package can be found.
 *
 *   (cd bench && npm ci)        for `ai`
 *   node bench/cold.mjs
 */
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { median, target, verdict } from "./measure.mjs";

const ROUNDS = 7;
const ROOT = path.join(import.meta.dirname, "..");

function built(folder) {
  fs.writeFileSync(path.join(folder, "package.json"), '{ "type": "module" }\n');
  const tsc = path.join(ROOT, "node_modules/typescript/bin/tsc");
  // Types are checked elsewhere; what is emitted does not depend on it.
  const { status, stdout } = spawnSync(process.execPath, [tsc, "-p", "tsconfig.build.json", "--outDir", folder, "--noCheck"], {
    cwd: ROOT,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`the build failed: ${stdout}`);
  return pathToFileURL(path.join(folder, "index.js")).href;
}

/** Runs a module in a fresh process. @returns what it printed, as JSON */
function fresh(code) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", code], {
    cwd: import.meta.dirname,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout.trim().split("\n").at(-1));
}

const timing = (specifier) => `
  const began = performance.now();
  ${specifier === undefined ? "" : `await import(${JSON.stringify(specifier)});`}
  const ms = performance.now() - began;
  const { user, system } = process.cpuUsage();
  console.log(JSON.stringify({ ms, cpu: (user + system) / 1000, memory: process.memoryUsage().rss / 1048576 }));
  process.exit();`;

/** Every module that an import loads, whether it can be found or not. */
const tracing = (specifier) => `
  import { registerHooks } from "node:module";
  const loaded = [];
  registerHooks({
    resolve(name, context, next) {
      loaded.push(name);
      return next(name, context);
    },
  });
  await import(${JSON.stringify(specifier)});
  console.log(JSON.stringify(loaded));
  process.exit();`;

const isOurs = (specifier) => specifier.startsWith("node:") || specifier.startsWith("file:") || specifier.startsWith(".");

function show(measured) {
  const bare = measured["bare Node"];
  const of = (samples, what) => median(samples.map((sample) => sample[what]));
  console.log(`\na fresh process, median of ${ROUNDS} (Node ${process.version}, load ${os.loadavg()[0].toFixed(1)})`);
  console.log("  import ms   process CPU ms above bare   MB above bare");
  for (const [name, samples] of Object.entries(measured)) {
    const above = (what) => (of(samples, what) - of(bare, what)).toFixed(1);
    console.log(
      `${of(samples, "ms").toFixed(1).padStart(11)} ${above("cpu").padStart(27)} ${above("memory").padStart(15)}   ${name}`,
    );
  }
}

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "holdpoint-bench-"));
try {
  const entry = built(folder);
  const loaded = fresh(tracing(entry));
  const foreign = loaded.filter((specifier) => !isOurs(specifier));
  console.log(`importing the core loads ${loaded.length} modules; not ours and not Node's: ${foreign.join(", ") || "none"}`);
  target("15, dependencies that importing the core loads", foreign.length, 0);
  const contenders = { "bare Node": undefined, "node:crypto": "node:crypto", holdpoint: entry, ai: "ai" };
  const measured = Object.fromEntries(Object.keys(contenders).map((name) => [name, []]));
  for (let round = -1; round < ROUNDS; round++) {
    for (const [name, specifier] of Object.entries(contenders).sort(() => Math.random() - 0.5)) {
      const sample = fresh(timing(specifier));
      if (round >= 0) measured[name].push(sample);
    }
  }
  show(measured);
  const of = (name, what) => median(measured[name].map((sample) => sample[what]));
  target("15, importing the core to importing ai", of("holdpoint", "ms") / of("ai", "ms"), 0.1);
} finally {
  fs.rmSync(folder, { recursive: true, force: true });
}
verdict();
