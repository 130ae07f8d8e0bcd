# docs/extending.md holds: the changes that it shows apply to the tree, touch the files that it names and no others,
# compile, and do what it says. By hand: bash tests/build/extending.sh
#
# A ```diff fence of the page begins with "--- FILE". Lines with a blank in front stand in the file in that order, and
# once; those with a + are added there, those with a - go.
SOURCE_DIR="${SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}"
CMAKE="${CMAKE:-cmake}"
CXX="${CXX:-c++}"
CXX_STANDARD="${CXX_STANDARD:-17}"
GENERATOR="${GENERATOR:-Ninja}"
. "$(dirname "$0")/common.sh"

page="$SOURCE_DIR/docs/extending.md"
tree="$temporary/tree"

# ---- the changes of the page

# Each fence in a file of its own, numbered, in the order of the page.
awk -v folder="$temporary" '
  $0 == "```diff" { inside = 1; file = sprintf("%s/change%02d", folder, ++number); next }
  /^```/ { inside = 0 }
  inside { print > file }' "$page"

# apply CHANGE: makes the change in $tree.
apply() {
  local target
  target="$(sed -n '1s/^--- //p' "$1")"
  [ -f "$tree/$target" ] || fail "docs/extending.md changes $target, which does not exist"
  awk -v change="$1" '
    BEGIN {
      getline line < change
      while ((getline line < change) > 0) {
        mark[++length_of_change] = substr(line, 1, 1)
        text[length_of_change] = substr(line, 2)
      }
    }
    { lines[NR] = $0 }
    END {
      for (at = 1; at <= NR; ++at) {
        place = at
        for (i = 1; i <= length_of_change; ++i) {
          if (mark[i] == "+") continue
          if (lines[place++] != text[i]) break
        }
        if (i > length_of_change) { ++found; first = at; behind = place }
      }
      if (found != 1) { print "stands " found + 0 " times"; exit 1 }
      for (at = 1; at < first; ++at) print lines[at]
      for (i = 1; i <= length_of_change; ++i) if (mark[i] != "-") print text[i]
      for (at = behind; at <= NR; ++at) print lines[at]
    }' "$tree/$target" >"$temporary/changed" ||
    fail "docs/extending.md: the place of this change in $target $(cat "$temporary/changed"): $(cat "$1")"
  cp "$temporary/changed" "$tree/$target"
}

mkdir "$tree"
(cd "$SOURCE_DIR" && cp -r --parents models kernels platform/config platform/text tests/tl tests/support traces "$tree")
cp -r "$tree" "$temporary/before"
changes=("$temporary"/change??)
[ ${#changes[@]} -ge 7 ] || fail "found only ${#changes[@]} changes in docs/extending.md"

# expect_refused TEXT: the header does not compile, and says so.
expect_refused() {
  echo '#include "models/protocol/math_operation.h"' >"$temporary/header.cpp"
  if "$CXX" -std="c++$CXX_STANDARD" -I"$tree" -fsyntax-only "$temporary/header.cpp" 2>"$temporary/header.log"; then
    fail "an operation that is half there compiles: $1"
  fi
  expect "$1" "$temporary/header.log"
}

# An enumerator without its row.
apply "${changes[0]}"
expect_refused "rows stand in the order of the enumerators"

for change in "${changes[@]:1}"; do apply "$change"; done

# ---- the files that they touch

(cd "$temporary" && { diff -rq before tree || true; } | sed -n 's/^Files before\/\(.*\) and .*/\1/p' | LC_ALL=C sort) >"$temporary/touched"
printf '%s\n' kernels/tl/context.h models/config/system_config.h models/pe/math_timing.cpp \
  models/protocol/math_operation.h platform/config/key_table.cpp tests/tl/elementwise_test.cpp >"$temporary/named"
diff -u "$temporary/named" "$temporary/touched" || fail "the changes touch other files than docs/extending.md says"

# ---- what they do

# Each library as one file, not optimised: compiling takes longer than running.
project="$temporary/project"
mkdir "$project"
for library in models kernels/tl; do
  (cd "$tree" && find "$library" -name '*.cpp' | sort | sed 's/.*/#include "&"/') >"$project/$(basename $library).cpp"
done
cat >"$project/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.25)
project(changed LANGUAGES CXX)
list(APPEND CMAKE_MODULE_PATH "$SOURCE_DIR/cmake")
find_package(KernwaveSystemC REQUIRED)
find_package(fmt REQUIRED)
find_package(Eigen3 REQUIRED NO_MODULE)
find_package(GTest REQUIRED)
add_executable(changed models.cpp tl.cpp main.cpp)
# What else the page changes, compiled.
add_library(others OBJECT "$tree/platform/config/key_table.cpp" "$tree/tests/tl/elementwise_test.cpp")
foreach(target changed others)
  target_include_directories(\${target} PRIVATE "$tree")
  target_link_libraries(\${target} PRIVATE SystemC::systemc fmt::fmt Eigen3::Eigen)
endforeach()
target_link_libraries(others PRIVATE GTest::gtest)
target_precompile_headers(changed PRIVATE "$tree/models/base/systemc.h")
target_precompile_headers(others REUSE_FROM changed)
END
cat >"$project/main.cpp" <<'END'
// A kernel with the operation of the page, on a machine with its key.
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include "kernels/tl/context.h"
#include "kernels/tl/launch.h"
#include "models/run/run.h"
#include "models/system/system.h"

using namespace kernwave;

constexpr Bytes out_offset(0x1000);
using Row = std::array<float, 8>;
using RowBytes = std::array<std::uint8_t, sizeof(Row)>;

int sc_main(int, char**) {
  SystemConfig config;
  config.cubes = 1;
  config.pes_per_cube = 1;
  config.pe.math.start = Cycles(7);
  config.pe.math.cycles.exp = Cycles(5);
  Connector connector;
  System system("system", config, DataMode::full, connector);
  Hbm& hbm = system.cube(CubeId(0)).hbm();
  const Row values{-4.0F, -1.0F, -0.5F, 0.0F, 0.25F, 0.5F, 1.0F, 4.0F};
  RowBytes bytes{};
  std::memcpy(bytes.data(), values.data(), bytes.size());
  hbm.write(Bytes(0), bytes.data(), Bytes(sizeof bytes));
  tl::launch(system.pe(PeId(0)), [](tl::Context& tl) {
    const auto x = tl.load(HbmAddress(0), {1, 8}, DType::f32);
    tl.store(HbmAddress(0) + out_offset, tl.tanh(x));
  });
  if (run_to_end(system.ledger()) != RunEnd::finished) return 1;
  Row results{};
  hbm.read(out_offset, bytes.data(), Bytes(sizeof bytes));
  std::memcpy(results.data(), bytes.data(), bytes.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i] == std::tanh(values[i])) continue;
    std::printf("tanh(%g) gives %.9g\n", values[i], results[i]);
    return 1;
  }
  std::printf("%s takes %lld ps\n", std::string(name_of(MathOp::tanh)).c_str(),
              static_cast<long long>(system.pe(PeId(0)).statistics(Engine::math).busy.count()));
  return 0;
}
END
run "$temporary/configure.log" "$CMAKE" -G "$GENERATOR" -S "$project" -B "$project/build" -DCMAKE_CXX_COMPILER="$CXX" \
  -DCMAKE_CXX_STANDARD="$CXX_STANDARD" -DCMAKE_CXX_EXTENSIONS=OFF -DCMAKE_CXX_FLAGS="${CXX_FLAGS:-} -O0" \
  "${systemc_arguments[@]}"
run "$temporary/build.log" "$CMAKE" --build "$project/build" --parallel 2
run "$temporary/main.log" env SYSTEMC_DISABLE_COPYRIGHT_MESSAGE=1 "$project/build/changed"
# By hand, at 1 GHz: 7 cycles to begin, 5 for the one vector.
expect "tanh takes 12000 ps" "$temporary/main.log"
printf 'the %s changes of docs/extending.md apply, touch what they name, compile, and do what it says\n' "${#changes[@]}"
