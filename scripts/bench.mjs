/** Runs every benchmark of `bench/`, one after the other; installs the peers they stand beside first. */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";

const wanted = process.argv.slice(2);
const benches = readdirSync("bench").filter((name) => /^(canonical|gate|cycle|cold|gateway|store-sqlite)\.mjs$/.test(name));
if (existsSync("bench/package.json")) spawnSync("npm", ["ci", "--no-audit", "--no-fund"], { cwd: "bench", stdio: "inherit" });
for (const name of benches) {
  if (wanted.length > 0 && !wanted.includes(name.replace(".mjs", ""))) continue;
  console.log(`\n## ${name}`);
  spawnSync(process.execPath, ["--expose-gc", "--disable-warning=ExperimentalWarning", `bench/${name}`], { stdio: "inherit" });
}
