# The header kernwave_revision.h, included by platform/version.cpp alone: the project's version, and what git says about
# the source tree. Asked at every build and rewritten only when the answer changed. Also run as a script, by that build.

if(NOT CMAKE_SCRIPT_MODE_FILE)
  find_package(Git QUIET)
  set(KERNWAVE_GENERATED_DIR "${PROJECT_BINARY_DIR}/generated")
  set(write_revision
      "${CMAKE_COMMAND}"
      "-DGIT=${GIT_EXECUTABLE}"
      "-DSOURCE_DIR=${PROJECT_SOURCE_DIR}"
      "-DVERSION=${PROJECT_VERSION}"
      "-DHEADER=${KERNWAVE_GENERATED_DIR}/kernwave_revision.h"
      -P
      "${CMAKE_CURRENT_LIST_FILE}")
  add_custom_target(
    kernwave_write_revision
    COMMAND ${write_revision}
    BYPRODUCTS "${KERNWAVE_GENERATED_DIR}/kernwave_revision.h"
    COMMENT "Asking git for the source revision"
    VERBATIM)
  add_library(kernwave_revision INTERFACE)
  add_dependencies(kernwave_revision kernwave_write_revision)
  target_include_directories(kernwave_revision INTERFACE "${KERNWAVE_GENERATED_DIR}")
  return()
endif()

# Only the repository whose top is this source tree counts: a release unpacked inside some other repository has none.
set(revision "unknown")
if(GIT)
  execute_process(
    COMMAND "${GIT}" rev-parse --show-cdup
    WORKING_DIRECTORY "${SOURCE_DIR}"
    RESULT_VARIABLE failed
    OUTPUT_VARIABLE way_up
    ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT failed AND way_up STREQUAL "")
    execute_process(
      COMMAND "${GIT}" describe --tags --always --dirty
      WORKING_DIRECTORY "${SOURCE_DIR}"
      RESULT_VARIABLE failed
      OUTPUT_VARIABLE answer
      ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(NOT failed AND NOT answer STREQUAL "")
      set(revision "${answer}")
    endif()
  endif()
endif()

set(text "// Written by the build.
#pragma once

#define KERNWAVE_VERSION \"${VERSION}\"
#define KERNWAVE_SOURCE_REVISION \"${revision}\"
")
set(previous "")
if(EXISTS "${HEADER}")
  file(READ "${HEADER}" previous)
endif()
if(NOT text STREQUAL previous)
  file(WRITE "${HEADER}" "${text}")
endif()
