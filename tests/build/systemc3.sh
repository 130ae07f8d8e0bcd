# ./check --systemc3: what it asks of its user, and what it then builds and runs.
. "$(dirname "$0")/common.sh"

root="$temporary/root"
mkdir -p "$root"
cp -r "$SOURCE_DIR/check" "$SOURCE_DIR/scripts" "$root/"

# A machine of stubs, which note how they were called.
tools="$temporary/tools"
calls="$temporary/calls"
mkdir "$tools"
for tool in cmake ctest; do
  printf '#!%s\necho "%s $*" >>"%s"\n' "$(type -P bash)" "$tool" "$calls" >"$tools/$tool"
  echo 'echo "-- SystemC: found through SYSTEMC_HOME, ${SYSTEMC3_HOME:-}"' >>"$tools/$tool"
  chmod +x "$tools/$tool"
done
# What is installed is not asked.
printf 'install_dependencies() { :; }\n' >>"$root/scripts/dependencies.sh"

output="$temporary/output"
check() {
  status=0
  env -u SYSTEMC3_HOME -u SYSTEMC_HOME PATH="$tools:$PATH" "$@" "$root/check" --systemc3 >"$output" 2>&1 || status=$?
}
# asks TEXT [VARIABLE=VALUE]: it says so, ends with status 2, and has built nothing.
asks() {
  local text="$1"
  shift
  check "$@"
  expect "$text" "$output"
  [ "$status" = 2 ] || fail "$text: the status is $status"
  [ ! -e "$calls" ] || fail "$text: $(cat "$calls")"
}

# home PREFIX SYMBOL FILE: an installation whose library names version and standard.
home() {
  mkdir -p "$1/$(dirname "$3")"
  printf 'library\0%s\0\n' "$2" >"$1/$3"
}
asks 'needs the variable SYSTEMC3_HOME'
asks "there is no SystemC library in lib/ below it" SYSTEMC3_HOME="$temporary/nowhere"
home "$temporary/two" sc_api_version_2_3_4_cxx201703L lib/libsystemc.so
asks "which holds SystemC 2.3.4, not 3" SYSTEMC3_HOME="$temporary/two"

# In a folder of its own, for the standard of the library.
for standard in 17:201703 20:202002; do
  for file in lib/libsystemc.so lib64/libsystemc.a; do
    three="$temporary/three$standard$(dirname "$file")"
    home "$three" "sc_api_version_3_0_2_cxx${standard#*:}L" "$file"
    rm -f "$calls"
    check SYSTEMC3_HOME="$three"
    [ "$status" = 0 ] || { cat "$output"; fail "the status is $status"; }
    expect "-B $root/build/systemc3 -DSYSTEMC_HOME=$three -DCMAKE_CXX_STANDARD=${standard%:*}" "$calls"
    expect "cmake --build $root/build/systemc3" "$calls"
    expect "ctest --test-dir $root/build/systemc3" "$calls"
    expect "SystemC 3.0.2, for C++${standard%:*}, in $three" "$output"
  done
done
echo "without the variable, without a library, with SystemC 2, and with SystemC 3 in four forms"
