# scripts/dependencies.sh installs what is missing and nothing else, and says plainly why where it cannot.
. "$(dirname "$0")/common.sh"

# A machine of stubs. MISSING names the packages it lacks, USER_ID who works there, APT_STATUS how apt-get install ends.
tools="$temporary/tools"
mkdir -p "$tools"
for tool in bash env grep mkdir sed tail tr true; do ln -s "$(type -P "$tool")" "$tools/$tool"; done
stub() {
  printf '#!%s\n%s\n' "$(type -P bash)" "$2" >"$tools/$1"
  chmod +x "$tools/$1"
}
stub dpkg-query 'case " $MISSING " in *" ${@: -1} "*) exit 1 ;; *) echo installed ;; esac'
stub id 'echo "$USER_ID"'
stub pkg-config 'exit 1'
for tool in c++ cmake ninja; do stub "$tool" 'exit 0'; done
with_apt() { stub apt-get 'echo "apt-get $*" >>"$APT_CALLS"; case "$*" in *install*) exit "$APT_STATUS" ;; esac'; }
with_apt

# install [VARIABLE=VALUE...]: runs the script on that machine. Its output goes to `output`, apt-get's calls to `calls`.
output="$temporary/output"
calls="$temporary/calls"
install() {
  : >"$calls"
  env -i PATH="$tools" MISSING="" USER_ID=0 APT_STATUS=0 APT_CALLS="$calls" "$@" bash -c '
    root="$1"
    . "$2/scripts/common.sh"
    . "$2/scripts/dependencies.sh"
    install_dependencies "${build_dependencies[@]}"' bash "$temporary/root" "$SOURCE_DIR" >"$output" 2>&1 </dev/null
}

install || { cat "$output"; fail "nothing was missing"; }
[ ! -s "$calls" ] || fail "apt-get was called although nothing was missing"

install MISSING="libfmt-dev libeigen3-dev" || { cat "$output"; fail "root could not install"; }
expect "install -y --no-install-recommends libfmt-dev libeigen3-dev" "$calls"

rm "$tools/ninja"
install || { cat "$output"; fail "root could not install a tool"; }
expect "install -y --no-install-recommends ninja-build" "$calls"
stub ninja 'exit 0'

install MISSING=libsystemc-dev SYSTEMC_HOME=/somewhere || fail "SYSTEMC_HOME does not count as SystemC"
[ ! -s "$calls" ] || fail "installed SystemC although SYSTEMC_HOME names one"

if install MISSING=libfmt-dev APT_STATUS=100; then fail "a failed installation went unnoticed"; fi
expect "could not be installed (is there a network?): libfmt-dev" "$output"

if install MISSING=libfmt-dev USER_ID=1000; then fail "installed without rights"; fi
expect "installing them takes root's rights: libfmt-dev" "$output"
expect "Install them with: apt-get install libfmt-dev" "$output"

stub sudo 'exit 1'
if install MISSING=libfmt-dev USER_ID=1000; then fail "installed although sudo refuses"; fi
expect "sudo does not let this user install them: libfmt-dev" "$output"

stub sudo '[ "$1" != -n ] || shift; exec "$@"'
install MISSING=libfmt-dev USER_ID=1000 || { cat "$output"; fail "sudo was not used"; }
expect "install -y --no-install-recommends libfmt-dev" "$calls"

rm "$tools/apt-get" "$tools/dpkg-query"
install || { cat "$output"; fail "a machine without apt-get and with every tool is to be let through"; }
expect "This system has no apt-get" "$output"
expect "libsystemc-dev" "$output"
rm "$tools/cmake"
if install; then fail "went on without cmake"; fi
expect "Not found: cmake" "$output"
