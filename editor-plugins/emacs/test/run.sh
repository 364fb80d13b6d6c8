#!/bin/sh
# Checks the Emacs plugin: byte-compiles with warnings as errors, runs checkdoc, and, without `lint`, the tests in batch.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
plugin=$(dirname "$here")
emacs=${EMACS:-emacs}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp "$plugin"/*.el "$here"/*.el "$scratch"
cd "$scratch"
"$emacs" -Q --batch -L . \
  --eval '(setq byte-compile-error-on-warn t)' -f batch-byte-compile ./*.el
"$emacs" -Q --batch -L . -l check-doc.el -f notes-test-check-doc ./*.el
[ "${1:-}" != lint ] || exit 0
# In batch mode Emacs does not ignore the signal that a service's death may bring, as it does with a person before it.
trap '' PIPE
NOTES_TEST_SERVICE="${NOTES_TEST_SERVICE:-$plugin/../vim/test/fake_service.py}" \
  NOTES_TEST_SEED=${NOTES_TEST_SEED:-1} NOTES_TEST_COMMANDS=${NOTES_TEST_COMMANDS:-2000} HOME="$scratch" \
  "$emacs" -Q --batch -L . -l notes-lsp -l notes-lsp-test -l notes-lsp-presence-test -l notes-lsp-condition-test -l notes-lsp-service-test -l notes-lsp-ask-test -l notes-lsp-shown-test -l notes-lsp-reread-test -f ert-run-tests-batch-and-exit
