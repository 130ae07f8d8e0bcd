# Sourced by the tests of the build. They are started by CTest, which sets CMAKE, CXX, GENERATOR and SOURCE_DIR.
set -euo pipefail

temporary="$(mktemp -d "${TMPDIR:-/tmp}/kernwave_build_test.XXXXXX")"
trap 'rm -rf "$temporary"' EXIT

# What a project that looks for SystemC by itself is given so that it finds the one that this build uses.
systemc_arguments=()
[ -z "${SYSTEMC_PACKAGE:-}" ] || systemc_arguments+=(-DSystemCLanguage_DIR="$SYSTEMC_PACKAGE")
[ -n "${SYSTEMC_HOME:-}" ] || unset SYSTEMC_HOME

fail() {
  printf 'FAILED: %s\n' "$*" >&2
  exit 1
}

# expect TEXT FILE: the file must contain the text; where it does not, the file is shown.
expect() {
  grep -qF -- "$1" "$2" && return
  sed 's/^/  | /' "$2" >&2
  fail "expected to read: $1"
}

# run LOG COMMAND...: runs it, its output in LOG; a failure shows that and fails the test.
run() {
  local log="$1"
  shift
  "$@" >"$log" 2>&1 && return
  sed 's/^/  | /' "$log" >&2
  fail "$*"
}

# A project that asks for nothing but SystemC, in the way of kernwave. Its only dependency is the module under test.
make_probe_project() {
  mkdir -p "$temporary/probe"
  cat >"$temporary/probe/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.25)
project(probe LANGUAGES CXX)
if(NOT CMAKE_CXX_STANDARD)
  set(CMAKE_CXX_STANDARD 17)
endif()
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
list(APPEND CMAKE_MODULE_PATH "$SOURCE_DIR/cmake")
find_package(KernwaveSystemC REQUIRED)
add_executable(probe probe.cpp)
target_link_libraries(probe PRIVATE SystemC::systemc)
END
  printf '#include <systemc>\nint sc_main(int, char**) { return 0; }\n' >"$temporary/probe/probe.cpp"
}

# copy_systemc PREFIX LIBRARY_FOLDER: the SystemC of this build, as if it had been installed below PREFIX.
copy_systemc() {
  mkdir -p "$1/include" "$1/$2"
  local entry
  for entry in sysc systemc systemc.h tlm tlm.h tlm_core tlm_utils; do
    if [ -e "$SYSTEMC_INCLUDE/$entry" ]; then ln -s "$SYSTEMC_INCLUDE/$entry" "$1/include/$entry"; fi
  done
  ln -s "$(readlink -f "$SYSTEMC_LIBRARY")" "$1/$2/libsystemc.${SYSTEMC_LIBRARY##*.}"
}

# configure_probe BUILD [NAME=VALUE...] [-- CMAKE_ARGUMENT...]: configures the probe project where the only SystemC is
# the one that the variables and arguments name. Its output goes to BUILD.log.
configure_probe() {
  local build="$1" variables=()
  shift
  while [ $# -gt 0 ] && [ "$1" != -- ]; do
    variables+=("$1")
    shift
  done
  [ $# -eq 0 ] || shift
  env -u SYSTEMC_HOME -u CMAKE_PREFIX_PATH -u PKG_CONFIG_PATH PKG_CONFIG_LIBDIR="$temporary/nowhere" "${variables[@]}" \
    "$CMAKE" -G "$GENERATOR" -S "$temporary/probe" -B "$build" -DCMAKE_CXX_COMPILER="$CXX" \
    -DCMAKE_FIND_USE_SYSTEM_ENVIRONMENT_PATH=ON -DCMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF \
    -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF "$@" >"$build.log" 2>&1
}
