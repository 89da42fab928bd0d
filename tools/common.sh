# Shared by the scripts of tools/: where things are, and how they speak. Sourced, not run.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export HASTEN_CACHE=${HASTEN_CACHE:-$HOME/.cache/hasten}
venv=$HASTEN_CACHE/venv
peers=$HASTEN_CACHE/peers
tool=$(basename "$0")

say() { printf '%s: %s\n' "$tool" "$*" >&2; }
warn() { printf '%s: warning: %s\n' "$tool" "$*" >&2; }
die() {
  printf '%s: error: %s\n' "$tool" "$*" >&2
  exit 1
}

# usage: prints the comment block at the top of the calling script.
usage() { sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; }

# as_root COMMAND…: as it is for root, through sudo for everyone else.
as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    die "this needs root: run it as root or install sudo. The command was: $*"
  fi
}

# quietly LOG COMMAND…: output goes to LOG; on failure its end is shown and the caller decides.
quietly() {
  local log=$1
  shift
  mkdir -p "$(dirname "$log")"
  if ! "$@" >"$log" 2>&1; then
    tail -n 40 "$log" >&2
    say "the whole log: $log"
    return 1
  fi
}
