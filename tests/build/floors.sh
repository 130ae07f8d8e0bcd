# Includes point down: a file includes its own folder, folders above which it stands in the table of floors in
# docs/architecture.md, and of the areas what the table of areas there allows. Every folder with source files stands in
# the table. By hand: bash tests/build/floors.sh
SOURCE_DIR="${SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}"
. "$(dirname "$0")/common.sh"

areas=(models kernels traces platform)

# check_floors SOURCE_FOLDER: prints what breaks a rule, a line each, and at the end the number of includes that it saw.
check_floors() {
  local source="$1"
  local page="$source/docs/architecture.md"
  (cd "$source" && find "${areas[@]}" -name '*.h' -o -name '*.cpp' | sort | xargs grep -HE '^ *# *include "' /dev/null) |
    sed -E 's/^([^:]*): *# *include "([^"]*)".*/\1 \2/' |
    awk -v page="$page" '
      function folder_of(file) { sub("/[^/]*$", "", file); return file }
      # The area of a folder: the longest that it lies in.
      function area_of(folder,  area, best) {
        for (area in areas) if (index(folder "/", area) == 1 && length(area) > length(best)) best = area
        return best
      }
      BEGIN {
        while ((getline line < page) > 0) {
          if (line ~ /^## /) section = line
          if (line !~ /^\| `/) continue
          split(line, cells, "|")
          name = cells[2]
          gsub("[ `]", "", name)
          if (section == "## The house") {
            areas[name]
            allowed[name] = cells[4] ~ /everything|all of the above/ ? above : cells[4]
            above = above " `" name "`"
          } else if (section == "## Floors") {
            floor[name] = ++floors
          }
        }
      }
      {
        from = folder_of($1)
        to = folder_of($2)
        if (!(from in floor)) { print from " (" $1 ") is not in the table of floors"; next }
        if (!(to in floor)) next  # not a file of these areas, or one whose own includes are reported
        ++includes
        if (floor[to] > floor[from]) print $1 " includes " $2 ", which is on a higher floor"
        of = area_of(from)
        on = area_of(to)
        if (of != on && index(allowed[of], "`" on "`") == 0) print $1 " includes " $2 ": " of " may not include " on
      }
      END { print includes + 0 }'
}

# expect_fault SUBJECT FILE INCLUDED TEXT: the planted include is found and told of.
expect_fault() {
  cp -r "$SOURCE_DIR/docs" "${areas[@]/#/$SOURCE_DIR/}" "$temporary/planted"
  mkdir -p "$(dirname "$temporary/planted/$2")"
  printf '#include "%s"\n' "$3" >>"$temporary/planted/$2"
  check_floors "$temporary/planted" | grep -qxF "$4" || fail "$1 is not found: $2 includes $3"
  rm -r "$temporary/planted"
  mkdir "$temporary/planted"
}

found="$(check_floors "$SOURCE_DIR")"
includes="$(tail -n 1 <<<"$found")"
[ "$(wc -l <<<"$found")" -eq 1 ] || fail "these includes break the order of folders: $(sed '$d' <<<"$found")"
[ "$includes" -gt 500 ] || fail "only $includes includes were found in ${areas[*]}"

mkdir "$temporary/planted"
expect_fault 'a higher floor' models/pe/pe_cpu.h models/system/system.h \
  'models/pe/pe_cpu.h includes models/system/system.h, which is on a higher floor'
expect_fault 'an area that is not allowed' traces/timeline/timeline.cpp kernels/tl/shape.h \
  'traces/timeline/timeline.cpp includes kernels/tl/shape.h: traces/ may not include kernels/tl/'
expect_fault 'a folder without a floor' platform/attic/old.h models/base/address.h \
  'platform/attic (platform/attic/old.h) is not in the table of floors'

printf '%s includes point down or stay in their folder; planted ones that do not are found\n' "$includes"
