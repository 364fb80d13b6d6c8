#!/usr/bin/env bash
# Two editors, one note: Vim left, Emacs right, each with a service and a store of its own, in tmux.
#
#   demo.sh            for you to type in; quit both editors (or C-b d) to end it
#   demo.sh --record   plays by itself, writes what the screen showed to demo-capture.txt, fails if the texts differ
#
# For a recording that is watched: NOTES_DEMO_PACE is the seconds between two letters, NOTES_DEMO_SIZE the screen's columns and
# lines, NOTES_DEMO_SOCKET the name of tmux's socket.
set -euo pipefail
cd "$(dirname "$0")/../.."

export NOTES_DEMO_SOURCE=$PWD
export NOTES_LSP_BINARY=${NOTES_LSP_BINARY:-$PWD/.build/release/notes-lsp}
NOTES_DEMO_DIR=$(mktemp -d "${TMPDIR:-/tmp}/notes-lsp-demo.XXXXXX")
export NOTES_DEMO_DIR
mkdir -p "$NOTES_DEMO_DIR"/{ana,ben}
socket=${NOTES_DEMO_SOCKET:-notes-lsp-demo-$$}
read -r columns lines <<<"${NOTES_DEMO_SIZE:-120 30}"
mux() { tmux -L "$socket" -f /dev/null "$@"; }
# The services still write while they end.
cleanup() {
  local tries=100
  mux kill-server 2>/dev/null || true
  while ((tries-- > 0)) && ! rm -rf "$NOTES_DEMO_DIR" 2>/dev/null; do read -rt 0.1 <> <(:) || true; done
}
trap cleanup EXIT

if [ ! -x "$NOTES_LSP_BINARY" ]; then echo "Build first: make build (looked for $NOTES_LSP_BINARY)" >&2; exit 1; fi

# So that :help notes-lsp works in the demo.
vim -es -Nu NONE -i NONE -n -c 'helptags editor-plugins/vim/doc' -c 'qall!' </dev/null || true

left="vim -i NONE -Nu Tests/Demo/demo.vim"
right="emacs -nw -Q -L editor-plugins/emacs -l Tests/Demo/demo.el"
export TERM=${TERM:-xterm-256color}
session=(new-session -s demo)
if [ "${1:-}" = --record ]; then session+=(-d -x "$columns" -y "$lines"); fi
# In a terminal, attached from the start: Emacs draws a wrong screen if its window gets another size while it starts.
mux "${session[@]}" "$left" \; set-option -g default-terminal screen-256color \; \
  set-option -g status-right ' type in both; C-b o changes sides; C-b d ends the demo ' \; set-option -g status-right-length 80 \; \
  split-window -h "$right" \; select-pane -t demo:0.0
if [ "${1:-}" != --record ]; then exit 0; fi

capture=${NOTES_DEMO_CAPTURE:-demo-capture.txt}
: >"$capture"
# Adds both screens to the capture, side by side.
frame() {
  mux capture-pane -p -t demo:0.0 >"$NOTES_DEMO_DIR/left"
  mux capture-pane -p -t demo:0.1 >"$NOTES_DEMO_DIR/right"
  { echo "--- $1"; paste -d '|' <(LC_ALL=C.UTF-8 sed -E 's/$/                                                            /; s/^(.{59}).*/\1/' "$NOTES_DEMO_DIR/left") "$NOTES_DEMO_DIR/right"; } >>"$capture"
}
# Waits until a pane shows a text; polls, with a deadline.
shows() {
  local pane=$1 text=$2 tries=300
  while ((tries-- > 0)); do
    # Whole text: a pipe into grep -q would end the capture early.
    local screen; screen=$(mux capture-pane -p -t "demo:0.$pane")
    case "$screen" in *"$text"*) return 0 ;; esac
    read -rt 0.1 <> <(:) || true
  done
  frame "failed: pane $pane never showed '$text'"
  echo "The demo failed: pane $pane never showed '$text'; see $capture" >&2
  cat "$NOTES_DEMO_DIR"/*/log >&2 || true
  exit 1
}

# Rests between two letters, and between two scenes, when a person watches.
rest() { if [ -n "${NOTES_DEMO_PACE:-}" ]; then read -rt "$1" <> <(:) || true; fi; }
# writes PANE TEXT [PANE TEXT]: letter by letter when a person watches, in both panes by turns.
writes() {
  if [ -z "${NOTES_DEMO_PACE:-}" ]; then
    while [ $# -gt 0 ]; do mux send-keys -t "demo:0.$1" -l -- "$2"; shift 2; done
    return
  fi
  local at second=${4:-}
  for ((at = 0; at < ${#2} || at < ${#second}; at++)); do
    if [ "$at" -lt ${#2} ]; then mux send-keys -t "demo:0.$1" -l -- "${2:at:1}"; fi
    if [ "$at" -lt ${#second} ]; then mux send-keys -t "demo:0.$3" -l -- "${second:at:1}"; fi
    rest "$NOTES_DEMO_PACE"
  done
}

shows 1 Shopping
frame "Ben has joined Ana's note"
rest 2
mux send-keys -t demo:0.0 Escape ':only' Enter
rest 0.5
mux send-keys -t demo:0.0 i
writes 0 'Bread, said Ana.'
shows 1 'Bread, said Ana.'
frame "Ana types in Vim"
rest 1
mux send-keys -t demo:0.1 'M->' Enter
writes 1 'And olives, said Ben.'
shows 0 'And olives, said Ben.'
shows 0 Ben
frame "Ben types in Emacs"
rest 1
mux send-keys -t demo:0.0 Escape G o
mux send-keys -t demo:0.1 Left
writes 0 'Wine 🍷 too.' 1 ', the black ones'
shows 1 'Wine 🍷 too.'
shows 0 'Ben, the black ones.'
frame "Both at once"
rest 3
echo "The demo played well: $capture"
