#!/usr/bin/env bash
# The README's two commands in a Debian 12 that has nothing but Swift, as a person who is not root, with the time of each.
#
#   try-source.sh CHECKOUT [CACHE]     CHECKOUT is cloned as it was committed; CACHE keeps the empty Debian (default: below TMPDIR)
#
# SWIFT is the folder of the toolchain (default: the one on the PATH), MIRRORS are folders with packages that settings of git or pip name.
# What make says is missing is installed with the line that it prints.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=Sources/Packaging/empty-debian.sh
. "$here/empty-debian.sh"

if [ "${1:-}" != --inside ]; then
  checkout=$(cd "${1:?usage: try-source.sh CHECKOUT [CACHE]}" && pwd)
  cache=${2:-${TMPDIR:-/tmp}/notes-lsp-bookworm}
  empty_debian "$cache"
  exec unshare -m "$here/try-source.sh" --inside "$checkout" "$cache"
fi

checkout=$2
open_debian "$3"
swift=${SWIFT:-$(dirname "$(dirname "$(readlink -f "$(command -v swift)")")")}
mkdir -p "$root/opt/swift" "$root/opt/notes-lsp"
mount --bind "$swift" "$root/opt/swift"
mount --bind "$checkout" "$root/opt/notes-lsp"
# Where git and pip find packages on this machine, and whom they trust.
for settings in gitconfig pip.conf ssl/certs/ca-certificates.crt; do
  if [ -e "/etc/$settings" ]; then cp "/etc/$settings" "$root/etc/$settings"; fi
done
for mirror in ${MIRRORS:-}; do
  mkdir -p "$root$mirror"
  mount --bind "$mirror" "$root$mirror"
done

# What swift.org asks for on Debian 12, and make and git.
swift_needs() {
  inside apt-get update
  inside apt-get install -y --no-install-recommends binutils-gold gcc git libcurl4-openssl-dev libedit-dev libicu-dev libncurses-dev \
    libpython3-dev libsqlite3-dev libstdc++-12-dev libxml2-dev make pkg-config tzdata uuid-dev zlib1g-dev
}

clone() {
  ana 'git config --global --add safe.directory "*" && git clone -q /opt/notes-lsp ~/notes-lsp'
}

make_as_ana() { ana "cd ~/notes-lsp && PATH=/opt/swift/bin:\$PATH make $1"; }

# Runs what make tells a person to run, without sudo: root does it here.
install_what_make_says() {
  local line
  line=$({ make_as_ana "$1" 2>&1 || true; } | sed -n 's/^Missing: .* Run: //p')
  [ -n "$line" ]
  echo "$line"
  inside sh -c "${line//sudo /}"
}

step "a person" inside useradd -m -s /bin/bash ana
step "what Swift needs" swift_needs
step "a clone" clone
step "what make setup says is missing" install_what_make_says setup
step "make demo, played by itself" make_as_ana demo-record
step "what make setup-test says is missing" install_what_make_says setup-test
step "make test" make_as_ana test
tail -n 40 "$work/log" | sed -n '/== summary/,$p'
echo "The README's two commands work from nothing but Swift."
