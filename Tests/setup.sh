#!/usr/bin/env bash
# Sees to what the build (`build`), the tests (`test`) or the documentation (`docs`) need: installs it where it may, or prints the one line to run.
set -euo pipefail
cd "$(dirname "$0")/.."
purpose=${1:-build}

if ! command -v swift >/dev/null; then
  echo "Swift 6.2 or later is needed and is not on the PATH: install it from https://swift.org/install and run make again." >&2
  exit 1
fi

packages=(libavahi-core-dev libssl-dev libuv1-dev libqrencode-dev libwslay-dev zlib1g-dev libdeflate-dev libsqlite3-dev libpq-dev pkg-config vim-nox emacs-nox tmux)
if [ "$purpose" = test ]; then
  packages+=(python3 python3-venv curl neovim postgresql lua-check elpa-eglot elpa-package-lint shellcheck codespell mandoc)
fi
if [ "$purpose" = docs ]; then
  packages+=(python3 python3-venv graphviz mandoc chromium chromium-driver fonts-dejavu-core)
fi

if command -v dpkg-query >/dev/null; then
  missing=()
  for package in "${packages[@]}"; do
    status=$(dpkg-query -W -f '${db:Status-Abbrev}' "$package" 2>/dev/null || true)
    case "$status" in ii*) ;; *) missing+=("$package") ;; esac
  done
  # Another Vim or Emacs, or another Python than Debian's, serves as well.
  keep=()
  for package in "${missing[@]+"${missing[@]}"}"; do
    case "$package" in
      vim-nox) case "$(vim --version 2>/dev/null)" in *+channel*) ;; *) keep+=("$package") ;; esac ;;
      lua-check) command -v luacheck >/dev/null || keep+=("$package") ;;
      curl) command -v curl >/dev/null || keep+=("$package") ;;
      neovim) command -v nvim >/dev/null || keep+=("$package") ;;
      emacs-nox) command -v emacs >/dev/null || keep+=("$package") ;;
      python3 | python3-venv) python3 -c 'import ensurepip, venv' 2>/dev/null || keep+=("$package") ;;
      postgresql) compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || keep+=("$package") ;;
      pkg-config) command -v pkg-config >/dev/null || keep+=("$package") ;;
      *) keep+=("$package") ;;
    esac
  done
  missing=("${keep[@]+"${keep[@]}"}")
  if [ ${#missing[@]} -gt 0 ]; then
    install=(apt-get install -y --no-install-recommends "${missing[@]}")
    if [ "$(id -u)" = 0 ]; then
      run=()
    elif sudo -n true 2>/dev/null; then
      run=(sudo -n)
    else
      echo "Missing: ${missing[*]}. Run: sudo apt-get update && sudo ${install[*]}" >&2
      exit 1
    fi
    export DEBIAN_FRONTEND=noninteractive
    echo "Installing ${missing[*]} ..."
    "${run[@]+"${run[@]}"}" apt-get update -qq
    "${run[@]+"${run[@]}"}" "${install[@]}" -qq >/dev/null
  fi
else
  for tool in vim emacs tmux; do
    command -v "$tool" >/dev/null || echo "$tool is missing: the demo and some tests need it." >&2
  done
fi

# The reference Automerge core, for the tests that let the two talk to each other.
if [ "$purpose" = test ] && ! .build-venv/bin/python -c 'import automerge, cbor2, websockets' 2>/dev/null; then
  if ! { python3 -m venv .build-venv && .build-venv/bin/pip install -q --disable-pip-version-check automerge==1.0.0rc1 cbor2 websockets; }; then
    echo "SKIPPING the tests against the reference core: automerge==1.0.0rc1, cbor2 and websockets could not be installed from PyPI." >&2
  fi
fi

if [ "$purpose" = docs ] && ! .build-venv/bin/python -c 'import markdown, selenium' 2>/dev/null; then
  python3 -m venv .build-venv
  .build-venv/bin/pip install -q --disable-pip-version-check markdown selenium
fi
