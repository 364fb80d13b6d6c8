#!/bin/sh
# All tests of the Neovim plugin, without a screen; with an argument, those whose names have it. Exit code 0 if all is well.
cd "$(dirname "$0")/.." || exit 1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
NOTES_TEST_DIR=$scratch NOTES_TEST_ONLY=${1:-} NOTES_TEST_PLUGIN=$PWD \
  NOTES_TEST_SERVICE="${NOTES_TEST_SERVICE:-$PWD/../vim/test/fake_service.py}" \
  timeout 600 "${NEOVIM_PROGRAM:-nvim}" --headless -u NONE -i NONE -n -S test/plugin_test.lua -c 'cquit!' </dev/null
