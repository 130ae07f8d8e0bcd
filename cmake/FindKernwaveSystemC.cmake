# Finds SystemC and proves that code of this project links with it.
#
#   find_package(KernwaveSystemC REQUIRED)   ->   the target SystemC::systemc, and, where they can be told,
#                                                 KernwaveSystemC_VERSION, KernwaveSystemC_STANDARD (of C++, such as 17)
#                                                 and KernwaveSystemC_LIBRARY, the library's file
#
# The first of these that has it:
#   1. a target SystemC::systemc that the project around this one made;
#   2. the CMake package SystemCLanguage, which CMake-built installations bring (SYSTEMC_HOME is one of the places
#      searched);
#   3. SYSTEMC_HOME, a cache or environment variable: include/ and lib/, lib64/ or lib-linux64/ below it. Whoever sets it
#      means that installation, so one without SystemC is an error. Where it is not set, an installed kernwave sets
#      KernwaveSystemC_BUILT_WITH to the installation that it was built with;
#   4. pkg-config's systemc.
#
# SystemC refuses to link with code of another C++ standard than its own, by way of an undefined symbol. So a small
# sc_main is linked here, and where that fails the cause is said in words.

set(SYSTEMC_HOME "" CACHE PATH "A SystemC installation: the folder that holds include/ and lib/")
mark_as_advanced(SYSTEMC_HOME)

# Makes SystemC::systemc. Sets, in the caller's scope, KernwaveSystemC_HOW: where it comes from, or empty.
function(_kernwave_find_systemc)
  set(home "${SYSTEMC_HOME}")
  if(NOT home)
    set(home "$ENV{SYSTEMC_HOME}")
  endif()
  if(NOT home AND KernwaveSystemC_BUILT_WITH AND EXISTS "${KernwaveSystemC_BUILT_WITH}/include/systemc")
    set(home "${KernwaveSystemC_BUILT_WITH}")
  endif()
  set(how "")

  if(TARGET SystemC::systemc)
    set(how "the target that was there already")
  else()
    find_package(SystemCLanguage CONFIG QUIET GLOBAL HINTS "${home}")
    if(TARGET SystemC::systemc)
      set(how "the CMake package in ${SystemCLanguage_DIR}")
    endif()
  endif()

  if(NOT how AND home)
    find_path(include_dir systemc PATHS "${home}/include" NO_DEFAULT_PATH NO_CACHE)
    find_library(
      library systemc
      PATHS "${home}"
      PATH_SUFFIXES lib lib64 lib-linux64
      NO_DEFAULT_PATH NO_CACHE)
    if(NOT include_dir OR NOT library)
      message(
        FATAL_ERROR
          "  SYSTEMC_HOME is ${home}, but there is no SystemC there: looked for the header include/systemc and for the\n"
          "  library systemc in lib, lib64 and lib-linux64 below it.\n"
          "  Correct SYSTEMC_HOME, or unset it to use the SystemC that pkg-config knows.")
    endif()
    find_package(Threads REQUIRED)
    add_library(SystemC::systemc UNKNOWN IMPORTED GLOBAL)
    set_target_properties(
      SystemC::systemc
      PROPERTIES IMPORTED_LOCATION "${library}"
                 INTERFACE_INCLUDE_DIRECTORIES "${include_dir}"
                 INTERFACE_LINK_LIBRARIES Threads::Threads)
    set(how "SYSTEMC_HOME, ${home}")
  endif()

  if(NOT how)
    find_package(PkgConfig QUIET)
    if(PkgConfig_FOUND)
      pkg_check_modules(KernwaveSystemC_PC QUIET IMPORTED_TARGET GLOBAL systemc)
    endif()
    if(TARGET PkgConfig::KernwaveSystemC_PC)
      find_package(Threads REQUIRED)
      add_library(SystemC::systemc INTERFACE IMPORTED GLOBAL)
      set_target_properties(
        SystemC::systemc PROPERTIES INTERFACE_LINK_LIBRARIES "PkgConfig::KernwaveSystemC_PC;Threads::Threads")
      set(how "pkg-config")
    endif()
  endif()

  set(KernwaveSystemC_HOW "${how}" PARENT_SCOPE)
endfunction()

# Sets, in the caller's scope, <variable>: the file of the SystemC library, or empty.
function(_kernwave_systemc_file variable)
  set(candidates "")
  if(TARGET PkgConfig::KernwaveSystemC_PC)
    get_target_property(candidates PkgConfig::KernwaveSystemC_PC INTERFACE_LINK_LIBRARIES)
  endif()
  get_target_property(configurations SystemC::systemc IMPORTED_CONFIGURATIONS)
  set(properties IMPORTED_LOCATION)
  if(configurations)
    list(TRANSFORM configurations PREPEND IMPORTED_LOCATION_ OUTPUT_VARIABLE of_configurations)
    list(APPEND properties ${of_configurations})
  endif()
  foreach(property IN LISTS properties)
    get_target_property(file SystemC::systemc ${property})
    list(APPEND candidates "${file}")
  endforeach()
  set(found "")
  foreach(file IN LISTS candidates)
    if(file MATCHES "systemc" AND EXISTS "${file}")
      set(found "${file}")
      break()
    endif()
  endforeach()
  set(${variable} "${found}" PARENT_SCOPE)
endfunction()

# Sets, in the caller's scope, <version> and <standard> (such as 17) from the first name of the form
# sc_api_version_2_3_4_cxx201703L in the text, or both to empty.
function(_kernwave_read_api_symbol text version standard)
  set(${version} "" PARENT_SCOPE)
  set(${standard} "" PARENT_SCOPE)
  if(text MATCHES "sc_api_version_([0-9]+)_([0-9]+)_([0-9]+)_.*cxx([0-9][0-9][0-9][0-9])[0-9][0-9]L")
    set(${version} "${CMAKE_MATCH_1}.${CMAKE_MATCH_2}.${CMAKE_MATCH_3}" PARENT_SCOPE)
    set(year "${CMAKE_MATCH_4}") # of the value of __cplusplus
    if(year EQUAL 1997)
      set(year 1998)
    endif()
    string(SUBSTRING "${year}" 2 2 year)
    set(${standard} "${year}" PARENT_SCOPE)
  endif()
endfunction()

# Links a small program with SystemC::systemc. Sets, in the caller's scope, KernwaveSystemC_PROBLEM: the plain words for
# what went wrong, or empty; KernwaveSystemC_VERSION; and KernwaveSystemC_LIBRARY.
function(_kernwave_check_systemc)
  set(KernwaveSystemC_PROBLEM "" PARENT_SCOPE)
  set(KernwaveSystemC_VERSION "" PARENT_SCOPE)
  set(KernwaveSystemC_STANDARD "" PARENT_SCOPE)
  set(KernwaveSystemC_LIBRARY "" PARENT_SCOPE)

  get_target_property(imported SystemC::systemc IMPORTED)
  if(NOT imported) # it is going to be built, by the project around this one
    return()
  endif()

  _kernwave_systemc_file(library)
  set(library_symbol "")
  if(library)
    file(STRINGS "${library}" library_symbol REGEX "sc_api_version_[0-9_]+cxx[0-9]+L" LIMIT_COUNT 1)
  endif()
  _kernwave_read_api_symbol("${library_symbol}" library_version library_standard)
  set(KernwaveSystemC_VERSION "${library_version}" PARENT_SCOPE)
  set(KernwaveSystemC_STANDARD "${library_standard}" PARENT_SCOPE)
  set(KernwaveSystemC_LIBRARY "${library}" PARENT_SCOPE)

  # The standard that code of the calling project is compiled for; kernwave itself asks for 17 at least.
  set(standard "${CMAKE_CXX_STANDARD}")
  if(NOT standard)
    set(standard "${CMAKE_CXX_STANDARD_DEFAULT}")
  endif()
  if(NOT standard OR standard STREQUAL "98" OR standard LESS 17)
    set(standard 17)
  endif()

  set(state "${KernwaveSystemC_HOW};${library};${library_symbol};${standard};${CMAKE_CXX_COMPILER};${CMAKE_CXX_FLAGS}")
  if(KERNWAVE_SYSTEMC_LINKS STREQUAL state) # it linked before, and nothing has changed
    return()
  endif()

  set(CMAKE_TRY_COMPILE_TARGET_TYPE EXECUTABLE)
  try_compile(
    links
    SOURCE_FROM_CONTENT kernwave_systemc_check.cpp "#include <systemc>\nint sc_main(int, char**) { return 0; }\n"
    LINK_LIBRARIES SystemC::systemc
    CXX_STANDARD ${standard}
    CXX_STANDARD_REQUIRED ON
    CXX_EXTENSIONS OFF
    OUTPUT_VARIABLE output
    NO_CACHE)
  if(links)
    set(KERNWAVE_SYSTEMC_LINKS "${state}" CACHE INTERNAL "The SystemC that was seen to link, and how")
    return()
  endif()

  string(REGEX MATCH "sc_api_version_[0-9_]+cxx[0-9]+L" wanted_symbol "${output}")
  _kernwave_read_api_symbol("${wanted_symbol}" wanted_version wanted_standard)
  set(where "  Found through ${KernwaveSystemC_HOW}.\n")
  if(library)
    string(APPEND where "  Its library is ${library}.\n")
  endif()
  set(elsewhere
      "  To use another SystemC, name it by CMAKE_PREFIX_PATH, by SYSTEMC_HOME or by PKG_CONFIG_PATH, in a fresh build folder.")

  if(library_standard AND wanted_standard AND NOT library_standard STREQUAL wanted_standard)
    set(remedy "  What helps: a SystemC built for C++${wanted_standard} (CMake: -DCMAKE_CXX_STANDARD=${wanted_standard})")
    if(NOT library_standard EQUAL 98 AND library_standard GREATER_EQUAL 17)
      string(APPEND remedy ",\n  or this project compiled for C++${library_standard}: -DCMAKE_CXX_STANDARD=${library_standard}")
    endif()
    string(CONCAT problem
        "  SystemC and this project are of different C++ standards, which SystemC does not allow.\n"
        "  The SystemC library was built for C++${library_standard}; this project is compiled for C++${wanted_standard}.\n"
        "${where}"
        "${remedy}.\n"
        "${elsewhere}")
  elseif(library_version AND wanted_version AND NOT library_version STREQUAL wanted_version)
    string(CONCAT problem
        "  The SystemC headers and the SystemC library are of different versions.\n"
        "  The headers are of ${wanted_version}, the library is of ${library_version}.\n"
        "${where}"
        "${elsewhere}")
  elseif(wanted_symbol)
    string(CONCAT problem
        "  The SystemC library was built for another C++ standard or version than this project expects:\n"
        "  version ${wanted_version} for C++${wanted_standard}. What the library was built for could not be read from it.\n"
        "${where}"
        "  What helps: a SystemC built for C++${wanted_standard} (CMake: -DCMAKE_CXX_STANDARD=${wanted_standard}).\n"
        "${elsewhere}")
  else()
    string(REPLACE "\n" "\n    " output "${output}")
    string(CONCAT problem
        "  SystemC was found, but a small program does not compile and link with it.\n"
        "${where}"
        "  What the compiler said:\n"
        "    ${output}")
  endif()
  set(KernwaveSystemC_PROBLEM "${problem}" PARENT_SCOPE)
endfunction()

_kernwave_find_systemc()
if(KernwaveSystemC_HOW)
  _kernwave_check_systemc()
else()
  string(
    CONCAT
      KernwaveSystemC_PROBLEM
      "  SystemC was not found. Looked for the CMake package SystemCLanguage, for SYSTEMC_HOME and for pkg-config's systemc.\n"
      "  On Debian and Ubuntu: apt-get install libsystemc-dev pkg-config\n"
      "  Elsewhere, name an installation by CMAKE_PREFIX_PATH, by SYSTEMC_HOME or by PKG_CONFIG_PATH.")
endif()

if(KernwaveSystemC_PROBLEM)
  set(KernwaveSystemC_FOUND FALSE)
  if(KernwaveSystemC_FIND_REQUIRED)
    message(FATAL_ERROR "${KernwaveSystemC_PROBLEM}")
  elseif(NOT KernwaveSystemC_FIND_QUIETLY)
    message(STATUS "${KernwaveSystemC_PROBLEM}")
  endif()
else()
  set(KernwaveSystemC_FOUND TRUE)
  if(NOT KernwaveSystemC_FIND_QUIETLY)
    message(STATUS "SystemC ${KernwaveSystemC_VERSION}: found through ${KernwaveSystemC_HOW}")
  endif()
endif()
