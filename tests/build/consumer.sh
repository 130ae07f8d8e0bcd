# A project outside this one finds the installed libraries, builds with them and runs.
. "$(dirname "$0")/common.sh"

prefix="$temporary/install prefix"
build="$temporary/consumer"
run "$temporary/install.log" "$CMAKE" --install "$BUILD_DIR" --config "$BUILD_TYPE" --prefix "$prefix"

# The package can be moved to another machine: it names nothing of this one's source and build folders.
if grep -rnF -e "$SOURCE_DIR/" -e "$BUILD_DIR/" "$prefix"/lib*/cmake; then fail "the package names the source folder"; fi
[ -f "$prefix/include/kernwave/models/base/quantity.h" ] || fail "the headers are not below include/kernwave"

arguments=()
[ -z "${SYSTEMC_PACKAGE:-}" ] || arguments+=(-DSystemCLanguage_DIR="$SYSTEMC_PACKAGE")
[ -n "${SYSTEMC_HOME:-}" ] || unset SYSTEMC_HOME
run "$temporary/configure.log" "$CMAKE" -G "$GENERATOR" -S "$SOURCE_DIR/tests/consumer" -B "$build" \
  -DCMAKE_CXX_COMPILER="$CXX" -DCMAKE_CXX_FLAGS="$CXX_FLAGS" -DCMAKE_CXX_STANDARD="$CXX_STANDARD" \
  -DCMAKE_BUILD_TYPE="$BUILD_TYPE" -DCMAKE_PREFIX_PATH="$prefix" "${arguments[@]}"
run "$temporary/build.log" "$CMAKE" --build "$build" --config "$BUILD_TYPE"
run "$temporary/run.log" "$build/consumer"
cat "$temporary/run.log"

run "$temporary/help.log" "$prefix/bin/kernwave" --help
