# The version header is written with and without git, follows the source tree, and is left alone when nothing changed.
. "$(dirname "$0")/common.sh"

tree="$temporary/source tree"
header="$temporary/generated/kernwave_revision.h"
mkdir -p "$tree"
git=(git -C "$tree" -c user.name=test -c user.email=test@example.org -c commit.gpgsign=false)

# write [PATH_OF_GIT]
write() {
  run "$temporary/write.log" "$CMAKE" -DGIT="${1-git}" -DSOURCE_DIR="$tree" -DVERSION=1.2.3 -DHEADER="$header" \
    -P "$SOURCE_DIR/cmake/KernwaveRevision.cmake"
}
revision() { expect "#define KERNWAVE_SOURCE_REVISION \"$1\"" "$header"; }

write ""
revision unknown
expect '#define KERNWAVE_VERSION "1.2.3"' "$header"
write
revision unknown

command -v git >/dev/null || exit 0

# A release unpacked inside a clone of something else is not that something.
run "$temporary/git.log" git init "$temporary"
write
revision unknown

run "$temporary/git.log" git init "$tree"
echo 1 >"$tree/file"
run "$temporary/git.log" "${git[@]}" add file
run "$temporary/git.log" "${git[@]}" commit -m first
run "$temporary/git.log" "${git[@]}" tag v1.2.3
write
revision v1.2.3

touch -d '2001-01-01' "$header"
write
[ "$(date -r "$header" +%Y)" = 2001 ] || fail "the header was rewritten although nothing had changed"

echo 2 >"$tree/file"
write
revision v1.2.3-dirty
