# The documentation holds: its commands run, its programs compile, run and print what it says, its tables of keys and
# operations are the program's own, its links lead somewhere. By hand: bash tests/build/readme.sh BUILD_FOLDER
#
# In README.md and docs/*.md
#   ```sh        is run: the fences of a file in order, in a folder of its own
#   ```cpp       is compiled and run when its first line is "// NAME.cpp: ..."; the ```text fence whose first line is
#                "$ ./NAME" is what it prints
#   ```console, ```text and others are not run.
SOURCE_DIR="${SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}"
BUILD_DIR="$(cd "${1:-${BUILD_DIR:-$SOURCE_DIR/build/release}}" && pwd)"
CMAKE="${CMAKE:-cmake}"
CXX="${CXX:-c++}"
GENERATOR="${GENERATOR:-Ninja}"
BUILD_TYPE="${BUILD_TYPE:-Release}"
. "$(dirname "$0")/common.sh"

documents=("$SOURCE_DIR/README.md" "$SOURCE_DIR"/docs/*.md)

# fences FILE LANGUAGE [FIRST_LINE]: what stands in the fences of that language (whose first line is that one).
fences() {
  awk -v opening="\`\`\`$2" -v first="${3:-}" '
    /^```/ { inside = !inside; wanted = inside && $0 == opening; line = 0; next }
    !wanted { next }
    { ++line }
    first != "" && line == 1 { if ($0 != first) wanted = 0; next }
    { print }' "$1"
}

# ---- commands

# What would build or test this very tree is not run from inside a test.
for script in run check; do [ -x "$SOURCE_DIR/$script" ] || fail "./$script, which the README names, cannot be run"; done
run "$temporary/check.log" "$SOURCE_DIR/check" --help

for document in "${documents[@]}"; do
  name="$(basename "$document" .md)"
  folder="$temporary/commands/$name"
  mkdir -p "$folder/build"
  ln -s "$BUILD_DIR" "$folder/build/release"
  fences "$document" sh | grep -vE '^(git clone|cd kernwave|\./run|\./check)( |$)' >"$folder/commands.sh" || true
  [ -s "$folder/commands.sh" ] || continue
  (cd "$folder" && PATH="$BUILD_DIR/bin:$PATH" run "$temporary/$name.log" bash -euxo pipefail commands.sh)
done

# ---- tables that the program prints

run "$temporary/tables.log" "$SOURCE_DIR/scripts/doc_tables" --check "$BUILD_DIR"

# ---- names of tests

# Those in tables: `Suite.Test`, where * stands for any characters; the name of an instance may be left out.
"$BUILD_DIR/bin/kernwave_regression" --gtest_list_tests >"$temporary/tests.txt"
awk '/^[^ ].*\.$/ { suite = $1 } /^  / { print suite $1 }' "$temporary/tests.txt" >"$temporary/tests"
ctest --test-dir "$BUILD_DIR" -N | sed -n 's/^ *Test *#[0-9]*: //p' >>"$temporary/tests"
for table in docs/testing.md tests/mutations/results.md; do
  grep '^|' "$SOURCE_DIR/$table" | grep -oE '`[A-Za-z0-9/]+\.[A-Z*][A-Za-z0-9*/]*`' | tr -d '`' | sort -u |
    while IFS= read -r name; do
      while IFS= read -r test; do
        # shellcheck disable=SC2254 # a pattern
        case "$test" in $name | */$name | $name/* | */$name/*) continue 2 ;; esac
      done <"$temporary/tests"
      fail "$table names $name, which is no test"
    done
done

# ---- links

for document in "${documents[@]}"; do
  while read -r link; do
    file="$(dirname "$document")/${link%%#*}"
    [ "${link%%#*}" != "" ] || file="$document"
    [ -e "$file" ] || fail "$(basename "$document") links to $link, which does not exist"
    case "$link" in
      *#*)
        # A heading's anchor: lower case, without marks, blanks as hyphens.
        sed -n 's/^##* //p' "$file" | tr '[:upper:] ' '[:lower:]-' | sed 's/[^a-z0-9_-]//g' |
          grep -qxF -- "${link#*#}" || fail "$(basename "$document") links to $link: there is no such heading"
        ;;
    esac
  done < <(awk '/^```/ { inside = !inside; next } !inside' "$document" | sed 's/`[^`]*`//g' |
    grep -oE '\]\([^)]+\)' | sed 's/^](//; s/)$//' | grep -vE '^https?:' || true)
done

# ---- programs

project="$temporary/programs"
mkdir -p "$project"
for document in "${documents[@]}"; do
  awk -v folder="$project" '
    /^```/ { inside = !inside; cpp = inside && $0 == "```cpp"; file = ""; line = 0; next }
    !cpp { next }
    ++line == 1 && /^\/\/ [a-z_]+\.cpp: / { file = folder "/" substr($2, 1, length($2) - 1) }
    file != "" { print > file }' "$document"
done
programs=()
for source in "$project"/*.cpp; do programs+=("$(basename "$source" .cpp)"); done
[ ${#programs[@]} -ge 3 ] || fail "found only ${#programs[@]} programs in the documentation"

# The project is the one that docs/embedding.md shows, made for all of them. SystemC, which each includes, is parsed once.
fences "$SOURCE_DIR/docs/embedding.md" cmake >"$project/CMakeLists.txt"
lines_of_mine="$(grep -F mine.cpp -A 1 "$project/CMakeLists.txt")"
echo 'target_precompile_headers(mine PRIVATE <models/base/systemc.h>)' >>"$project/CMakeLists.txt"
for program in "${programs[@]}"; do
  [ "$program" != mine ] || continue
  printf '%s\ntarget_precompile_headers(mine REUSE_FROM mine)\n' "$lines_of_mine" |
    sed "s/mine\b/$program/g; s/REUSE_FROM $program/REUSE_FROM mine/" >>"$project/CMakeLists.txt"
done

prefix="$temporary/prefix"
run "$temporary/install.log" "$CMAKE" --install "$BUILD_DIR" --config "$BUILD_TYPE" --prefix "$prefix"
arguments=("${systemc_arguments[@]}")
[ -z "${CXX_STANDARD:-}" ] || arguments+=(-DCMAKE_CXX_STANDARD="$CXX_STANDARD")
# Not optimised: compiling takes longer than running.
run "$temporary/configure.log" "$CMAKE" -G "$GENERATOR" -S "$project" -B "$project/build" -DCMAKE_CXX_COMPILER="$CXX" \
  -DCMAKE_CXX_FLAGS="${CXX_FLAGS:-} -O0" -DCMAKE_PREFIX_PATH="$prefix" "${arguments[@]}"
run "$temporary/build.log" "$CMAKE" --build "$project/build" --parallel 2
for program in "${programs[@]}"; do
  cd "$project"
  run "$temporary/$program.out" env SYSTEMC_DISABLE_COPYRIGHT_MESSAGE=1 "$project/build/$program"
  for document in "${documents[@]}"; do fences "$document" text "\$ ./$program"; done >"$temporary/$program.documented"
  [ -s "$temporary/$program.documented" ] || fail "the documentation does not say what $program prints"
  diff -u "$temporary/$program.documented" "$temporary/$program.out" || fail "$program prints something else"
done
printf 'commands, keys, links and the programs %s hold\n' "${programs[*]}"
