# Every name that the project prints exists: keys of the configuration and options in messages, help texts, documents,
# reports and documentation; paths in documentation. By hand: bash tests/build/names.sh BUILD_FOLDER
SOURCE_DIR="${SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}"
BUILD_DIR="$(cd "${1:-${BUILD_DIR:-$SOURCE_DIR/build/release}}" && pwd)"
. "$(dirname "$0")/common.sh"

kernwave="$BUILD_DIR/bin/kernwave"
documents=("$SOURCE_DIR/README.md" "$SOURCE_DIR"/docs/*.md)
folders=(models kernels traces platform)

# ---- what there is

"$kernwave" config --keys | sed -n 's/^| `\([a-z0-9_.]*\)`.*/\1/p' >"$temporary/keys"
[ "$(wc -l <"$temporary/keys")" -gt 40 ] || fail "the table of keys cannot be read"
# Their tables too, and both with ".*" behind.
awk -F. '{ table = $1; print table ".*"; for (i = 2; i < NF; ++i) { table = table "." $i; print table; print table ".*" } }' \
  "$temporary/keys" | sort -u | cat "$temporary/keys" - >"$temporary/known_keys"
# Names that keys had in the version before; each is documented.
sed -n 's/^ *{"\([a-z_.]*\)", "[a-z_.]*"},$/\1/p' "$SOURCE_DIR/platform/config/renamed_keys.h" >"$temporary/old_keys"
[ -s "$temporary/old_keys" ] || fail "the table of renamed keys cannot be read"
while IFS= read -r key; do expect "| $key | " "$SOURCE_DIR/docs/configuration.md"; done <"$temporary/old_keys"
cat "$temporary/old_keys" >>"$temporary/known_keys"

for command in '' list run headline config compare; do
  # shellcheck disable=SC2086 # no command, or one
  "$kernwave" $command --help
done >"$temporary/help"
grep -oE -- '--[a-z][a-z-]+' "$temporary/help" | sort -u >"$temporary/known_options"

# ---- what is printed

# A run of messages with all that it can leave, one of a single PE's products, and their comparison.
cd "$temporary"
run_and_keep() { "$kernwave" run "$@" --data none >>"$temporary/printed" 2>&1 || fail "kernwave run $*: $(cat "$temporary/printed")"; }
run_and_keep gqa_attention_decode_long --model llama-3.1-8b --s-kv 4K --verify-what-if --json a.json --op-log a.csv
run_and_keep gqa_attention_prefill_long --model llama-3.1-8b --s-kv 1K --set 'hbm.interleave=128 B' --critical-path --json b.json --report b.html
run_and_keep gemm --m 256 --n 256 --k 256 --set ipcq.hop_latency='1 ns' --set pe.gemm.folds=serial --seed 2
"$kernwave" compare a.json b.json --report c.html >>printed
"$kernwave" config >>printed
"$kernwave" config --config ahbm-ws --set 'pe.dma.burst=64 B' --set pe.dma.max_outstanding=1 >>printed 2>&1
cat help a.json a.csv b.json >>printed
# The program of a page names members of objects, its style has names of its own.
sed 's/<script[^>]*>.*<\/script>//; /<script/,/<\/script>/d; /<style/,/<\/style>/d' b.html c.html >>printed

# Texts in the source are what messages consist of, also those that no run of a test has provoked.
for folder in "${folders[@]}"; do
  find "$SOURCE_DIR/$folder" -name '*.h' -o -name '*.cpp'
done | xargs grep -hvE '^ *(#include|//)' | grep -oE '"([^"\\]|\\.)*"' >texts

# ---- keys

# Words that begin as a key does. A path (pe/pe.h), a longer name (pe0.gemm) and a member (config.pe.gemm) are none.
root="$(sed 's/\..*//' keys | sort -u | paste -sd '|')"
# A key of a kind of PEs is one of all PEs, or says which PEs are of the kind.
of_all_pes() { sed -E 's/^pe\.kind(\.[a-z]+(\.(pes|of_each_cube))?)?$/pe.clock/; s/^pe\.kind\.[a-z]+\./pe./'; }
keys_in() {
  grep -ohP "(?<![\\w./-])($root)\\.[a-z0-9_]+(\\.[a-z0-9_]+)*(\\.\\*)?(?![\\w(]|\\.[a-z])" "$@" | of_all_pes | sort -u
}
# unknown FILE_OF_KNOWN: those that come in and are not known.
unknown() { grep -vxF -f "$1" || true; }

# Names of files that a user may have given a run.
files='(system|pe|ipcq|hbm|interconnect|run)\.(json|csv|vcd|html|toml|sqlite|gtkw|cpp|h|gz)'
# Members of a user's `system`, the mistake that docs/configuration.md shows, and changes that docs/extending.md shows.
awk '/^```diff$/ { inside = 1 } !inside { print } /^```$/ { inside = 0 }' "${documents[@]}" |
  sed 's/system\.[a-z_]*(//g; s/`system\.set_channel_observer`//g; /pe\.gem\.rows/d' >documented
found="$(keys_in printed texts documented | grep -vxE "$files" | unknown known_keys)"
[ -z "$found" ] || fail "these are printed or documented like keys of the configuration, and are none: $(echo $found)"
[ "$(keys_in printed texts | wc -l)" -gt 40 ] || fail "hardly any keys were found in what is printed"

# ---- options

found="$(grep -ohE -- '(^|[^a-z-])--[a-z][a-z-]+' printed texts | grep -oE -- '--.*' | sort -u | unknown known_options)"
[ -z "$found" ] || fail "these are printed like options, and are none: $(echo $found)"

# ---- paths in back-ticks of documentation

# A path begins with a folder of the project; in it, * stands for any characters. A name of a source file alone may lie
# anywhere, and may be that of a program in the documentation. build/ and out/ are the user's.
(cd "$SOURCE_DIR" && find README.md cmake docs kernels models platform scripts tests third_party traces) >paths
sed -n 's/^\/\/ \([a-z_]*\.cpp\): .*/\1/p' "${documents[@]}" >programs
tops="$(sed -n 's/\/.*//p' paths | sort -u | paste -sd '|')"
awk '/^```/ { inside = !inside; next } !inside' "${documents[@]}" | grep -oE '`[^` ]+`' | tr -d '`' | sort -u >quoted
found=''
while IFS= read -r path; do
  pattern="$(printf '%s' "${path%/}" | sed 's/[.]/\\./g; s/[*]/.*/g')"
  grep -qxE "$pattern" paths || found="$found $path"
done < <(grep -E "^($tops)(/[A-Za-z0-9_.*-]*)+$" quoted)
while IFS= read -r name; do
  grep -qE "(^|/)${name//./\\.}$" paths || grep -qxF "$name" programs || found="$found $name"
done < <(grep -E '^[a-z_]+\.(cpp|h|sh|py|sql|cmake)$' quoted)
[ -z "$found" ] || fail "these stand in back-ticks in documentation like paths, and are none:$found"

printf '%s keys and %s options that are printed exist, and so do the paths in documentation\n' \
  "$(keys_in printed texts | wc -l)" "$(wc -l <known_options)"
