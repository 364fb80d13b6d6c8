#!/usr/bin/env bash
# Makes Debian packages (program, Vim and Neovim plugin, Emacs plugin) or a tarball that runs where it is unpacked.
#
#   deb.sh deb PROGRAM FOLDER
#   deb.sh tarball PROGRAM FOLDER
#
# PROGRAM is a release build with Swift's runtime linked in (`make build`). The results are in FOLDER.
set -euo pipefail
cd "$(dirname "$0")/../.."

action=${1:-} program=${2:-} output=${3:-}
case "$action:$program:$output" in
  deb:?*:?* | tarball:?*:?*) ;;
  *) echo "usage: deb.sh deb|tarball PROGRAM FOLDER" >&2; exit 2 ;;
esac
if [ ! -x "$program" ]; then echo "There is no program at $program: run make build first." >&2; exit 1; fi
if readelf -d "$program" | grep -q 'NEEDED.*libswift'; then
  echo "$program needs Swift's libraries, which other machines do not have: build it with --static-swift-stdlib (make build)." >&2
  exit 1
fi
version=$("$program" --version | sed -E 's/^notes-lsp ([0-9.]+).*/\1/')
mkdir -p "$output"
output=$(cd "$output" && pwd)
epoch=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH=$epoch

# Copies the notices that the licences of what is linked in ask for.
copy_notices() {
  local notice name
  mkdir -p "$1"
  for notice in .build/checkouts/*/NOTICE.txt; do
    if [ ! -e "$notice" ]; then echo "The libraries' notices are not in .build/checkouts: run swift package resolve." >&2; exit 1; fi
    name=$(basename "$(dirname "$notice")")
    install -m 644 "$notice" "$1/$name.txt"
  done
}

if [ "$action" = tarball ]; then
  name=notes-lsp-$version-linux-$(uname -m)
  tree=$output/$name
  rm -rf "$tree"
  HOME=$output Sources/Packaging/install.sh install "$tree" "$program" >/dev/null
  install -m 644 README.md LICENSE Sources/Packaging/debian/copyright "$tree/"
  copy_notices "$tree/notices"
  tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$epoch" -C "$output" -czf "$output/$name.tar.gz" "$name"
  rm -rf "$tree"
  ls -l "$output/$name.tar.gz"
  exit 0
fi

missing=()
for package in debhelper dh-elpa dh-vim-addon dpkg-dev lintian; do
  case "$(dpkg-query -W -f '${db:Status-Abbrev}' "$package" 2>/dev/null || true)" in ii*) ;; *) missing+=("$package") ;; esac
done
if [ ${#missing[@]} -gt 0 ]; then
  echo "Missing: ${missing[*]}. Run: sudo apt-get update && sudo apt-get install -y --no-install-recommends ${missing[*]}" >&2
  exit 1
fi

tree=$output/notes-lsp-$version
rm -rf "$tree"
mkdir -p "$tree"/built/completions/{bash,zsh,fish}
cp -R README.md editor-plugins Sources "$tree/"
find "$tree" \( -name '*.elc' -o -name tags -o -name __pycache__ \) -exec rm -rf {} +
mv "$tree/Sources/Packaging/debian" "$tree/debian"
cp "$program" "$tree/built/notes-lsp"
# The unit of a server that is always on. In a package the program is not in /usr/local.
sed 's|/usr/local/bin/|/usr/bin/|; s|^# A server that is always on.*|# A server that is always on: see notes-lsp-serve(1). Not enabled: it needs settings first.|' \
  Sources/Documentation/notes-lsp.service >"$tree/debian/notes-lsp.service"
copy_notices "$tree/built/notices"
"$program" --generate-completion-script bash | sed "1{/^#!/d}" >"$tree/built/completions/bash/notes-lsp"
"$program" --generate-completion-script zsh >"$tree/built/completions/zsh/_notes-lsp"
"$program" --generate-completion-script fish >"$tree/built/completions/fish/notes-lsp.fish"
cat >"$tree/debian/changelog" <<END
notes-lsp ($version) bookworm; urgency=medium

  * Release $version. The repository's log has its changes.

 -- The notes-lsp authors <maintainers@notes-lsp.invalid>  $(date -R -d "@$epoch")
END

# A package of an earlier run is not taken for one of this.
rm -f "$output"/*.deb "$output"/*.changes "$output"/*.buildinfo
# -d: dh's parts are checked above, and the program is built already.
(cd "$tree" && DEB_BUILD_OPTIONS="nocheck noautodbgsym" dpkg-buildpackage -b -us -uc -d) >"$output/build.log" 2>&1 ||
  { tail -n 40 "$output/build.log" >&2; echo "The package could not be built; $output/build.log has all of it." >&2; exit 1; }
lintian --fail-on error,warning "$output"/*.changes
rm -rf "$tree"
ls -l "$output"/*.deb
