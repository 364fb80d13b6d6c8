#!/usr/bin/env bash
# The tests, in stages. Ends with what failed and what was skipped.
#
# Without an argument: all but the linters, the end-to-end tests, a part of the conformance table, crowds of hostile peers and two dozen
# other tests that take long, with a third of the seeds of random tests. Of editors, that leaves the plugins' own tests and a scenario on
# the screens of all three. A newcomer need not wait for more. With `all`: everything.
#
# The stages are separate processes because tests that wait for children and sockets hold threads of Swift's pool (there are
# as many as cores): beside them, a test with a deadline in real time can starve without anything being wrong. What hostile
# peers cost is measured on the loop's thread, which all tests of a process share.
#
# With `all`, stages run three at a time, as most of the time of an editor's test is waiting; without, two. NOTES_LANES=1 runs them one
# after the other.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
export NOTES_TEST_PYTHON=${NOTES_TEST_PYTHON:-$PWD/.build-venv/bin/python}
# Programs that choose the version of Python need a fifth of a second for it, at each start.
export PATH=$PWD/.build-venv/bin:$PATH
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

# Tests that wait for nothing outside of the process share two threads, and most of them one actor. If hundreds of them begin at the
# same time, each ends at about the end of all, and what it waits for on a busy machine comes after its deadline; and those that look
# whether it has come take a fifth of the processor's time.
in_process_tests() { SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=16 swift_tests "$@"; }

stage() {
  case $1 in
    # Two threads wait for the editors of a stage, however many tests it has.
    "editors, A to E") swift_tests "$1" --filter '^EndToEnd\.[A-E]' ;;
    "editors, F to Z") swift_tests "$1" --filter '^EndToEnd\.[^A-E]' ;;
    "documents") in_process_tests "$1" --filter '^(Automerge|AutomergeUtilities|Cryptography|JSONRPC)Tests\.' ;;
    "the service") in_process_tests "$1" --filter '^NotesServerTests\.' ;;
    "repositories and stores")
      in_process_tests "$1" --filter '^(AutomergeRepo|AutomergeRepoConformance|Store)Tests\.|^(ProviderGuide|Interop)\.' ;;
    # A loop that a test runs holds a thread. Beside tests that look again and again whether something has come, there may be none left
    # for what both wait for.
    "loops") swift_tests "$1" --filter '^UVTests\.' ;;
    "the linters") run "$1" Tests/lint.sh ;;
    "the Vim plugin's tests") run "$1" editor-plugins/vim/test/run.sh ;;
    "the Neovim plugin's tests") run "$1" editor-plugins/neovim/test/run.sh ;;
    "the Emacs plugin's tests") run "$1" editor-plugins/emacs/test/run.sh ;;
    "a scenario on the screens of all editors") run "$1" python3 Tests/Screens/play.py --short ;;
    "peers") swift_tests "$1" --filter '^PeerNetworkTests\.' --skip '(HostilePeer|CrowdedListener|HostileGuest|Authors|Siege)Tests' ;;
    # A part of the table; `make conformance` has all of it.
    "carets and crossing edits in all editors")
      run "$1" python3 Tests/Editors/conformance.py all --quiet --rows '^(04|05)-' ;;
    "guests that are hostile") swift_tests "$1" --filter '^PeerNetworkTests\.(HostileGuest|Authors)Tests' ;;
    "PostgreSQL") swift_tests "$1" --filter '^PostgresStorageTests\.' ;;
    "peers that crowd") swift_tests "$1" --filter '^PeerNetworkTests\.CrowdedListenerTests' ;;
    "a siege") swift_tests "$1" --filter '^PeerNetworkTests\.SiegeTests' ;;
    "peers by WebSocket") swift_tests "$1" --filter '^WebSocketNetworkTests\.' ;;
    "peers that are hostile") swift_tests "$1" --filter '^PeerNetworkTests\.HostilePeerTests' ;;
    "servers") swift_tests "$1" --filter '^SyncServerTests\.' ;;
    "programs of others") swift_tests "$1" --filter '^OutsideTests\.' ;;
    *) run "$1, which is no stage," false ;;
  esac
}

# The longest first, so that the lanes end at about the same time. A star marks those of `all`.
cat >"$logs/stages" <<'END'
* editors, F to Z
* editors, A to E
the service
documents
repositories and stores
peers
* the linters
the Emacs plugin's tests
the Vim plugin's tests
a scenario on the screens of all editors
the Neovim plugin's tests
* carets and crossing edits in all editors
* guests that are hostile
PostgreSQL
* peers that crowd
* a siege
peers by WebSocket
peers that are hostile
loops
servers
programs of others
END
if [ "${1:-}" = all ]; then
  count=3
  sed 's/^\* //' "$logs/stages"
else
  count=2
  export NOTES_BRIEF=1
  grep -v '^\*' "$logs/stages"
fi >"$logs/queue"

# Moves the first line of the queue to a file of the lane, which is empty when the queue is.
take_stage() { flock "$logs/queue.lock" sed -i -e "1w $1" -e 1d "$logs/queue"; }

# Runs stages until none is left.
lane() {
  local taken=$logs/lane-$1
  while take_stage "$taken" && [ -s "$taken" ]; do stage "$(cat "$taken")"; done
}

if [ ! -d ../shared/vectors ]; then echo "SKIPPING the conformance vectors and traces: ../shared is not here." >&2; fi
lanes=()
for ((number = 1; number <= ${NOTES_LANES:-$count}; number++)); do
  lane "$number" &
  lanes+=($!)
done
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
