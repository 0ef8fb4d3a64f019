#!/usr/bin/env bash
# Everything that is checked, step by step, with the time of each: `npm test`. Stops at the first step that fails.
# The last line is `N passed, N failed`: the tests of all steps that ran, and one more for each step that failed.
#
#   bash scripts/test-all.sh                 all steps
#   bash scripts/test-all.sh lint unit       these steps only
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$PWD/node_modules/.bin:$PATH"

RESULTS=$PWD/reports/tests
WANTED=("$@")
BROKEN=0
rm -rf "$RESULTS"
mkdir -p "$RESULTS"

totals() {
  node --input-type=module - "$RESULTS" "$BROKEN" <<'JS'
import { readdirSync, readFileSync } from "node:fs";
const [folder, broken] = process.argv.slice(2);
let passed = 0;
let failed = 0;
for (const name of readdirSync(folder)) {
  const text = readFileSync(`${folder}/${name}`, "utf8");
  if (name.endsWith(".json")) {
    const result = JSON.parse(text);
    passed += result.numPassedTests;
    failed += result.numFailedTests + result.numFailedTestSuites * (result.numFailedTests === 0 ? 1 : 0);
  } else {
    const found = [...text.matchAll(/(\d+) passed, (\d+) failed/g)].at(-1);
    passed += Number(found?.[1] ?? 0);
    failed += Number(found?.[2] ?? 0);
  }
}
if (failed === 0) failed = Number(broken);
console.log(`${passed} passed, ${failed} failed`);
JS
}
trap totals EXIT

# step NAME COMMAND…: status 75 says that it could not be checked here, and the step has said why.
step() {
  local name=$1 start=$SECONDS status=0
  shift
  if ((${#WANTED[@]} > 0)) && [[ " ${WANTED[*]} " != *" $name "* ]]; then return 0; fi
  printf '\n=== %s: %s\n' "$name" "$*"
  "$@" </dev/null || status=$?
  case $status in
    0) printf '=== %s: ok, %s s\n' "$name" "$((SECONDS - start))" ;;
    75) printf '=== %s: NOT CHECKED HERE, %s s\n' "$name" "$((SECONDS - start))" ;;
    *)
      printf '=== %s: FAILED (%s), %s s\n' "$name" "$status" "$((SECONDS - start))"
      BROKEN=1
      exit 1
      ;;
  esac
}

tests() { vitest run --reporter=default --reporter=json --outputFile.json="$RESULTS/$1.json" "${@:2}"; }
# Heavy foreign clients and servers have a folder and a lock of their own; the type check and the boundaries look at it too.
peers() { (cd test/e2e && npm ci --no-audit --no-fund); }
# A runner that ends with `N passed, N failed` for each file.
cases() {
  local file
  for file in "$@"; do npm run --silent cases -- "$file" | tee "$RESULTS/cases-$(basename "$file").txt" || return 1; done
}

examples() { npm run --silent examples | tee "$RESULTS/examples.txt"; }

step peers peers
step typecheck npm run --silent typecheck
step lint npm run --silent lint
# Before the boundaries: the examples open the published doors, which the build makes.
step build npm run --silent build
step boundaries npm run --silent boundaries
step dead-code npm run --silent dead-code
step examples examples
step package npm run --silent package
step unit tests unit --coverage
step e2e tests e2e --config test/e2e/vitest.config.ts
step model npm run --silent model
step cases cases test/cases/bank/attacks.jsonl test/cases/bank/reported-faults.jsonl test/cases/own.jsonl
step demo node bin/holdpoint.js demo --auto
