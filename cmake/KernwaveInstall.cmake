# `cmake --install` and, for the projects that use the result, find_package(kernwave).

include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/kernwave)

# What is installed has components: `libraries` with headers and the CMake package, `tools`, and `regression` with the
# files that its tests read. `cmake --install BUILD --component libraries` installs one of them, without --component all.

install(EXPORT kernwaveTargets NAMESPACE kernwave:: DESTINATION ${package_dir} COMPONENT libraries)

# The installation of SystemC that this build uses, if it is one of the kind that SYSTEMC_HOME names.
set(systemc_prefix "")
if(KernwaveSystemC_LIBRARY)
  get_filename_component(prefix_of_library "${KernwaveSystemC_LIBRARY}/../.." ABSOLUTE)
  if(EXISTS "${prefix_of_library}/include/systemc")
    set(systemc_prefix "${prefix_of_library}")
  endif()
endif()
configure_file("${PROJECT_SOURCE_DIR}/cmake/kernwaveConfig.cmake.in" "${PROJECT_BINARY_DIR}/kernwaveConfig.cmake" @ONLY)

write_basic_package_version_file("${PROJECT_BINARY_DIR}/kernwaveConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(
  FILES "${PROJECT_BINARY_DIR}/kernwaveConfig.cmake"
        "${PROJECT_SOURCE_DIR}/cmake/FindKernwaveSystemC.cmake"
        "${PROJECT_SOURCE_DIR}/cmake/KernwaveSourceNames.cmake"
        "${PROJECT_BINARY_DIR}/kernwaveConfigVersion.cmake"
  DESTINATION ${package_dir}
  COMPONENT libraries)
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT libraries)
# Of what the libraries carry inside.
set(echarts "${PROJECT_SOURCE_DIR}/third_party/echarts")
install(FILES "${echarts}/LICENSE" "${echarts}/LICENSE-d3" "${echarts}/NOTICE"
        DESTINATION ${CMAKE_INSTALL_DOCDIR}/echarts
        COMPONENT libraries)
