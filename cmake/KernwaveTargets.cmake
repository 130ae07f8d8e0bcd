# The project's ways of making a library and an executable out of a folder.

include(KernwaveSourceNames)

# Flags of kernwave's own code; they do not reach users of the installed libraries.
add_library(kernwave_flags INTERFACE)
target_compile_options(
  kernwave_flags
  INTERFACE
    -Wall
    -Wextra
    -Wpedantic
    -Wconversion
    -Wshadow
    $<$<BOOL:${KERNWAVE_WARNINGS_AS_ERRORS}>:-Werror>
    # A compiler newer than ours may deprecate what it will.
    $<$<BOOL:${KERNWAVE_WARNINGS_AS_ERRORS}>:-Wno-error=deprecated>
    $<$<BOOL:${KERNWAVE_WARNINGS_AS_ERRORS}>:-Wno-error=deprecated-declarations>)

# toml++ as headers alone, so that nothing that links kernwave needs its library.
add_library(kernwave_toml INTERFACE)
add_library(kernwave::toml ALIAS kernwave_toml)
target_include_directories(
  kernwave_toml SYSTEM INTERFACE $<TARGET_PROPERTY:tomlplusplus::tomlplusplus,INTERFACE_INCLUDE_DIRECTORIES>)
target_compile_definitions(kernwave_toml INTERFACE TOML_HEADER_ONLY=1)

# kernwave_files(<variable> <pattern> [EXCLUDE <regex>]): every file of that name below the current folder, except those
# whose path relative to it matches the expression. A new file is seen by the next build.
function(kernwave_files variable pattern)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "EXCLUDE" "")
  file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" "${pattern}")
  if(arg_EXCLUDE)
    list(FILTER files EXCLUDE REGEX "${arg_EXCLUDE}")
  endif()
  set(${variable} "${files}" PARENT_SCOPE)
endfunction()

# kernwave_precompile(<target>): SystemC and TLM are parsed once, for the models, and shared by everything else.
function(kernwave_precompile target)
  if(NOT KERNWAVE_PRECOMPILE_HEADERS)
    return()
  endif()
  if(target STREQUAL "kernwave_models")
    target_precompile_headers(kernwave_models PRIVATE "${PROJECT_SOURCE_DIR}/models/base/systemc.h")
  else()
    target_precompile_headers(${target} REUSE_FROM kernwave_models)
    target_compile_options(${target} PRIVATE -fPIC)  # as the headers were compiled, also where it is an executable
  endif()
endfunction()

# kernwave_add_library(<name> [EXCLUDE <regex>]): the static library kernwave_<name>, known as kernwave::<name>, of the
# sources below the current folder. A folder of headers alone makes a library without code.
function(kernwave_add_library name)
  kernwave_files(sources "*.cpp" ${ARGN})
  set(target kernwave_${name})
  if(sources)
    set(scope PUBLIC)
    add_library(${target} STATIC ${sources})
    # Simulators that own sc_start load models as shared objects. Nobody replaces a function of ours at run time.
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_compile_options(${target} PRIVATE -fno-semantic-interposition)
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:kernwave_flags>)
    kernwave_precompile(${target})
  else()
    set(scope INTERFACE)
    add_library(${target} INTERFACE)
  endif()
  add_library(kernwave::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(${target} ${scope} cxx_std_17)
  # Results must not depend on the compiler or on the processor: a * b + c is rounded twice, everywhere. Headers hold
  # arithmetic too, so this one option reaches the code that includes them.
  target_compile_options(${target} ${scope} -ffp-contract=off)
  # A kernel with arrays larger than a page must not reach past the guard page of its stack: frames touch each of their
  # pages in order. Code of users' own is meant above all.
  target_compile_options(${target} ${scope} $<$<CXX_COMPILER_ID:GNU,Clang>:-fstack-clash-protection>)
  # Our own files are named alike in every project that has them inside.
  kernwave_name_sources_from(${target} ${scope} "${CMAKE_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}")
  # Installed, our headers find each other below include/kernwave, and a user may also write <kernwave/...>.
  target_include_directories(${target} ${scope} "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
  kernwave_files(headers "*.h" ${ARGN})
  target_sources(${target} ${scope} FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}" FILES ${headers})
  install(
    TARGETS ${target}
    EXPORT kernwaveTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT libraries
    FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/kernwave COMPONENT libraries)
endfunction()

# kernwave_link(<name> [PUBLIC <target>...] [PRIVATE <target>...] [BUILD_ONLY <target>...]): what kernwave::<name> uses.
# BUILD_ONLY names header-only libraries that no header of ours includes: users of the installed libraries do not need
# them.
function(kernwave_link name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "PUBLIC;PRIVATE;BUILD_ONLY")
  set(target kernwave_${name})
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "INTERFACE_LIBRARY")
    target_link_libraries(${target} INTERFACE ${arg_PUBLIC})
    return()
  endif()
  target_link_libraries(${target} PUBLIC ${arg_PUBLIC} PRIVATE ${arg_PRIVATE})
  foreach(library IN LISTS arg_BUILD_ONLY)
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:${library}>)
  endforeach()
endfunction()

# kernwave_add_executable(<target> SOURCES <file>... LIBRARIES <target>...)
function(kernwave_add_executable target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBRARIES")
  add_executable(${target} ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE kernwave_flags ${arg_LIBRARIES})
  # Found again where it was installed, when SystemC lives in a place of its own.
  set_target_properties(${target} PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
endfunction()
