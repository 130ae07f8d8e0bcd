# `cmake --install` and, for the projects that use the result, find_package(kernwave).

include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/kernwave)

install(EXPORT kernwaveTargets NAMESPACE kernwave:: DESTINATION ${package_dir})

write_basic_package_version_file("${PROJECT_BINARY_DIR}/kernwaveConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(
  FILES "${PROJECT_SOURCE_DIR}/cmake/kernwaveConfig.cmake"
        "${PROJECT_SOURCE_DIR}/cmake/FindKernwaveSystemC.cmake"
        "${PROJECT_SOURCE_DIR}/cmake/KernwaveSourceNames.cmake"
        "${PROJECT_BINARY_DIR}/kernwaveConfigVersion.cmake"
  DESTINATION ${package_dir})
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION ${CMAKE_INSTALL_DOCDIR})
# Of what the libraries carry inside.
set(echarts "${PROJECT_SOURCE_DIR}/third_party/echarts")
install(FILES "${echarts}/LICENSE" "${echarts}/LICENSE-d3" "${echarts}/NOTICE"
        DESTINATION ${CMAKE_INSTALL_DOCDIR}/echarts)
