# The installed package: what each component holds, and what it says of another SystemC than kernwave was built with.
. "$(dirname "$0")/common.sh"

# install_component COMPONENT: into a prefix of that name.
install_component() {
  run "$temporary/install_$1.log" "$CMAKE" --install "$BUILD_DIR" --config "$BUILD_TYPE" --prefix "$temporary/$1" --component "$1"
}
# holds COMPONENT PATTERN / lacks COMPONENT PATTERN: whether a path of the component's prefix matches.
paths_of() { (cd "$temporary/$1" && find . -type f) | grep -E -- "$2"; }
holds() { paths_of "$1" "$2" >/dev/null || fail "the component $1 holds nothing like $2"; }
lacks() { ! paths_of "$1" "$2" || fail "the component $1 holds these"; }

for component in libraries tools regression; do
  install_component "$component"
  holds "$component" 'LICENSE$'
  holds "$component" 'echarts/NOTICE$'
done
holds libraries '/libkernwave_models\.a$'
holds libraries '/include/kernwave/models/base/quantity\.h$'
holds libraries '/kernwaveConfig\.cmake$'
lacks libraries '/(bin|tests|corpus|golden|queries)/'
holds tools '/bin/kernwave$'
lacks tools '\.(a|h|cmake)$|/kernwave_regression$|/(tests|corpus|golden)/'
holds regression '/bin/kernwave_regression$'
holds regression '/bin/kernwave$' # which it runs
holds regression '/tests/fuzz/corpus/'
lacks regression '\.(a|h|cmake)$'

# ---- SystemC

mkdir "$temporary/user"
cat >"$temporary/user/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES CXX)
find_package(kernwave 0.1 REQUIRED)
message(STATUS "the library is ${KernwaveSystemC_LIBRARY}")
END

# configure NAME [VARIABLE=VALUE...] [-- CMAKE_ARGUMENT...]: a project that uses the package, where neither pkg-config
# nor the system's folders know a SystemC. Its output goes to NAME.log.
configure() {
  local name="$1" variables=()
  shift
  while [ $# -gt 0 ] && [ "$1" != -- ]; do
    variables+=("$1")
    shift
  done
  [ $# -eq 0 ] || shift
  env -u SYSTEMC_HOME -u PKG_CONFIG_PATH PKG_CONFIG_LIBDIR="$temporary/nowhere" "${variables[@]}" \
    "$CMAKE" -G "$GENERATOR" -S "$temporary/user" -B "$temporary/build_$name" -DCMAKE_CXX_COMPILER="$CXX" \
    -DCMAKE_CXX_FLAGS="$CXX_FLAGS" -DCMAKE_CXX_STANDARD="$CXX_STANDARD" -DCMAKE_PREFIX_PATH="$temporary/libraries" \
    "$@" >"$temporary/$name.log" 2>&1
}
configured() { configure "$@" || { cat "$temporary/$1.log"; fail "$1: does not configure"; }; }

# One that lies elsewhere is taken, and told of.
copy_systemc "$temporary/elsewhere" lib
cp --remove-destination "$(readlink -f "$SYSTEMC_LIBRARY")" "$temporary/elsewhere/lib/libsystemc.${SYSTEMC_LIBRARY##*.}"
configured elsewhere SYSTEMC_HOME="$temporary/elsewhere"
expect "the library is $temporary/elsewhere/lib/libsystemc" "$temporary/elsewhere.log"
expect "that lies elsewhere" "$temporary/elsewhere.log"
expect "built with $SYSTEMC_LIBRARY" "$temporary/elsewhere.log"

# other_systemc PREFIX STANDARD VERSION_PATCH: a library that defines nothing but the symbol by which SystemC tells
# versions and standards apart, and headers that ask for it.
other_systemc() {
  mkdir -p "$1/include" "$1/lib"
  cp -rL "$SYSTEMC_INCLUDE"/sysc "$SYSTEMC_INCLUDE"/systemc "$SYSTEMC_INCLUDE"/systemc.h "$SYSTEMC_INCLUDE"/tlm* "$1/include"
  sed -i "s/^\(#define SC_VERSION_PATCH *\).*/\1$3/" "$1/include/sysc/kernel/sc_ver.h"
  printf '#include <sysc/kernel/sc_ver.h>\nnamespace stub { int SC_API_VERSION_STRING = 0; }\n' >"$1/stub.cpp"
  run "$1/stub.log" "$CXX" "-std=c++$2" -DSC_BUILD -isystem "$1/include" -shared -fPIC "$1/stub.cpp" -o "$1/lib/libsystemc.so"
}

# refused NAME STANDARD PATCH: the message names both, and nothing is configured.
refused() {
  other_systemc "$temporary/$1_home" "$2" "$3"
  # The rest of SystemC is missing in the stub; the project is not built.
  if configure "$1" SYSTEMC_HOME="$temporary/$1_home" -- -DCMAKE_CXX_STANDARD="$2" \
    -DCMAKE_EXE_LINKER_FLAGS=-Wl,--unresolved-symbols=ignore-all; then
    fail "$1: a SystemC that kernwave was not built with was taken"
  fi
  tr -s ' \n' ' ' <"$temporary/$1.log" >"$temporary/$1.line"
  expect "kernwave was built with SystemC $version for C++$CXX_STANDARD; SystemC ${version%.*}.$3 for C++$2 was found" "$temporary/$1.line"
}
number() { sed -n "s/^#define SC_VERSION_$1 *//p" "$SYSTEMC_INCLUDE/sysc/kernel/sc_ver.h"; }
patch="$(number PATCH)"
version="$(number MAJOR).$(number MINOR).$patch"
refused other_version "$CXX_STANDARD" "$((patch + 5))"
refused other_standard "$((CXX_STANDARD == 17 ? 20 : 17))" "$patch"
echo "components, and SystemC elsewhere, of another version, of another standard"
