# An empty Debian to try things in, as root; for scripts to source. Everything that is changed in it goes with the script.
#
#   empty_debian CACHE [SUITE PACKAGES]   makes CACHE (an empty Debian, kept for the next time); else Debian 12 with Vim and Emacs
#   open_debian CACHE                     with mounts of the script's own: sets `root`, and `work`, a folder beside it
# shellcheck shell=bash

empty_debian() {
  local cache=$1 suite=${2:-bookworm} packages=${3:-ca-certificates,man-db,vim-nox,emacs-nox} start=$SECONDS tool
  if [ "$(id -u)" != 0 ]; then echo "A chroot needs root: run it with sudo." >&2; exit 1; fi
  for tool in debootstrap tmux python3; do
    command -v "$tool" >/dev/null || { echo "Missing: $tool. Run: apt-get install -y $tool" >&2; exit 1; }
  done
  [ ! -e "$cache/.complete" ] || return 0
  rm -rf "$cache"
  debootstrap --variant=minbase --include="$packages" "$suite" "$cache" \
    "${DEBIAN_MIRROR:-http://deb.debian.org/debian}" >"$cache.log" 2>&1 || { tail -n 5 "$cache.log" >&2; exit 1; }
  # A minimal Debian leaves manual pages out; people's own does not.
  rm -f "$cache"/etc/dpkg/dpkg.cfg.d/*
  touch "$cache/.complete"
  printf '%5d s  an empty Debian %s with %s\n' $((SECONDS - start)) "$suite" "$packages"
}

open_debian() {
  work=$(mktemp -d)
  trap 'umount -R "$work" 2>/dev/null || umount -l -R "$work" 2>/dev/null || true; rmdir "$work" 2>/dev/null || true' EXIT
  mount -t tmpfs tmpfs "$work"
  mkdir "$work"/{upper,scratch,root}
  mount -t overlay overlay -o "lowerdir=$1,upperdir=$work/upper,workdir=$work/scratch" "$work/root"
  root=$work/root
  mount -t proc proc "$root/proc"
  mount --rbind /dev "$root/dev"
  mount --make-rslave "$root/dev"
  cp /etc/resolv.conf "$root/etc/resolv.conf"
}

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
