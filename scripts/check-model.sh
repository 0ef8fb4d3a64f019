#!/usr/bin/env bash
# Searches model/approval.pml in full and proves that the search can fail: the machine has no error, and the machine
# without any one of its guards has one. Prints one line a search. With --deep also two executors (some minutes more).
#
# Exit status: 0 all as it must be, 1 not, 75 not checked because spin or gcc cannot be had (the reason is printed).
set -euo pipefail
cd "$(dirname "$0")/.."

MODEL="$PWD/model/approval.pml"
DEEP=no
[[ "${1:-}" == "--deep" ]] && DEEP=yes
SEARCH_SECONDS=${MODEL_SEARCH_SECONDS:-900}

have_tools() { command -v spin >/dev/null && command -v gcc >/dev/null; }
if ! have_tools && command -v apt-get >/dev/null && [[ "$(id -u)" == 0 ]]; then
  { apt-get install -y spin gcc libc6-dev || { apt-get update && apt-get install -y spin gcc libc6-dev; }; } >/dev/null 2>&1 </dev/null || true
fi
if ! have_tools; then
  echo "model: not checked: spin and gcc are not installed, and apt-get as root could not bring them (install the packages spin and gcc)"
  exit 75
fi

WORK=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$WORK"' EXIT

# search NAME EXPECT SPIN_OPTIONS GCC_OPTIONS PAN_OPTIONS: one line in $WORK/NAME.line, `wrong` in it where it is not as expected
search() {
  local name=$1 expect=$2 dir="$WORK/$1" out start seconds states verdict
  mkdir -p "$dir"
  cp "$MODEL" "$dir/approval.pml"
  start=$(date +%s)
  # shellcheck disable=SC2086
  (cd "$dir" && spin -a $3 approval.pml && gcc -w -O2 $4 -DCOLLAPSE -o pan pan.c) >"$dir/build" 2>&1 ||
    { echo "wrong  $name: does not build: $(tail -n 3 "$dir/build" | tr '\n' ' ')" >"$WORK/$name.line"; return 0; }
  # shellcheck disable=SC2086
  out=$(cd "$dir" && timeout "$SEARCH_SECONDS" ./pan $5 2>&1) || true
  seconds=$(($(date +%s) - start))
  states=$(sed -nE 's/^ *([0-9.e+]+) states, stored.*/\1/p' <<<"$out" | head -n 1)
  # A search that was cut short proves nothing: its end line is missing, or it says that the depth was not enough.
  case "$out" in
    *"max search depth too small"*) verdict="cut short (depth)" ;;
    *"errors: 0"*) verdict="no error" ;;
    *"errors: 1"*) verdict="counterexample" ;;
    *) verdict="cut short" ;;
  esac
  local mark=ok reason=""
  [[ "$verdict" == "$expect" ]] || mark=wrong
  reason=$(sed -nE 's/^pan:1: (.*) \(at depth.*/\1/p' <<<"$out" | head -n 1 | tr -s ' ' | cut -c1-70)
  printf '%-6s %-22s %-15s %12s states %5s s  %s\n' "$mark" "$name" "$verdict" "${states:--}" "$seconds" "$reason" >"$WORK/$name.line"
}

FULL="-m400000 -w24"
QUICK="-m400000 -w20"
ORDER=()
queue() { ORDER+=("$1"); search "$@" & while (($(jobs -rp | wc -l) >= 2)); do wait -n; done; }

queue quorum-2 "no error" "-DK=2 -DEXECUTORS=1" -DSAFETY "$FULL"
queue quorum-1 "no error" "-DK=1 -DEXECUTORS=1" -DSAFETY "$FULL"
queue always-ends "no error" "-DK=2 -DSMALL -DCHECK_LIVE" -DNFAIR=3 "-a -f -m400000"
queue always-ends-1 "no error" "-DK=1 -DSMALL -DCHECK_LIVE" -DNFAIR=3 "-a -f -m400000"
if [[ "$DEEP" == yes ]]; then
  queue two-claim-quorum-2 "no error" "-DK=2 -DEXECUTORS=2 -DNO_EDITS" -DSAFETY "$FULL"
  queue two-claim-quorum-1 "no error" "-DK=1 -DEXECUTORS=2 -DNO_EDITS" -DSAFETY "$FULL"
fi

# Each guard taken out, in the smallest machine that needs it.
while read -r guard options; do
  queue "$guard" "counterexample" "-D$guard $options" -DSAFETY "$QUICK"
done <<'MUTANTS'
M_SELF             -DK=2 -DEXECUTORS=1
M_LATE_VOTE        -DK=2 -DEXECUTORS=1
M_STALE            -DK=2 -DEXECUTORS=1
M_DUPE             -DK=2 -DEXECUTORS=1
M_VOTE_DOWN        -DK=1 -DSMALL
M_RETRY_LOST       -DK=1 -DEXECUTORS=2
M_OPEN_ON_ERROR    -DK=1 -DSMALL
M_LATE_CLAIM       -DK=2 -DEXECUTORS=1
M_NO_DIGEST        -DK=2 -DEXECUTORS=1
M_UNLOGGED         -DK=2 -DEXECUTORS=1
M_NO_FREEZE        -DK=2 -DEXECUTORS=1
M_DENY_IGNORED     -DK=2 -DEXECUTORS=1
M_NO_CAS           -DK=2 -DEXECUTORS=2 -DNO_EDITS
M_TIMEOUT_APPROVES -DK=2 -DEXECUTORS=1
M_CARRY            -DK=2 -DEXECUTORS=1
MUTANTS
queue L_NO_SWEEP "counterexample" "-DL_NO_SWEEP -DK=1 -DSMALL -DCHECK_LIVE" -DNFAIR=3 "-a -f -m400000"
wait

wrong=0
for name in "${ORDER[@]}"; do
  cat "$WORK/$name.line"
  grep -q '^wrong' "$WORK/$name.line" && wrong=$((wrong + 1))
done
# Every guard that the model names was taken out once: a new one without a line above would go unproven.
named=$(grep -oE '\b[ML]_[A-Z_]+\b' "$MODEL" | grep -v '^M_$' | sort -u)
for guard in $named; do
  [[ " ${ORDER[*]} " == *" $guard "* ]] || { echo "wrong  $guard: named in the model, taken out by no search"; wrong=$((wrong + 1)); }
done
echo "model: ${#ORDER[@]} searches, $wrong not as they must be"
((wrong == 0))
