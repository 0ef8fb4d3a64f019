import { linesIn, runAll } from "./runner.ts";
const [file, ...ids] = process.argv.slice(2);
for await (const ran of runAll(linesIn(file ?? "").filter((line) => ids.length === 0 || ids.includes(line.id)))) {
  const r = ran.result;
  console.log(
    ran.id,
    ran.kind,
    r.result,
    r.result === "fail" ? r.why.join(" | ") : r.result === "not yet" ? `${r.work}: ${r.why}` : "",
  );
}
