#!/usr/bin/env bash
# Every test: each plugin's own, then Swift's in stages. Ends with what failed and what was skipped.
#
# The stages are separate processes because tests that wait for children and sockets hold threads of Swift's pool (there are
# as many as cores): beside them, a test with a deadline in real time can starve without anything being wrong. What hostile
# peers cost is measured on the loop's thread, which all tests of a process share.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
export NOTES_TEST_PYTHON=${NOTES_TEST_PYTHON:-$PWD/.build-venv/bin/python}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
failed=0
times=

# Ends a stage that hangs; on a quiet machine none takes half of this.
stage_seconds=${NOTES_STAGE_SECONDS:-1200}

# run NAME COMMAND…: notes what failed, shows what it prints. A stage that never ends is ended, and has failed.
run() {
  local name=$1 status start=$SECONDS
  shift
  echo "== $name"
  timeout -k 10 "$stage_seconds" "$@" 2>&1 | tee -a "$log"
  status=${PIPESTATUS[0]}
  times+="$(printf '%5d s  %s' $((SECONDS - start)) "$name")"$'\n'
  if [ "$status" = 124 ] || [ "$status" = 137 ]; then
    echo "HUNG: $name did not end within $stage_seconds s" | tee -a "$log"
  fi
  if [ "$status" != 0 ]; then
    echo "✘ $name failed" >>"$log"
    failed=1
  fi
}

if [ ! -d ../shared/vectors ]; then echo "SKIPPING the conformance vectors and traces: ../shared is not here." >&2; fi
run "the Vim plugin's tests" editor-plugins/vim/test/run.sh
run "the Emacs plugin's tests" editor-plugins/emacs/test/run.sh
run "documents" swift test --skip-build --filter '^(Automerge|AutomergeUtilities|JSONRPC|NotesServer)Tests\.'
run "repositories, stores and loops" swift test --skip-build --filter '^(AutomergeRepo|AutomergeRepoConformance|Store|UV)Tests\.|^(ProviderGuide|OutsideTests|Interop)\.'
run "servers" swift test --skip-build --filter '^SyncServerTests\.'
run "PostgreSQL" swift test --skip-build --filter '^PostgresStorageTests\.'
run "peers" swift test --skip-build --filter '^PeerNetworkTests\.' --skip '(HostilePeer|CrowdedListener|HostileGuest|Authors|Siege)Tests'
run "peers by WebSocket" swift test --skip-build --filter '^WebSocketNetworkTests\.'
run "peers that are hostile" swift test --skip-build --filter '^PeerNetworkTests\.HostilePeerTests'
run "peers that crowd" swift test --skip-build --filter '^PeerNetworkTests\.CrowdedListenerTests'
run "guests that are hostile" swift test --skip-build --filter '^PeerNetworkTests\.(HostileGuest|Authors)Tests'
run "a siege" swift test --skip-build --filter '^PeerNetworkTests\.SiegeTests'
# A part of the table; `make conformance` has all of it.
run "carets and crossing edits in all editors" python3 Tests/Editors/conformance.py all --quiet --rows '^(04|05)-'
run "a scenario on the screens of all editors" python3 Tests/Screens/play.py --short
run "editors" swift test --skip-build --filter '^EndToEnd\.'

echo
echo "== summary"
printf '%s' "$times"
grep -ahE '^[✔✘] Test run with' "$log"
grep -ah '^HUNG' "$log"
if grep -aq 'SKIP' "$log"; then grep -ah 'SKIP' "$log" | sort -u | cut -c1-200; fi
if [ "$failed" != 0 ]; then grep -ahE '^✘|recorded an issue|tests? failed' "$log" | cut -c1-400; fi
exit "$failed"
