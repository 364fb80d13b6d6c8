#!/usr/bin/env bash
# Builds the fuzzers and runs each for a while: Tests/Fuzz/fuzz.sh [SECONDS] [NAME…]
# What they learn is kept in .build-fuzz/corpus, what they find in .build-fuzz/findings.
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=${1:-60}
if [ $# -gt 0 ]; then shift; fi
names=${*:-Load Apply Sync Messages Words Meeting Presence Links}
scratch=.build-fuzz
swift build --package-path Tests/Fuzz --scratch-path "$scratch" -c release --sanitize fuzzer \
  -Xswiftc -enable-testing
for name in $names; do
  corpus=$scratch/corpus/$name findings=$scratch/findings
  mkdir -p "$corpus" "$findings"
  echo "Fuzz$name for $seconds s"
  # No input may take a second or much memory, and a single allocation of 64 MiB is an error.
  "$scratch/release/Fuzz$name" -max_total_time="$seconds" -timeout=5 -rss_limit_mb=1024 -malloc_limit_mb=64 \
    -print_final_stats=1 -artifact_prefix="$findings/$name-" "$corpus" "Tests/Fuzz/Corpus/$name"
done
