# kernwave_name_sources_from(<target> <keyword> <folder>...): code that is compiled for the target, or for what links it,
# names its source files (__FILE__, and so the source locations of a kernel's operations) as from each of these folders.
# What a run writes then does not depend on where its code was compiled. Later folders count first.
function(kernwave_name_sources_from target keyword)
  set(options "")
  foreach(folder IN LISTS ARGN)
    list(APPEND options "-fmacro-prefix-map=${folder}/=")
    # As a compiler cache may write it, so that builds in several folders share their results.
    file(RELATIVE_PATH relative "${CMAKE_BINARY_DIR}" "${folder}")
    if(relative)
      string(REGEX REPLACE "/$" "" relative "${relative}")
      list(APPEND options "-fmacro-prefix-map=${relative}/=")
    endif()
  endforeach()
  foreach(option IN LISTS options)
    target_compile_options(${target} ${keyword} $<$<CXX_COMPILER_ID:GNU,Clang>:$<BUILD_INTERFACE:${option}>>)
  endforeach()
endfunction()
