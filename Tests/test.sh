#!/usr/bin/env bash
# Every test: Swift, then each plugin's own. Says at the end what ran and what was skipped.
set -uo pipefail
cd "$(dirname "$0")/.."
export NOTES_TEST_PYTHON=${NOTES_TEST_PYTHON:-$PWD/.build-venv/bin/python}
failed=0
if [ ! -d ../shared/vectors ]; then echo "SKIPPING the conformance vectors and traces: ../shared is not here." >&2; fi
editor-plugins/vim/test/run.sh || { echo "the Vim plugin's tests failed" >&2; failed=1; }
editor-plugins/emacs/test/run.sh || { echo "the Emacs plugin's tests failed" >&2; failed=1; }
swift test --skip-build || failed=1
exit "$failed"
