# SystemC is found on a machine that has it as a CMake package only, through pkg-config only, by SYSTEMC_HOME only.
. "$(dirname "$0")/common.sh"
make_probe_project

# found NAME PREFIX HOW [VARIABLE=VALUE...] [-- CMAKE_ARGUMENT...]: the probe project configures, finds SystemC as told,
# and compiles against the headers of this prefix, as system headers.
found() {
  local build="$temporary/$1" prefix="$2" how="$3"
  shift 3
  configure_probe "$build" "$@" || { cat "$build.log"; fail "$how: does not configure"; }
  expect "found through $how" "$build.log"
  expect "-isystem $prefix/include" "$build/compile_commands.json"
  grep -F "found through" "$build.log"
}

prefix="$temporary/package_prefix"
copy_systemc "$prefix" lib
mkdir -p "$prefix/lib/cmake/SystemCLanguage"
cat >"$prefix/lib/cmake/SystemCLanguage/SystemCLanguageConfig.cmake" <<'END'
get_filename_component(prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
file(GLOB library "${prefix}/lib/libsystemc.*")
find_package(Threads REQUIRED)
add_library(SystemC::systemc UNKNOWN IMPORTED)
set_target_properties(
  SystemC::systemc
  PROPERTIES IMPORTED_CONFIGURATIONS RELEASE
             IMPORTED_LOCATION_RELEASE "${library}"
             INTERFACE_COMPILE_FEATURES cxx_std_17
             INTERFACE_INCLUDE_DIRECTORIES "${prefix}/include"
             INTERFACE_LINK_LIBRARIES Threads::Threads)
END
found package "$prefix" "the CMake package in $prefix" CMAKE_PREFIX_PATH="$prefix"
found package_in_home "$prefix" "the CMake package in $prefix" SYSTEMC_HOME="$prefix"

prefix="$temporary/pkgconfig_prefix"
copy_systemc "$prefix" lib
mkdir -p "$prefix/lib/pkgconfig"
cat >"$prefix/lib/pkgconfig/systemc.pc" <<END
Name: SystemC
Description: Accellera SystemC proof-of-concept library
Version: 2.3.4
Libs: -L$prefix/lib -lsystemc
Libs.private: -lpthread
Cflags: -I$prefix/include
END
found pkgconfig "$prefix" "pkg-config" PKG_CONFIG_PATH="$prefix/lib/pkgconfig"

prefix="$temporary/home"
for folder in lib64 lib-linux64; do
  rm -rf "$prefix"
  copy_systemc "$prefix" "$folder"
  found "home_$folder" "$prefix" "SYSTEMC_HOME, $prefix" SYSTEMC_HOME="$prefix"
done
rm -rf "$prefix"
copy_systemc "$prefix" lib
found home_variable "$prefix" "SYSTEMC_HOME, $prefix" -- -DSYSTEMC_HOME="$prefix"

# Nothing there: the message says what was looked for and what to do.
if configure_probe "$temporary/none"; then fail "configured without any SystemC"; fi
expect "SystemC was not found" "$temporary/none.log"
expect "libsystemc-dev" "$temporary/none.log"

if configure_probe "$temporary/wrong_home" SYSTEMC_HOME="$temporary/nowhere"; then fail "took an empty SYSTEMC_HOME"; fi
expect "SYSTEMC_HOME is $temporary/nowhere, but there is no SystemC there" "$temporary/wrong_home.log"

# ./check --systemc3 names what is missing before it does anything.
if SYSTEMC3_HOME="$temporary/nowhere" "$SOURCE_DIR/check" --systemc3 >"$temporary/systemc3.log" 2>&1; then
  fail "check --systemc3 went on without a SystemC 3"
fi
expect "SYSTEMC3_HOME is \"$temporary/nowhere\", where there is no include/systemc" "$temporary/systemc3.log"
