# Results, op log and latency are the same whichever compiler built kernwave, at whichever optimisation level and in
# whichever folder.
. "$(dirname "$0")/common.sh"

command -v clang++ >/dev/null || fail "clang++ is not installed (Debian's package clang); scripts/dependencies.sh asks for it"

expected="$temporary/expected"
run "$temporary/expected.log" bash -c '"$0" >"$1"' "$FINGERPRINT" "$expected"
# Four kernels in two types under three policies; anything else means that the comparison would be of nothing.
# Source files are named as from the project's own folder, wherever that lies.
run_line='latency [0-9]* ps, [0-9]* operations, log [0-9a-f]*, output [0-9a-f]*, of kernels/attention/[a-z_./ ]*$'
[ "$(grep -c "$run_line" "$expected")" = 24 ] ||
  fail "the fingerprint is not what it should be: $(cat "$expected")"

# same_with NAME COMPILER SOURCES: builds the fingerprint without optimisation and compares what it prints. The options
# that results depend on (-ffp-contract=off) are the project's own; warnings are the business of the real build. The
# build stays, for the next time.
same_with() {
  local build="$BUILD_DIR/compilers/$1"
  mkdir -p "$build"
  run "$temporary/$1.configure.log" "$CMAKE" -G "$GENERATOR" -S "$3" -B "$build" -DCMAKE_CXX_COMPILER="$2" \
    -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0 -DCMAKE_CXX_STANDARD="$CXX_STANDARD" \
    -DKERNWAVE_BUILD_TESTS=ON -DCMAKE_UNITY_BUILD=ON -DKERNWAVE_WARNINGS_AS_ERRORS=OFF "${systemc_arguments[@]}"
  run "$temporary/$1.build.log" "$CMAKE" --build "$build" --target kernwave_fingerprint --parallel 2
  run "$temporary/$1.run.log" bash -c '"$0" >"$1"' "$build/bin/kernwave_fingerprint" "$temporary/$1.fingerprint"
  diff -u "$expected" "$temporary/$1.fingerprint" || fail "$1 gives other results than $CXX with this build's options"
  echo "$1: the same"
}
same_with clang-O0 clang++ "$SOURCE_DIR"

# In another folder: a copy, whose files are as old as their originals, so that only what has changed is built again.
elsewhere="$BUILD_DIR/compilers/elsewhere"
rm -rf "$elsewhere"
mkdir -p "$elsewhere"
for entry in CMakeLists.txt cmake docs kernels LICENSE models platform tests third_party traces; do
  cp -a "$SOURCE_DIR/$entry" "$elsewhere/"
done
same_with gcc-O0-elsewhere g++ "$elsewhere"
