#!/usr/bin/env bash
# Builds the fuzzers, runs each for a while, and notes in the ledger what they did: Tests/Fuzz/fuzz.sh [SECONDS] [NAME…]
# What they learn is kept in .build-fuzz/corpus, what they find in .build-fuzz/findings.
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=${1:-60}
if [ $# -gt 0 ]; then shift; fi
# Those of FuzzFormats have no program of their own.
formats='CBOR JSONRPC Ticket Nearby MeetingNotes File'
names=${*:-Load Apply Sync Messages Words Meeting Presence Links $formats}
scratch=.build-fuzz
swift build --package-path Tests/Fuzz --scratch-path "$scratch" -c release --sanitize fuzzer \
  -Xswiftc -enable-testing
logs=$scratch/logs status=0
rm -rf "$logs"
mkdir -p "$logs"
for name in $names; do
  corpus=$scratch/corpus/$name findings=$scratch/findings program=$scratch/release/Fuzz$name
  if [[ " $formats " = *" $name "* ]]; then program=$scratch/release/FuzzFormats; fi
  mkdir -p "$corpus" "$findings"
  echo "$name for $seconds s"
  # No input may take five seconds or much memory, and a single allocation of 64 MiB is an error. Beside other work an input takes
  # longer by the clock: FUZZ_TIMEOUT.
  # Swift would report a trap itself, before the input is kept.
  SWIFT_BACKTRACE=enable=no NOTES_FUZZ=$name "$program" -max_total_time="$seconds" -timeout="${FUZZ_TIMEOUT:-5}" -rss_limit_mb=1024 -malloc_limit_mb=64 \
    -print_final_stats=1 -artifact_prefix="$findings/$name-" "$corpus" "Tests/Fuzz/Corpus/$name" 2>&1 | tee "$logs/$name.log" || status=1
done
Tests/ledger.py fuzz "make fuzz FUZZ_SECONDS=$seconds" "$logs"/*.log
exit "$status"
