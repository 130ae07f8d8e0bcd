# Sourced by ./run and ./check: installs what they need and the system lacks, from Debian's packages.

# What it takes to build: "package" for a library, "package=command" for a tool.
build_dependencies=(
  g++=c++ cmake=cmake ninja-build=ninja pkg-config=pkg-config
  libsystemc-dev libfmt-dev zlib1g-dev libeigen3-dev libcli11-dev libtomlplusplus-dev nlohmann-json3-dev libsqlite3-dev
  libgtest-dev)

# What ./check needs besides.
check_dependencies=(git=git clang=clang++ libclang-rt-dev clang-format=clang-format clang-tidy-22=clang-tidy-22 python3=python3
  protobuf-compiler=protoc gtkwave=vcd2fst chromium=chromium chromium-driver=chromedriver)

# missing_packages DEPENDENCY...: prints the packages of those that are not there.
missing_packages() {
  local dependency package
  for dependency in "$@"; do
    package="${dependency%%=*}"
    if [ "$dependency" != "$package" ]; then
      command -v "${dependency#*=}" >/dev/null || echo "$package"
    elif [ "$package" = libsystemc-dev ] && has_own_systemc; then
      continue
    elif command -v dpkg-query >/dev/null; then
      [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || echo "$package"
    fi
  done
}

# A SystemC that does not come from Debian's package is the user's choice.
has_own_systemc() {
  [ -n "${SYSTEMC_HOME:-}" ] || pkg-config --exists systemc 2>/dev/null
}

# install_dependencies DEPENDENCY...
install_dependencies() {
  local missing as_root=()
  missing="$(missing_packages "$@" | tr '\n' ' ')"
  missing="${missing% }"
  if ! command -v apt-get >/dev/null; then
    say "This system has no apt-get, so nothing is installed here. Needed, by the names of Debian 12:"
    say "  $(printf '%s ' "${@%%=*}")"
    [ -z "$missing" ] || die "Not found: $missing"
    return 0
  fi
  if [ -z "$missing" ]; then return 0; fi

  local how="Install them with: apt-get install $missing"
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
      die "These packages are missing, and installing them takes root's rights: $missing" "$how"
    fi
    as_root=(sudo)
    if [ ! -t 0 ]; then as_root=(sudo -n); fi
    "${as_root[@]}" true 2>/dev/null ||
      die "These packages are missing, and sudo does not let this user install them: $missing" "$how"
  fi
  # Lists that cannot be refreshed may still be good enough.
  step "Refreshing the package lists" apt-update.log "${as_root[@]}" apt-get -o DPkg::Lock::Timeout=120 update || true
  step "Installing $missing" apt-install.log \
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -o DPkg::Lock::Timeout=120 install -y --no-install-recommends $missing ||
    die "These packages are missing and could not be installed (is there a network?): $missing" "$how"
}
