#!/usr/bin/env bash
# Runs a command whose editors are those of the next Debian (13: Vim 9.1, Neovim 0.10, Emacs 30, Helix 25), as root.
#
#   next.sh FOLDER COMMAND…     FOLDER keeps that Debian for the next time
#
# Only the editors run in that Debian, with this checkout and /tmp at their usual places; the service that they start runs out here,
# where its libraries are.
set -euo pipefail
checkout=$(cd "$(dirname "$0")/../.." && pwd)
script=$checkout/Tests/Editors/next.sh

# shellcheck source=Sources/Packaging/empty-debian.sh
. "$checkout/Sources/Packaging/empty-debian.sh"

if [ "${1:-}" != --inside ]; then
  : "${2:?usage: next.sh FOLDER COMMAND…}"
  mkdir -p "$1"
  folder=$(cd "$1" && pwd)
  shift
  empty_debian "$folder/trixie" trixie vim-nox,neovim,emacs-nox,hx
  # Mounts of its own, which go with the process.
  exec unshare -m "$script" --inside "$folder" "$@"
fi

folder=$2
shift 2
open_debian "$folder/trixie"
# Each run has its own, so that runs do not disturb one another.
bin=$(mktemp -d "$folder/bin.XXXXXX")
mkdir "$root/outside"
mount --rbind / "$root/outside"
for shared in "$checkout" /tmp "${TMPDIR:-/tmp}" "$bin"; do
  mkdir -p "$root$shared"
  mount --bind "$shared" "$root$shared"
done

# An editor as a command out here, and the service as a command on both sides.
for editor in vim nvim emacs hx; do
  printf '#!/bin/sh\nexec chroot "%s" /usr/bin/%s "$@"\n' "$root" "$editor" >"$bin/$editor"
done
service=${NOTES_LSP_BINARY:-$checkout/.build/debug/notes-lsp}
printf '#!/bin/sh\n[ ! -e /outside ] || exec chroot /outside "%s" "$@"\nexec "%s" "$@"\n' "$service" "$service" >"$bin/notes-lsp"
chmod +x "$bin"/*

export VIM_PROGRAM="$bin/vim" NVIM_PROGRAM="$bin/nvim" EMACS="$bin/emacs" HELIX="$bin/hx" NOTES_LSP_BINARY="$bin/notes-lsp"
status=0
"$@" || status=$?
umount "$root$bin"
rm -rf "$bin"
exit "$status"
