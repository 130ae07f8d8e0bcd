# A SystemC library that was built for another C++ standard: the configuration stops and says so in plain words.
. "$(dirname "$0")/common.sh"
make_probe_project

# stub_systemc PREFIX STANDARD: the real headers, and a library that defines nothing but a symbol of the name that the
# headers ask of a library built for this standard.
stub_systemc() {
  copy_systemc "$1" lib
  rm "$1"/lib/*
  printf '#include <sysc/kernel/sc_ver.h>\nnamespace stub { int SC_API_VERSION_STRING = 0; }\n' >"$1/stub.cpp"
  run "$1/stub.log" "$CXX" "-std=c++$2" -DSC_BUILD -isystem "$1/include" -shared -fPIC "$1/stub.cpp" -o "$1/lib/libsystemc.so"
}

# refused STANDARD_OF_LIBRARY STANDARD_OF_PROJECT
refused() {
  local name="library$1_project$2"
  stub_systemc "$temporary/$name" "$1"
  if configure_probe "$temporary/build_$name" SYSTEMC_HOME="$temporary/$name" -- -DCMAKE_CXX_STANDARD="$2"; then
    fail "a library for C++$1 was accepted for a project in C++$2"
  fi
  expect "The SystemC library was built for C++$1; this project is compiled for C++$2." "$temporary/build_$name.log"
  expect "What helps: a SystemC built for C++$2" "$temporary/build_$name.log"
  sed -n '/CMake Error/,/Call Stack/p' "$temporary/build_$name.log"
}

refused 20 17
expect "or this project compiled for C++20: -DCMAKE_CXX_STANDARD=20" "$temporary/build_library20_project17.log"
refused 14 17
refused 17 20
