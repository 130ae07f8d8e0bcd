# Sourced by ./run and ./check, which set `root`, this folder's parent.
set -euo pipefail

jobs="$(nproc 2>/dev/null || echo 2)"
preset=release
build="$root/build/$preset"
logs="$root/build/logs"
configure_arguments=()

say() { printf '%s\n' "$*"; }

die() {
  printf '%s\n' "$@" >&2
  exit 1
}

# step WHAT LOG COMMAND...: says what is done, does it with its output in build/logs/LOG, and says how long it took. Where
# it fails, the end of that output is shown and the status returned.
step() {
  local what="$1" log="$logs/$2" start=$SECONDS status=0
  shift 2
  mkdir -p "$logs"
  printf '%s ... ' "$what"
  "$@" >"$log" 2>&1 </dev/null || status=$?
  if [ "$status" -eq 0 ]; then
    say "done ($((SECONDS - start)) s)"
    return
  fi
  say "FAILED"
  grep -vE '^\[[0-9]+/[0-9]+\] |^ +Start +[0-9]+: |Passed +[0-9.]+ sec$' "$log" | tail -n 80 || true
  say "(all of it: $log)"
  return "$status"
}

# build_kernwave [TARGET]: configures and builds.
build_kernwave() {
  local target="${1:-all}"
  step "Configuring" configure.log cmake -S "$root" --preset "$preset" "${configure_arguments[@]}" || exit 1
  step "Building" build.log cmake --build "$build" --target "$target" -j "$jobs" || exit 1
}
