# Text files inside a library. Also run as a script, by the build.

if(NOT CMAKE_SCRIPT_MODE_FILE)
  set(KERNWAVE_EMBED_SCRIPT "${CMAKE_CURRENT_LIST_FILE}")

  # kernwave_embed(<target> <file>...): of each file, embedded/<name>.inc in the folder of generated headers, a string
  # literal that sources of the target may include.
  function(kernwave_embed target)
    set(folder "${KERNWAVE_GENERATED_DIR}/embedded")
    foreach(file IN LISTS ARGN)
      get_filename_component(name "${file}" NAME)
      set(literal "${folder}/${name}.inc")
      add_custom_command(
        OUTPUT "${literal}"
        COMMAND "${CMAKE_COMMAND}" "-DTEXT=${file}" "-DLITERAL=${literal}" -P "${KERNWAVE_EMBED_SCRIPT}"
        DEPENDS "${file}" "${KERNWAVE_EMBED_SCRIPT}"
        COMMENT "Embedding ${name}"
        VERBATIM)
      target_sources(${target} PRIVATE "${literal}")
    endforeach()
  endfunction()
  return()
endif()

file(READ "${TEXT}" text)
string(FIND "${text}" ")kernwave\"" end)
if(NOT end EQUAL -1)
  message(FATAL_ERROR "${TEXT} holds the mark that ends a literal: )kernwave\"")
endif()
file(WRITE "${LITERAL}" "R\"kernwave(${text})kernwave\"\n")
