/** Type checks the examples against what is published and runs each; every one checks its own result. */
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";

const run = (file, args) => spawnSync(file, args, { stdio: "inherit" }).status === 0;

const examples = readdirSync("examples").filter((name) => name.endsWith(".ts"));
let failed = run("tsc", ["-p", "tsconfig.examples.json"]) ? 0 : 1;
for (const name of examples) {
  if (!run(process.execPath, ["--disable-warning=ExperimentalWarning", `examples/${name}`])) failed += 1;
}
console.log(`${examples.length + 1 - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 && examples.length > 0 ? 0 : 1;
