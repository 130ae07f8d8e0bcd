# What people write crashes nothing, hangs nothing and is never refused without a message, whatever it is: a short run of
# each fuzzer. By hand, for longer: bash tests/build/fuzz.sh BUILD_FOLDER SECONDS [keep]
#
# SECONDS are those of each fuzzer; "keep" adds what it found to be new to tests/fuzz/corpus. An input that fails stays in
# the folder `failures` of the fuzzers' own build folder, BUILD_FOLDER/fuzz-O1 (or -O0 without SECONDS).
SOURCE_DIR="${SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}"
BUILD_DIR="$(cd "${1:-${BUILD_DIR:-$SOURCE_DIR/build/release}}" && pwd)"
CMAKE="${CMAKE:-cmake}"
CXX="${CXX:-c++}"
GENERATOR="${GENERATOR:-Ninja}"
seconds="${2:-}"
keep="${3:-}"
. "$(dirname "$0")/common.sh"

command -v clang++ >/dev/null || fail "clang++ is not installed (Debian's package clang); scripts/dependencies.sh asks for it"
[ -z "$keep" ] || [ "$keep" = keep ] || fail "unknown argument: $keep (there is keep)"

arguments=("${systemc_arguments[@]}")
[ -z "${CXX_STANDARD:-}" ] || arguments+=(-DCMAKE_CXX_STANDARD="$CXX_STANDARD")

# Without optimisation the compiler takes a third of the time; inputs take longer, which many of them do not afford.
level=-O0
if [ -n "$seconds" ]; then level=-O1; fi
build="$BUILD_DIR/fuzz$level"
run "$temporary/configure.log" "$CMAKE" -S "$SOURCE_DIR" --preset fuzz -B "$build" -G "$GENERATOR" \
  -DCMAKE_CXX_FLAGS_RELEASE="$level" -DKERNWAVE_FUZZ_BUILT="$BUILD_DIR" "${arguments[@]}"
run "$temporary/build.log" "$CMAKE" --build "$build" --target kernwave_fuzzers --parallel 2

# A run of a fixed number of inputs from a fixed seed is the same every time; a long one is not meant to be.
limit=(-seed=1)
if [ -n "$seconds" ]; then limit=(-max_total_time="$seconds"); fi
export TMPDIR="$temporary" ASAN_OPTIONS=quarantine_size_mb=16

# fuzz TARGET RUNS
fuzz() {
  local target="$1" corpus="$SOURCE_DIR/tests/fuzz/corpus/$1" found="$temporary/$1" extent=()
  [ -n "$seconds" ] || extent=(-runs="$2")
  mkdir -p "$found" "$build/failures"
  run "$temporary/$target.log" "$build/bin/kernwave_fuzz_$target" "${limit[@]}" "${extent[@]}" -max_len=4096 -timeout=120 \
    -rss_limit_mb=512 -dict="$SOURCE_DIR/tests/fuzz/$target.dict" -artifact_prefix="$build/failures/$target." \
    "$found" "$corpus" </dev/null
  grep -E '^Done ' "$temporary/$target.log" | sed "s/^/$target: /"
  [ -z "$keep" ] || run "$temporary/$target.merge.log" "$build/bin/kernwave_fuzz_$target" -merge=1 "$corpus" "$found"
}
fuzz configuration 500
fuzz model_shape 5000
fuzz command_line 1000
