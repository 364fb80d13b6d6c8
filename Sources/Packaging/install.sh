#!/usr/bin/env bash
# Puts the program, the plugins, the manuals and the shells' completions below PREFIX, or removes them. Notes are never touched: see
# decision 0013.
#
#   install.sh install PREFIX PROGRAM
#   install.sh uninstall PREFIX
set -euo pipefail
cd "$(dirname "$0")/../.."

action=${1:-} prefix=${2:-} program=${3:-}
case "$action:$prefix:$program" in
  install:?*:?* | uninstall:?*:) ;;
  *) echo "usage: install.sh install PREFIX PROGRAM | install.sh uninstall PREFIX" >&2; exit 2 ;;
esac
# A ~ that the shell has left as it is.
# shellcheck disable=SC2088
case "$prefix" in
  '~' | '~/'*) prefix=$HOME${prefix#'~'} ;;
  /*) ;;
  *) prefix=$PWD/$prefix ;;
esac

plugins=$prefix/lib/notes-lsp
# Until version 0.1 the plugins were in the same folder as most people's notes.
earlier=$prefix/share/notes-lsp

# Removes the plugins' own files from a folder and the folders that are empty then, and nothing else.
remove_plugins() {
  local folder=$1
  if [ ! -L "$folder/vim" ]; then
    rm -f "$folder"/vim/plugin/notes_lsp.vim "$folder"/vim/autoload/notes_lsp.vim "$folder"/vim/autoload/notes_lsp/*.vim \
      "$folder"/vim/doc/notes_lsp.txt "$folder"/vim/doc/tags
    remove_empty "$folder"/vim/{plugin,autoload/notes_lsp,autoload,doc} "$folder"/vim
  fi
  rm -f "$folder"/neovim/plugin/notes_lsp.lua "$folder"/neovim/lua/notes_lsp/*.lua "$folder"/neovim/doc/notes-lsp.txt \
    "$folder"/neovim/doc/tags
  remove_empty "$folder"/neovim/{plugin,lua/notes_lsp,lua,doc} "$folder"/neovim
  if [ ! -L "$folder/emacs" ]; then
    rm -f "$folder"/emacs/notes-lsp*.el "$folder"/emacs/notes-lsp*.elc
    remove_empty "$folder"/emacs
  fi
}

remove_empty() {
  local folder
  for folder; do
    if [ -d "$folder" ] && [ ! -L "$folder" ]; then rmdir "$folder" 2>/dev/null || true; fi
  done
}

# The lines in people's settings name the earlier folders: links in their place keep them working.
link_earlier() {
  local editor folders=()
  for editor in vim emacs; do
    if [ -d "$earlier/$editor" ] && [ ! -L "$earlier/$editor" ]; then folders+=("$editor"); fi
  done
  remove_plugins "$earlier"
  for editor in "${folders[@]+"${folders[@]}"}"; do
    if [ -e "$earlier/$editor" ]; then
      echo "$earlier/$editor holds files of yours and stays. Name $plugins/$editor in your settings instead." >&2
    else
      ln -s "../../lib/notes-lsp/$editor" "$earlier/$editor"
    fi
  done
}

unlink_earlier() {
  local editor=$1
  if [ "$(readlink "$earlier/$editor" 2>/dev/null)" = "../../lib/notes-lsp/$editor" ]; then rm "$earlier/$editor"; fi
}

manuals=$prefix/share/man
info=$prefix/share/info
completions=("$prefix/share/bash-completion/completions/notes-lsp" "$prefix/share/zsh/site-functions/_notes-lsp"
  "$prefix/share/fish/vendor_completions.d/notes-lsp.fish")

# The directory of Info's manuals, where there is the tool that keeps it.
list_info() {
  command -v install-info >/dev/null || return 0
  install-info "$@" "$info/notes-lsp.info" "$info/dir" 2>/dev/null || echo "Info's directory $info/dir could not be written." >&2
}

if [ "$action" = uninstall ]; then
  if [ -e "$info/notes-lsp.info" ]; then
    list_info --delete
    rm -f "$info/notes-lsp.info"
    # A directory that lists nothing else was made for this manual.
    if [ -e "$info/dir" ] && ! grep -q '^\* .*: (' "$info/dir"; then rm "$info/dir"; fi
    remove_empty "$info"
  fi
  rm -f "$prefix/bin/notes-lsp" "$manuals"/man1/notes-lsp*.1 "$manuals"/man5/notes-lsp-store.5 "${completions[@]}"
  remove_plugins "$plugins"
  remove_empty "$plugins"
  unlink_earlier vim
  unlink_earlier emacs
  remove_plugins "$earlier"
  remove_empty "$earlier"
  echo "Removed notes-lsp and its plugins. Your notes stay where they are, and so does their history."
  exit 0
fi

install -d "$prefix/bin" "$plugins"
# Without what only a debugger reads. An editor may start the program the moment it is there, so it is stripped before.
stripped=$(mktemp)
trap 'rm -f "$stripped"' EXIT
if strip -o "$stripped" "$program" 2>/dev/null; then program=$stripped; fi
install "$program" "$prefix/bin/notes-lsp"
# What an earlier version had and this one has not must not be loaded.
remove_plugins "$plugins"
install -d "$plugins"/vim "$plugins"/neovim "$plugins"/emacs
cp -R editor-plugins/vim/{plugin,autoload,doc} "$plugins/vim/"
cp -R editor-plugins/neovim/{plugin,lua,doc} "$plugins/neovim/"
cp editor-plugins/emacs/*.el "$plugins/emacs/"
if command -v vim >/dev/null; then
  vim -es -Nu NONE -i NONE -n -c "execute 'helptags' fnameescape('${plugins//\'/\'\'}/vim/doc')" -c 'qall!' </dev/null ||
    echo "Vim could not index the help. In Vim, run: :helptags $plugins/vim/doc" >&2
fi
if command -v nvim >/dev/null; then
  nvim --headless -u NONE -i NONE -n -c "execute 'helptags' fnameescape('${plugins//\'/\'\'}/neovim/doc')" -c 'qall!' </dev/null 2>/dev/null ||
    echo "Neovim could not index the help. In Neovim, run: :helptags $plugins/neovim/doc" >&2
fi
# Compiled, the plugin takes less of Emacs's time for each key. It works uncompiled, too.
if command -v emacs >/dev/null; then
  emacs -Q --batch -L "$plugins/emacs" -f batch-byte-compile "$plugins"/emacs/*.el </dev/null >/dev/null 2>&1 ||
    rm -f "$plugins"/emacs/*.elc
fi
link_earlier
for page in Sources/Documentation/man/*; do
  install -D -m 644 "$page" "$manuals/man${page##*.}/${page##*/}"
done
install -D -m 644 Sources/Documentation/info/notes-lsp.info "$info/notes-lsp.info"
list_info
shells=(bash zsh fish)
for i in 0 1 2; do
  mkdir -p "$(dirname "${completions[i]}")"
  "$prefix/bin/notes-lsp" --generate-completion-script "${shells[i]}" >"${completions[i]}"
done

echo
echo "Installed."
if [ -L "$earlier/vim" ] && [ -L "$earlier/emacs" ]; then
  echo "Your ~/.vimrc and init.el need no change. The plugins are in $plugins now."
else
  echo "Add to your ~/.vimrc:        set runtimepath+=$plugins/vim"
  echo "Or, for Neovim:             set runtimepath+=$plugins/neovim"
  echo "Add to your init.el:         (add-to-list 'load-path \"$plugins/emacs\") (require 'notes-lsp)"
fi
case ":$PATH:" in *":$prefix/bin:"*) ;; *) echo "And put $prefix/bin on your PATH." ;; esac
