#!/bin/sh
# All tests of the Vim plugin, without a screen; with the argument "lint" only what can be said without running it.
# Exit code 0 if all is well. NOTES_TEST_SEED changes the random steps.
cd "$(dirname "$0")/.." || exit 1
vim=${VIM_PROGRAM:-vim}
reports=$(mktemp -d)
failed=0

echo "compiling"
timeout 60 "$vim" -es -Nu NONE -n -S test/defcompile.vim </dev/null || failed=1

echo "help tags"
timeout 20 "$vim" -es -Nu NONE -n -c 'try | helptags doc | catch | cquit! | endtry' -c 'qall!' </dev/null || failed=1
[ "$1" = lint ] && { rm -rf "$reports"; exit "$failed"; }

# All at a time: most of their time is waiting.
for file in test/*_test.vim; do
  {
    # Not in -es mode: there Vim has no windows to keep and no mode to be in.
    NOTES_TEST_REPORT=$reports/$(basename "$file") TERM=xterm timeout 300 "$vim" -Nu NONE -i NONE -n --not-a-term \
      --cmd "set runtimepath^=$PWD" -S "$file" </dev/null >/dev/null 2>&1 && : >"$reports/$(basename "$file").passed"
  } &
done
wait
for file in test/*_test.vim; do
  echo "$file"
  report=$reports/$(basename "$file")
  [ -f "$report.passed" ] || { echo "  FAILED" && failed=1; }
  [ ! -f "$report" ] || cat "$report"
done
rm -rf "$reports"
exit "$failed"
