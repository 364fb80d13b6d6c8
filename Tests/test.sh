#!/usr/bin/env bash
# Every test: each plugin's own, then Swift's in stages. Ends with what failed and what was skipped.
#
# The stages are separate processes because tests that wait for children and sockets hold threads of Swift's pool (there are
# as many as cores): beside them, a test with a deadline in real time can starve without anything being wrong. What hostile
# peers cost is measured on the loop's thread, which all tests of a process share.
#
# With NOTES_LANES=2, stages that compute and stages that wait for editors run side by side: quicker by minutes, and each test has
# half of a small machine.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
export NOTES_TEST_PYTHON=${NOTES_TEST_PYTHON:-$PWD/.build-venv/bin/python}
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

# Ends a stage that hangs; on a quiet machine none takes half of this.
stage_seconds=${NOTES_STAGE_SECONDS:-1200}

# run NAME COMMAND…: notes what failed and how long it took, and shows what it printed once it has ended. A stage that never ends is
# ended, and has failed.
run() {
  local name=$1 status start=$SECONDS log
  log=$(mktemp "$logs/XXXXXX.log")
  shift
  echo "== $name"
  timeout -k 10 "$stage_seconds" "$@" >"$log" 2>&1 &
  stage=$!
  # A lane that is ended ends its stage.
  trap 'kill "$stage" 2>/dev/null; exit 1' INT TERM
  wait "$stage"
  status=$?
  if [ "$status" = 124 ] || [ "$status" = 137 ]; then
    echo "HUNG: $name did not end within $stage_seconds s" >>"$log"
  fi
  [ "$status" = 0 ] || echo "✘ $name failed" >>"$log"
  printf '%5d s  %s\n' $((SECONDS - start)) "$name" >>"$logs/times"
  flock "$logs" cat "$log"
}

# Swift's tests of a filter. SwiftPM would let only one lane run at a time.
bundle=$(echo .build/debug/*.xctest)
swift_tests() {
  local name=$1
  shift
  run "$name" "$bundle" --testing-library swift-testing "$@"
}

computing() {
  swift_tests "documents" --filter '^(Automerge|AutomergeUtilities|JSONRPC|NotesServer)Tests\.'
  swift_tests "repositories, stores and loops" --filter '^(AutomergeRepo|AutomergeRepoConformance|Store|UV)Tests\.|^(ProviderGuide|Interop)\.'
  swift_tests "programs of others" --filter '^OutsideTests\.'
  swift_tests "servers" --filter '^SyncServerTests\.'
  swift_tests "PostgreSQL" --filter '^PostgresStorageTests\.'
  swift_tests "peers" --filter '^PeerNetworkTests\.' --skip '(HostilePeer|CrowdedListener|HostileGuest|Authors|Siege)Tests'
  swift_tests "peers by WebSocket" --filter '^WebSocketNetworkTests\.'
  swift_tests "peers that are hostile" --filter '^PeerNetworkTests\.HostilePeerTests'
  swift_tests "peers that crowd" --filter '^PeerNetworkTests\.CrowdedListenerTests'
  swift_tests "guests that are hostile" --filter '^PeerNetworkTests\.(HostileGuest|Authors)Tests'
  swift_tests "a siege" --filter '^PeerNetworkTests\.SiegeTests'
}

waiting() {
  run "the Vim plugin's tests" editor-plugins/vim/test/run.sh
  run "the Emacs plugin's tests" editor-plugins/emacs/test/run.sh
  # A part of the table; `make conformance` has all of it.
  run "carets and crossing edits in all editors" python3 Tests/Editors/conformance.py all --quiet --rows '^(04|05)-'
  run "a scenario on the screens of all editors" python3 Tests/Screens/play.py --short
  swift_tests "editors" --filter '^EndToEnd\.'
}

if [ ! -d ../shared/vectors ]; then echo "SKIPPING the conformance vectors and traces: ../shared is not here." >&2; fi
waiting &
lanes=($!)
[ "${NOTES_LANES:-1}" != 1 ] || wait
computing &
lanes+=($!)
trap 'kill "${lanes[@]}" 2>/dev/null; wait; exit 1' INT TERM
wait

echo
echo "== summary"
sort -rn "$logs/times"
cat "$logs"/*.log >"$logs/all"
grep -ahE '^[✔✘] Test run with' "$logs/all"
grep -ah '^HUNG' "$logs/all"
if grep -aq 'SKIP' "$logs/all"; then grep -ah 'SKIP' "$logs/all" | sort -u | cut -c1-200; fi
grep -aqE '^✘ .* failed$' "$logs/all" || exit 0
grep -ahE '^✘|recorded an issue|tests? failed' "$logs/all" | cut -c1-400
exit 1
