# A matrix engine in Verilog, Verilated, in the place of the model's: the commands of docs/extending.md build it against
# the installed libraries, test it and run it. Skipped where there is no Verilator. By hand:
# bash tests/build/verilated.sh BUILD_FOLDER
#
# The commands are those of the ```console fence that names tests/verilated; apt-get is left out. The code of that section
# stands in the project.
SOURCE_DIR="${SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}"
BUILD_DIR="$(cd "${1:-${BUILD_DIR:-$SOURCE_DIR/build/release}}" && pwd)"
CMAKE="${CMAKE:-cmake}"
CXX="${CXX:-c++}"
GENERATOR="${GENERATOR:-Ninja}"
BUILD_TYPE="${BUILD_TYPE:-Release}"
. "$(dirname "$0")/common.sh"

if ! command -v verilator >/dev/null; then
  echo "skipped: verilator is not installed"
  exit 77
fi

tree="$temporary/tree"
mkdir -p "$tree/build"
ln -s "$SOURCE_DIR/tests" "$tree/tests"
ln -s "$BUILD_DIR" "$tree/build/release"

page="$SOURCE_DIR/docs/extending.md"
sources="$(cat "$SOURCE_DIR"/tests/verilated/*.h)"
# Each ```cpp fence of the section in a file of its own.
awk -v folder="$temporary" '
  /^##/ { wanted = $0 == "### An engine in Verilog" }
  wanted && $0 == "```cpp" { inside = 1; file = folder "/code" ++number; next }
  /^```/ { inside = 0 }
  inside { print > file }' "$page"
[ -s "$temporary/code1" ] || fail "docs/extending.md shows no code of tests/verilated"
for code in "$temporary"/code?; do
  [[ "$sources" == *"$(cat "$code")"* ]] || fail "docs/extending.md shows what tests/verilated does not have: $(cat "$code")"
done

awk '
  $0 == "```console" { inside = 1; text = ""; next }
  /^```/ { if (inside && text ~ /-S tests\/verilated /) printf "%s", text; inside = 0 }
  inside { text = text $0 "\n" }' "$page" |
  sed -n 's/^\$ //p' | grep -v '^apt-get ' >"$temporary/commands.sh" || true
[ "$(wc -l <"$temporary/commands.sh")" -ge 4 ] || fail "docs/extending.md has no commands for tests/verilated"

# Projects are configured as this build was.
arguments=(-G "$GENERATOR" -DCMAKE_CXX_COMPILER="$CXX" -DCMAKE_CXX_FLAGS="${CXX_FLAGS:-}"
  -DCMAKE_BUILD_TYPE="$BUILD_TYPE" "${systemc_arguments[@]}")
[ -z "${CXX_STANDARD:-}" ] || arguments+=(-DCMAKE_CXX_STANDARD="$CXX_STANDARD")
mkdir "$temporary/tools"
cat >"$temporary/tools/cmake" <<END
#!$(type -P bash)
case "\$1" in
  -S) exec "$CMAKE" "\$@" $(printf '%q ' "${arguments[@]}") ;;
  *) exec "$CMAKE" "\$@" ;;
esac
END
chmod +x "$temporary/tools/cmake"

cd "$tree"
PATH="$temporary/tools:$PATH" run "$temporary/commands.log" bash -euxo pipefail "$temporary/commands.sh"
expect "[  PASSED  ]" "$temporary/commands.log"

# What the run has left: its report, in which nothing of the critical path is unexplained.
[ -s "$tree/array.html" ] || fail "the run has left no report"
expect "gemm" "$temporary/commands.log"
if grep -q unexplained "$temporary/commands.log"; then fail "the run has unexplained time: $(cat "$temporary/commands.log")"; fi
grep -F "[  PASSED  ]" "$temporary/commands.log"
