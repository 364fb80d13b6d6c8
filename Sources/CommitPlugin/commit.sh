#!/bin/sh
# Writes FOLDER/BuildCommit.swift: the commit of the clone in PACKAGE. A file that says so already is left as it is, so a build with
# nothing new compiles nothing.
#
#   commit.sh PACKAGE FOLDER
set -eu
cd "$1"
mkdir -p "$2"
# Someone else may be using git here at the moment.
export GIT_OPTIONAL_LOCKS=0

hash=nil isModified=false
# An unpacked archive may lie in a clone of something else.
if [ -e .git ] && name=$(git rev-parse --short=12 HEAD 2>/dev/null); then
  hash="\"$name\""
  git diff --quiet HEAD -- 2>/dev/null || isModified=true
fi

new=$(
  cat <<EOF
/// Written by commit.sh before each build.
enum BuildCommit {
  /// Nil if the program was not built in a clone.
  static let hash: String? = $hash
  /// Whether files differed from that commit.
  static let isModified = $isModified
}
EOF
)
file=$2/BuildCommit.swift
if [ ! -f "$file" ] || [ "$new" != "$(cat "$file")" ]; then printf '%s\n' "$new" >"$file"; fi
