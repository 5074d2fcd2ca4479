# Sourced by on_amd_gpu and on_nvidia_gpu, which set vendor (amd), maker (AMD) and usual_device (hip:0)
# before, and define judge(): which device, where the results go, steps that are cut off in time, and the
# archive, which is written again after every step.
budget=${usual_budget:-520}
only=
names=
while :; do
  case ${1:-} in
    --budget)
      budget=${2:-}
      case $budget in '' | *[!0-9]*) echo "--budget takes seconds, not '$budget'" >&2; exit 2 ;; esac
      ;;
    --only)
      only=${2:-}
      case $only in '' | -*) echo "--only takes the name of a step, not '$only'" >&2; exit 2 ;; esac
      ;;
    *) break ;;
  esac
  shift 2
done
started=$(date +%s)
out=${1:-on-$vendor-gpu-$(date -u +%Y%m%d-%H%M%S)}
device=${2:-$usual_device}
case $out in -*) echo "unknown option '$out'; see --help" >&2; exit 2 ;; esac
out=$(realpath -m "$out")  # as the caller sees it
cd -P "$(dirname "$0")/.."

wirewatt=${WIREWATT:-}
for candidate in dist/wirewatt/wirewatt build/release/bin/wirewatt; do
  [ -z "$wirewatt" ] && [ -x "$candidate" ] && "$candidate" --version >/dev/null 2>&1 && wirewatt=$candidate
done
if [ -z "$wirewatt" ]; then
  echo "No wirewatt that runs here: build it (scripts/build), or carry a bundle (scripts/bundle)." >&2
  exit 3
fi
devices=$(timeout 60 "$wirewatt" --quiet devices 2>&1)
if ! printf '%s\n' "$devices" | grep -q "^$device "; then
  echo "No $maker GPU here ($device is not among the devices). What wirewatt sees:" >&2
  printf '%s\n' "$devices" >&2
  exit 3
fi

if ! mkdir -p "$out/raw" "$out/judged"; then
  echo "The folder for the results cannot be made: $out" >&2
  exit 2
fi
export XDG_CACHE_HOME="$out/cache"
summary="$out/summary.txt"
failed=0
current=
log_pid=

# For judge(): a bit's energy by level, with its interval.
judge_ladder() {
  [ -s "$out/raw/ladder/ladder.db" ] || return 0
  timeout 30 "$wirewatt" --quiet fit "$out/raw/ladder/ladder.db" >"$out/judged/ladder.txt" 2>"$out/judged/ladder.log"
  grep -E '^(l1|l2|cache|memory)_(read|write)(_less_[a-z0-9]+)? ' "$out/judged/ladder.txt" | tee -a "$summary"
  tail -2 "$out/judged/ladder.log" | tee -a "$summary"
}

# The archive: raw data first, what was made of it second. Its new version replaces the old one whole.
pack() {
  tar -czf "$out.tar.gz.part" -C "$(dirname "$out")" \
    "$(basename "$out")/summary.txt" "$(basename "$out")/raw" "$(basename "$out")/judged" &&
    mv "$out.tar.gz.part" "$out.tar.gz"
}
stop() {
  trap '' TERM INT HUP
  if [ -n "$current" ]; then
    # The step ends by itself at the signal and keeps what it has. Bash's wait can return before that:
    # where a second signal came just before they were ignored (timeout sends two).
    kill -TERM "$current" 2>/dev/null
    while kill -0 "$current" 2>/dev/null; do wait "$current" 2>/dev/null; done
    echo "$current_name: stopped" >>"$summary"
  else
    mkdir -p "$out/raw" "$out/judged"
    echo "stopped between two steps" >>"$summary"
  fi
  finish 1
}
finish() {
  [ -n "$log_pid" ] && kill "$log_pid" 2>/dev/null
  pack  # the raw data, before anything that could go wrong
  judge
  pack
  rm -rf "$out/cache"
  if [ "$1" -eq 0 ] && [ -n "$only" ]; then
    case "$names " in
      *" $only "*) ;;
      *)
        echo "No step is called '$only'; there are$names" >&2
        exit 2
        ;;
    esac
  fi
  echo "packed: $out.tar.gz ($(du -h "$out.tar.gz" | cut -f1)) in $(($(date +%s) - started)) s"
  echo "Please attach it to $("$wirewatt" --version | sed -n 's/^Faults, and files of cards, go to //p')"
  exit "$1"
}
trap stop TERM INT HUP

# step NAME SECONDS COMMAND...: stdout to raw/NAME.json, stderr to raw/NAME.log. SECONDS is the most;
# no step is given more than what is left, less the time to judge and to pack. With --only, others do nothing.
step() {
  local name=$1 most=$2 left code begun
  shift 2
  names="$names $name"
  [ -z "$only" ] || [ "$only" = "$name" ] || return
  left=$((budget - 10 - ($(date +%s) - started)))
  [ "$most" -gt "$left" ] && most=$left
  if [ "$most" -lt 5 ]; then
    echo "$name: left out, the time is up" | tee -a "$summary"
    failed=1
    return
  fi
  begun=$(date +%s)
  current_name=$name
  timeout -k 10 "$most" "$@" >"$out/raw/$name.json" 2>"$out/raw/$name.log" &
  current=$!
  wait "$current"
  code=$?
  current=
  echo "$name: exit $code after $(($(date +%s) - begun)) s" | tee -a "$summary"
  if [ $code -ne 0 ]; then
    failed=1
    tail -3 "$out/raw/$name.log" | sed 's/^/  /' | tee -a "$summary"
  fi
  pack
}

{
  "$wirewatt" --version
  date -u +%Y-%m-%dT%H:%M:%SZ
  echo "budget: $budget s"
} | tee "$summary"
