# A project outside this one finds the installed libraries, builds with them and runs.
. "$(dirname "$0")/common.sh"

prefix="$temporary/install prefix"
build="$temporary/consumer"
run "$temporary/install.log" "$CMAKE" --install "$BUILD_DIR" --config "$BUILD_TYPE" --prefix "$prefix"

# The package can be moved to another machine: it names nothing of this one's source and build folders.
if grep -rnF -e "$SOURCE_DIR/" -e "$BUILD_DIR/" "$prefix"/lib*/cmake; then fail "the package names the source folder"; fi
[ -f "$prefix/include/kernwave/models/base/quantity.h" ] || fail "the headers are not below include/kernwave"

run "$temporary/configure.log" "$CMAKE" -G "$GENERATOR" -S "$SOURCE_DIR/tests/consumer" -B "$build" \
  -DCMAKE_CXX_COMPILER="$CXX" -DCMAKE_CXX_FLAGS="$CXX_FLAGS" -DCMAKE_CXX_STANDARD="$CXX_STANDARD" \
  -DCMAKE_BUILD_TYPE="$BUILD_TYPE" -DCMAKE_PREFIX_PATH="$prefix" "${systemc_arguments[@]}"
run "$temporary/build.log" "$CMAKE" --build "$build" --config "$BUILD_TYPE"
run "$temporary/run.log" "$build/consumer"
cat "$temporary/run.log"

# The libraries go into shared objects too.
run "$temporary/host.log" "$build/host" "$(echo "$build"/libmodel.*)"
cat "$temporary/host.log"

# Found with another SystemC than kernwave was built with, the package says so and nothing is configured.
package="$(echo "$prefix"/lib*/cmake/kernwave)"
cp "$package/kernwaveConfig.cmake" "$temporary/kernwaveConfig.cmake"
sed -i 's/set(_kernwave_built "SystemC [0-9.]*/set(_kernwave_built "SystemC 9.8.7/; s/AND NOT "[0-9.]*"/AND NOT "9.8.7"/' \
  "$package/kernwaveConfig.cmake"
if "$CMAKE" -G "$GENERATOR" -S "$SOURCE_DIR/tests/consumer" -B "$temporary/other" -DCMAKE_CXX_COMPILER="$CXX" \
  -DCMAKE_CXX_STANDARD="$CXX_STANDARD" -DCMAKE_PREFIX_PATH="$prefix" "${systemc_arguments[@]}" \
  >"$temporary/other.log" 2>&1; then fail "another SystemC than kernwave's is taken"; fi
tr -s ' \n' ' ' <"$temporary/other.log" >"$temporary/other.line"
expect "kernwave was built with SystemC 9.8.7 for C++" "$temporary/other.line"
expect "was found through" "$temporary/other.line"
cp "$temporary/kernwaveConfig.cmake" "$package/kernwaveConfig.cmake"

# Who wants the libraries alone gets neither executables nor the files of tests.
for component in libraries tools; do
  run "$temporary/component.log" "$CMAKE" --install "$BUILD_DIR" --config "$BUILD_TYPE" --component "$component" \
    --prefix "$temporary/$component"
done
[ -f "$temporary/libraries/include/kernwave/models/base/quantity.h" ] || fail "the component libraries has no headers"
[ ! -e "$temporary/libraries/bin" ] || fail "the component libraries has executables"
[ ! -e "$temporary/libraries/share/kernwave" ] || fail "the component libraries has files of tests"
[ "$(cd "$temporary/tools" && find . -type f)" = ./bin/kernwave ] || fail "the component tools is more than kernwave"

# A machine with an engine and a timing table of its own. Its report opens, where there is a browser.
outputs="$temporary/own machine"
mkdir "$outputs"
(cd "$outputs" && run "$temporary/own.log" "$build/own_machine" "$SOURCE_DIR/tests/consumer/product_times.toml")
cat "$temporary/own.log"
if [ -n "$CHROMIUM" ] && [ -n "$CHROMEDRIVER" ] && [ -n "$PYTHON" ]; then
  run "$temporary/report.log" "$PYTHON" "$SOURCE_DIR/tests/browser/report.py" "$outputs/run.html" transposer
else
  echo "the report was not opened: there is no chromium, chromedriver or python3"
fi

run "$temporary/help.log" "$prefix/bin/kernwave" --help

# The regression comes with it, runs from any folder, and says in JUnit's format what it has seen.
regression() { run "$temporary/regression.log" "$prefix/bin/kernwave_regression" "--gtest_filter=$filter" "$@"; }
cd /
filter='OpLogQueries.*:TimelineFiles.*:CommandLine.List*'
regression "--gtest_output=xml:$temporary/results.xml"
tests="$(sed -n 's/^<testsuites tests="\([0-9]*\)" failures="0".*/\1/p' "$temporary/results.xml")"
[ "${tests:-0}" -gt 5 ] || fail "the regression ran ${tests:-no} tests: $(cat "$temporary/regression.log")"
# In parts it runs each of them once.
in_parts=0
for shard in 0 1 2; do
  GTEST_TOTAL_SHARDS=3 GTEST_SHARD_INDEX=$shard regression
  in_parts=$((in_parts + $(sed -n 's/^\[==========\] Running \([0-9]*\) tests\{0,1\} from .*/\1/p' "$temporary/regression.log")))
done
[ "$in_parts" = "$tests" ] || fail "three parts of $tests tests ran $in_parts"
