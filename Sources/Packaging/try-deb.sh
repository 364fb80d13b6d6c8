#!/usr/bin/env bash
# Installs, upgrades, removes and purges the packages in a Debian 12 that has nothing else of ours, as root, and prints what each step
# took. In between two people write their first note, as the README says, in Vim and in Emacs. Fails if a step fails, or if a note or its
# history is not the same afterwards.
#
#   try-deb.sh FOLDER [CACHE]     FOLDER has the packages; CACHE keeps the empty Debian (default: below TMPDIR)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

# shellcheck source=Sources/Packaging/empty-debian.sh
. "$here/empty-debian.sh"

if [ "${1:-}" != --inside ]; then
  packages=$(cd "${1:?usage: try-deb.sh FOLDER [CACHE]}" && pwd)
  cache=${2:-${TMPDIR:-/tmp}/notes-lsp-bookworm}
  empty_debian "$cache"
  # Mounts of its own, which go with the process.
  exec unshare -m "$here/try-deb.sh" --inside "$packages" "$cache"
fi

packages=$2
open_debian "$3"
mkdir "$root"/{packages,upgrade}
cp "$packages"/*.deb "$root/packages/"

notes() { (cd "$root/home/ana" && find Notes .local/share/notes-lsp -type f -print0 | sort -z | xargs -0 sha256sum); }

install_packages() {
  inside apt-get update
  inside sh -c 'apt-get install -y --no-install-recommends /packages/*.deb'
}

the_program_answers() {
  ana 'notes-lsp --version'
  ana 'man notes-lsp' | grep 'multiplayer for the notes'
  ana 'man notes-lsp-serve' | grep 'a service without an editor'
  ana 'man notes-lsp-store' | grep 'store'
  ana 'emacs -Q --batch --eval "(progn (info \"(notes-lsp)Commands\") (princ (buffer-string)))"' | grep 'notes-share'
}

the_server_has_its_unit() {
  inside grep -x 'ExecStart=/usr/bin/notes-lsp serve .*' /lib/systemd/system/notes-lsp.service
  # Installing starts nothing.
  [ ! -e "$root/etc/systemd/system/multi-user.target.wants/notes-lsp.service" ]
}

the_editors_find_their_plugin() {
  # Vim reads no settings of a person, only Debian's; the command and its help must be there.
  ana "vim -es -i NONE -n -u /etc/vim/vimrc -c \"call writefile([exists(':NotesNew')], '/tmp/vim')\" -c 'qall!'" </dev/null || true
  grep -qx 2 "$root/tmp/vim"
  ana "vim -es -i NONE -n -u /etc/vim/vimrc -c 'help notes-lsp' -c \"call writefile([expand('%:t')], '/tmp/help')\" -c 'qall!'" </dev/null || true
  grep -qx notes_lsp.txt "$root/tmp/help"
  ana "emacs --batch -f package-initialize --eval \"(progn (require 'notes-lsp) (unless (and (commandp 'notes-new) (commandp 'notes-share)) (kill-emacs 1)))\""
}

a_note_from_the_shell() {
  ana 'echo milk | notes-lsp new Errands --stdin'
  ana 'notes-lsp show Errands' | grep -x milk
}

two_people() {
  echo "(require 'notes-lsp)" >"$root/home/ben/.emacs"
  "$here/../../Tests/Screens/newcomers.py" "$root" | tee "$work/seconds"
  ana 'notes-lsp show Shopping' | grep -x 'Olives, says Ben'
}

# The same packages under a higher version.
upgrade() {
  local package tree=$root/upgrade/tree
  for package in "$root"/packages/*.deb; do
    rm -rf "$tree"
    dpkg-deb -R "$package" "$tree"
    sed -i -E 's/^Version: (.*)/Version: \1+upgrade/' "$tree/DEBIAN/control"
    dpkg-deb -Znone --root-owner-group -b "$tree" "$root/upgrade/$(basename "$package")"
  done
  rm -rf "$tree"
  inside sh -c 'apt-get install -y --no-install-recommends /upgrade/*.deb'
  # shellcheck disable=SC2016
  inside dpkg-query -W -f '${Version}\n' notes-lsp | grep '+upgrade$'
}

all='notes-lsp vim-notes-lsp elpa-notes-lsp'
step "two people" inside sh -c 'useradd -m -s /bin/bash ana && useradd -m -s /bin/bash ben'
step "install" install_packages
step "program and manual pages" the_program_answers
step "the server's unit" the_server_has_its_unit
step "Vim and Emacs find their plugin" the_editors_find_their_plugin
step "first note, share and join" two_people
cat "$work/seconds"
step "a note from the shell" a_note_from_the_shell
before=$(notes)
[ -n "$before" ] || fail "there is no note to lose"
step "upgrade" upgrade
[ "$(notes)" = "$before" ] || fail "the upgrade changed notes or store"
step "the note after the upgrade" ana 'notes-lsp show Errands'
before=$(notes)
# shellcheck disable=SC2086
step "remove" inside apt-get remove -y $all
[ "$(notes)" = "$before" ] || fail "removing changed notes or store"
if inside sh -c 'command -v notes-lsp' >/dev/null; then fail "the program is still there"; fi
# shellcheck disable=SC2086
step "purge" inside dpkg --purge $all
[ "$(notes)" = "$before" ] || fail "purging changed notes or store"
left=$(cd "$root" && find etc lib/ usr var -name '*notes-lsp*' ! -path 'var/cache/*' ! -path 'var/log/*' ! -path 'var/lib/apt/*')
[ -z "$left" ] || fail "purging left: $left"
echo "The packages come and go, and leave notes and store alone."
