#!/usr/bin/env bash
# The rules that a compiler does not keep: format, file lengths, one-way imports, unsafe words, and both plugins.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
failed=0
fail() { echo "lint: $*" >&2; failed=1; }

# In batches: swift-format keeps every file open that it is given, and most systems allow a thousand.
git ls-files -co --exclude-standard -z -- '*.swift' | xargs -0 -n 200 swift format lint --strict --parallel --configuration .swift-format ||
  fail "run 'make format'"

# No file over 500 lines.
while read -r lines file; do
  if [ "$file" != total ] && [ "$lines" -gt 500 ]; then fail "$file has $lines lines; 500 is the limit, split it by topic"; fi
done < <(git ls-files -co --exclude-standard -- 'Sources/*.swift' 'Tests/*.swift' 'editor-plugins/*.vim' 'editor-plugins/*.el' 'Tests/*.py' 'Tests/*.sh' | xargs wc -l)

# The plugins stay small (decisions 0024, 0026 to 0029): no file over 350 lines, and all of them together not over a bound, which rises only
# with a decision. What is generated from the description is not counted, and is what the description says.
plugin_bound() {
  local plugin=$1 most=$2 total=0 lines file
  while read -r lines file; do
    case $file in total | *definitions.*) continue ;; esac
    if [ "$lines" -gt 350 ]; then fail "$file has $lines lines; 350 is the limit in a plugin"; fi
    total=$((total + lines))
  done < <(find "editor-plugins/$plugin" -not -path '*/test/*' \( -name '*.vim' -o -name '*.el' -o -name '*.lua' \) -print0 | xargs -0 wc -l)
  if [ "$total" -gt "$most" ]; then fail "the plugin for $plugin has $total lines, $((total - most)) more than the decisions allow"; fi
}
plugin_bound vim 5240
plugin_bound emacs 5660
plugin_bound neovim 3640
editor-plugins/generate.py --check || fail "run editor-plugins/generate.py"

# No type over 600 lines in all its files together, and no class with more than 14 stored properties.
Tests/sizes.py --check || fail "the types above: take out what has a state and a reason to change of its own"

# The calls of a keystroke that Architecture.md lists, and the types that the glossary names.
Tests/path.py || fail "Architecture.md, \"A message from the editor\": the lines above"
# shellcheck disable=SC2016 # Markdown's backticks
while read -r name; do
  git grep -qE "(struct|class|enum|protocol|typealias) $name\b" -- Sources || fail "Glossary.md names $name, which is no type"
done < <(grep -ohE '`[A-Z][A-Za-z]+`' Sources/Documentation/Glossary.md | tr -d '`' | sort -u)

# The suites that BadInput.md names.
# shellcheck disable=SC2016
while read -r name; do
  git grep -qE "(struct|class) ${name##*.}\b" -- Tests || fail "BadInput.md names $name, which is no suite"
done < <(grep -ohE '`[A-Za-z.]*Tests`' Sources/Documentation/BadInput.md | tr -d '`' | sort -u)

# The tests that Conditions.md names for what was once lost or unsaid.
# shellcheck disable=SC2016
while read -r name; do
  git grep -qE "(func|def|ert-deftest) $name\b" -- Tests editor-plugins || fail "Conditions.md names $name, which is no test"
done < <(sed -n '/^## Nothing lost/,$ s/^| [0-9a-z]* |.*| \(.*\) |$/\1/p' Sources/Documentation/Conditions.md | grep -oE '`[A-Za-z-]+`' | tr -d '`' | sort -u)

# Each target's imports of our own modules, as Architecture.md has them. The build checks that they are declared; this, that
# Package.swift declares no more.
allow() {
  local folder=$1; shift
  local own='Automerge|AutomergeUtilities|AutomergeRepo|AutomergeRepoConformance|CAvahi|CCrypto|CDeflate|COpenSSL|Cryptography|CPostgres|CQREncode|CUV|CWslay|CZlib|UV|Store|SQLiteStorage|FileStorage|PostgresStorage|PeerNetwork|PeerTransport|WebSocketNetwork|JSONRPC|NotesServer|SyncServer'
  while IFS=: read -r file name; do
    case " $* " in *" $name "*) ;; *) fail "$file imports $name, which $folder may not" ;; esac
  done < <(grep -rHoE "^ *((public|internal|package|private|fileprivate|@testable|@preconcurrency) )*import ($own)\$" --include='*.swift' "Sources/$folder" 2>/dev/null | sed -E 's/:.*import /:/')
}
allow JSONRPC
allow Cryptography CCrypto
allow Automerge Cryptography CDeflate CZlib
allow AutomergeUtilities Automerge
allow AutomergeRepo Automerge Cryptography
allow AutomergeRepoConformance AutomergeRepo Automerge
allow UV CUV
allow FileStorage AutomergeRepo
allow SQLiteStorage FileStorage AutomergeRepo Cryptography
allow Store
allow PeerTransport AutomergeRepo Automerge Cryptography UV COpenSSL
allow PeerNetwork AutomergeRepo Automerge Cryptography PeerTransport UV CAvahi
allow WebSocketNetwork AutomergeRepo Automerge Cryptography PeerTransport UV CWslay
allow PostgresStorage AutomergeRepo Automerge Cryptography UV CPostgres
allow SyncServer JSONRPC AutomergeRepo Automerge Cryptography PeerTransport WebSocketNetwork UV
allow NotesServer JSONRPC AutomergeRepo Automerge Cryptography CQREncode

# Foreign bytes must not be able to stop the program.
if git grep -nE '\btry!|\bfatalError\(|\bas! |//.*\b(TODO|FIXME)\b' -- 'Sources/*.swift' 'Tests/*.swift'; then
  fail "the lines above: throw, or finish it"
fi
if git grep -nE 'Thread\.sleep|Task\.sleep|\busleep\(' -- 'Tests/*.swift'; then
  fail "the lines above: wait for a condition with a deadline"
fi

# The compiler hands the whole text of what carries @Suite to the macro, for each group of files anew.
if git grep -nE '@Suite($|[^(A-Za-z])' -- 'Tests/*.swift'; then
  fail "the lines above: a suite needs @Suite only for traits; then its tests stand in an extension"
fi

# A module of tests that is in no stage.
filters=$(grep -oE -- "--filter '[^']*'" Tests/test.sh | cut -d"'" -f2 | paste -sd '|')
while read -r module; do
  grep -qE -- "$filters" <<<"$module.A" || fail "$module is in no stage of Tests/test.sh"
done < <(grep -A1 testTarget Package.swift | grep -oE 'name: "[A-Za-z]+"' | cut -d'"' -f2)

# A test that a busy machine fails, or that cannot fail. What is bound to come is waited for until Patience.hang, which only ends a
# hang; work is measured by ProcessorTime. What random or long pauses there are say so in the line.
if git grep -nE 'waitFor\([^)]*\) *\{ *false *\}|== nil \|\| [a-z.]+ != nil|\|\| true\b|#expect\((true|Bool\(true\))|#expect\(.*count >= 0\b' \
  -- 'Tests/*.swift' || git grep -nP '(?<![\w.])([a-zA-Z][\w.()]*) \|\| !\1(?![\w.(])|!([a-zA-Z][\w.()]*) \|\| \2(?![\w.(])' -- 'Tests/*.swift'; then
  fail "the lines above: nothing is waited for, or nothing is tested"
fi
# A test that goes on although what it waited for has not come has slept. The chaos then says what is missing.
if git grep -nE 'try\? .*\b(waitFor[A-Za-z]*|wait|eventually|run)\((for|until|within|")' -- 'Tests/*.swift' ':!Tests/EndToEnd/ChaosTests.swift'; then
  fail "the lines above: wait for what proves that the time has come"
fi
# A deadline of its own. Where a simulated person rests among random actions, nothing depends on how long.
if git grep -nE '(within:|until: \.now \+|patience:|duration: Duration =) *\.(seconds|minutes)\(|ContinuousClock\.now \+ \.(seconds|milliseconds)\(|\.timeLimit\(' \
  -- Tests ':!Tests/Benchmarks' ':!Tests/lint.sh' \
  | grep -vE 'shutdownThenClose|EditorFuzzTests.*seconds\(3\)'; then
  fail "the lines above: leave the deadline to Patience.hang"
fi
if git grep -nE 'ContinuousClock(\(\)|\.now) *- *[a-z]+ *<|#expect\((pause|took|time) < (\.|[a-z])' -- Tests ':!Tests/Benchmarks' \
  | grep -vE 'world\.clock|pause < (limit|Self\.promised)' ; then
  fail "the lines above: a clock on the wall proves nothing on a busy machine; measure ProcessorTime, or print it"
fi
# A rest of a random length among random actions; a benchmark measures for a time. Every other pause waits for something.
if git grep -nE 'Polling\.(randomRest|measure)\(|waitForActivity\(of: \[\]' -- 'Tests/*.swift' ':!Tests/NotesHarness/Polling.swift' \
  | grep -vE 'randomRest\(milliseconds: .*random|^Tests/Benchmarks/[A-Za-z]*\.swift:[0-9]+: *Polling\.measure\('; then
  fail "the lines above: wait for a condition"
fi

# The page of all messages is that of the sources.
Tests/messages.py --check || fail "run Tests/messages.py, and make long messages shorter"
Tests/messages.py --control >/dev/null || fail "Tests/messages.py does not notice every new message"

# Scripts, manual pages and spelling, where the tools are; Tests/setup.sh installs them. Whether the pages that are referred to are
# installed on this machine is no matter.
if command -v shellcheck >/dev/null; then
  git ls-files -z -- '*.sh' .ci/run | xargs -0 shellcheck || fail "shellcheck has something to say"
fi
if command -v mandoc >/dev/null; then
  mandoc -Tlint -Wstyle Sources/Documentation/man/* 2>/dev/null | grep -v 'referenced manual not found' && fail "the manual pages, see above"
  Sources/Documentation/Site/info.py --check Sources/Documentation/info/notes-lsp.info || fail "the Info manual"
fi
if command -v codespell >/dev/null; then
  git ls-files -z -- '*.md' '*.sh' '*.py' '*.1' '*.5' '*.el' '*.vim' '*.lua' Makefile Sources/Packaging |
    xargs -0 codespell --ignore-words .codespellignore || fail "words that are misspelt, or belong into .codespellignore"
fi

# The plugins compile.
editor-plugins/vim/test/run.sh lint || fail "the Vim plugin does not compile"
editor-plugins/emacs/test/run.sh lint || fail "the Emacs plugin does not byte-compile without a warning"

if command -v luacheck >/dev/null; then
  luacheck --quiet --codes --no-color --globals vim NotesTestState --max-line-length 140 editor-plugins/neovim \
    || fail "the Neovim plugin has the warnings above"
else
  echo "lint: SKIPPING luacheck, which is not installed (Debian: lua-check)" >&2
fi
# Debian's package-lint knows no Emacs 28. Commands are named for people, `notes-share`, and there is no home page yet.
if [ -d /usr/share/emacs/site-lisp/elpa-src ] && command -v emacs >/dev/null; then
  if (cd editor-plugins/emacs && emacs --batch -Q \
    --eval '(let ((default-directory "/usr/share/emacs/site-lisp/elpa-src")) (normal-top-level-add-subdirs-to-load-path))' \
    -l package-lint --eval '(setq package-lint-main-file "notes-lsp.el")' -f package-lint-batch-and-exit ./*.el 2>&1) \
    | grep -E '(error|warning):|Cannot open' | grep -vE "start with package's prefix|Homepage or URL|in all released Emacs"; then
    fail "package-lint says the lines above of the Emacs plugin"
  fi
else
  echo "lint: SKIPPING package-lint, which is not installed (Debian: elpa-package-lint)" >&2
fi
Tests/Editors/conformance.py --check || fail "the table of all editors is not in order"

if [ "$failed" = 0 ]; then echo "lint: all good"; fi
exit "$failed"
