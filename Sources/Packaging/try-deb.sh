#!/usr/bin/env bash
# Installs, upgrades, removes and purges the packages in a Debian 12 that has nothing else of ours, as root, and prints what each step
# took. Fails if a step fails, or if a note or its history is not the same afterwards.
#
#   try-deb.sh FOLDER [CACHE]     FOLDER has the packages; CACHE keeps the empty Debian (default: below TMPDIR)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

if [ "${1:-}" != --inside ]; then
  packages=$(cd "${1:?usage: try-deb.sh FOLDER [CACHE]}" && pwd)
  cache=${2:-${TMPDIR:-/tmp}/notes-lsp-bookworm}
  if [ "$(id -u)" != 0 ]; then echo "A chroot needs root: run it with sudo." >&2; exit 1; fi
  if ! command -v debootstrap >/dev/null; then echo "Missing: debootstrap. Run: apt-get install -y debootstrap" >&2; exit 1; fi
  if [ ! -e "$cache/.complete" ]; then
    rm -rf "$cache"
    start=$SECONDS
    debootstrap --variant=minbase --include=ca-certificates,man-db,vim-nox,emacs-nox bookworm "$cache" \
      "${DEBIAN_MIRROR:-http://deb.debian.org/debian}" >"$cache.log" 2>&1 || { tail -n 5 "$cache.log" >&2; exit 1; }
    # A minimal Debian leaves manual pages out; people's own does not.
    rm -f "$cache"/etc/dpkg/dpkg.cfg.d/*
    touch "$cache/.complete"
    printf '%5d s  an empty Debian 12 with Vim and Emacs\n' $((SECONDS - start))
  fi
  # Mounts of its own, which go with the process.
  exec unshare -m "$here/try-deb.sh" --inside "$packages" "$cache"
fi

packages=$2 cache=$3
work=$(mktemp -d)
trap 'umount -R "$work" 2>/dev/null || true; rmdir "$work" 2>/dev/null || true' EXIT
mount -t tmpfs tmpfs "$work"
mkdir "$work"/{upper,scratch,root}
mount -t overlay overlay -o "lowerdir=$cache,upperdir=$work/upper,workdir=$work/scratch" "$work/root"
root=$work/root
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
cp /etc/resolv.conf "$root/etc/resolv.conf"
mkdir "$root"/{packages,upgrade}
cp "$packages"/*.deb "$root/packages/"

inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive TERM=dumb "$@"; }
ana() { inside su ana -c "$1"; }
fail() { echo "FAILED: $*" >&2; exit 1; }
# Each command of a step must succeed. Bash ignores set -e in what `||` or `if` follows, so the status is taken apart from the call.
step() {
  local name=$1 start=$SECONDS status
  shift
  set +e
  (set -e; "$@") >"$work/log" 2>&1
  status=$?
  set -e
  if [ "$status" != 0 ]; then tail -n 30 "$work/log" >&2; fail "$name"; fi
  printf '%5d s  %s\n' $((SECONDS - start)) "$name"
}
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

the_first_note() {
  ana 'echo milk | notes-lsp new Shopping --stdin'
  ana 'notes-lsp show Shopping' | grep -x milk
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
step "a person" inside useradd -m ana
step "install" install_packages
step "program and manual pages" the_program_answers
step "the server's unit" the_server_has_its_unit
step "Vim and Emacs find their plugin" the_editors_find_their_plugin
step "the first note" the_first_note
before=$(notes)
[ -n "$before" ] || fail "there is no note to lose"
step "upgrade" upgrade
[ "$(notes)" = "$before" ] || fail "the upgrade changed notes or store"
step "the note after the upgrade" ana 'notes-lsp show Shopping'
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
